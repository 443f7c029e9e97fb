//! `mmap` and its kin, under control and while the target is loaded. Addresses that the kernel
//! would choose are chosen here, so that they are the same in all processes. What a round leaves
//! mapped is unmapped before the next. What was mapped while the target was loaded stays, and gets
//! its contents back (`globals_snapshot` saves them); if a round unmaps, moves or protects some of
//! that, its process ends. Between two mappings lies a page that faults.

use std::ffi::c_void;
use std::ptr::with_exposed_provenance_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use libc::{
    MAP_FAILED, MAP_FIXED, MAP_FIXED_NOREPLACE, MAP_GROWSDOWN, MAP_HUGETLB, MREMAP_FIXED,
    MREMAP_MAYMOVE, c_int, off_t, size_t,
};

use super::{loader, real};
use crate::controlled::accesses;
use crate::controlled::core::access::Whose;
use crate::controlled::core::engine;
use crate::controlled::core::layout::{MAPPINGS, MAPPINGS_BYTES, is_mapping};

const PAGE: usize = 4096;

/// Alignment of large mappings, that of large pages: the kernel often aligns so, and some libraries
/// rely on it.
const LARGE: usize = 2 << 20;

/// End of the last mapping, and of the page behind it.
static END: AtomicUsize = AtomicUsize::new(MAPPINGS);

/// [`END`] when the target had been loaded.
static LOADED: AtomicUsize = AtomicUsize::new(MAPPINGS);

/// A round has unmapped, moved or protected some of what was mapped before [`LOADED`].
static CHANGED: AtomicBool = AtomicBool::new(false);

/// The target has been loaded.
pub(super) fn note_loaded() {
    LOADED.store(END.load(Relaxed), Relaxed);
}

/// Whether a later round would find other mappings than the first one did.
pub fn are_changed() -> bool {
    CHANGED.load(Relaxed)
}

/// Unmaps what the last round has left. Zeroes what was mapped while the target was loaded, except
/// the stretches `kept`.
pub fn reset(kept: impl Iterator<Item = (usize, usize)>) {
    let (loaded, end) = (LOADED.load(Relaxed), END.load(Relaxed));
    if end != loaded {
        // SAFETY: of the target's last round only, which is over.
        unsafe { real::munmap(with_exposed_provenance_mut(loaded), end - loaded) };
        END.store(loaded, Relaxed);
    }
    if loaded == MAPPINGS {
        return;
    }
    let mut from = MAPPINGS;
    for (at, bytes) in kept.filter(|(at, _)| is_mapping(*at)).chain([(loaded, 0)]) {
        let gap = with_exposed_provenance_mut(from);
        // SAFETY: private memory of the target, none of whose code runs.
        unsafe { libc::madvise(gap, at - from, libc::MADV_DONTNEED) };
        from = at + bytes;
    }
}

/// The stretches of memory, mapped while the target was loaded, that are in use now, in order.
pub fn in_use() -> Vec<(usize, usize)> {
    /// Pages that are asked for at once.
    const PAGES: usize = 1 << 14;
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut answers = vec![0u8; PAGES];
    let end = LOADED.load(Relaxed);
    for start in (MAPPINGS..end).step_by(PAGES * PAGE) {
        // The kernel refuses a range with an unmapped page, so then each page is asked for alone.
        let bytes = (end - start).min(PAGES * PAGE);
        if !residence(start, bytes, &mut answers) {
            for (page, answer) in answers[..bytes / PAGE].iter_mut().enumerate() {
                let mut one = [0];
                *answer = u8::from(residence(start + page * PAGE, PAGE, &mut one) && one[0] != 0);
            }
        }
        for (page, _) in answers[..bytes / PAGE].iter().enumerate().filter(|(_, a)| **a & 1 != 0) {
            let at = start + page * PAGE;
            match found.last_mut() {
                Some((last, bytes)) if *last + *bytes == at => *bytes += PAGE,
                _ => found.push((at, PAGE)),
            }
        }
    }
    found
}

/// Asks which pages are in memory; false where one is not mapped.
fn residence(at: usize, bytes: usize, into: &mut [u8]) -> bool {
    assert!(bytes <= into.len() * PAGE);
    // SAFETY: room for a byte of each page; the memory itself is not touched.
    unsafe { libc::mincore(with_exposed_provenance_mut(at), bytes, into.as_mut_ptr()) == 0 }
}

/// Whether addresses are chosen here now.
fn chooses() -> bool {
    engine::controls() || loader::is_loading_target()
}

/// The target unmaps, moves, protects or replaces the mapping at this address.
fn note_change(address: *mut c_void) {
    // The kernel flushes what processors know of the memory, and so their store buffers.
    accesses::settle(Whose::All);
    let address = address.addr();
    if engine::controls() && is_mapping(address) && address < LOADED.load(Relaxed) {
        CHANGED.store(true, Relaxed);
    }
}

/// The next mapping's address, and the end of the page behind it; none if there is no room.
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
    // A file mapped while the target is loaded could not be put back.
    let anonymous = [libc::MAP_PRIVATE, libc::MAP_ANONYMOUS].iter().all(|flag| flags & flag != 0);
    // Without one of these flags, an address is only a hint.
    let own = [MAP_FIXED, MAP_FIXED_NOREPLACE, MAP_GROWSDOWN, libc::MAP_32BIT];
    let chosen = own.iter().all(|flag| flags & flag == 0) && (engine::controls() || anonymous);
    // SAFETY: the caller's arguments, but for the place, where nothing is mapped.
    unsafe {
        if let Some((start, end)) = place(bytes, flags).filter(|_| chosen && chooses()) {
            let at = with_exposed_provenance_mut(start);
            let fixed = flags | MAP_FIXED_NOREPLACE;
            let mapped = real::mmap(at, bytes, protection, fixed, descriptor, offset);
            if mapped != MAP_FAILED {
                END.store(end, Relaxed);
                return mapped;
            }
            // The target has mapped something at this address itself: then the kernel chooses.
            if *libc::__errno_location() != libc::EEXIST {
                return mapped;
            }
        }
        if flags & MAP_FIXED != 0 {
            note_change(address);
        }
        real::mmap(address, bytes, protection, flags, descriptor, offset)
    }
}

/// The same: `off_t` has 64 bits.
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

/// The next mapping reuses the address of the last one, as in the kernel: a use after `munmap` then
/// shows.
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(address: *mut c_void, bytes: size_t) -> c_int {
    note_change(address);
    // SAFETY: the caller's arguments.
    let answer = unsafe { real::munmap(address, bytes) };
    let is_last = || {
        let end = (address.addr() + bytes).next_multiple_of(PAGE) + PAGE;
        is_mapping(address.addr()) && end == END.load(Relaxed)
    };
    if answer == 0 && chooses() && is_last() {
        END.store(address.addr(), Relaxed);
    }
    answer
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mprotect(address: *mut c_void, bytes: size_t, protection: c_int) -> c_int {
    note_change(address);
    // SAFETY: the caller's arguments.
    unsafe { real::mprotect(address, bytes, protection) }
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
    note_change(address);
    let moves = flags & MREMAP_MAYMOVE != 0 && flags & MREMAP_FIXED == 0 && new_bytes > bytes;
    // SAFETY: the caller's arguments, but for the place, where nothing is mapped.
    unsafe {
        if !engine::controls() || !moves || !is_mapping(address.addr()) {
            return real::mremap(address, bytes, new_bytes, flags, new_address);
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
