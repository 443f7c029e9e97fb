//! `syscall`: the futex operations, on which the C++ library builds its waits, and the other calls
//! whose functions are interposed. Every other call goes to the kernel.
//!
//! Operations that requeue waiting threads wake them instead: futex waits may end spuriously.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use libc::{
    CLOCK_MONOTONIC, CLOCK_REALTIME, EAGAIN, EINTR, EINVAL, ETIMEDOUT, c_int, c_long, pid_t,
    timespec,
};

use super::errno::{fails, or_fails};
use super::lock_points::{self, before_of_any};
use super::thread_ids::{THREADS, thread_id};
use super::{machine, random, real, signals, time};
use crate::controlled::accesses;
use crate::controlled::core::access::{Effect, Synchronizes, Whose};
use crate::controlled::core::engine::{self, Wait, Woken};

const ALL_BITS: u32 = u32::MAX;

/// The six arguments of a system call; some of them are pointers.
type Arguments = [usize; 6];

/// Keys of waits for some bits only: one for each thread, outside of all memory.
const WAITS: usize = usize::MAX - 2 * THREADS;

/// A thread that waits for some bits only.
struct Waiter {
    address: AtomicUsize,
    bits: AtomicU32,
}

static WAITERS: [Waiter; THREADS] =
    [const { Waiter { address: AtomicUsize::new(0), bits: AtomicU32::new(0) } }; THREADS];

/// Bit t: thread t waits for some bits only.
static WAITING: AtomicU64 = AtomicU64::new(0);

pub(super) fn reset() {
    WAITING.store(0, Relaxed);
}

