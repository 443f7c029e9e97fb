//! The answers of functions that report an error through errno.

use libc::c_int;

pub(super) fn set_errno(error: c_int) {
    // SAFETY: gives the calling thread's errno, which is always there.
    unsafe { *libc::__errno_location() = error };
}

pub(super) fn fails(error: c_int) -> c_int {
    set_errno(error);
    -1
}

/// 0 for no error.
pub(super) fn or_fails(error: c_int) -> c_int {
    if error == 0 { 0 } else { fails(error) }
}
