//! Names of memory: `#3+8` is byte 8 of the third block that the round allocated. A trail's events
//! come in one by one; names of addresses, and of values that are addresses, go out.

use std::collections::BTreeMap;

use crate::trace::trail::{Act, Event};

/// Addresses have no more bits; what is above is a tag.
const ADDRESS_BITS: u32 = 48;

/// What the harness's heap fills new blocks with.
const JUNK: u8 = 0xa5;

struct Block {
    number: usize,
    size: u64,
}

/// The blocks that live or did live, by their address.
#[derive(Default)]
pub struct Memory {
    blocks: BTreeMap<u64, Block>,
    count: usize,
}

impl Memory {
    /// To be called before the event is told.
    pub fn note(&mut self, event: &Event) {
        if event.act == Act::Allocate {
            self.count += 1;
            let end = event.address + u64::from(event.size);
            // What lay there before is named no more.
            let gone: Vec<u64> = self.blocks.range(event.address..end).map(|(at, _)| *at).collect();
            gone.iter().for_each(|at| {
                self.blocks.remove(at);
            });
            let block = Block { number: self.count, size: event.size.into() };
            self.blocks.insert(event.address, block);
        }
    }

    /// The block that holds the address, and how far behind its start that is.
    fn find(&self, address: u64) -> Option<(&Block, u64)> {
        let (start, block) = self.blocks.range(..=address).next_back()?;
        let offset = address - start;
        (offset < block.size.max(1)).then_some((block, offset))
    }

    /// Of an address.
    pub fn place(&self, address: u64) -> String {
        match self.find(address) {
            Some((block, 0)) => format!("#{}", block.number),
            Some((block, offset)) => format!("#{}+{offset}", block.number),
            None => format!("{address:#x}"),
        }
    }

    /// Whether it is what the heap fills new blocks with.
    pub fn is_junk(&self, value: u64, size: u32) -> bool {
        let bytes = value.to_le_bytes();
        bytes[..size.clamp(1, 8) as usize].iter().all(|byte| *byte == JUNK)
    }

    /// Of what was in memory: an address of a block, perhaps with a tag, else a number.
    pub fn value(&self, value: u64, size: u32) -> String {
        let (address, tag) = (value & ((1 << ADDRESS_BITS) - 1), value >> ADDRESS_BITS);
        if size >= 8 && self.find(address).is_some() {
            let place = self.place(address);
            return if tag == 0 { place } else { format!("{place} with tag {tag}") };
        }
        match value {
            0..0x1_0000_0000 => value.to_string(),
            _ if value as i64 > -0x1_0000 && (value as i64) < 0 => (value as i64).to_string(),
            _ => format!("{value:#x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocate(address: u64, size: u32) -> Event {
        Event {
            step: 1,
            thread: 0,
            call: 1,
            act: Act::Allocate,
            address,
            size,
            before: 0,
            after: 0,
            code: 0,
        }
    }

    #[test]
    fn blocks_are_numbered_as_they_come() {
        let mut memory = Memory::default();
        for (at, size) in [(0x1000, 64), (0x2000, 24), (0x1000, 16)] {
            memory.note(&allocate(at, size));
        }
        assert_eq!(memory.place(0x1000), "#3");
        assert_eq!(memory.place(0x100f), "#3+15");
        assert_eq!(memory.place(0x1010), "0x1010");
        assert_eq!(memory.value(0x2008, 8), "#2+8");
        assert_eq!(memory.value(0x2008, 4), "8200");
        assert_eq!(memory.value(7 << 48 | 0x2000, 8), "#2 with tag 7");
        assert_eq!(memory.value(0, 8), "0");
        assert_eq!(memory.value(-2i64 as u64, 8), "-2");
    }
}
