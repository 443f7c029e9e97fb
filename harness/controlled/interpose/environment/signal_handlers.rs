//! Handlers of the target's signals. No other thread may run while one does: the kernel blocks the
//! signal meanwhile, and fibers share the kernel's mask. So the kernel calls a function here, which
//! lets the target's run in one step.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use libc::{SIG_DFL, SIG_ERR, SIG_IGN, c_int, sighandler_t, siginfo_t};

use super::errno::fails;
use super::loader::is_loading_target;
use super::real;
use crate::controlled::accesses;
use crate::controlled::core::access::Synchronizes;
use crate::controlled::core::engine::{self, Taken};

const SIGNALS: usize = 65;

/// The target's handlers, by signal.
static HANDLERS: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(SIG_DFL) }; SIGNALS];

/// Bit s - 1: the handler of signal s was installed without SA_RESTART, so it ends calls that wait.
static INTERRUPTING: AtomicU64 = AtomicU64::new(0);

type Handler = unsafe extern "C-unwind" fn(c_int, *mut siginfo_t, *mut c_void);

/// The handler that the kernel has. Handlers of one parameter ignore the rest.
unsafe extern "C-unwind" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let handler = HANDLERS[signal as usize].load(Relaxed);
    // SAFETY: stored from a handler by `sigaction`.
    let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
    if !engine::controls() {
        // SAFETY: the kernel's arguments, for the target's handler.
        return unsafe { handler(signal, info, context) };
    }
    let before = engine::set_exclusive(true);
    accesses::synchronizes(Synchronizes::AcquiresAll, 0);
    // SAFETY: as above.
    unsafe { handler(signal, info, context) };
    engine::changed();
    engine::set_exclusive(before);
}

fn is_function(handler: sighandler_t) -> bool {
    ![SIG_DFL, SIG_IGN, SIG_ERR].contains(&handler)
}

/// What taking this signal does.
pub(super) fn disposition(signal: c_int) -> Taken {
    match INTERRUPTING.load(Relaxed) >> (signal - 1) & 1 {
        _ if !is_function(HANDLERS[signal as usize].load(Relaxed)) => Taken::Nothing,
        0 => Taken::Handled,
        _ => Taken::Interrupted,
    }
}

fn note_handler(signal: c_int, handler: usize, flags: c_int) {
    HANDLERS[signal as usize].store(handler, Relaxed);
    match flags & libc::SA_RESTART {
        0 => INTERRUPTING.fetch_or(1 << (signal - 1), Relaxed),
        _ => INTERRUPTING.fetch_and(!(1 << (signal - 1)), Relaxed),
    };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    if !is_loading_target() {
        outside_control!(sigaction(signal, new, old));
    }
    if !(1..SIGNALS as c_int).contains(&signal) {
        return fails(libc::EINVAL);
    }
    let known = HANDLERS[signal as usize].load(Relaxed);
    // SAFETY: the caller's structures, each null or whole.
    unsafe {
        let mut ours = new.as_ref().copied();
        if let Some(action) = &mut ours {
            note_handler(signal, action.sa_sigaction, action.sa_flags);
            if is_function(action.sa_sigaction) {
                action.sa_sigaction = handle as *const () as usize;
            }
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
    if !is_loading_target() {
        outside_control!(signal(signal, handler));
    }
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
