//! Empty functions at which debuggers stop, with numbers as arguments. `src/report/debugger` writes
//! scripts that use their names.
//!
//! `interlap_op_begin` and `interlap_op_end` are called where a recorded call begins and ends, in
//! every engine. Both take, in the registers of the System V ABI, each as a `u64`:
//!
//! Calls of free-running rounds of native threads, which no debugger can wait for, pass none.
//!
//! - `rdi`: `thread`, the number of the calling thread in its round; the one after the last drains;
//! - `rsi`: `op`, the number of the call among those that its thread recorded in this round, from
//!   0: so `thread` and `op` identify an operation of the history;
//! - `rdx`: `stamp`, the opening or closing stamp, as recorded. It tells rounds of one process
//!   apart, except those of the controlled engine, whose steps begin anew with each round.
//!
//! A box is opened before `interlap_op_begin` and closed before `interlap_op_end`: they can make it
//! wider, never narrower. An adapter that narrows its box (`il_box_open`, `il_box_close`) passes a
//! marker once more, with the stamp that is then the recorded one. A call that the target answers
//! with "unsupported" is not recorded; the next one has its number.

use core::arch::asm;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// A recorded call begins; its opening stamp has just been read.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn interlap_op_begin(thread: u64, op: u64, stamp: u64) {
    // SAFETY: no instruction at all. It keeps the call, with its arguments in registers.
    unsafe {
        asm!("/* {} {} {} */", in(reg) thread, in(reg) op, in(reg) stamp,
             options(nomem, nostack, preserves_flags));
    }
}

/// A recorded call has ended; its closing stamp has just been read.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn interlap_op_end(thread: u64, op: u64, stamp: u64) {
    // SAFETY: as above. The instruction does nothing; without it compilers and linkers would merge
    // the two equal functions.
    unsafe {
        asm!("nop /* {} {} {} */", in(reg) thread, in(reg) op, in(reg) stamp,
             options(nomem, nostack, preserves_flags));
    }
}

/// A round begins: no code of the target has run in it yet.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn interlap_round_begin(round: u64) {
    // SAFETY: as above.
    unsafe { asm!("nop; nop /* {} */", in(reg) round, options(nomem, nostack, preserves_flags)) }
}

/// A fault of the target: the controlled engine has noticed one, or a fatal signal has come.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn interlap_fault() {
    // SAFETY: as above.
    unsafe { asm!("nop; nop; nop", options(nomem, nostack, preserves_flags)) }
}

/// The step of the controlled engine that a debugger waits for; it sets this.
#[unsafe(no_mangle)]
#[used]
static interlap_stop_step: AtomicU64 = AtomicU64::new(u64::MAX);

/// Not 0: a debugger stops at preemptions; it sets this.
#[unsafe(no_mangle)]
#[used]
static interlap_preemptions: AtomicU64 = AtomicU64::new(0);

/// The target's function for calls, which debuggers enter from a marker.
#[unsafe(no_mangle)]
#[used]
static interlap_call: AtomicU64 = AtomicU64::new(0);

pub fn set_call(function: usize) {
    interlap_call.store(function as u64, Relaxed);
}

/// Whether this process runs for a debugger: then no scheduling point passes unchecked.
static DEBUGGED: AtomicBool = AtomicBool::new(false);

pub fn set_debugged() {
    DEBUGGED.store(true, Relaxed);
}

#[inline(always)]
pub fn is_debugged() -> bool {
    DEBUGGED.load(Relaxed)
}

/// Whether a debugger waits for this step.
#[inline(always)]
pub fn is_awaited(step: u64) -> bool {
    interlap_stop_step.load(Relaxed) == step
}

#[inline(always)]
pub fn wants_preemptions() -> bool {
    interlap_preemptions.load(Relaxed) != 0
}

/// The awaited step. `place`: the return address of the innermost frame of the adapter's code, or
/// 0.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn interlap_stop(step: u64, place: u64) {
    // SAFETY: as above.
    unsafe {
        asm!("nop; nop; nop; nop /* {} {} */", in(reg) step, in(reg) place,
             options(nomem, nostack, preserves_flags));
    }
}

/// At this step a thread is preempted. `place` as above, of that thread.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn interlap_preempted(step: u64, place: u64, from: u64, to: u64) {
    // SAFETY: as above.
    unsafe {
        asm!("nop; nop; nop; nop; nop /* {} {} {} {} */", in(reg) step, in(reg) place,
             in(reg) from, in(reg) to, options(nomem, nostack, preserves_flags));
    }
}
