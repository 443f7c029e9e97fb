//! Backtraces of the target's threads, for reports. A thread that does not run is asked
//! (`engine::ask`) to walk its own stack.

use std::ffi::{c_int, c_void};

use super::libraries;
use crate::controlled::core::engine::{self, Alive, Wait};

/// Frames that are walked at most.
const DEPTH_MAX: u32 = 64;

/// Answers of a callback to the unwinder.
const GO_ON: c_int = 0;
const STOP: c_int = 5;

unsafe extern "C" {
    /// Itanium C++ ABI, exception handling, 1.6.
    fn _Unwind_Backtrace(
        trace: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIPInfo(frame: *mut c_void, before: *mut c_int) -> usize;
}

/// A search for one frame.
struct Search {
    wanted: fn(usize) -> bool,
    frames: u32,
    found: usize,
}

/// The return address of the innermost frame in the adapter's code on the caller's stack, or 0.
pub fn here() -> usize {
    innermost(libraries::is_target_code)
}

/// The uninstrumented library in whose code the caller is, calls of the system aside.
pub fn uninstrumented_here() -> Option<&'static str> {
    let of_target = |at| libraries::is_target_code(at) || libraries::uninstrumented(at).is_some();
    libraries::uninstrumented(innermost(of_target))
}

fn innermost(wanted: fn(usize) -> bool) -> usize {
    let mut search = Search { wanted, frames: 0, found: 0 };
    // SAFETY: `look` is of the type that the unwinder wants, and `search` outlives the call.
    unsafe { _Unwind_Backtrace(look, (&raw mut search).cast()) };
    search.found
}

/// Return addresses of the callers, in the adapter's library, of the frame with the return address
/// `code`: on the caller's stack, the innermost first, filled up with 0.
pub fn callers_of<const N: usize>(code: usize) -> [usize; N] {
    let mut search = CallerSearch { code, found: [0; N], count: 0, is_past: false, depth: 0 };
    // SAFETY: as above.
    unsafe { _Unwind_Backtrace(look_for_callers::<N>, (&raw mut search).cast()) };
    search.found
}

struct CallerSearch<const N: usize> {
    code: usize,
    found: [usize; N],
    count: usize,
    /// Past the frame of `code`.
    is_past: bool,
    depth: u32,
}

extern "C" fn look_for_callers<const N: usize>(frame: *mut c_void, search: *mut c_void) -> c_int {
    let mut before = 0;
    // SAFETY: the unwinder's frame, and the search that `callers_of` passed.
    let (search, at) =
        unsafe { (&mut *search.cast::<CallerSearch<N>>(), _Unwind_GetIPInfo(frame, &mut before)) };
    search.depth += 1;
    let is_target = libraries::is_target_code(at);
    if search.is_past && is_target {
        search.found[search.count] = at;
        search.count += 1;
    }
    let is_left = search.is_past && !is_target;
    search.is_past |= is_target && at + usize::from(before != 0) == search.code;
    if is_left || search.count == N || search.depth > DEPTH_MAX { STOP } else { GO_ON }
}

extern "C" fn look(frame: *mut c_void, search: *mut c_void) -> c_int {
    let mut before = 0;
    // SAFETY: the unwinder's frame, and the search that `innermost` passed.
    let (search, at) =
        unsafe { (&mut *search.cast::<Search>(), _Unwind_GetIPInfo(frame, &mut before)) };
    search.frames += 1;
    if (search.wanted)(at) {
        // An interrupted frame has the address of the instruction, not a return address.
        search.found = at + usize::from(before != 0);
        return STOP;
    }
    if search.frames > DEPTH_MAX { STOP } else { GO_ON }
}

/// Where a thread is.
pub struct ThreadPlace {
    pub thread: usize,
    /// Why it waits, and for which address or key.
    pub waits: Option<(Wait, usize)>,
    /// Return address into the target's code, or that of the last scheduling point.
    pub place: usize,
}

/// Every thread that has begun and not ended.
pub fn all_threads() -> Vec<ThreadPlace> {
    let alive = engine::alive().map(|Alive { thread, waits, place: last }| {
        let here = engine::ask(thread, here).filter(|here| *here != 0);
        ThreadPlace { thread, waits, place: here.unwrap_or(last) }
    });
    alive.collect()
}
