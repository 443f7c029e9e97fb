//! Counts leaks: blocks that are still allocated after the structure was destroyed, and that no
//! static object points to, directly or through other blocks. As in LeakSanitizer, whatever looks
//! like the address of a block is taken for one.

use super::{globals_snapshot, heap};

/// Numbers of leaked blocks and bytes.
pub fn lost() -> (u64, u64) {
    let (mut blocks, mut bytes) = heap::live();
    if blocks == 0 {
        return (0, 0);
    }
    let mut to_scan: Vec<(usize, usize)> = globals_snapshot::data().collect();
    while let Some((at, size)) = to_scan.pop() {
        for word in words(at, size) {
            if let Some((block, size)) = heap::reach(word) {
                blocks = blocks.saturating_sub(1);
                bytes = bytes.saturating_sub(size as u64);
                to_scan.push((block, size));
            }
        }
    }
    (blocks, bytes)
}

/// The whole words of a stretch of memory.
fn words(at: usize, size: usize) -> impl Iterator<Item = usize> {
    let (first, end) = (at.next_multiple_of(8), at + size);
    (first..end.saturating_sub(7)).step_by(8).map(|word| {
        let word: *const usize = std::ptr::with_exposed_provenance(word);
        // SAFETY: static data of a loaded library, or an allocated block: mapped, and no code of
        // the target runs now.
        unsafe { word.read_volatile() }
    })
}
