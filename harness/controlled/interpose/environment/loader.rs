//! Libraries that the target loads in a round, and destructors of static objects: neither may
//! outlive the round, as the variables that would know of them are put back.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::{engine, real};
use crate::controlled::core::control;

/// Memory allocators that libraries load if they are there, by a part of the name: they would have
/// memory of their own, at other addresses in each process, where no late access is noticed. oneTBB
/// takes malloc instead.
const ALLOCATORS: [&str; 1] = ["libtbbmalloc"];

pub(super) type AtExit = unsafe extern "C" fn(*mut c_void);

/// A library that is there already is given; another cannot be part of the round.
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

/// Static objects of functions are made anew in each round, and vanish with it.
#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_atexit(
    destructor: AtExit,
    object: *mut c_void,
    library: *mut c_void,
) -> c_int {
    outside_control!(__cxa_atexit(destructor, object, library));
    0
}
