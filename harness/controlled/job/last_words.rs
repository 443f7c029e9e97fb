//! Sends what the round has counted so far before a process under control ends.

use interlap::trace::frame::Frame;

use crate::controlled::core::{control, engine, layout};
use crate::controlled::interpose::allocator;
use crate::controlled::watch::{backtrace, fault_report, trail};
use crate::forked::is_forked;

/// Leaves control for good.
pub fn release() {
    control::set_controls(false);
}

/// Leaves control for a while; gives what [`enter`] wants.
pub fn leave() -> bool {
    control::set_controls(false)
}

/// Is under control again, if it was.
pub fn enter(controls: bool) {
    if controls {
        control::set_controls(true);
    }
}

/// Under control, no other thread of the target runs from now on, unless this one waits.
pub fn run_alone() {
    if control::controls() {
        engine::set_exclusive(true);
    }
}

/// Whether a thread with this stack pointer is under control and has used all of its stack.
pub fn is_stack_used_up(stack_pointer: u64) -> bool {
    layout::is_used_up(stack_pointer as usize)
}

/// The target is about to end the process, by this signal or 0, for an access to this address or 0:
/// sends what the round has counted so far. Gives the place in the target's code, where that is not
/// where the signal came. To be called once, by the running thread.
///
/// A signal handler may call this: under control, none of our code is interrupted, so our data is
/// whole, unless the target has overwritten it; then a second fault ends the process. Sends nothing
/// from within the C library's allocator, whose lock is held then, nor in a forked child, which
/// shares the pipe.
pub fn last_words(signal: i32, address: usize) -> Option<u64> {
    if !control::set_controls(false) || allocator::is_in_libc() || is_forked() {
        return None;
    }
    let place = backtrace::here();
    trail::crash(signal, address, place);
    let steps = fault_report::steps(&engine::counted());
    crate::pipe::send(&Frame::Cut(Box::new(steps)));
    (place != 0).then(|| place as u64 - 1)
}

pub(super) extern "C" fn at_exit() {
    last_words(0, 0);
}
