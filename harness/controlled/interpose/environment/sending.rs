//! Signals that the target sends and blocks. Every virtual thread has its own mask and its own
//! pending signals here, as fibers share those that the kernel keeps; the kernel's mask stays as it
//! is. A signal that may be taken goes through the kernel, on the thread that takes it, to the
//! handler (`signals`): when the thread goes on, or at once if it waits, which it then does again.
//! What signals carry is in `queued`, who waits for one in `signal_waits`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use libc::{EAGAIN, EINVAL, ESRCH, SIGKILL, SIGSTOP, c_int, c_long, pid_t, pthread_t, sigset_t};

use super::queued::{self, Sent};
use super::{THREADS, engine, fails, identity, real, row, signal_waits, signals};
use crate::controlled::accesses;
use crate::controlled::core::access::Effect;
use engine::Taken;

/// Signals as bits: signal s is bit s - 1, as in the first word of a `sigset_t`.
pub(super) type Set = u64;

struct Thread {
    blocked: AtomicU64,
    pending: AtomicU64,
    /// Those that it waits for: blocked, but nobody else need be found for them.
    awaited: AtomicU64,
}

/// The last is the mask that libraries were loaded with: each round begins with it.
static ALL: [Thread; THREADS + 1] = [const {
    Thread { blocked: AtomicU64::new(0), pending: AtomicU64::new(0), awaited: AtomicU64::new(0) }
}; THREADS + 1];

/// Sent to the process while every thread blocked them.
static OF_ANY: AtomicU64 = AtomicU64::new(0);

/// To whom those are sent.
const ANY: usize = THREADS;

const fn bit(signal: c_int) -> Set {
    1 << (signal - 1)
}

/// Nobody can block these; the two between those of the kernel and of the target are the C
/// library's.
const NEVER: Set = bit(SIGKILL) | bit(SIGSTOP) | bit(32) | bit(33);

/// Before the first round: the mask of the thread that loaded the target becomes the virtual one.
pub fn start() {
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
    OF_ANY.store(0, Relaxed);
    engine::clear_signalled();
    queued::reset();
}

/// A thread begins, with the mask of the one that began it.
pub fn thread_begins(thread: usize) {
    let blocked = ALL[engine::current()].blocked.load(Relaxed);
    ALL[thread].blocked.store(blocked, Relaxed);
    ALL[thread].pending.store(0, Relaxed);
    ALL[thread].awaited.store(0, Relaxed);
    queued::forget(thread);
    settle(thread);
}

/// The running thread takes its signals.
#[cold]
pub fn take(thread: usize) -> Taken {
    let mut taken = Taken::Nothing;
    while let Some(sent) = remove(thread, !ALL[thread].blocked.load(Relaxed)) {
        taken = taken.max(signals::does(sent.signal));
        sent.deliver();
    }
    taken
}

fn takable(thread: usize) -> Set {
    let own = &ALL[thread];
    (own.pending.load(Relaxed) | OF_ANY.load(Relaxed)) & !own.blocked.load(Relaxed)
}

fn settle(thread: usize) {
    engine::set_signalled(thread, takable(thread) != 0);
}

/// Removes and gives the lowest signal of a set that was sent to the thread or to any.
pub(super) fn remove(thread: usize, set: Set) -> Option<Sent> {
    let own = &ALL[thread].pending;
    let set = set & (own.load(Relaxed) | OF_ANY.load(Relaxed));
    if set == 0 {
        return None;
    }
    let lowest = set & set.wrapping_neg();
    let signal = lowest.trailing_zeros() as c_int + 1;
    let (to, pending) = match own.load(Relaxed) & lowest {
        0 => (ANY, &OF_ANY),
        _ => (thread, own),
    };
    let (sent, more) = queued::pop(to, signal);
    if !more {
        pending.fetch_and(!lowest, Relaxed);
    }
    settle(thread);
    Some(sent.unwrap_or(Sent { signal, code: libc::SI_USER, value: 0 }))
}

/// Says which signals the thread waits for.
pub(super) fn set_awaited(thread: usize, set: Set) {
    ALL[thread].awaited.store(set, Relaxed);
}

/// No thread goes on after a SIGKILL, whichever it is sent to.
fn ends_process() -> ! {
    crate::fault::note_own_kill();
    // SAFETY: plain numbers.
    unsafe { real::kill(libc::getpid(), SIGKILL) };
    std::process::abort()
}

/// Outside of control signals are the kernel's; that the process kills itself is noted, for nobody
/// could tell it later.
fn note_outside(signal: c_int) {
    if signal == SIGKILL && !engine::controls() {
        crate::fault::note_own_kill();
    }
}

/// A signal for a thread that has not ended; an error if there is no room for it.
fn post(thread: usize, sent: Sent) -> c_int {
    if sent.signal == SIGSTOP {
        engine::cannot_control("SIGSTOP, and only another process would have it go on");
    }
    if sent.signal == SIGKILL {
        ends_process();
    }
    let own = &ALL[thread];
    let sent_bit = bit(sent.signal);
    if !queued::push(thread, sent, own.pending.load(Relaxed) & sent_bit != 0) {
        return EAGAIN;
    }
    own.pending.fetch_or(sent_bit, Relaxed);
    settle(thread);
    if thread == engine::current() {
        take(thread);
    } else if engine::has_signal(thread) {
        engine::interrupt(thread);
    } else if own.awaited.load(Relaxed) & sent_bit != 0 {
        engine::wake(signal_waits::key(thread), 1);
    }
    0
}

