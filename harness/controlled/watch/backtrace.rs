//! Backtraces: where each thread stands in the target's code, for reports. A thread that does not
//! run is asked (`engine::ask`), and walks its own stack.

use std::ffi::{c_int, c_void};

use super::libraries;
use crate::controlled::core::engine::{self, Alive, Wait};

/// Most frames that are looked at.
const DEPTH_MAX: u32 = 64;

/// Answers to the unwinder.
const GO_ON: c_int = 0;
const STOP: c_int = 5;

unsafe extern "C" {
    /// Of the unwinder (Itanium C++ ABI, exception handling, 1.6).
    fn _Unwind_Backtrace(
        trace: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIPInfo(frame: *mut c_void, before: *mut c_int) -> usize;
}

/// A frame that is looked for on the stack of the caller.
struct Search {
    wanted: fn(usize) -> bool,
    frames: u32,
    found: usize,
}

/// The return address of the innermost frame in the adapter's code, on the stack of the caller; 0:
/// there is none.
pub fn here() -> usize {
    innermost(libraries::is_target_code)
}

/// The library whose code the caller is in, if that has no hooks: itself, or by what it calls of
/// the system or of the engine.
pub fn unhooked_here() -> Option<&'static str> {
    let of_target = |at| libraries::is_target_code(at) || libraries::unhooked_at(at).is_some();
    libraries::unhooked_at(innermost(of_target))
}

fn innermost(wanted: fn(usize) -> bool) -> usize {
    let mut search = Search { wanted, frames: 0, found: 0 };
    // SAFETY: `look` is of the type that the unwinder wants, and `search` outlives the call.
    unsafe { _Unwind_Backtrace(look, (&raw mut search).cast()) };
    search.found
}

/// Where the functions of the adapter's library go on that are around the one that goes on at
/// `code`, on the stack of the caller, the innermost first; 0: no more.
pub fn around<const N: usize>(code: usize) -> [usize; N] {
    let mut search = Around { code, found: [0; N], count: 0, is_inside: false, depth: 0 };
    // SAFETY: as above.
    unsafe { _Unwind_Backtrace(look_around::<N>, (&raw mut search).cast()) };
    search.found
}

struct Around<const N: usize> {
    code: usize,
    found: [usize; N],
    count: usize,
    /// Past the frame of `code`.
    is_inside: bool,
    depth: u32,
}

extern "C" fn look_around<const N: usize>(frame: *mut c_void, search: *mut c_void) -> c_int {
    let mut before = 0;
    // SAFETY: the unwinder's frame, and the search that `around` passed.
    let (search, at) =
        unsafe { (&mut *search.cast::<Around<N>>(), _Unwind_GetIPInfo(frame, &mut before)) };
    search.depth += 1;
    let is_target = libraries::is_target_code(at);
    if search.is_inside && is_target {
        search.found[search.count] = at;
        search.count += 1;
    }
    let is_left = search.is_inside && !is_target;
    search.is_inside |= is_target && at + usize::from(before != 0) == search.code;
    if is_left || search.count == N || search.depth > DEPTH_MAX { STOP } else { GO_ON }
}

extern "C" fn look(frame: *mut c_void, search: *mut c_void) -> c_int {
    let mut before = 0;
    // SAFETY: the unwinder's frame, and the search that `innermost` passed.
    let (search, at) =
        unsafe { (&mut *search.cast::<Search>(), _Unwind_GetIPInfo(frame, &mut before)) };
    search.frames += 1;
    if (search.wanted)(at) {
        // A frame that a signal interrupted has the instruction itself.
        search.found = at + usize::from(before != 0);
        return STOP;
    }
    if search.frames > DEPTH_MAX { STOP } else { GO_ON }
}

/// The same of any thread of the round.
fn place_of(thread: usize) -> usize {
    engine::ask(thread, here).unwrap_or(0)
}

/// What a thread does. `place` is code of the target: where it stands, as a return address, or
/// its last scheduling point.
pub struct Doing {
    pub thread: usize,
    pub waits: Option<(Wait, usize)>,
    pub place: usize,
}

/// Every thread that has begun and not ended.
pub fn doing() -> Vec<Doing> {
    let alive = engine::alive().map(|Alive { thread, waits, place: last }| {
        let place = match place_of(thread) {
            0 => last,
            place => place,
        };
        Doing { thread, waits, place }
    });
    alive.collect()
}
