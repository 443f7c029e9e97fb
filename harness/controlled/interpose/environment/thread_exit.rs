//! `pthread_exit`. It unwinds the thread's stack first, as in the C library, so that destructors of
//! local objects and cleanup handlers run: a lock that they release would stay locked for ever.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use interlap::trace::area::Ended;

use super::thread_ids::THREADS;
use super::{real, threads};
use crate::controlled::core::engine;

/// `_Unwind_Exception` of the Itanium C++ ABI: a class, which is 0 as the C library's own has it,
/// what frees it, and two words of the unwinder.
#[repr(C, align(16))]
struct Exception([AtomicUsize; 4]);

/// One for each thread, and not on its stack, which is unwound meanwhile.
static EXCEPTIONS: [Exception; THREADS] =
    [const { Exception([const { AtomicUsize::new(0) }; 4]) }; THREADS];

type Stop = extern "C-unwind" fn(
    c_int,
    c_int,
    u64,
    *const Exception,
    context: *mut c_void,
    base: *mut c_void,
) -> c_int;

unsafe extern "C-unwind" {
    fn _Unwind_ForcedUnwind(exception: *const Exception, stop: Stop, base: *mut c_void) -> c_int;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

const GO_ON: c_int = 0;
const END_OF_STACK: c_int = 16;

/// Called before each frame is left. Frames above `base` are the engine's.
extern "C-unwind" fn stop(
    _version: c_int,
    actions: c_int,
    _class: u64,
    _exception: *const Exception,
    context: *mut c_void,
    base: *mut c_void,
) -> c_int {
    // SAFETY: the unwinder's context.
    let frame = unsafe { _Unwind_GetCFA(context) };
    if actions & END_OF_STACK != 0 || frame > base.addr() {
        engine::exit_thread();
    }
    GO_ON
}

/// Outside of control: the thread may be one that interlap calls the structure on.
pub(super) fn end_if_not_the_targets() {
    if crate::fault::is_round_thread() {
        crate::fault::end_for(Ended::ThreadExit);
    }
}

/// Ends the running thread with this result.
pub(super) fn exit(result: *mut c_void) -> ! {
    if let Some(base) = threads::set_result(result) {
        let exception = &EXCEPTIONS[engine::current()];
        exception.0.iter().for_each(|word| word.store(0, Relaxed));
        // SAFETY: the exception stays, and may be written to; the frames left are the target's.
        unsafe { _Unwind_ForcedUnwind(exception, stop, ptr::without_provenance_mut(base)) };
    } else {
        crate::fault::end_for(Ended::ThreadExit);
    }
    engine::exit_thread()
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_exit(result: *mut c_void) -> ! {
    if !engine::controls() {
        end_if_not_the_targets();
        // SAFETY: the caller's argument.
        unsafe { real::pthread_exit(result) }
    }
    exit(result)
}
