//! A value in memory of its own that can only be read, so that a stray write of the target faults
//! there.

use std::io;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};

/// Lives as long as the process.
pub struct ReadOnly<T>(NonNull<T>);

impl<T> ReadOnly<T> {
    pub fn new(value: T) -> io::Result<ReadOnly<T>> {
        const { assert!(align_of::<T>() <= 4096) };
        let bytes = size_of::<T>().max(1);
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address that the kernel chooses; the value fits, and pages
        // are aligned for it.
        let at = unsafe {
            let at = mmap_anonymous(std::ptr::null_mut(), bytes, protection, MapFlags::PRIVATE)?;
            at.cast::<T>().write(value);
            mprotect(at, bytes, MprotectFlags::READ)?;
            at.cast()
        };
        Ok(ReadOnly(NonNull::new(at).expect("the kernel maps nothing at 0")))
    }

    pub fn get(&self) -> &T {
        // SAFETY: written by `new`, and never unmapped or changed.
        unsafe { self.0.as_ref() }
    }
}
