//! What a round leaves allocated: blocks to which no variable of the target leads, directly or
//! through other blocks, when the structure has been destroyed. What a variable leads to is kept on
//! purpose, as the records that libraries have of threads, for the next threads to take over. Any
//! word that looks like an address of a block counts as one, so some leaks are not seen.

use super::{heap, storage};

/// Blocks that nothing leads to, and their bytes. No thread of the target runs now.
pub fn count() -> (u64, u64) {
    let (live_blocks, live_bytes) = heap::live();
    if live_blocks == 0 {
        return (0, 0);
    }
    let (mut blocks, mut bytes) = (0, 0);
    let mut pending = Vec::new();
    let mut reach = |word: usize, pending: &mut Vec<(usize, usize)>| {
        if let Some((block, size)) = heap::keep(word) {
            (blocks, bytes) = (blocks + 1, bytes + size as u64);
            pending.push((block, size));
        }
    };
    storage::each_variable(|at, size| {
        each_word(at, size, |word| reach(word, &mut pending));
    });
    while let Some((at, size)) = pending.pop() {
        each_word(at, size, |word| reach(word, &mut pending));
    }
    (live_blocks.saturating_sub(blocks), live_bytes.saturating_sub(bytes))
}

fn each_word(at: usize, bytes: usize, mut see: impl FnMut(usize)) {
    const WORD: usize = size_of::<usize>();
    let start = at.next_multiple_of(WORD);
    for word in (start..(at + bytes + 1).saturating_sub(WORD)).step_by(WORD) {
        let word: *const usize = std::ptr::with_exposed_provenance(word);
        // SAFETY: inside a library's writable segment or a block of the arena, aligned; any bytes
        // are a number, and nobody writes to them now.
        see(unsafe { word.read() });
    }
}
