//! Fixed addresses of the heap, its shadow, the stacks and the thread-local storage, so that a
//! round's addresses do not depend on the process: libraries order threads by the addresses of
//! thread-local variables, for instance.

use std::io;

use interlap::schedule::THREADS_MAX;
use rustix::mm::{MapFlags, ProtFlags};

/// The target's heap (see `state::heap`), and its shadow: one byte for 16. hooks.h has the same
/// numbers.
pub const ARENA: usize = 0x1000_0000_0000;
pub const ARENA_BYTES: usize = 1 << 30;
pub const SHADOW: usize = 0x1800_0000_0000;
pub const GRANULE: usize = 16;

/// Thread-local storage that the loader makes for loaded libraries, a part for each thread.
pub const STORAGE: usize = 0x1900_0000_0000;
pub const STORAGE_BYTES: usize = 1 << 20;

/// A fiber's stack, above pages that fault. As large as those of threads usually are.
pub const STACKS: usize = 0x2000_0000_0000;
pub const STACK_BYTES: usize = 8 << 20;
const STACK_STRIDE: usize = 16 << 20;

/// The stacks of the carriers' own threads, which hold their static thread-local storage.
const CARRIERS: usize = 0x2100_0000_0000;
pub const CARRIER_BYTES: usize = 1 << 19;

/// Memory that the target maps itself; not reserved.
pub const MAPPINGS: usize = 0x3000_0000_0000;
pub const MAPPINGS_BYTES: usize = 0x1000_0000_0000;

pub fn is_mapping(address: usize) -> bool {
    address.wrapping_sub(MAPPINGS) < MAPPINGS_BYTES
}

/// One past the highest address of a thread's stack.
pub fn stack_end(thread: usize) -> usize {
    STACKS + (thread + 1) * STACK_STRIDE
}

pub fn carrier_stack(thread: usize) -> usize {
    CARRIERS + thread * CARRIER_BYTES
}

pub fn storage(thread: usize) -> usize {
    STORAGE + thread * STORAGE_BYTES
}

/// Whether the address lies in some thread's stack.
pub fn is_stack(address: usize) -> bool {
    address.wrapping_sub(STACKS) < THREADS_MAX * STACK_STRIDE
}

/// Whether the address lies in this thread's stack.
pub fn is_stack_of(thread: usize, address: usize) -> bool {
    (stack_end(thread) - STACK_BYTES..stack_end(thread)).contains(&address)
}

/// Whether the stack pointer is that of a fiber whose stack is used up.
pub fn is_used_up(stack_pointer: usize) -> bool {
    const PAGE: usize = 4096;
    let in_stride = stack_pointer.wrapping_sub(STACKS) % STACK_STRIDE;
    is_stack(stack_pointer) && in_stride < STACK_STRIDE - STACK_BYTES + PAGE
}

/// Whether the address is the same in all processes.
#[inline]
pub fn is_fixed(address: usize) -> bool {
    (ARENA..MAPPINGS + MAPPINGS_BYTES).contains(&address)
}

/// Reserves the address space; the kernel provides memory when it is touched.
pub fn reserve() -> io::Result<()> {
    map(ARENA, ARENA_BYTES)?;
    map(SHADOW, ARENA_BYTES / GRANULE)?;
    map(STORAGE, STORAGE_BYTES * THREADS_MAX)?;
    map(CARRIERS, CARRIER_BYTES * THREADS_MAX)?;
    for thread in 0..THREADS_MAX {
        map(stack_end(thread) - STACK_BYTES, STACK_BYTES)?;
    }
    Ok(())
}

fn map(address: usize, len: usize) -> io::Result<()> {
    let pointer = std::ptr::with_exposed_provenance_mut(address);
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
    // SAFETY: MAP_FIXED_NOREPLACE never touches a mapping that is there already.
    let mapped = unsafe { rustix::mm::mmap_anonymous(pointer, len, protection, flags) }?;
    if mapped.addr() != address {
        // A kernel before 4.17 takes the address as a hint only.
        // SAFETY: just mapped, used by nobody.
        unsafe { rustix::mm::munmap(mapped, len) }?;
        return Err(io::Error::other(format!("address {address:#x} is taken")));
    }
    Ok(())
}

/// Address space that `reserve` takes, in MiB.
pub const RESERVED_MIB: u64 = ((ARENA_BYTES
    + ARENA_BYTES / GRANULE
    + (STORAGE_BYTES + CARRIER_BYTES + STACK_BYTES) * THREADS_MAX)
    >> 20) as u64;
