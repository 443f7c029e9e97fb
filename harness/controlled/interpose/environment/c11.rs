//! The threads and locks of C11. In glibc they are those of pthreads, but their functions do not
//! call the interposed ones, so they are interposed too.

use std::ffi::c_void;
use std::mem::transmute;
use std::ptr;

use libc::{
    EBUSY, ETIMEDOUT, c_int, pthread_cond_t, pthread_key_t, pthread_mutex_t, pthread_t, timespec,
};

use super::mutex::Mutex;
use super::{condition, keys, once, real, thread_exit, threads, time};
use crate::controlled::accesses;
use crate::controlled::core::access::Effect;
use crate::controlled::core::engine;

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const TIMED_OUT: c_int = 4;

/// What a C11 function returns for an error of pthreads.
fn answer(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        EBUSY => BUSY,
        ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mtx_lock(mutex: *mut pthread_mutex_t) -> c_int {
    outside_control!(mtx_lock(mutex));
    // SAFETY: the caller's mutex.
    answer(unsafe { Mutex::at(mutex) }.lock(None))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mtx_trylock(mutex: *mut pthread_mutex_t) -> c_int {
    outside_control!(mtx_trylock(mutex));
    // SAFETY: the caller's mutex.
    answer(unsafe { Mutex::at(mutex) }.try_lock())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mtx_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int {
    outside_control!(mtx_timedlock(mutex, until));
    // SAFETY: the caller's time and mutex.
    let locked = unsafe {
        let deadline = time::deadline(libc::CLOCK_REALTIME, until);
        deadline.map(|deadline| Mutex::at(mutex).lock(deadline))
    };
    answer(locked.unwrap_or_else(|error| error))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mtx_unlock(mutex: *mut pthread_mutex_t) -> c_int {
    outside_control!(mtx_unlock(mutex));
    // SAFETY: the caller's mutex.
    answer(unsafe { Mutex::at(mutex) }.unlock())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cnd_wait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
) -> c_int {
    outside_control!(cnd_wait(condition, mutex));
    // SAFETY: the caller's arguments.
    answer(unsafe { condition::wait(condition, mutex, None) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cnd_timedwait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    until: *const timespec,
) -> c_int {
    outside_control!(cnd_timedwait(condition, mutex, until));
    // SAFETY: the caller's arguments.
    answer(unsafe { condition::wait_until(condition, mutex, libc::CLOCK_REALTIME, until) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cnd_signal(condition: *mut pthread_cond_t) -> c_int {
    outside_control!(cnd_signal(condition));
    condition::wake(condition, 1)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cnd_broadcast(condition: *mut pthread_cond_t) -> c_int {
    outside_control!(cnd_broadcast(condition));
    condition::wake(condition, usize::MAX)
}

type Start = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;

#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_create(
    into: *mut pthread_t,
    function: Start,
    argument: *mut c_void,
) -> c_int {
    outside_control!(thrd_create(into, function, argument));
    // SAFETY: both return their result in one register; `thrd_join` looks at the lower half only.
    let start = unsafe { transmute::<Start, real::Start>(function) };
    // SAFETY: where the caller wants the descriptor.
    unsafe { *into = threads::start(start, argument, false) };
    accesses::pause(0, Effect::None);
    SUCCESS
}

#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_join(thread: pthread_t, into: *mut c_int) -> c_int {
    outside_control!(thrd_join(thread, into));
    let joined = threads::join(thread, None);
    if let (Ok(result), false) = (joined, into.is_null()) {
        // SAFETY: where the caller wants the result.
        unsafe { *into = result.addr() as c_int };
    }
    answer(joined.err().unwrap_or(0))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_detach(thread: pthread_t) -> c_int {
    outside_control!(thrd_detach(thread));
    // SAFETY: the caller's thread.
    answer(unsafe { threads::pthread_detach(thread) })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn thrd_exit(result: c_int) -> ! {
    if !engine::controls() {
        thread_exit::end_if_not_the_targets();
        // SAFETY: the caller's argument.
        unsafe { real::thrd_exit(result) }
    }
    thread_exit::exit(ptr::without_provenance_mut(result as u32 as usize))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_sleep(duration: *const timespec, left: *mut timespec) -> c_int {
    outside_control!(thrd_sleep(duration, left));
    // SAFETY: the caller's time. Any negative number but -1 is an error.
    if unsafe { time::sleep_for(duration) } == 0 { 0 } else { -2 }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_yield() {
    outside_control!(thrd_yield());
    engine::yield_now();
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn call_once(flag: *mut c_int, routine: real::Routine) {
    outside_control!(call_once(flag, routine));
    // SAFETY: the caller's arguments.
    unsafe { once::pthread_once(flag, routine) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tss_create(
    into: *mut pthread_key_t,
    destructor: Option<real::Destructor>,
) -> c_int {
    // SAFETY: the caller's arguments.
    answer(unsafe { keys::pthread_key_create(into, destructor) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tss_get(key: pthread_key_t) -> *mut c_void {
    // SAFETY: the caller's key.
    unsafe { keys::pthread_getspecific(key) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tss_set(key: pthread_key_t, value: *mut c_void) -> c_int {
    // SAFETY: the caller's arguments.
    answer(unsafe { keys::pthread_setspecific(key, value) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tss_delete(key: pthread_key_t) {
    // SAFETY: the caller's key.
    unsafe { keys::pthread_key_delete(key) };
}
