//! Properties of the process that the target may change: the current directory, the mask for new
//! files, the locale. Each round finds them as they were when the target had been loaded.

use std::ffi::{CStr, CString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use libc::{LC_ALL, mode_t};

use super::real;
use crate::controlled::core::engine;

struct Process {
    directory: Option<CString>,
    mask: mode_t,
    locale: Option<CString>,
}

static SAVED: OnceLock<Process> = OnceLock::new();
static IS_CHANGED: AtomicBool = AtomicBool::new(false);

/// Saves them; the target has just been loaded.
pub fn save() {
    let directory = std::env::current_dir().ok();
    let directory = directory.and_then(|path| CString::new(path.as_os_str().as_bytes()).ok());
    // SAFETY: `setlocale` without a name only reads the locale, and nobody changes it meanwhile;
    // the mask is put back at once.
    let (mask, locale) = unsafe {
        let mask = real::umask(0);
        real::umask(mask);
        let locale = real::setlocale(LC_ALL, std::ptr::null());
        (mask, (!locale.is_null()).then(|| CStr::from_ptr(locale).to_owned()))
    };
    let _ = SAVED.set(Process { directory, mask, locale });
}

pub(super) fn reset() {
    let Some(saved) = SAVED.get().filter(|_| IS_CHANGED.swap(false, Relaxed)) else { return };
    // SAFETY: strings that stay; no code of the target runs now.
    unsafe {
        saved.directory.iter().for_each(|path| _ = real::chdir(path.as_ptr()));
        real::umask(saved.mask);
        saved.locale.iter().for_each(|name| _ = real::setlocale(LC_ALL, name.as_ptr()));
    }
}

fn note_change() {
    if engine::controls() {
        IS_CHANGED.store(true, Relaxed);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn chdir(path: *const c_char) -> c_int {
    note_change();
    // SAFETY: the caller's argument, here and below.
    unsafe { real::chdir(path) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fchdir(descriptor: c_int) -> c_int {
    note_change();
    // SAFETY: takes a number.
    unsafe { real::fchdir(descriptor) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn umask(mask: mode_t) -> mode_t {
    note_change();
    // SAFETY: takes a number.
    unsafe { real::umask(mask) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn setlocale(category: c_int, name: *const c_char) -> *mut c_char {
    note_change();
    // SAFETY: the caller's arguments.
    unsafe { real::setlocale(category, name) }
}
