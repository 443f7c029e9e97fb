//! Signals that the target sends and blocks. Each virtual thread has a mask and pending signals of
//! its own here, because fibers share the kernel's; the kernel's mask is left alone. A thread takes
//! a signal when it next runs; if it waits, it runs for that, and then waits again. The kernel then
//! delivers the signal to the handler.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use libc::{EAGAIN, EINVAL, ESRCH, SIGKILL, SIGSTOP, c_int, c_long, pid_t, pthread_t, sigset_t};

use super::errno::or_fails;
use super::signal_queue::{self, Sent};
use super::thread_ids::{THREADS, current_or_outside, thread_with_id};
use super::{real, signal_handlers};
use crate::controlled::accesses;
use crate::controlled::core::access::Effect;
use crate::controlled::core::engine::{self, Taken};

/// Signals as bits: signal s is bit s - 1, as in the first word of a `sigset_t`.
pub(super) type Set = u64;

struct Thread {
    blocked: AtomicU64,
    pending: AtomicU64,
    /// Signals that it waits for: blocked, but it may be sent them.
    awaited: AtomicU64,
}

/// The last entry has the mask that libraries were loaded with: each round begins with it.
static ALL: [Thread; THREADS + 1] = [const {
    Thread { blocked: AtomicU64::new(0), pending: AtomicU64::new(0), awaited: AtomicU64::new(0) }
}; THREADS + 1];

/// Sent to the process while every thread blocked them.
static PENDING_FOR_PROCESS: AtomicU64 = AtomicU64::new(0);

/// Stands for the process as the receiver of a signal.
const PROCESS: usize = THREADS;

const fn bit(signal: c_int) -> Set {
    1 << (signal - 1)
}

/// Nobody can block these. 32 and 33 are the C library's own.
const NEVER_BLOCKED: Set = bit(SIGKILL) | bit(SIGSTOP) | bit(32) | bit(33);

/// To be called before the first round: takes the real mask over for virtual threads, and empties
/// it.
pub fn take_mask_over() {
    // SAFETY: signal sets made here; they are whole once the call has filled them.
    unsafe {
        let (mut none, mut old): (sigset_t, sigset_t) = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        if real::pthread_sigmask(libc::SIG_SETMASK, &none, &mut old) == 0 {
            ALL[THREADS].blocked.store(word(&raw const old).read(), Relaxed);
        }
    }
}

pub(super) fn reset() {
    PENDING_FOR_PROCESS.store(0, Relaxed);
    engine::clear_signalled();
    signal_queue::reset();
}

/// A thread begins, with the mask of the thread that starts it.
pub fn thread_begins(thread: usize) {
    let blocked = ALL[engine::current()].blocked.load(Relaxed);
    ALL[thread].blocked.store(blocked, Relaxed);
    ALL[thread].pending.store(0, Relaxed);
    ALL[thread].awaited.store(0, Relaxed);
    signal_queue::remove_all_to(thread);
    update_signalled(thread);
}

/// The running thread takes its signals: runs their handlers.
#[cold]
pub fn take(thread: usize) -> Taken {
    let mut taken = Taken::Nothing;
    while let Some(sent) = remove(thread, !ALL[thread].blocked.load(Relaxed)) {
        taken = taken.max(signal_handlers::disposition(sent.signal));
        sent.deliver();
    }
    taken
}

fn deliverable(thread: usize) -> Set {
    let own = &ALL[thread];
    (own.pending.load(Relaxed) | PENDING_FOR_PROCESS.load(Relaxed)) & !own.blocked.load(Relaxed)
}

/// Lets the engine know whether the thread has a signal to take.
fn update_signalled(thread: usize) {
    engine::set_signalled(thread, deliverable(thread) != 0);
}

/// Removes the lowest signal of a set that is pending for the thread or the process.
pub(super) fn remove(thread: usize, set: Set) -> Option<Sent> {
    let own = &ALL[thread].pending;
    let set = set & (own.load(Relaxed) | PENDING_FOR_PROCESS.load(Relaxed));
    if set == 0 {
        return None;
    }
    let lowest = set & set.wrapping_neg();
    let signal = lowest.trailing_zeros() as c_int + 1;
    let (to, pending) = match own.load(Relaxed) & lowest {
        0 => (PROCESS, &PENDING_FOR_PROCESS),
        _ => (thread, own),
    };
    let (sent, more) = signal_queue::pop(to, signal);
    if !more {
        pending.fetch_and(!lowest, Relaxed);
    }
    update_signalled(thread);
    Some(sent.unwrap_or(Sent { signal, code: libc::SI_USER, value: 0 }))
}

