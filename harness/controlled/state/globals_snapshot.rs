//! A snapshot of the target's variables: the writable data and the thread-local storage of its
//! libraries. Each round (and thread) starts with both as they were when the target had been
//! loaded. The variables of the C library and of this program are left alone, because the harness
//! uses them, too; so what the C library allocates for itself (the buffer of a stream) must outlive
//! a round, and does not come from the arena.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::slice;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use interlap::core::system_library::is_system;
use interlap::schedule::THREADS_MAX;

use super::heap;

/// Parts of the names of system libraries that the target alone uses.
const CXX: [&str; 2] = ["libstdc++", "libc++"];

/// More writable data than this is refused: to restore it would take much longer than a round.
const DATA_BYTES_MAX: usize = 4 << 20;

/// Bytes that are compared and restored together.
const CHUNK: usize = 1024;
static ZEROS: [u8; CHUNK] = [0; CHUNK];

/// Thread-local variables of one library.
struct Local {
    /// The loader's number for the library.
    module: usize,
    /// Initial values; zeros follow.
    image: &'static [u8],
    bytes: usize,
    /// Address for each thread.
    at: [AtomicUsize; THREADS_MAX],
}

/// A stretch of writable memory, and its contents when the target had been loaded.
struct Data {
    at: usize,
    image: Box<[u8]>,
    /// For each chunk, whether it was all zeros.
    zeros: Box<[bool]>,
}

impl Data {
    /// Saves the present contents.
    fn save(at: usize, bytes: usize) -> Data {
        let image = copy(at, bytes);
        let zeros = image.chunks(CHUNK).map(|chunk| *chunk == ZEROS[..chunk.len()]).collect();
        Data { at, image, zeros }
    }

    /// The contents of each chunk. All chunks of zeros share memory, so that a comparison evicts
    /// less of the processor's cache.
    fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let chunks = self.image.chunks(CHUNK).zip(&self.zeros);
        chunks.map(|(chunk, zero)| if *zero { &ZEROS[..chunk.len()] } else { chunk })
    }
}

#[derive(Default)]
struct Found {
    locals: Vec<Local>,
    data: Vec<Data>,
}

static TARGET: OnceLock<Found> = OnceLock::new();

/// Takes the snapshot, with what the target has `mapped`; the target has just been loaded. An error
/// says what the engine cannot control.
pub fn take(mapped: impl IntoIterator<Item = (usize, usize)>) -> Result<(), String> {
    let mut found = Found::default();
    // SAFETY: the callback is of the documented type and gets `found`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut found).cast()) };
    for (at, bytes) in heap::keep_loaded().into_iter().chain(mapped) {
        found.data.push(Data::save(at, bytes));
    }
    let bytes: usize = found.data.iter().map(|data| data.image.len()).sum();
    if bytes > DATA_BYTES_MAX {
        return Err(format!("a target with {} MiB of static data", bytes >> 20));
    }
    let _ = TARGET.set(found);
    Ok(())
}

/// Addresses and sizes of static data, and of what the target allocated or mapped while it was
/// loaded.
pub fn data() -> impl Iterator<Item = (usize, usize)> {
    TARGET.get().into_iter().flat_map(|found| &found.data).map(|data| (data.at, data.image.len()))
}

/// Addresses and sizes of the stretches of static data, and of the thread-local variables of the
/// first `threads` threads, that are not as they were when the target had been loaded.
pub fn changed(threads: usize) -> impl Iterator<Item = (usize, usize)> {
    let found = TARGET.get().into_iter();
    let of_data = |data: &'static Data| {
        let chunks = (data.at..).step_by(CHUNK).zip(data.chunks());
        chunks.filter(|(at, image)| !holds(*at, image)).map(|(at, image)| (at, image.len()))
    };
    let of_local = move |local: &'static Local| {
        let places = local.at[..threads].iter().map(|at| at.load(Ordering::Acquire));
        let is_changed = |at: &usize| {
            let (image, rest) = (local.image, local.bytes - local.image.len());
            !holds(*at, image) || !holds_zeros(*at + image.len(), rest)
        };
        places.filter(|at| *at != 0).filter(is_changed).map(|at| (at, local.bytes))
    };
    let data = found.clone().flat_map(|found| &found.data).flat_map(of_data);
    data.chain(found.flat_map(|found| &found.locals).flat_map(of_local))
}

/// Whether these variables of the target, which does not run now, are as in the image.
fn holds(at: usize, image: &[u8]) -> bool {
    let now: *const u8 = ptr::with_exposed_provenance(at);
    // SAFETY: variables of a library that stays loaded, as noted, so many.
    unsafe { slice::from_raw_parts(now, image.len()) == image }
}

