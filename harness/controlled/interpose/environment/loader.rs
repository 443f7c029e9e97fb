//! Libraries that the target loads in a round, and destructors of its static objects: neither may
//! outlive the round, which forgets them. Also says whether the target itself is being loaded.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::real::{self, AtExit};
use crate::controlled::core::{control, engine};

static IS_LOADING: AtomicBool = AtomicBool::new(false);

pub(super) fn set_loading_target(loading: bool) {
    IS_LOADING.store(loading, Relaxed);
}

pub(super) fn is_loading_target() -> bool {
    IS_LOADING.load(Relaxed)
}

/// Parts of the names of memory allocators that libraries load if installed, and otherwise do
/// without (oneTBB uses malloc). Their memory would have other addresses in each process, and hide
/// uses after free.
const ALLOCATORS: [&str; 1] = ["libtbbmalloc"];

/// Gives a library that is loaded already. Loading another cannot be undone after the round.
#[unsafe(no_mangle)]
unsafe extern "C" fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void {
    outside_control!(dlopen(file, flags));
    control::set_controls(false);
    // SAFETY: the caller's arguments; loads nothing.
    let mut library = unsafe { real::dlopen(file, flags | libc::RTLD_NOLOAD) };
    if library.is_null() {
        // SAFETY: a name, as null stands for this program, which is loaded.
        let name = unsafe { CStr::from_ptr(file) }.to_string_lossy();
        if !ALLOCATORS.iter().any(|allocator| name.contains(allocator)) {
            // SAFETY: the caller's arguments.
            library = unsafe { real::dlopen(file, flags) };
            if !library.is_null() {
                engine::cannot_control(&format!("dlopen of {name} in a round; link it with -l"));
            }
        }
    }
    control::set_controls(true);
    library
}

/// Registers nothing: static objects of functions vanish with the round.
#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_atexit(
    destructor: AtExit,
    object: *mut c_void,
    library: *mut c_void,
) -> c_int {
    outside_control!(__cxa_atexit(destructor, object, library));
    0
}
