//! Calls the functions of `crate::marker` at which debuggers stop in a round: at an awaited step,
//! or at a preemption, with the running thread's place in the target's code.

use std::cell::Cell;

use super::callbacks::callbacks;
use super::shared::SHARED;
use super::{control, current_round};
use crate::marker;

/// The address of the step's number, for debuggers to read.
#[repr(transparent)]
struct StepAddress(*const Cell<u64>);

// SAFETY: nobody but a debugger uses it.
unsafe impl Sync for StepAddress {}

#[unsafe(no_mangle)]
#[used]
static interlap_step: StepAddress = StepAddress(&raw const SHARED.step);

/// The round begins.
pub(super) fn round_begins() {
    marker::interlap_round_begin(current_round::number());
}

/// Stops if a debugger waits for this step.
#[inline]
pub(super) fn check(step: u64) {
    if marker::is_awaited(step) {
        stop_at(step);
    }
}

#[cold]
fn stop_at(step: u64) {
    let controls = control::set_controls(false);
    marker::interlap_stop(step, (callbacks().here)() as u64);
    control::set_controls(controls);
}

/// A thread is preempted.
#[inline]
pub(super) fn preempted(from: usize, to: usize) {
    if marker::wants_preemptions() {
        stop_at_preemption(from, to);
    }
}

#[cold]
fn stop_at_preemption(from: usize, to: usize) {
    let controls = control::set_controls(false);
    let step = SHARED.step.get();
    marker::interlap_preempted(step, (callbacks().here)() as u64, from as u64, to as u64);
    control::set_controls(controls);
}
