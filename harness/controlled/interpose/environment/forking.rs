//! `fork` and the handlers of `pthread_atfork`. Handlers registered in a round are kept here: the C
//! library would keep them for good, although the target forgets with each round that it has
//! registered them.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

use super::real::{self, ForkHandler};
use crate::controlled::accesses;
use crate::controlled::core::{control, engine};

/// Sets of handlers that a round may register.
const SETS_MAX: usize = 32;

/// Before a fork, and after it in the parent and in the child: functions, or null.
struct Handlers([AtomicPtr<c_void>; 3]);

const BEFORE: usize = 0;
const PARENT: usize = 1;
const CHILD: usize = 2;

static REGISTERED: [Handlers; SETS_MAX] =
    [const { Handlers([const { AtomicPtr::new(ptr::null_mut()) }; 3]) }; SETS_MAX];
static COUNT: AtomicUsize = AtomicUsize::new(0);

pub(super) fn reset() {
    COUNT.store(0, Relaxed);
}

/// What `pthread_atfork` calls, with a handle of the library that contains it.
#[unsafe(no_mangle)]
unsafe extern "C" fn __register_atfork(
    before: ForkHandler,
    parent: ForkHandler,
    child: ForkHandler,
    library: *mut c_void,
) -> c_int {
    outside_control!(__register_atfork(before, parent, child, library));
    let count = COUNT.load(Relaxed);
    if count == SETS_MAX {
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
    let function = unsafe { std::mem::transmute::<*mut c_void, ForkHandler>(function) };
    if let Some(function) = function {
        // SAFETY: the target's, for calls like this one.
        unsafe { function() };
    }
}

/// The child is not under control: it has the forking thread alone, and none to switch to.
#[unsafe(no_mangle)]
unsafe extern "C" fn fork() -> libc::pid_t {
    let controls = engine::controls();
    let registered = if controls { &REGISTERED[..COUNT.load(Relaxed)] } else { &[] };
    // POSIX: `prepare` handlers in reverse order, the others in the order of registration.
    registered.iter().rev().for_each(|handlers| call(handlers, BEFORE));
    accesses::report_all();
    // SAFETY: has no preconditions.
    let process = unsafe { real::fork() };
    if process == 0 {
        control::set_controls(false);
    }
    let which = if process == 0 { CHILD } else { PARENT };
    registered.iter().for_each(|handlers| call(handlers, which));
    process
}
