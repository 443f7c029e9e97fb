//! Memory that the target maps itself: under control, where the kernel would choose the place, it
//! is chosen here, so that it is the same in all processes, and what a round has left mapped is
//! gone when the next one begins. Pages between two mappings fault.

use std::ffi::c_void;
use std::ptr::{self, with_exposed_provenance_mut};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use libc::{
    MAP_FAILED, MAP_FIXED, MAP_FIXED_NOREPLACE, MAP_GROWSDOWN, MAP_HUGETLB, MREMAP_FIXED,
    MREMAP_MAYMOVE, c_int, off_t, size_t,
};

use super::{engine, real};
use crate::controlled::layout::{MAPPINGS, MAPPINGS_BYTES, is_mapping};

const PAGE: usize = 4096;

/// Large mappings begin where large pages do, as the kernel's often do and some libraries ask for.
const LARGE: usize = 2 << 20;

/// End of the last mapping, and of the page behind it.
static END: AtomicUsize = AtomicUsize::new(MAPPINGS);

/// Unmaps what the last round has left.
pub(super) fn reset() {
    let end = END.swap(MAPPINGS, Relaxed);
    if end != MAPPINGS {
        // SAFETY: of the target's last round only, which is over.
        unsafe { real::munmap(with_exposed_provenance_mut(MAPPINGS), end - MAPPINGS) };
    }
}

/// Where the next mapping goes and the one after that; none if there is no room.
fn place(bytes: size_t, flags: c_int) -> Option<(usize, usize)> {
    let page = if flags & MAP_HUGETLB != 0 { LARGE } else { PAGE };
    let start = END.load(Relaxed).next_multiple_of(if bytes >= LARGE { LARGE } else { page });
    let end = start.checked_add(bytes)?.checked_next_multiple_of(page)?.checked_add(PAGE)?;
    (bytes != 0 && end <= MAPPINGS + MAPPINGS_BYTES).then_some((start, end))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    address: *mut c_void,
    bytes: size_t,
    protection: c_int,
    flags: c_int,
    descriptor: c_int,
    offset: off_t,
) -> *mut c_void {
    let own = [MAP_FIXED, MAP_FIXED_NOREPLACE, MAP_GROWSDOWN, libc::MAP_32BIT];
    let chosen = address.is_null() && own.iter().all(|flag| flags & flag == 0);
    // SAFETY: the caller's arguments, but for the place, where nothing is mapped.
    unsafe {
        if let Some((start, end)) = place(bytes, flags).filter(|_| chosen && engine::controls()) {
            let at = with_exposed_provenance_mut(start);
            let fixed = flags | MAP_FIXED_NOREPLACE;
            let mapped = real::mmap(at, bytes, protection, fixed, descriptor, offset);
            if mapped != MAP_FAILED {
                END.store(end, Relaxed);
                return mapped;
            }
            // Somebody asked for this very place: then the kernel chooses.
            if *libc::__errno_location() != libc::EEXIST {
                return mapped;
            }
        }
        real::mmap(address, bytes, protection, flags, descriptor, offset)
    }
}

/// Offsets have 64 bits in both.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap64(
    address: *mut c_void,
    bytes: size_t,
    protection: c_int,
    flags: c_int,
    descriptor: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: the caller's arguments.
    unsafe { mmap(address, bytes, protection, flags, descriptor, offset) }
}

/// The last mapping's place is taken by the next, as the kernel does: a library that uses an
/// address again too soon then shows.
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(address: *mut c_void, bytes: size_t) -> c_int {
    // SAFETY: the caller's arguments.
    let answer = unsafe { real::munmap(address, bytes) };
    let is_last = || {
        let end = (address.addr() + bytes).next_multiple_of(PAGE) + PAGE;
        is_mapping(address.addr()) && end == END.load(Relaxed)
    };
    if answer == 0 && engine::controls() && is_last() {
        END.store(address.addr(), Relaxed);
    }
    answer
}

/// Variadic in C; the last argument is looked at only with MREMAP_FIXED.
#[unsafe(no_mangle)]
unsafe extern "C" fn mremap(
    address: *mut c_void,
    bytes: size_t,
    new_bytes: size_t,
    flags: c_int,
    new_address: *mut c_void,
) -> *mut c_void {
    let moves = flags & MREMAP_MAYMOVE != 0 && flags & MREMAP_FIXED == 0;
    // SAFETY: the caller's arguments, but for the place, where nothing is mapped.
    unsafe {
        if !engine::controls() || !moves || !is_mapping(address.addr()) {
            return real::mremap(address, bytes, new_bytes, flags, new_address);
        }
        if new_bytes <= bytes {
            return real::mremap(address, bytes, new_bytes, 0, ptr::null_mut());
        }
        let Some((start, end)) = place(new_bytes, 0) else {
            *libc::__errno_location() = libc::ENOMEM;
            return MAP_FAILED;
        };
        let at = with_exposed_provenance_mut(start);
        let flags = MREMAP_MAYMOVE | MREMAP_FIXED;
        let moved = real::mremap(address, bytes, new_bytes, flags, at);
        if moved != MAP_FAILED {
            END.store(end, Relaxed);
        }
        moved
    }
}
