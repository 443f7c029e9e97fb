//! What tells apart the memory of a target between two of its calls. An address of a block counts
//! as the number of the block, in the order in which the blocks are come to: where they are makes
//! no difference (Iosif: Exploiting heap symmetries in explicit-state model checking of software,
//! ASE 2001). As in LeakSanitizer, whatever looks like the address of a block is taken for one.
//!
//! A block that nothing points to, or only an address that is hidden in other bits, counts with its
//! own address.

use interlap::core::random::mix;
use rustc_hash::FxHashMap;

use super::{globals_snapshot, heap};

/// More memory is not looked at.
const BYTES_MAX: u64 = 1 << 16;

/// What comes before the number of a block, and before a stretch that counts with its address.
const BLOCK: u64 = 0x626c_6f63_6b21_2121;
const PLACE: u64 = 0x706c_6163_6521_2121;

/// The hash of all that was looked at.
struct Look {
    hash: u64,
    /// The numbers of blocks, by their addresses.
    numbers: FxHashMap<usize, usize>,
    /// Blocks that have a number and were not looked at.
    left: Vec<(usize, usize)>,
}

/// The hash of all blocks, of static data, and of the variables of the first `threads` threads.
/// None where there is too much memory.
pub fn hash(threads: usize) -> Option<u64> {
    if heap::live().1 > BYTES_MAX {
        return None;
    }
    let mut look = Look { hash: 0, numbers: FxHashMap::default(), left: Vec::new() };
    globals_snapshot::changed(threads).for_each(|(at, size)| look.begin(at, size));
    for (block, size) in heap::blocks() {
        if !look.numbers.contains_key(&block) {
            look.numbers.insert(block, look.numbers.len());
            look.begin(block, size);
        }
    }
    Some(look.hash)
}

impl Look {
    fn add(&mut self, word: u64) {
        self.hash = mix(self.hash ^ word);
    }

    /// Looks at a stretch of memory, and at all that can be reached from it.
    fn begin(&mut self, at: usize, size: usize) {
        [PLACE, at as u64].into_iter().for_each(|word| self.add(word));
        self.left.push((at, size));
        while let Some((at, size)) = self.left.pop() {
            self.add(size as u64);
            (0..size).step_by(8).for_each(|from| self.word(word(at + from, size - from)));
        }
    }

    fn word(&mut self, word: u64) {
        let Some((block, size)) = heap::block_of(word as usize) else { return self.add(word) };
        let next = self.numbers.len();
        let number = *self.numbers.entry(block).or_insert_with(|| {
            self.left.push((block, size));
            next
        });
        let within = word as usize - block;
        [BLOCK, number as u64, within as u64].into_iter().for_each(|word| self.add(word));
    }
}

/// The next eight bytes, or those that there are, followed by zeros.
fn word(at: usize, bytes: usize) -> u64 {
    let from: *const u8 = std::ptr::with_exposed_provenance(at);
    let mut word = [0; 8];
    // SAFETY: variables of a loaded library, or an allocated block: mapped, so many bytes, and no
    // code of the target runs now.
    unsafe { from.copy_to_nonoverlapping(word.as_mut_ptr(), bytes.min(8)) };
    u64::from_le_bytes(word)
}
