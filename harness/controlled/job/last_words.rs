//! The end of a process under control: what the round came to so far is sent before the process
//! goes.

use interlap::trace::frame::Frame;

use crate::controlled::core::{control, engine, layout};
use crate::controlled::interpose::allocator;
use crate::controlled::watch::{backtrace, detect, trail};
use crate::forked::is_forked;

/// Leaves control, for good: what follows is ours.
pub fn release() {
    control::set_controls(false);
}

/// Whether a thread with this stack pointer is under control and has used all of its stack.
pub fn is_stack_used_up(stack_pointer: u64) -> bool {
    layout::is_used_up(stack_pointer as usize)
}

/// The target is about to end the process, by this signal or 0, for what it did to this address or
/// 0: says what the round came to so far. Gives the place in the target's code, if it is known
/// better than by where the signal came. To be called by who runs, and only once.
///
/// A signal handler may call this: while the target is under control, no code of ours is
/// interrupted, so nothing that is needed here is in disorder but for what the target has
/// overwritten; then a second fault ends the process without these words. Nothing is said from
/// within the C library's own heap, whose lock is held then, nor by a child of the process, which
/// has the same pipe.
pub fn last_words(signal: i32, address: usize) -> Option<u64> {
    if !control::set_controls(false) || allocator::is_in_libc() || is_forked() {
        return None;
    }
    let place = backtrace::here();
    trail::crash(signal, address, place);
    let steps = detect::steps(&engine::counted());
    crate::record::send(&Frame::Cut(Box::new(steps)));
    (place != 0).then(|| place as u64 - 1)
}

pub(super) extern "C" fn ends_process() {
    last_words(0, 0);
}
