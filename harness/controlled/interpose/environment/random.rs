//! Random numbers under control: the functions of the C library and the device of the C++ library
//! give what the round's seed decides, in the order in which the target asks. `rand_r`, `erand48`
//! and the C++ engines have the target's own seeds and need no care; `drand48` and its like have
//! one in the C library, which is set for each round. The processor's own instructions cannot be
//! replaced.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use interlap::core::random::mix;
use libc::{EIO, c_int, c_long, c_uint, size_t, ssize_t};

use super::{engine, fails, real};

/// Distance of successive states (Steele, Lea and Flood 2014: splitmix64).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Of the sources of entropy, and of `rand` and `random`, which the target may seed.
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

/// Whether a file is one of the kernel's sources of random numbers.
fn is_source(descriptor: c_int) -> bool {
    // SAFETY: a structure made here, whole once the call has filled it.
    unsafe {
        let mut about: libc::stat = std::mem::zeroed();
        libc::fstat(descriptor, &mut about) == 0
            && about.st_mode & libc::S_IFMT == libc::S_IFCHR
            && [libc::makedev(1, 8), libc::makedev(1, 9)].contains(&about.st_rdev)
    }
}

/// Fills what is read from /dev/random or /dev/urandom; how much, none if the file is another.
///
/// # Safety
/// Each of `parts` is writable.
pub(super) unsafe fn read(descriptor: c_int, parts: &[libc::iovec]) -> Option<ssize_t> {
    if !is_source(descriptor) {
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

/// `std::random_device::_M_getval()`, behind every call of a random device: the C++ library would
/// ask the processor.
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn _ZNSt13random_device9_M_getvalEv(device: *mut c_void) -> c_uint {
    outside_control!(_ZNSt13random_device9_M_getvalEv(device));
    next(&ENTROPY) as c_uint
}
