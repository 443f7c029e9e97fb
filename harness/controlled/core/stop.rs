//! Where a debugger that asked for it stops in a round: at a step, or at a preemption. Each is a
//! call of `crate::marker`, with the place of the running thread in the target's code.

use std::cell::Cell;

use super::callbacks::callbacks;
use super::variables::ENGINE;
use super::{control, current_round};
use crate::marker;

/// The address of the number of the step under way, for debuggers to read.
#[repr(transparent)]
struct StepAddress(*const Cell<u64>);

// SAFETY: nobody but a debugger uses it.
unsafe impl Sync for StepAddress {}

#[unsafe(no_mangle)]
#[used]
static interlap_step: StepAddress = StepAddress(&raw const ENGINE.step);

/// The round begins.
pub(super) fn round_begins() {
    marker::interlap_round_begin(current_round::number());
}

/// Stops if this step is waited for.
#[inline]
pub(super) fn look(step: u64) {
    if marker::is_awaited(step) {
        at(step);
    }
}

#[cold]
fn at(step: u64) {
    let controls = control::set_controls(false);
    marker::interlap_stop(step, (callbacks().here)() as u64);
    control::set_controls(controls);
}

/// One thread gives way to another, although it could go on.
#[inline]
pub(super) fn preempted(from: usize, to: usize) {
    if marker::wants_preemptions() {
        tell_preemption(from, to);
    }
}

#[cold]
fn tell_preemption(from: usize, to: usize) {
    let controls = control::set_controls(false);
    let step = ENGINE.step.get();
    marker::interlap_preempted(step, (callbacks().here)() as u64, from as u64, to as u64);
    control::set_controls(controls);
}
