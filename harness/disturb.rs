//! Stalls threads in the middle of calls, as a preemption by the kernel would. On few processors
//! such preemptions are rare, so in some rounds a thread of ours sends signals to the callers; a
//! caller that is inside a call then spins or yields in the signal's handler.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::thread::Thread;
use std::time::Duration;

use interlap::core::random::Random;

use crate::{callers, stacks};

static ACTIVE: AtomicBool = AtomicBool::new(false);
/// How the next thread stalls: so many pause instructions, or, if 0, it yields.
static STALL: AtomicU64 = AtomicU64::new(0);
/// The thread whose signal is under way, or 0. There is never more than one: signals that queue up
/// on a thread that hardly gets a processor would leave it no time for its call.
static SIGNALLED: AtomicI32 = AtomicI32::new(0);

const GAP_MICROSECONDS: (u64, u64) = (5, 200);
const STALL_TURNS: (u64, u64) = (16, 8192);

thread_local! {
    /// Whether this thread is inside a call. Constant-initialised: the handler reads it.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Called by the timebox around each call.
#[inline(always)]
pub fn set_inside(inside: bool) {
    INSIDE.set(inside);
}

/// The thread that sends the signals; it sleeps while no round wants them.
pub struct Disturber(Thread);

impl Disturber {
    pub fn start(seed: u64) -> Disturber {
        install();
        let handle = std::thread::spawn(move || disturb(Random::new(seed)));
        Disturber(handle.thread().clone())
    }

    /// Starts or stops stalling threads.
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
    // SAFETY: sigaction with a zeroed structure and a plain handler. SA_RESTART: system calls of
    // the target go on as if nothing had happened, where the kernel can do that. A thread that is
    // asked for its stack answers when the handler is done, not from inside of it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = stall as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaddset(&mut action.sa_mask, stacks::SIGNAL);
        libc::sigaction(signal(), &action, std::ptr::null_mut());
    }
}

/// Runs on the stalled thread. To spin or yield is async-signal-safe and leaves errno.
extern "C" fn stall(_signal: i32) {
    if INSIDE.get() {
        match STALL.load(Ordering::Relaxed) {
            0 => rustix::thread::sched_yield(),
            turns => (0..turns).for_each(|_| std::hint::spin_loop()),
        }
    }
    SIGNALLED.store(0, Ordering::Relaxed);
}

/// Sends the next signal, unless the one before is still on its way to a caller.
fn signal_one_of(callers: &[i32], random: &mut Random) {
    if callers.is_empty() || callers.contains(&SIGNALLED.load(Ordering::Relaxed)) {
        return;
    }
    let caller = *random.pick(callers);
    SIGNALLED.store(caller, Ordering::Relaxed);
    callers::signal(caller, signal());
}

fn disturb(mut random: Random) {
    // SAFETY: takes plain numbers; gaps shorter than the default slack of 50 us are wanted.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    loop {
        if !ACTIVE.load(Ordering::Relaxed) {
            std::thread::park();
            continue;
        }
        let turns = random.log_between(STALL_TURNS.0, STALL_TURNS.1);
        STALL.store(if random.one_in(4) { 0 } else { turns }, Ordering::Relaxed);
        signal_one_of(&callers::all().collect::<Vec<_>>(), &mut random);
        let gap = random.log_between(GAP_MICROSECONDS.0, GAP_MICROSECONDS.1);
        std::thread::sleep(Duration::from_micros(gap));
    }
}
