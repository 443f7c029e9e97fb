//! Where debuggers stop: functions that do nothing but have a name and three numbers, called where
//! a recorded call begins and ends, in every engine. Which call it is comes in; nothing goes out.
//! Knows of no debugger.
//!
//! Both take, in the registers of the System V ABI, each as a `u64`:
//!
//! | register | |
//! |---|---|
//! | `rdi` | `thread`: number of the calling thread in its round; the one after the last drains |
//! | `rsi` | `op`: number of the call among those its thread recorded in this round, from 0; so `thread` and `op` name an operation of the history |
//! | `rdx` | `stamp`: the opening or closing stamp, as recorded; where a process does many rounds, it tells them apart (steps of the controlled engine begin anew with each round) |
//!
//! A box is opened before `interlap_op_begin` and closed before `interlap_op_end`: they can make it
//! wider, never narrower. An adapter that narrows its box (`il_box_open`, `il_box_close`) passes a
//! marker once more, with the stamp that is then the recorded one. A call that the target answers
//! with "unsupported" is not recorded; the next one has its number.

use core::arch::asm;

/// A recorded call begins; its opening stamp has just been read.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn interlap_op_begin(thread: u64, op: u64, stamp: u64) {
    // SAFETY: no instruction at all. It keeps the call and puts its arguments where they belong.
    unsafe {
        asm!("/* {} {} {} */", in(reg) thread, in(reg) op, in(reg) stamp,
             options(nomem, nostack, preserves_flags));
    }
}

/// A recorded call has ended; its closing stamp has just been read.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn interlap_op_end(thread: u64, op: u64, stamp: u64) {
    // SAFETY: as above. The instruction does nothing; without it both functions would be the same,
    // and compilers and linkers make one of two such.
    unsafe {
        asm!("nop /* {} {} {} */", in(reg) thread, in(reg) op, in(reg) stamp,
             options(nomem, nostack, preserves_flags));
    }
}
