//! Handlers of signals that the target raises itself. A handler runs in one step: were another
//! thread to run in the middle of it, the signal would stay blocked for that one, as fibers share
//! one mask. So the kernel calls a function here, which calls the target's.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use libc::{SIG_DFL, SIG_ERR, SIG_IGN, c_int, sighandler_t, siginfo_t};

use super::{engine, fails, real};

const SIGNALS: usize = 65;

/// The target's handlers, by signal.
static HANDLERS: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(SIG_DFL) }; SIGNALS];

type Handler = unsafe extern "C-unwind" fn(c_int, *mut siginfo_t, *mut c_void);

/// What the kernel calls. A handler that takes the signal alone does not look at the rest.
unsafe extern "C-unwind" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let handler = HANDLERS[signal as usize].load(Relaxed);
    // SAFETY: stored from a handler by `sigaction`.
    let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
    if !engine::controls() {
        // SAFETY: the kernel's arguments, for the target's handler.
        return unsafe { handler(signal, info, context) };
    }
    let before = engine::hold(true);
    // SAFETY: as above.
    unsafe { handler(signal, info, context) };
    engine::changed();
    engine::hold(before);
}

fn is_function(handler: sighandler_t) -> bool {
    ![SIG_DFL, SIG_IGN, SIG_ERR].contains(&handler)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    outside_control!(sigaction(signal, new, old));
    if !(1..SIGNALS as c_int).contains(&signal) {
        return fails(libc::EINVAL);
    }
    let known = HANDLERS[signal as usize].load(Relaxed);
    // SAFETY: the caller's structures, each null or whole.
    unsafe {
        let mut ours = new.as_ref().copied();
        if let Some(action) = ours.as_mut().filter(|action| is_function(action.sa_sigaction)) {
            HANDLERS[signal as usize].store(action.sa_sigaction, Relaxed);
            action.sa_sigaction = handle as *const () as usize;
        }
        let ours = ours.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let answer = real::sigaction(signal, ours, old);
        if let Some(old) = old.as_mut()
            && old.sa_sigaction == handle as *const () as usize
        {
            old.sa_sigaction = known;
        }
        answer
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
    outside_control!(signal(signal, handler));
    // SAFETY: structures made here.
    unsafe {
        let mut new: libc::sigaction = std::mem::zeroed();
        let mut old: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = handler;
        new.sa_flags = libc::SA_RESTART;
        match self::sigaction(signal, &new, &mut old) {
            0 => old.sa_sigaction,
            _ => SIG_ERR,
        }
    }
}

/// To the own process, a signal goes to the thread that sends it: any may take it.
#[unsafe(no_mangle)]
unsafe extern "C" fn kill(process: libc::pid_t, signal: c_int) -> c_int {
    // SAFETY: has no preconditions.
    if engine::controls() && signal != 0 && process == unsafe { libc::getpid() } {
        // SAFETY: takes a number.
        return unsafe { libc::raise(signal) };
    }
    // SAFETY: the caller's arguments.
    unsafe { real::kill(process, signal) }
}