/// The same, and lets others run.
fn send(thread: usize, sent: Sent) -> c_int {
    let error = post(thread, sent);
    engine::changed();
    accesses::pause(0, Effect::None);
    error
}

/// What is wrong with a signal's number, as an error.
fn misfit(signal: c_int) -> Option<c_int> {
    (!(0..=64).contains(&signal)).then_some(EINVAL)
}

fn send_if_living(thread: usize, sent: Sent) -> c_int {
    if let Some(error) = misfit(sent.signal) {
        return error;
    }
    accesses::pause(0, Effect::None);
    match engine::has_ended(thread) {
        true => ESRCH,
        false if sent.signal == 0 => 0,
        false => send(thread, sent),
    }
}

/// A signal that a thread is sent, without a value.
fn to_thread(signal: c_int) -> Sent {
    Sent { signal, code: libc::SI_TKILL, value: 0 }
}

/// The answer of a function that returns -1 and says why in errno.
fn or_fails(error: c_int) -> c_int {
    if error == 0 { 0 } else { fails(error) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn raise(signal: c_int) -> c_int {
    note_outside(signal);
    outside_control!(raise(signal));
    if signal == 0 || misfit(signal).is_some() {
        return or_fails(misfit(signal).unwrap_or(0));
    }
    or_fails(post(engine::current(), to_thread(signal)))
}

/// Sends a signal to a carrier's thread, which may take it before this returns: control, which is
/// all threads', stays as it is.
pub fn signal_carrier(pthread: pthread_t, signal: c_int) {
    // SAFETY: parked threads never end.
    unsafe { real::pthread_kill(pthread, signal) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_kill(pthread: pthread_t, signal: c_int) -> c_int {
    note_outside(signal);
    outside_control!(pthread_kill(pthread, signal));
    match engine::thread_of(pthread) {
        Some(thread) => send_if_living(thread, to_thread(signal)),
        // SAFETY: the caller's arguments; to a thread started outside of control.
        None => unsafe { real::pthread_kill(pthread, signal) },
    }
}

/// To the own process: whoever does not block the signal, or waits for it, may take it; the sender
/// first.
fn send_to_any(sent: Sent) -> c_int {
    if sent.signal == 0 || misfit(sent.signal).is_some() {
        return misfit(sent.signal).unwrap_or(0);
    }
    let takes = |thread: &usize| {
        let own = &ALL[*thread];
        let refused = own.blocked.load(Relaxed) & !own.awaited.load(Relaxed);
        !engine::has_ended(*thread) && refused & bit(sent.signal) == 0
    };
    if let Some(thread) = std::iter::once(engine::current()).chain(0..THREADS).find(takes) {
        return send(thread, sent);
    }
    if !queued::push(ANY, sent, OF_ANY.load(Relaxed) & bit(sent.signal) != 0) {
        return EAGAIN;
    }
    OF_ANY.fetch_or(bit(sent.signal), Relaxed);
    0
}

/// Whether a function that sends a signal to this process is ours to answer.
fn is_own(process: pid_t) -> bool {
    // SAFETY: has no preconditions.
    engine::controls() && process == unsafe { libc::getpid() }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn kill(process: pid_t, signal: c_int) -> c_int {
    // SAFETY: has no preconditions.
    if process == unsafe { libc::getpid() } {
        note_outside(signal);
    }
    match is_own(process) {
        true => or_fails(send_to_any(Sent { signal, code: libc::SI_USER, value: 0 })),
        // SAFETY: the caller's arguments.
        false => unsafe { real::kill(process, signal) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigqueue(process: pid_t, signal: c_int, value: libc::sigval) -> c_int {
    let sent = Sent { signal, code: libc::SI_QUEUE, value: value.sival_ptr.expose_provenance() };
    match is_own(process) {
        true => or_fails(send_to_any(sent)),
        // SAFETY: the caller's arguments.
        false => unsafe { real::sigqueue(process, signal, value) },
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn tgkill(process: pid_t, thread: pid_t, signal: c_int) -> c_int {
    outside_control!(tgkill(process, thread, signal));
    match (thread as u32).checked_sub(identity(0)) {
        Some(own) if (own as usize) < THREADS => {
            or_fails(send_if_living(own as usize, to_thread(signal)))
        }
        // SAFETY: the caller's arguments.
        _ => unsafe { real::tgkill(process, thread, signal) },
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

/// Gives the running thread another mask, with which it takes its signals; gives the one before.
pub(super) fn replace_mask(mask: Set) -> (Set, Taken) {
    let me = engine::current();
    let before = ALL[me].blocked.swap(mask & !NEVER, Relaxed);
    settle(me);
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
pub(super) unsafe fn call_sigprocmask(
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
    let own = &ALL[row()];
    let pending = own.pending.load(Relaxed) | OF_ANY.load(Relaxed);
    // SAFETY: the caller's room.
    unsafe {
        libc::sigemptyset(into);
        into.cast::<Set>().write(pending & own.blocked.load(Relaxed));
    }
    0
}
