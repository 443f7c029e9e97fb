//! Sources of random numbers: those of the C library, the kernel and `std::random_device` give
//! numbers drawn from the round's seed. `rand_r`, `erand48` and the C++ engines have state of the
//! target's own and need no care; the C library's state for `drand48` and its kin is set for each
//! round. The processor's instructions (`rdrand`) cannot be interposed.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use interlap::core::random::mix;
use libc::{EIO, c_int, c_long, c_uint, size_t, ssize_t};

use super::errno::fails;
use super::real;
use crate::controlled::core::engine;

/// Distance of successive states (Steele, Lea and Flood 2014: splitmix64).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// State of the sources of entropy, and of `rand` and `random`, which the target may seed.
static ENTROPY: AtomicU64 = AtomicU64::new(0);
static SEEDED: AtomicU64 = AtomicU64::new(0);

pub(super) fn reset(seed: u64) {
    ENTROPY.store(mix(seed), Relaxed);
    SEEDED.store(mix(seed ^ STEP), Relaxed);
    // SAFETY: writes the C library's own variables; no code of the target runs now.
    unsafe { srand48(mix(seed) as c_long) };
}

unsafe extern "C" {
    fn srand48(seed: c_long);
}

fn next(state: &AtomicU64) -> u64 {
    mix(state.fetch_add(STEP, Relaxed))
}

/// # Safety
/// `into` points to `bytes` writable bytes.
unsafe fn fill(into: *mut c_void, bytes: usize) {
    // SAFETY: the caller's room.
    let room = unsafe { std::slice::from_raw_parts_mut(into.cast::<u8>(), bytes) };
    for chunk in room.chunks_mut(8) {
        chunk.copy_from_slice(&next(&ENTROPY).to_le_bytes()[..chunk.len()]);
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn getrandom(
    into: *mut c_void,
    bytes: size_t,
    flags: c_uint,
) -> ssize_t {
    outside_control!(getrandom(into, bytes, flags));
    // SAFETY: the caller's room.
    unsafe { fill(into, bytes) };
    bytes as ssize_t
}

/// Whether a file is /dev/random or /dev/urandom.
fn is_random_device(descriptor: c_int) -> bool {
    // SAFETY: a structure made here, whole once the call has filled it.
    unsafe {
        let mut about: libc::stat = std::mem::zeroed();
        libc::fstat(descriptor, &mut about) == 0
            && about.st_mode & libc::S_IFMT == libc::S_IFCHR
            && [libc::makedev(1, 8), libc::makedev(1, 9)].contains(&about.st_rdev)
    }
}

/// Reads from /dev/random or /dev/urandom; gives the number of bytes, none if the file is another.
///
/// # Safety
/// Each of `parts` is writable.
pub(super) unsafe fn read(descriptor: c_int, parts: &[libc::iovec]) -> Option<ssize_t> {
    if !is_random_device(descriptor) {
        return None;
    }
    // SAFETY: the caller's room.
    parts.iter().for_each(|part| unsafe { fill(part.iov_base, part.iov_len) });
    Some(parts.iter().map(|part| part.iov_len as ssize_t).sum())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getentropy(into: *mut c_void, bytes: size_t) -> c_int {
    outside_control!(getentropy(into, bytes));
    if bytes > 256 {
        return fails(EIO);
    }
    // SAFETY: the caller's room.
    unsafe { fill(into, bytes) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn arc4random() -> u32 {
    outside_control!(arc4random());
    next(&ENTROPY) as u32
}

#[unsafe(no_mangle)]
unsafe extern "C" fn arc4random_uniform(end: u32) -> u32 {
    outside_control!(arc4random_uniform(end));
    (((next(&ENTROPY) >> 32) * u64::from(end)) >> 32) as u32
}

#[unsafe(no_mangle)]
unsafe extern "C" fn arc4random_buf(into: *mut c_void, bytes: size_t) {
    outside_control!(arc4random_buf(into, bytes));
    // SAFETY: the caller's room.
    unsafe { fill(into, bytes) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rand() -> c_int {
    outside_control!(rand());
    (next(&SEEDED) >> 33) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn random() -> c_long {
    outside_control!(random());
    (next(&SEEDED) >> 33) as c_long
}

#[unsafe(no_mangle)]
unsafe extern "C" fn srand(seed: c_uint) {
    outside_control!(srand(seed));
    SEEDED.store(mix(u64::from(seed)), Relaxed);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn srandom(seed: c_uint) {
    outside_control!(srandom(seed));
    SEEDED.store(mix(u64::from(seed)), Relaxed);
}

/// `std::random_device::_M_getval()`, on which every call of a random device is built: the C++
/// library would use the processor's instruction.
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn _ZNSt13random_device9_M_getvalEv(device: *mut c_void) -> c_uint {
    outside_control!(_ZNSt13random_device9_M_getvalEv(device));
    next(&ENTROPY) as c_uint
}