fn holds_zeros(at: usize, bytes: usize) -> bool {
    (0..bytes).step_by(CHUNK).all(|from| holds(at + from, &ZEROS[..CHUNK.min(bytes - from)]))
}

/// Restores all but thread-local variables. Most data is unchanged and is not written, which evicts
/// less of the processor's cache.
pub fn restore() {
    let Some(found) = TARGET.get() else { return };
    for data in &found.data {
        // SAFETY: writable memory of a library that stays loaded, or of the arena, as noted; no
        // code of the target runs now.
        let now = unsafe {
            slice::from_raw_parts_mut(ptr::with_exposed_provenance_mut(data.at), data.image.len())
        };
        for (now, image) in now.chunks_mut(CHUNK).zip(data.chunks()) {
            if now != image {
                now.copy_from_slice(image);
            }
        }
    }
}

unsafe extern "C" {
    /// Of the loader: the address of the calling thread's variables of a library, allocated if need
    /// be.
    fn __tls_get_addr(index: *const [usize; 2]) -> *mut c_void;
}

/// Allocates the storage of the calling thread, the carrier of `thread`, at a fixed address. The
/// loader would otherwise allocate it in the heap when the target first uses it.
pub fn place_storage(thread: usize) {
    let Some(found) = TARGET.get() else { return };
    // All at once, because the libraries' storage is contiguous.
    heap::in_storage(thread, || {
        for local in &found.locals {
            // SAFETY: the module is loaded and stays so.
            let at = unsafe { __tls_get_addr(&[local.module, 0]) };
            local.at[thread].store(at.expose_provenance(), Ordering::Release);
        }
    });
}

/// Resets the thread-local variables of `thread` to those of a new thread.
pub fn renew(thread: usize) {
    let Some(found) = TARGET.get() else { return };
    for local in &found.locals {
        let at = local.at[thread].load(Ordering::Acquire);
        let pointer: *mut u8 = ptr::with_exposed_provenance_mut(at);
        // SAFETY: `place_storage` got the address for `bytes` bytes; the thread has not begun or
        // has ended, so nobody uses them.
        unsafe {
            ptr::copy_nonoverlapping(local.image.as_ptr(), pointer, local.image.len());
            ptr::write_bytes(pointer.add(local.image.len()), 0, local.bytes - local.image.len());
        }
    }
}

fn is_cxx(name: &str) -> bool {
    CXX.iter().any(|cxx| name.contains(cxx))
}

fn headers(info: &libc::dl_phdr_info) -> &[libc::Elf64_Phdr] {
    // SAFETY: the loader's table of this length.
    unsafe { slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) }
}

/// Adds one library, if it is the target's.
unsafe extern "C" fn note(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    found: *mut c_void,
) -> c_int {
    // SAFETY: the loader's description, valid during the call; `found` as given to
    // dl_iterate_phdr.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Found>()) };
    // SAFETY: a string of the loader; empty for the program itself.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy();
    if name.is_empty() || is_system(&name) && !is_cxx(&name) {
        return 0;
    }
    let headers = headers(info);
    let base = info.dlpi_addr as usize;
    let protected = headers.iter().find(|header| header.p_type == libc::PT_GNU_RELRO);
    let protected_end =
        protected.map_or(0, |header| (base + (header.p_vaddr + header.p_memsz) as usize) & !4095);
    for header in headers {
        let at = base + header.p_vaddr as usize;
        let bytes = header.p_memsz as usize;
        if header.p_type == libc::PT_TLS {
            found.locals.push(local(info, at, header.p_filesz as usize, bytes));
        } else if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 {
            // What lies before `protected_end` was made read-only after relocation.
            let start = if (at..at + bytes).contains(&protected_end) { protected_end } else { at };
            found.data.push(Data::save(start, at + bytes - start));
        }
    }
    0
}

fn local(info: &libc::dl_phdr_info, image: usize, image_bytes: usize, bytes: usize) -> Local {
    let image = ptr::with_exposed_provenance(image);
    // SAFETY: the segment lies in a library that is never unloaded, and is not written.
    let image = unsafe { slice::from_raw_parts(image, image_bytes) };
    let at = [const { AtomicUsize::new(0) }; THREADS_MAX];
    Local { module: info.dlpi_tls_modid, image, bytes, at }
}

fn copy(at: usize, bytes: usize) -> Box<[u8]> {
    let pointer: *const u8 = ptr::with_exposed_provenance(at);
    let mut image = vec![0; bytes];
    // SAFETY: mapped, readable memory of that length: a library's segment or the arena's start.
    unsafe { ptr::copy_nonoverlapping(pointer, image.as_mut_ptr(), bytes) };
    image.into_boxed_slice()
}
