//! Notices a hang: a thread that computes without end and without a scheduling point. A timer of
//! processor time sends a signal; after several in a row at the same step, it is a hang. A target
//! that waits in the kernel uses no processor time: the main program notices that, and sends the
//! same signal.

use std::ffi::c_void;
use std::io;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use libc::{c_int, pthread_t};

use super::{backtrace, fault_report};
use crate::controlled::core::{control, current_round, engine};
use crate::stacks::{self, SIGNAL};

/// Ticks at the same step that make a hang.
const TICKS: u32 = 5;

/// Hash of round and step at the last tick, and ticks since they changed.
static LAST_SEEN: AtomicU64 = AtomicU64::new(0);
static STUCK_TICKS: AtomicU32 = AtomicU32::new(0);

/// What the process had touched when [`fills_memory`] was asked last.
static STUCK_BYTES: AtomicU64 = AtomicU64::new(0);

/// The main program has sent the signal: the process uses no processor time.
static ASKED: AtomicBool = AtomicBool::new(false);

static WATCHED: OnceLock<Watched> = OnceLock::new();

/// What the watchdog is told.
pub struct Watched {
    /// So much processor time without a step is a hang.
    pub limit: Duration,
    /// Unless the process touches so many bytes of memory meanwhile: it fills its memory.
    pub leak_bytes: u64,
    /// The bytes that it has touched. Safe in a signal handler.
    pub touched: fn() -> u64,
    /// Sends a signal to one of the carrier's threads.
    pub signal: fn(pthread_t, c_int),
}

/// Begins to watch.
pub fn start(watched: Watched) -> io::Result<()> {
    let tick = watched.limit / TICKS;
    let _ = WATCHED.set(watched);
    // SAFETY: plain calls with structures made here; the handler calls nothing that is not safe
    // in one, until it ends the process.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_tick as *const () as usize;
        action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
        libc::sigemptyset(&mut action.sa_mask);
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = SIGNAL;
        let every = libc::timespec {
            tv_sec: tick.as_secs() as libc::time_t,
            tv_nsec: tick.subsec_nanos().into(),
        };
        let times = libc::itimerspec { it_interval: every, it_value: every };
        let mut timer = std::mem::zeroed();
        libc::sigaction(SIGNAL, &action, ptr::null_mut()) == 0
            && libc::timer_create(libc::CLOCK_PROCESS_CPUTIME_ID, &mut event, &mut timer) == 0
            && libc::timer_settime(timer, 0, &times, ptr::null_mut()) == 0
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A tick, or a signal of the main program. The kernel chooses the thread that takes it, which
/// passes it to the running one.
extern "C" fn on_tick(_signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's.
    let asked = unsafe { (*info).si_code } == libc::SI_USER;
    let now = current_round::number().rotate_left(40) ^ engine::step();
    if !control::controls() || LAST_SEEN.swap(now, Relaxed) != now && !asked {
        STUCK_TICKS.store(0, Relaxed);
        return;
    }
    let ticks = STUCK_TICKS.fetch_add(1, Relaxed) + 1;
    if ticks == 1 {
        fills_memory();
    }
    if ticks < TICKS && !asked {
        return;
    }
    // Another tick passes the signal to the thread that runs.
    if ticks == TICKS && !asked && fills_memory() {
        STUCK_TICKS.store(0, Relaxed);
        return;
    }
    if asked {
        ASKED.store(true, Relaxed);
    }
    let running = engine::pthread(engine::current());
    // SAFETY: pthread_self has no preconditions.
    if unsafe { libc::pthread_self() } == running {
        // SAFETY: the third argument of an SA_SIGINFO handler is a ucontext_t.
        let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
        let at = registers[libc::REG_RIP as usize] as usize;
        if let Some(library) = backtrace::uninstrumented_here() {
            // It may wait for a thread that cannot run meanwhile.
            engine::cannot_control(&format!(
                "code of {library}, which has no hooks and does not come to an end"
            ));
        }
        if ASKED.load(Relaxed) && stacks::is_system_call(at) {
            // Only a thread that cannot run meanwhile could end the wait.
            engine::cannot_control("a system call that waits in the kernel and that has no hook");
        }
        fault_report::hang();
    }
    STUCK_TICKS.store(TICKS, Relaxed);
    if let Some(watched) = WATCHED.get() {
        (watched.signal)(running, SIGNAL);
    }
}

/// Whether the process has touched much memory since this was asked last.
fn fills_memory() -> bool {
    let Some(watched) = WATCHED.get() else { return false };
    let now = (watched.touched)();
    let before = STUCK_BYTES.swap(now, Relaxed);
    now.saturating_sub(before) > watched.leak_bytes
}
