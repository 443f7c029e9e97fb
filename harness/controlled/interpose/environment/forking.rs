//! How a process becomes two, and the functions that the target wants called then. Those of a round
//! are kept here: the C library would never forget them, while the variable that tells the target
//! that it has registered them is put back.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

use super::{engine, real};
use crate::controlled::core::control;

pub(super) type Handler = Option<unsafe extern "C" fn()>;

/// Most that a round may register.
const MOST: usize = 32;

/// Before a fork, and after it in the parent and in the child: functions, or null.
struct Handlers([AtomicPtr<c_void>; 3]);

const BEFORE: usize = 0;
const PARENT: usize = 1;
const CHILD: usize = 2;

static REGISTERED: [Handlers; MOST] =
    [const { Handlers([const { AtomicPtr::new(ptr::null_mut()) }; 3]) }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);

pub(super) fn reset() {
    COUNT.store(0, Relaxed);
}

/// What `pthread_atfork` is in a library: with a handle of that library, which stays loaded.
#[unsafe(no_mangle)]
unsafe extern "C" fn __register_atfork(
    before: Handler,
    parent: Handler,
    child: Handler,
    library: *mut c_void,
) -> c_int {
    outside_control!(__register_atfork(before, parent, child, library));
    let count = COUNT.load(Relaxed);
    if count == MOST {
        engine::cannot_control("more functions with pthread_atfork than there is room for");
    }
    for (at, handler) in REGISTERED[count].0.iter().zip([before, parent, child]) {
        at.store(handler.map_or(ptr::null_mut(), |function| function as *mut c_void), Relaxed);
    }
    COUNT.store(count + 1, Relaxed);
    0
}

fn call(handlers: &Handlers, which: usize) {
    let function = handlers.0[which].load(Relaxed);
    // SAFETY: null, or stored from a function of this type.
    let function = unsafe { std::mem::transmute::<*mut c_void, Handler>(function) };
    if let Some(function) = function {
        // SAFETY: the target's, for calls like this one.
        unsafe { function() };
    }
}

/// A child has but the thread that forked: there is nobody to switch to.
#[unsafe(no_mangle)]
unsafe extern "C" fn fork() -> libc::pid_t {
    let controls = engine::controls();
    let registered = if controls { &REGISTERED[..COUNT.load(Relaxed)] } else { &[] };
    // The latest first, the others as they came.
    registered.iter().rev().for_each(|handlers| call(handlers, BEFORE));
    // SAFETY: has no preconditions.
    let process = unsafe { real::fork() };
    if process == 0 {
        control::set_controls(false);
    }
    let which = if process == 0 { CHILD } else { PARENT };
    registered.iter().for_each(|handlers| call(handlers, which));
    process
}
