//! Clocks, sleeps and deadlines. Virtual time passes with the steps of a round, and jumps to the
//! next deadline when no thread can run. So a sleep costs nothing, and the seed decides whether a
//! timeout comes first. In each round, all clocks start anew from fixed instants.

use libc::{
    EINVAL, c_int, c_long, c_uint, clock_t, clockid_t, time_t, timespec, timeval, timezone,
};

use super::errno::fails;
use super::lock_points::{before, count_clock_look};
use super::real;
use super::thread_ids::THREADS;
use crate::controlled::accesses;
use crate::controlled::core::access::Effect;
use crate::controlled::core::engine::{self, Wait};

const SECOND: u64 = 1_000_000_000;
/// Start of a round by the clocks of the day (in 2033) and by those that count from the boot: later
/// than any real time, which a target may remember from outside of control.
const DAY_START: u64 = 2_000_000_000 * SECOND;
const BOOT_START: u64 = 1_000_000_000 * SECOND;
/// A deadline this far away (31 years) counts as none: it would hide a deadlock.
const NEVER: u64 = 1_000_000_000 * SECOND;
/// A thread that looks at clocks more often, and does nothing else, is waiting for some time.
const LOOKS_MAX: u32 = 256;

/// Keys of sleeps: one for each thread, outside of all memory.
const SLEEPS: usize = usize::MAX - 4 * THREADS;

/// What this clock shows when a round begins, in nanoseconds.
fn start(clock: clockid_t) -> Option<u64> {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_REALTIME_ALARM => {
            Some(DAY_START)
        }
        libc::CLOCK_TAI => Some(DAY_START + 37 * SECOND),
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_BOOTTIME
        | libc::CLOCK_BOOTTIME_ALARM => Some(BOOT_START),
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => Some(0),
        _ => None,
    }
}

fn nanoseconds(time: &timespec) -> Option<u64> {
    let fraction = u64::try_from(time.tv_nsec).ok().filter(|&fraction| fraction < SECOND)?;
    // Before the epoch is long ago.
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Some(seconds.saturating_mul(SECOND).saturating_add(fraction))
}

fn to_timespec(nanoseconds: u64) -> timespec {
    timespec { tv_sec: (nanoseconds / SECOND) as time_t, tv_nsec: (nanoseconds % SECOND) as c_long }
}

/// The engine's deadline for an instant of a clock: none if it never comes, or EINVAL.
///
/// # Safety
/// `until` points to a time.
pub(super) unsafe fn deadline(
    clock: clockid_t,
    until: *const timespec,
) -> Result<Option<u64>, c_int> {
    // SAFETY: the caller's time.
    let until = nanoseconds(unsafe { &*until }).ok_or(EINVAL)?;
    let after = until.saturating_sub(start(clock).ok_or(EINVAL)?);
    Ok((after < NEVER).then_some(after))
}

/// The engine's deadline after so many nanoseconds; none: it never comes.
pub(super) fn after(nanoseconds: u64) -> Option<u64> {
    (nanoseconds < NEVER).then(|| engine::now() + nanoseconds)
}

/// As [`after`], for a duration that the target gives, or EINVAL.
///
/// # Safety
/// `duration` points to a time.
pub(super) unsafe fn after_duration(duration: *const timespec) -> Result<Option<u64>, c_int> {
    // SAFETY: the caller's time.
    let duration = unsafe { &*duration };
    let nanoseconds = nanoseconds(duration).filter(|_| duration.tv_sec >= 0).ok_or(EINVAL)?;
    Ok(after(nanoseconds))
}

/// As [`after_duration`]; null: no deadline.
///
/// # Safety
/// `timeout` is null or points to a time.
pub(super) unsafe fn after_timeout(timeout: *const timespec) -> Result<Option<u64>, c_int> {
    // SAFETY: the caller's time.
    if timeout.is_null() { Ok(None) } else { unsafe { after_duration(timeout) } }
}

/// Waits until a deadline; no other thread can end the wait.
pub(super) fn sleep_until(deadline: Option<u64>, why: Wait) {
    before(0, Effect::None);
    match deadline {
        Some(deadline) if deadline <= engine::now() => engine::yield_now(),
        _ => {
            engine::block(SLEEPS + engine::current(), why, deadline);
        }
    }
}