/// What a wait for signals is woken by: one key for each thread, outside of all memory.
pub(super) fn wait_key(thread: usize) -> usize {
    usize::MAX - 6 * THREADS + thread
}

/// Says which signals the thread waits for.
pub(super) fn set_awaited(thread: usize, set: Set) {
    ALL[thread].awaited.store(set, Relaxed);
}

fn ends_process() -> ! {
    crate::fault::note_own_kill();
    // SAFETY: plain numbers.
    unsafe { real::kill(libc::getpid(), SIGKILL) };
    std::process::abort()
}

/// Outside of control the kernel sends signals. Notes a SIGKILL to the own process, which otherwise
/// looks like one from outside.
fn note_own_kill(signal: c_int) {
    if signal == SIGKILL && !engine::controls() {
        crate::fault::note_own_kill();
    }
}

/// Makes a signal pending for a thread that has not ended; EAGAIN if the queue is full.
fn post(thread: usize, sent: Sent) -> c_int {
    if sent.signal == SIGSTOP {
        engine::cannot_control("SIGSTOP, and only another process would have it go on");
    }
    if sent.signal == SIGKILL {
        ends_process();
    }
    let own = &ALL[thread];
    let sent_bit = bit(sent.signal);
    if !signal_queue::push(thread, sent, own.pending.load(Relaxed) & sent_bit != 0) {
        return EAGAIN;
    }
    own.pending.fetch_or(sent_bit, Relaxed);
    update_signalled(thread);
    if thread == engine::current() {
        take(thread);
    } else if engine::has_signal(thread) {
        engine::interrupt(thread);
    } else if own.awaited.load(Relaxed) & sent_bit != 0 {
        engine::wake(wait_key(thread), 1);
    }
    0
}

/// As [`post`], and lets others run.
fn send(thread: usize, sent: Sent) -> c_int {
    let error = post(thread, sent);
    engine::changed();
    accesses::pause(0, Effect::None);
    error
}

/// EINVAL for a number that no signal has.
fn number_error(signal: c_int) -> Option<c_int> {
    (!(0..=64).contains(&signal)).then_some(EINVAL)
}

fn send_if_living(thread: usize, sent: Sent) -> c_int {
    if let Some(error) = number_error(sent.signal) {
        return error;
    }
    accesses::pause(0, Effect::None);
    match engine::has_ended(thread) {
        true => ESRCH,
        false if sent.signal == 0 => 0,
        false => send(thread, sent),
    }
}

