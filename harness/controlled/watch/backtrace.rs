//! Backtraces of the target's threads, for reports. A thread that does not run is asked
//! (`engine::ask`) to walk its own stack.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::libraries;
use crate::controlled::core::control;
use crate::controlled::core::engine::{self, Alive, Wait};
use crate::stacks::walk;

/// The return address of the innermost frame in the adapter's code on the caller's stack, or 0.
pub fn here() -> usize {
    innermost(libraries::is_target_code)
}

/// The uninstrumented library in whose code the caller is, calls of the system aside.
pub fn uninstrumented_here() -> Option<&'static str> {
    let of_target = |at| libraries::is_target_code(at) || libraries::uninstrumented(at).is_some();
    libraries::uninstrumented(innermost(of_target))
}

/// Whether code without hooks has called the adapter's code on the caller's stack, in a call of the
/// adapter's: as the C++ library a destructor. What an interposed function calls is not meant.
pub fn is_called_back() -> bool {
    let (mut has_entered, mut has_left, mut is_back) = (false, false, false);
    let controls = control::set_controls(false);
    walk(|at| {
        let is_target = libraries::is_target_code(at);
        is_back = is_target && has_left;
        has_left = (has_left || has_entered && !is_target) && !libraries::is_harness_code(at);
        has_entered |= is_target;
        !is_back
    });
    control::set_controls(controls);
    is_back
}

fn innermost(wanted: fn(usize) -> bool) -> usize {
    let mut found = None;
    walk(|at| {
        found = wanted(at).then_some(at + 1);
        found.is_none()
    });
    found.unwrap_or(0)
}

/// Return addresses of the callers, in the adapter's library, of the frame with the return address
/// `code`: on the caller's stack, the innermost first, filled up with 0.
pub fn callers_of<const N: usize>(code: usize) -> [usize; N] {
    let (mut found, mut count, mut is_past) = ([0; N], 0, false);
    walk(|at| {
        let is_target = libraries::is_target_code(at);
        if is_past && is_target {
            found[count] = at + 1;
            count += 1;
        }
        let is_left = is_past && !is_target;
        is_past |= is_target && at + 1 == code;
        !is_left && count < N
    });
    found
}

/// Where a thread is.
pub struct ThreadPlace {
    pub thread: usize,
    /// Why it waits, and for which address or key.
    pub waits: Option<(Wait, usize)>,
    /// Return addresses into the target's code, the innermost first; none of a thread that runs no
    /// code of the target.
    pub frames: Vec<usize>,
}

/// Frames of a thread at most.
const FRAMES_MAX: usize = 16;

/// The answer of a thread that was asked for its frames.
static FRAMES: [AtomicUsize; FRAMES_MAX] = [const { AtomicUsize::new(0) }; FRAMES_MAX];

/// Leaves the return addresses in the adapter's code on the caller's stack in [`FRAMES`]. How many
/// they are.
fn answer() -> usize {
    let mut count = 0;
    walk(|at| {
        if libraries::is_target_code(at) {
            FRAMES[count].store(at + 1, Relaxed);
            count += 1;
        }
        count < FRAMES_MAX
    });
    count
}

/// Every thread that has begun and not ended.
pub fn all_threads() -> Vec<ThreadPlace> {
    let alive = engine::alive().map(|Alive { thread, waits, place: last }| {
        let count = engine::ask(thread, answer).unwrap_or(0);
        let mut frames: Vec<usize> =
            FRAMES[..count].iter().map(|frame| frame.load(Relaxed)).collect();
        // A call that jumped out of the target's code for good has no frame there. A thread that is
        // in no call has left its last scheduling point long ago.
        let calls = thread < engine::callers() && matches!(engine::calls(thread), (1.., true));
        if frames.is_empty() && calls && libraries::is_target_code(last) {
            frames.push(last);
        }
        ThreadPlace { thread, waits, frames }
    });
    alive.collect()
}