/// A look at a clock. It is a scheduling point, so that time passes in a loop that waits for it. A
/// thread that looks very often sleeps longer and longer, so that such a loop ends soon.
fn look(clock: clockid_t) -> Option<u64> {
    let start = start(clock)?;
    match count_clock_look().checked_sub(LOOKS_MAX) {
        None => accesses::pause(0, Effect::None),
        Some(more) => {
            let deadline = engine::now() + (1000 << (more / 8).min(20));
            engine::block(SLEEPS + engine::current(), Wait::Sleep, Some(deadline));
        }
    }
    Some(start + engine::now())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn clock_gettime(clock: clockid_t, into: *mut timespec) -> c_int {
    outside_control!(clock_gettime(clock, into));
    match look(clock) {
        // SAFETY: where the caller wants the time.
        Some(time) => unsafe { *into = to_timespec(time) },
        // SAFETY: the caller's arguments; a clock of another process, or no clock.
        None => return unsafe { real::clock_gettime(clock, into) },
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gettimeofday(into: *mut timeval, zone: *mut timezone) -> c_int {
    outside_control!(gettimeofday(into, zone));
    if let (false, Some(time)) = (into.is_null(), look(libc::CLOCK_REALTIME)) {
        let time = to_timespec(time);
        // SAFETY: where the caller wants the time.
        unsafe { *into = timeval { tv_sec: time.tv_sec, tv_usec: time.tv_nsec / 1000 } };
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn time(into: *mut time_t) -> time_t {
    outside_control!(time(into));
    let seconds = to_timespec(look(libc::CLOCK_REALTIME).unwrap_or(0)).tv_sec;
    if !into.is_null() {
        // SAFETY: where the caller wants the time.
        unsafe { *into = seconds };
    }
    seconds
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock() -> clock_t {
    outside_control!(clock());
    (used() / 1000) as clock_t
}

/// Nanoseconds of processor time that the process has used.
pub(super) fn used() -> u64 {
    look(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or(0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timespec_get(into: *mut timespec, base: c_int) -> c_int {
    const TIME_UTC: c_int = 1;
    outside_control!(timespec_get(into, base));
    match (base, look(libc::CLOCK_REALTIME)) {
        // SAFETY: where the caller wants the time.
        (TIME_UTC, Some(time)) => unsafe { *into = to_timespec(time) },
        _ => return 0,
    }
    base
}

/// Sleeps. No time is ever left, because signals do not end a sleep here.
///
/// # Safety
/// As for `nanosleep`.
pub(super) unsafe fn sleep_for(duration: *const timespec) -> c_int {
    // SAFETY: the caller's time.
    match unsafe { after_duration(duration) } {
        Ok(deadline) => sleep_until(deadline, Wait::Sleep),
        Err(error) => return error,
    }
    0
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nanosleep(duration: *const timespec, left: *mut timespec) -> c_int {
    outside_control!(nanosleep(duration, left));
    // SAFETY: the caller's time.
    match unsafe { sleep_for(duration) } {
        0 => 0,
        error => fails(error),
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    time: *const timespec,
    left: *mut timespec,
) -> c_int {
    outside_control!(clock_nanosleep(clock, flags, time, left));
    if flags & libc::TIMER_ABSTIME == 0 {
        // SAFETY: the caller's time.
        return unsafe { sleep_for(time) };
    }
    // SAFETY: the caller's time.
    match unsafe { deadline(clock, time) } {
        Ok(deadline) => sleep_until(deadline, Wait::Sleep),
        Err(error) => return error,
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn usleep(microseconds: c_uint) -> c_int {
    outside_control!(usleep(microseconds));
    sleep_until(after(u64::from(microseconds) * 1000), Wait::Sleep);
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sleep(seconds: c_uint) -> c_uint {
    outside_control!(sleep(seconds));
    sleep_until(after(u64::from(seconds) * SECOND), Wait::Sleep);
    0
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn sched_yield() -> c_int {
    outside_control!(sched_yield());
    // Looks stay counted: a loop of looks at the clock and yields still waits for some time.
    engine::yield_now();
    0
}
