//! The environment variables, which the target may set: each round finds them as they were when the
//! target had been loaded. Their strings stay where they are.

use std::ffi::c_char;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use std::{ptr, slice};

/// Addresses of the strings, ended by a null.
static SAVED: OnceLock<Box<[usize]>> = OnceLock::new();

/// The array that `environ` points to at the start of each round.
static TABLE: AtomicPtr<usize> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
}

/// Saves the variables; the target has just been loaded.
pub fn save() {
    let mut strings = Vec::new();
    // SAFETY: nobody sets variables now; a table that ends with null is not read beyond.
    unsafe {
        while !environ.is_null() && !(*environ.add(strings.len())).is_null() {
            strings.push((*environ.add(strings.len())).expose_provenance());
        }
    }
    strings.push(0);
    // A table of our own: the C library frees its own when it makes a larger one.
    let table = Box::leak(strings.clone().into_boxed_slice());
    // SAFETY: as above.
    unsafe { environ = table.as_mut_ptr().cast() };
    TABLE.store(table.as_mut_ptr(), Relaxed);
    let _ = SAVED.set(strings.into());
}

pub(super) fn reset() {
    let Some(strings) = SAVED.get() else { return };
    let table = TABLE.load(Relaxed);
    // SAFETY: the table of `save`, of as many addresses; no code of the target runs now.
    let now = unsafe { slice::from_raw_parts_mut(table, strings.len()) };
    if now != &strings[..] {
        now.copy_from_slice(strings);
    }
    // SAFETY: as above.
    unsafe { environ = table.cast() };
}