/// Variadic in C. On x86-64 and AArch64 Linux a variadic function receives its first integer
/// arguments as others do; those that the caller did not pass are garbage that nobody reads.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    outside_control!(syscall(number, a, b, c, d, e, f));
    let pointer = |address: usize| std::ptr::with_exposed_provenance_mut::<timespec>(address);
    // SAFETY: the caller's arguments, for the call it meant.
    unsafe {
        match number {
            libc::SYS_futex => {
                // The kernel reads the word after all earlier stores have left their buffers.
                accesses::settle(Whose::All);
                futex(&[a, b, c, d, e, f])
            }
            libc::SYS_sched_yield => time::sched_yield().into(),
            libc::SYS_gettid => thread_id(engine::current()).into(),
            libc::SYS_getrandom => random::getrandom(pointer(a).cast(), b, c as u32) as c_long,
            libc::SYS_clock_gettime => time::clock_gettime(a as c_int, pointer(b)).into(),
            libc::SYS_nanosleep => time::nanosleep(pointer(a), pointer(b)).into(),
            libc::SYS_clock_nanosleep => {
                let (clock, flags) = (a as c_int, b as c_int);
                or_fails(time::clock_nanosleep(clock, flags, pointer(c), pointer(d))).into()
            }
            libc::SYS_getcpu => machine::getcpu(pointer(a).cast(), pointer(b).cast()).into(),
            libc::SYS_kill => signals::kill(a as pid_t, b as c_int).into(),
            libc::SYS_tkill => signals::tgkill(libc::getpid(), a as pid_t, b as c_int).into(),
            libc::SYS_tgkill => signals::tgkill(a as pid_t, b as pid_t, c as c_int).into(),
            libc::SYS_rt_sigprocmask => {
                signals::rt_sigprocmask(a as c_int, pointer(b).cast(), pointer(c).cast())
            }
            libc::SYS_futex_waitv => engine::cannot_control("a wait for several futexes"),
            _ => {
                // It may be `membarrier`, or a call through which threads meet.
                accesses::settle(Whose::All);
                accesses::synchronizes(Synchronizes::MeetsAll, 0);
                real::syscall(number, a, b, c, d, e, f)
            }
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gettid() -> libc::pid_t {
    outside_control!(gettid());
    thread_id(engine::current()) as libc::pid_t
}

/// # Safety
/// The arguments are those of a futex call.
unsafe fn futex(arguments: &Arguments) -> c_long {
    let [address, operation, value, fourth, address_2, value_3] = *arguments;
    let operation = operation as c_int;
    if address % size_of::<u32>() != 0 {
        return fails(EINVAL).into();
    }
    let (most, bits) = (value as u32 as usize, value_3 as u32);
    // SAFETY: as the caller's.
    unsafe {
        match operation & libc::FUTEX_CMD_MASK {
            libc::FUTEX_WAIT => wait(arguments, ALL_BITS),
            libc::FUTEX_WAIT_BITSET if bits != 0 => wait(arguments, bits),
            libc::FUTEX_WAKE => wake(address, most, ALL_BITS),
            libc::FUTEX_WAKE_BITSET if bits != 0 => wake(address, most, bits),
            libc::FUTEX_REQUEUE => wake(address, most.saturating_add(fourth), ALL_BITS),
            libc::FUTEX_CMP_REQUEUE => {
                before_of_any(address, Effect::Read);
                if word(address).load(Relaxed) != value_3 as u32 {
                    return fails(EAGAIN).into();
                }
                wake(address, most.saturating_add(fourth), ALL_BITS)
            }
            libc::FUTEX_WAKE_OP => {
                before_of_any(address_2, Effect::Write);
                let also = change(word(address_2), value_3 as u32);
                let woken = wake(address, most, ALL_BITS);
                woken + if also { wake(address_2, fourth as u32 as usize, ALL_BITS) } else { 0 }
            }
            libc::FUTEX_WAIT_BITSET | libc::FUTEX_WAKE_BITSET => fails(EINVAL).into(),
            _ => engine::cannot_control("a futex with priority inheritance"),
        }
    }
}

/// # Safety
/// `address` is that of an aligned, readable and writable word.
unsafe fn word<'a>(address: usize) -> &'a AtomicU32 {
    // SAFETY: the caller's word, which it shares between threads.
    unsafe { &*std::ptr::with_exposed_provenance::<AtomicU32>(address) }
}

/// # Safety
/// The arguments are those of a futex call that waits.
unsafe fn wait(arguments: &Arguments, bits: u32) -> c_long {
    let [address, operation, value, until, ..] = *arguments;
    before_of_any(address, Effect::Read);
    // SAFETY: the caller's time and word.
    let (deadline, now) =
        unsafe { (wait_deadline(operation as c_int, until), word(address).load(Relaxed)) };
    let deadline = match deadline {
        Ok(deadline) => deadline,
        Err(error) => return fails(error).into(),
    };
    if now != value as u32 {
        return fails(EAGAIN).into();
    }
    let woken = match bits {
        ALL_BITS => engine::block(address, Wait::Futex, deadline),
        bits => wait_for_bits(address, bits, deadline),
    };
    match woken {
        Woken::Up => 0,
        Woken::Timeout => fails(ETIMEDOUT).into(),
        Woken::BySignal => fails(EINTR).into(),
    }
}

fn wait_for_bits(address: usize, bits: u32, deadline: Option<u64>) -> Woken {
    let thread = engine::current();
    WAITERS[thread].address.store(address, Relaxed);
    WAITERS[thread].bits.store(bits, Relaxed);
    WAITING.fetch_or(1 << thread, Relaxed);
    let woken = engine::block(WAITS + thread, Wait::Futex, deadline);
    WAITING.fetch_and(!(1 << thread), Relaxed);
    woken
}

/// FUTEX_WAIT has a duration, FUTEX_WAIT_BITSET an instant.
///
/// # Safety
/// `until` is null or points to a time.
unsafe fn wait_deadline(operation: c_int, until: usize) -> Result<Option<u64>, c_int> {
    let until = std::ptr::with_exposed_provenance::<timespec>(until);
    let realtime = operation & libc::FUTEX_CLOCK_REALTIME != 0;
    // SAFETY: the caller's time.
    unsafe {
        match operation & libc::FUTEX_CMD_MASK {
            _ if until.is_null() => Ok(None),
            libc::FUTEX_WAIT => time::after_duration(until),
            _ if realtime => time::deadline(CLOCK_REALTIME, until),
            _ => time::deadline(CLOCK_MONOTONIC, until),
        }
    }
}

/// Wakes up to `most` threads that wait for `address` and one of `bits`. The kernel does not look
/// at the word, which may be gone: whoever was let through by it may have freed it.
fn wake(address: usize, most: usize, bits: u32) -> c_long {
    before_of_any(address, Effect::Write);
    let mut woken = lock_points::wake(address, most);
    let waiting = WAITING.load(Relaxed);
    for (thread, waiter) in WAITERS.iter().enumerate().filter(|(t, _)| waiting >> t & 1 != 0) {
        let matches =
            waiter.address.load(Relaxed) == address && waiter.bits.load(Relaxed) & bits != 0;
        if matches && woken < most {
            woken += engine::wake(WAITS + thread, 1);
        }
    }
    engine::changed();
    accesses::pause(address, Effect::None);
    woken as c_long
}

/// FUTEX_WAKE_OP: changes the word as `encoded` says, which also gives a comparison; whether that
/// holds for the old value.
fn change(word: &AtomicU32, encoded: u32) -> bool {
    let operation = (encoded >> 28) as c_int;
    // Two signed numbers of twelve bits.
    let operand = ((encoded << 8) as i32 >> 20) as u32;
    let compared = (encoded << 20) as i32 >> 20;
    let shift = operation & libc::FUTEX_OP_OPARG_SHIFT != 0;
    let operand = if shift { 1 << (operand & 31) } else { operand };
    let old = word.load(Relaxed);
    let new = match operation & !libc::FUTEX_OP_OPARG_SHIFT {
        libc::FUTEX_OP_SET => operand,
        libc::FUTEX_OP_ADD => old.wrapping_add(operand),
        libc::FUTEX_OP_OR => old | operand,
        libc::FUTEX_OP_ANDN => old & !operand,
        _ => old ^ operand,
    };
    word.store(new, Relaxed);
    let old = old as i32;
    match (encoded >> 24 & 15) as c_int {
        libc::FUTEX_OP_CMP_EQ => old == compared,
        libc::FUTEX_OP_CMP_NE => old != compared,
        libc::FUTEX_OP_CMP_LT => old < compared,
        libc::FUTEX_OP_CMP_LE => old <= compared,
        libc::FUTEX_OP_CMP_GT => old > compared,
        _ => old >= compared,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wake_op_changes_the_word_and_compares_its_old_value() {
        let word = AtomicU32::new(5);
        let add = libc::FUTEX_OP(libc::FUTEX_OP_ADD, -2, libc::FUTEX_OP_CMP_GT, 4);
        assert!(change(&word, add as u32));
        assert_eq!(word.load(Relaxed), 3);
        let set = libc::FUTEX_OP(libc::FUTEX_OP_SET, 0, libc::FUTEX_OP_CMP_EQ, -1);
        assert!(!change(&word, set as u32));
        assert_eq!(word.load(Relaxed), 0);
        let shifted = libc::FUTEX_OP_OR | libc::FUTEX_OP_OPARG_SHIFT;
        change(&word, libc::FUTEX_OP(shifted, 4, libc::FUTEX_OP_CMP_EQ, 0) as u32);
        assert_eq!(word.load(Relaxed), 16);
    }
}