/// A signal sent to a thread, without a value.
fn to_thread(signal: c_int) -> Sent {
    Sent { signal, code: libc::SI_TKILL, value: 0 }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn raise(signal: c_int) -> c_int {
    note_own_kill(signal);
    outside_control!(raise(signal));
    if signal == 0 || number_error(signal).is_some() {
        return or_fails(number_error(signal).unwrap_or(0));
    }
    or_fails(post(engine::current(), to_thread(signal)))
}

/// Sends a real signal to a carrier's thread. Control is global, and the receiver may run before
/// this returns, so control must not be changed here.
pub fn signal_carrier(pthread: pthread_t, signal: c_int) {
    // SAFETY: parked threads never end.
    unsafe { real::pthread_kill(pthread, signal) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_kill(pthread: pthread_t, signal: c_int) -> c_int {
    note_own_kill(signal);
    outside_control!(pthread_kill(pthread, signal));
    match engine::thread_of(pthread) {
        Some(thread) => send_if_living(thread, to_thread(signal)),
        // SAFETY: the caller's arguments; to a thread started outside of control.
        None => unsafe { real::pthread_kill(pthread, signal) },
    }
}

/// Sends to the own process: to the first thread that does not block the signal or waits for it,
/// the sender first.
fn send_to_process(sent: Sent) -> c_int {
    if sent.signal == 0 || number_error(sent.signal).is_some() {
        return number_error(sent.signal).unwrap_or(0);
    }
    let takes = |thread: &usize| {
        let own = &ALL[*thread];
        let refused = own.blocked.load(Relaxed) & !own.awaited.load(Relaxed);
        !engine::has_ended(*thread) && refused & bit(sent.signal) == 0
    };
    if let Some(thread) = std::iter::once(engine::current()).chain(0..THREADS).find(takes) {
        return send(thread, sent);
    }
    if !signal_queue::push(PROCESS, sent, PENDING_FOR_PROCESS.load(Relaxed) & bit(sent.signal) != 0)
    {
        return EAGAIN;
    }
    PENDING_FOR_PROCESS.fetch_or(bit(sent.signal), Relaxed);
    0
}

/// Whether the target sends a signal to its own process.
fn is_to_self(process: pid_t) -> bool {
    // SAFETY: has no preconditions.
    engine::controls() && process == unsafe { libc::getpid() }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn kill(process: pid_t, signal: c_int) -> c_int {
    // SAFETY: has no preconditions.
    if process == unsafe { libc::getpid() } {
        note_own_kill(signal);
    }
    match is_to_self(process) {
        true => or_fails(send_to_process(Sent { signal, code: libc::SI_USER, value: 0 })),
        // SAFETY: the caller's arguments.
        false => unsafe { real::kill(process, signal) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigqueue(process: pid_t, signal: c_int, value: libc::sigval) -> c_int {
    let sent = Sent { signal, code: libc::SI_QUEUE, value: value.sival_ptr.expose_provenance() };
    match is_to_self(process) {
        true => or_fails(send_to_process(sent)),
        // SAFETY: the caller's arguments.
        false => unsafe { real::sigqueue(process, signal, value) },
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn tgkill(process: pid_t, thread: pid_t, signal: c_int) -> c_int {
    outside_control!(tgkill(process, thread, signal));
    match thread_with_id(thread as u32) {
        Some(own) => or_fails(send_if_living(own, to_thread(signal))),
        // SAFETY: the caller's arguments.
        None => unsafe { real::tgkill(process, thread, signal) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_sigqueue(
    pthread: pthread_t,
    signal: c_int,
    value: libc::sigval,
) -> c_int {
    outside_control!(pthread_sigqueue(pthread, signal, value));
    let sent = Sent { signal, code: libc::SI_QUEUE, value: value.sival_ptr.expose_provenance() };
    match engine::thread_of(pthread) {
        Some(thread) => send_if_living(thread, sent),
        // SAFETY: the caller's arguments; to a thread started outside of control.
        None => unsafe { real::pthread_sigqueue(pthread, signal, value) },
    }
}

/// The first word of a set: the only one that has signals.
pub(super) fn word(set: *const sigset_t) -> *const Set {
    set.cast()
}

/// Changes the running thread's mask. An error, or 0.
///
/// # Safety
/// `new` and `old` are each null or point to a set of `words` words.
unsafe fn change_mask(how: c_int, new: *const sigset_t, old: *mut sigset_t, words: usize) -> c_int {
    let me = engine::current();
    let before = ALL[me].blocked.load(Relaxed);
    // SAFETY: the caller's set.
    let set = (!new.is_null()).then(|| unsafe { word(new).read() });
    let after = match (set, how) {
        (None, _) => before,
        (Some(set), libc::SIG_BLOCK) => before | set,
        (Some(set), libc::SIG_UNBLOCK) => before & !set,
        (Some(set), libc::SIG_SETMASK) => set,
        _ => return EINVAL,
    };
    if !old.is_null() {
        // SAFETY: the caller's room.
        unsafe {
            std::ptr::write_bytes(old.cast::<Set>(), 0, words);
            old.cast::<Set>().write(before);
        }
    }
    replace_mask(after);
    0
}

/// Replaces the running thread's mask, and takes the signals that it unblocks. Gives the mask
/// before.
pub(super) fn replace_mask(mask: Set) -> (Set, Taken) {
    let me = engine::current();
    let before = ALL[me].blocked.swap(mask & !NEVER_BLOCKED, Relaxed);
    update_signalled(me);
    let taken = if engine::has_signal(me) { take(me) } else { Taken::Nothing };
    (before, taken)
}

const SET_WORDS: usize = size_of::<sigset_t>() / size_of::<Set>();

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_sigmask(
    how: c_int,
    new: *const sigset_t,
    old: *mut sigset_t,
) -> c_int {
    outside_control!(pthread_sigmask(how, new, old));
    // SAFETY: the caller's sets.
    unsafe { change_mask(how, new, old, SET_WORDS) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigprocmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int {
    outside_control!(sigprocmask(how, new, old));
    // SAFETY: the caller's sets.
    or_fails(unsafe { change_mask(how, new, old, SET_WORDS) })
}

/// `rt_sigprocmask` as a system call, whose sets have one word.
///
/// # Safety
/// `new` and `old` are each null or point to such a set.
pub(super) unsafe fn rt_sigprocmask(
    how: c_int,
    new: *const sigset_t,
    old: *mut sigset_t,
) -> c_long {
    // SAFETY: the caller's sets.
    or_fails(unsafe { change_mask(how, new, old, 1) }).into()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigpending(into: *mut sigset_t) -> c_int {
    outside_control!(sigpending(into));
    let own = &ALL[current_or_outside()];
    let pending = own.pending.load(Relaxed) | PENDING_FOR_PROCESS.load(Relaxed);
    // SAFETY: the caller's room.
    unsafe {
        libc::sigemptyset(into);
        into.cast::<Set>().write(pending & own.blocked.load(Relaxed));
    }
    0
}
