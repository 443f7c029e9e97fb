//! Preemption on purpose. On few processors two calls overlap mostly by chance of the scheduler,
//! and a thread is hardly ever stopped in the middle of one. So in some rounds a thread of ours
//! sends signals to the callers, and one that is hit inside a call stalls there for a while, as if
//! the kernel had taken its processor away, while the others go on. Nothing happens that could not
//! happen by itself.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::thread::Thread;
use std::time::Duration;

use interlap::core::random::Random;
use interlap::trace::area::THREADS_MAX;

/// Kernel numbers of the threads that call now; 0: nobody.
static CALLERS: [AtomicI32; THREADS_MAX] = [const { AtomicI32::new(0) }; THREADS_MAX];
static ACTIVE: AtomicBool = AtomicBool::new(false);
/// What the next thread that is hit does: so many turns of the processor's pause, or, if 0, let
/// another thread have the processor.
static STALL: AtomicU64 = AtomicU64::new(0);

const GAP_MICROSECONDS: (u64, u64) = (5, 200);
const STALL_TURNS: (u64, u64) = (16, 8192);

thread_local! {
    /// Whether this thread is inside a call. Constant-initialised: the handler reads it.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Told by the timebox around each call.
#[inline(always)]
pub fn set_inside(inside: bool) {
    INSIDE.set(inside);
}

/// Marks the current thread as one that calls until it is dropped.
pub struct Caller(usize);

impl Caller {
    pub fn enter(thread: u32) -> Caller {
        let id = rustix::thread::gettid().as_raw_nonzero().get();
        CALLERS[thread as usize].store(id, Ordering::Relaxed);
        Caller(thread as usize)
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        CALLERS[self.0].store(0, Ordering::Relaxed);
    }
}

/// The thread that sends the signals; sleeps while no round wants them.
pub struct Disturber(Thread);

impl Disturber {
    pub fn start(seed: u64) -> Disturber {
        install();
        let handle = std::thread::spawn(move || disturb(Random::new(seed)));
        Disturber(handle.thread().clone())
    }

    /// From now on threads inside a call are stalled, or no longer.
    pub fn set_active(&self, active: bool) {
        ACTIVE.store(active, Ordering::Relaxed);
        if active {
            self.0.unpark();
        }
    }
}

fn signal() -> i32 {
    libc::SIGRTMIN() + 9
}

fn install() {
    // SAFETY: sigaction with a zeroed structure, a plain handler and an empty mask. SA_RESTART:
    // system calls of the target go on as if nothing had happened, where the kernel can do that.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = stall as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(signal(), &action, std::ptr::null_mut());
    }
}

/// Runs on the thread that was hit. Spins or yields; both are async-signal-safe and leave errno.
extern "C" fn stall(_signal: i32) {
    if !INSIDE.get() {
        return;
    }
    match STALL.load(Ordering::Relaxed) {
        0 => rustix::thread::sched_yield(),
        turns => (0..turns).for_each(|_| std::hint::spin_loop()),
    }
}

fn disturb(mut random: Random) {
    let process = rustix::process::getpid().as_raw_nonzero().get();
    // SAFETY: takes plain numbers; gaps shorter than the default slack of 50 us are wanted.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    loop {
        if !ACTIVE.load(Ordering::Relaxed) {
            std::thread::park();
            continue;
        }
        let turns = random.log_between(STALL_TURNS.0, STALL_TURNS.1);
        STALL.store(if random.one_in(4) { 0 } else { turns }, Ordering::Relaxed);
        let called: Vec<i32> =
            CALLERS.iter().map(|id| id.load(Ordering::Relaxed)).filter(|id| *id != 0).collect();
        if !called.is_empty() {
            let thread = *random.pick(&called);
            // SAFETY: takes plain numbers. A thread that has ended meanwhile is an error that
            // changes nothing.
            unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal()) };
        }
        let gap = random.log_between(GAP_MICROSECONDS.0, GAP_MICROSECONDS.1);
        std::thread::sleep(Duration::from_micros(gap));
    }
}
