//! What a target may ask about the machine, and about the processor time that it has used. The
//! answers are the same on every machine, so that rounds are, too. There are [`PROCESSORS`], also
//! while the target is loaded; thread t runs on processor t modulo that. The instruction `cpuid`
//! cannot be interposed.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use libc::{EFAULT, EINVAL, c_int, c_long, c_uint, clock_t, cpu_set_t, pid_t, pthread_t, size_t};

use super::errno::fails;
use super::{real, time};
use crate::controlled::core::engine;

/// Several, because some code spins only if there are; few, so that threads share what is kept for
/// each processor.
const PROCESSORS: usize = 4;

/// This process controls a target.
static IS_SET: AtomicBool = AtomicBool::new(false);

/// To be called before the target is loaded. Also overwrites the random bytes that the kernel gives
/// each process, from which libraries seed their hash functions.
pub fn set_uniform() {
    IS_SET.store(true, Relaxed);
    // SAFETY: sixteen bytes of the process's first stack, which the C library has used before.
    unsafe {
        let numbers = libc::getauxval(libc::AT_RANDOM) as usize;
        if numbers != 0 {
            std::ptr::with_exposed_provenance_mut::<[u8; 16]>(numbers).write(*b"interlap's noise");
        }
    }
}

fn is_set() -> bool {
    IS_SET.load(Relaxed)
}

fn processor() -> usize {
    engine::current() % PROCESSORS
}

#[unsafe(no_mangle)]
unsafe extern "C" fn get_nprocs() -> c_int {
    // SAFETY: has no preconditions.
    if is_set() { PROCESSORS as c_int } else { unsafe { real::get_nprocs() } }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn get_nprocs_conf() -> c_int {
    // SAFETY: has no preconditions.
    if is_set() { PROCESSORS as c_int } else { unsafe { real::get_nprocs_conf() } }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sysconf(name: c_int) -> c_long {
    match name {
        libc::_SC_NPROCESSORS_CONF | libc::_SC_NPROCESSORS_ONLN if is_set() => PROCESSORS as c_long,
        // SAFETY: takes a number.
        _ => unsafe { real::sysconf(name) },
    }
}

/// Sharded structures choose their shard by it.
#[unsafe(no_mangle)]
unsafe extern "C" fn sched_getcpu() -> c_int {
    outside_control!(sched_getcpu());
    processor() as c_int
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn getcpu(own: *mut c_uint, node: *mut c_uint) -> c_int {
    outside_control!(getcpu(own, node));
    // SAFETY: where the caller wants the numbers, each null or its room.
    unsafe {
        own.as_mut().into_iter().for_each(|own| *own = processor() as c_uint);
        node.as_mut().into_iter().for_each(|node| *node = 0);
    }
    0
}

/// Writes the set of all processors. An error, or 0.
///
/// # Safety
/// `into` is null or has room for `bytes` bytes.
unsafe fn all_processors(bytes: size_t, into: *mut cpu_set_t) -> c_int {
    if into.is_null() {
        return EFAULT;
    }
    if bytes < size_of::<u64>() {
        return EINVAL;
    }
    // SAFETY: the caller's room.
    unsafe {
        std::ptr::write_bytes(into.cast::<u8>(), 0, bytes);
        into.cast::<u8>().write((1 << PROCESSORS) - 1);
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sched_getaffinity(pid: pid_t, bytes: size_t, into: *mut cpu_set_t) -> c_int {
    if !is_set() {
        // SAFETY: the caller's arguments.
        return unsafe { real::sched_getaffinity(pid, bytes, into) };
    }
    // SAFETY: the caller's room.
    match unsafe { all_processors(bytes, into) } {
        0 => 0,
        error => fails(error),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_getaffinity_np(
    thread: pthread_t,
    bytes: size_t,
    into: *mut cpu_set_t,
) -> c_int {
    if !is_set() {
        // SAFETY: the caller's arguments.
        return unsafe { real::pthread_getaffinity_np(thread, bytes, into) };
    }
    // SAFETY: the caller's room.
    unsafe { all_processors(bytes, into) }
}

/// No effect under control, as with `pthread_setaffinity_np`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sched_setaffinity(pid: pid_t, bytes: size_t, set: *const cpu_set_t) -> c_int {
    outside_control!(sched_setaffinity(pid, bytes, set));
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_setaffinity_np(
    thread: pthread_t,
    bytes: size_t,
    set: *const cpu_set_t,
) -> c_int {
    outside_control!(pthread_setaffinity_np(thread, bytes, set));
    0
}

/// Gives the virtual time alone; all other numbers are 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrusage(who: c_int, into: *mut libc::rusage) -> c_int {
    outside_control!(getrusage(who, into));
    let used = time::used() / 1000;
    // SAFETY: the caller's room; zeros are a whole structure.
    unsafe {
        into.write(std::mem::zeroed());
        if who != libc::RUSAGE_CHILDREN {
            (*into).ru_utime = libc::timeval {
                tv_sec: (used / 1_000_000) as libc::time_t,
                tv_usec: (used % 1_000_000) as libc::suseconds_t,
            };
        }
    }
    0
}

/// In hundredths of a second.
#[unsafe(no_mangle)]
unsafe extern "C" fn times(into: *mut libc::tms) -> clock_t {
    outside_control!(times(into));
    let used = (time::used() / 10_000_000) as clock_t;
    if !into.is_null() {
        let all = libc::tms { tms_utime: used, tms_stime: 0, tms_cutime: 0, tms_cstime: 0 };
        // SAFETY: the caller's room.
        unsafe { into.write(all) };
    }
    used
}
