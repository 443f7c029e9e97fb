//! Allocations and frees under control, for allocator.c: each is a scheduling point and an access.
//! The blocks are `state::heap`'s.

use std::ffi::CStr;
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};

use interlap::trace::trail::Act;

use crate::controlled::accesses;
use crate::controlled::core::access::{AccessEvent, Class, Effect, Made};
use crate::controlled::core::layout::ARENA_BYTES;
use crate::controlled::core::{control, engine};
use crate::controlled::state::heap::{self, Memory};

/// The thread under control is in the C library's allocator. Written by allocator.c.
#[unsafe(no_mangle)]
static il_in_libc: AtomicU8 = AtomicU8::new(0);

/// Whether the running thread is in the C library's allocator.
pub fn is_in_libc() -> bool {
    il_in_libc.load(Ordering::Relaxed) != 0
}

/// For allocator.c: a block, or null where the arena is full.
#[unsafe(no_mangle)]
extern "C" fn il_allocate(size: usize, alignment: usize, caller: usize) -> *mut u8 {
    if heap::gives_storage() {
        return heap::take_storage(size, alignment.max(64));
    }
    if heap::is_too_large(size, alignment) {
        return refuse(size);
    }
    let event = AccessEvent::new(engine::current(), Class::Allocate, Effect::None, 0);
    if control::controls() {
        accesses::announce(&event);
    }
    let Some(block) = heap::allocate(size, alignment, caller) else { return refuse(size) };
    let event = AccessEvent { address: block, size, place: caller, ..event };
    accesses::made(&event, Made::only(Act::Allocate));
    ptr::with_exposed_provenance_mut(block)
}

/// Gives null, or ends the process if there would be memory without the engine.
#[cold]
fn refuse(size: usize) -> *mut u8 {
    if control::controls() && heap::has_promised(size) {
        engine::cannot_control(&match heap::is_too_large(size, 1) {
            true => format!("a block of {} MiB", size >> 20),
            false => format!("more memory in a round than {} MiB", ARENA_BYTES >> 20),
        });
    }
    ptr::null_mut()
}

/// For allocator.c: frees a block; 0 if it is not the arena's.
#[unsafe(no_mangle)]
extern "C" fn il_release(block: *mut u8, caller: usize) -> i32 {
    let address = block.expose_provenance();
    match heap::memory_of(address) {
        Memory::Other => return 0,
        Memory::Storage => return 1,
        Memory::Arena => {}
    }
    if control::controls() {
        let event = AccessEvent::new(engine::current(), Class::Free, Effect::Write, address);
        let event = AccessEvent { place: caller, ..event };
        accesses::announce(&event);
        let event = AccessEvent { size: heap::size_of_block(address), ..event };
        accesses::made(&event, Made::only(Act::Free));
    }
    heap::release(address, caller);
    1
}

/// For allocator.c: the size of a block of the arena.
#[unsafe(no_mangle)]
extern "C" fn il_block_size(block: *const u8) -> usize {
    let address = block.expose_provenance();
    match heap::memory_of(address) {
        Memory::Arena => heap::size_of_block(address).max(1),
        Memory::Storage | Memory::Other => 0,
    }
}

/// For allocator.c: `operator new` without memory. Has the C++ library's own throw.
#[unsafe(no_mangle)]
extern "C-unwind" fn il_cxx_new_failed(_size: usize) -> *mut u8 {
    type New = extern "C-unwind" fn(usize) -> *mut u8;
    // SAFETY: takes a handle of the C++ library, which the caller has loaded, and looks a name up.
    let found = unsafe {
        let flags = libc::RTLD_NOW | libc::RTLD_NOLOAD;
        let library = libc::dlopen(c"libstdc++.so.6".as_ptr(), flags);
        libc::dlsym(library, c"_Znwm".as_ptr())
    };
    let new = match (!found.is_null()).then(|| found.expose_provenance()) {
        // SAFETY: `operator new(size_t)` has this type.
        Some(new) => unsafe { std::mem::transmute::<usize, New>(new) },
        None => crate::pipe::abandon("out of memory".to_string().into()),
    };
    // The exception, too, returns to code under control.
    let _controls = Controls(control::set_controls(false));
    // More than can exist, so that it throws std::bad_alloc.
    new(isize::MAX as usize)
}

/// Restores control, however the function is left.
struct Controls(bool);

impl Drop for Controls {
    fn drop(&mut self) {
        control::set_controls(self.0);
    }
}

/// For allocator.c: `malloc_usable_size` of the C library.
#[unsafe(no_mangle)]
extern "C" fn il_libc_usable_size(block: *mut u8) -> usize {
    match next(c"malloc_usable_size") {
        Some(function) => {
            // SAFETY: the function of this name has this type; `block` is the C library's.
            unsafe {
                let function =
                    std::mem::transmute::<usize, extern "C" fn(*mut u8) -> usize>(function);
                function(block)
            }
        }
        None => 0,
    }
}

/// The definition that ours hides.
fn next(name: &CStr) -> Option<usize> {
    // SAFETY: looks a name up, and changes nothing.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    (!found.is_null()).then(|| found.expose_provenance())
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;

    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

    use super::*;
    use crate::controlled::core::layout::{ARENA, GRANULE};

    unsafe extern "C" {
        fn __tsan_write8(at: *mut c_void);
    }

    /// As under rr, which may map memory at the arena's addresses.
    #[test]
    fn without_an_arena_hooks_and_frees_ignore_its_addresses() {
        let (at, bytes) = (ptr::with_exposed_provenance_mut(ARENA + GRANULE), 4096);
        let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE;
        let page = ptr::with_exposed_provenance_mut(ARENA);
        // SAFETY: a new mapping where none is; the hook looks at no memory but the arena's shadow,
        // which is what this is about.
        unsafe {
            mmap_anonymous(page, bytes, ProtFlags::READ | ProtFlags::WRITE, flags).expect("room");
            __tsan_write8(at);
        }
        assert_eq!((il_release(at.cast(), 0), il_block_size(at.cast())), (0, 0));
        // SAFETY: the mapping made above, of which nothing is left in use.
        unsafe { munmap(page, bytes) }.expect("it is mapped");
    }
}
