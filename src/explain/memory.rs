//! Names of memory: `#3+8` is byte 8 of the third block that the round allocated; `#3.next` is a
//! member of it, and `head.next` one of the structure under test, where their types are known. A
//! trail's events come in one by one; names of addresses, and of values that are addresses, go out.

use std::collections::{BTreeMap, HashMap};

use crate::binary::members::{Pointee, Spot, Types};
use crate::finding::interleaving::Container;
use crate::trace::trail::{Act, Event};

/// Addresses have no more bits; what is above is a tag.
const ADDRESS_BITS: u32 = 48;

/// What the harness's heap fills new blocks with.
const JUNK: u8 = 0xa5;

struct Block {
    number: usize,
    size: u64,
}

/// How often all events are looked at for types of blocks: pointers to blocks of which the type is
/// known later are followed then.
const LOOKS: usize = 4;

/// The blocks that live or did live, by their address.
pub struct Memory<'a> {
    blocks: BTreeMap<u64, Block>,
    count: usize,
    types: &'a Types,
    /// Of blocks, by their number.
    known: HashMap<usize, Pointee>,
    /// The number of the block that is the structure.
    structure: Option<usize>,
    /// Of blocks that lie where others did, both by their numbers.
    formers: HashMap<usize, usize>,
}

impl<'a> Memory<'a> {
    /// Nothing yet of these events, but what lies in the blocks they will allocate: the first that
    /// is as large as the structure is it; what a pointer in a known place points to is known.
    pub fn of(trail: &[Event], types: &'a Types) -> Memory<'a> {
        let (mut known, mut structure) = (HashMap::new(), None);
        for _ in 0..LOOKS {
            let before = known.len();
            let mut memory = Memory::knowing(types, known, structure);
            trail.iter().for_each(|event| memory.learn(event));
            (known, structure) = (memory.known, memory.structure);
            if known.len() == before {
                break;
            }
        }
        Memory::knowing(types, known, structure)
    }

    fn knowing(
        types: &'a Types,
        known: HashMap<usize, Pointee>,
        structure: Option<usize>,
    ) -> Memory<'a> {
        let (blocks, formers) = (BTreeMap::new(), HashMap::new());
        Memory { blocks, count: 0, types, known, structure, formers }
    }

    fn learn(&mut self, event: &Event) {
        self.note(event);
        match event.act {
            Act::Allocate if self.structure.is_none() => {
                let class = self.types.structure();
                if let Some(of) = class
                    && self.types.bytes(of) == u64::from(event.size)
                {
                    self.structure = Some(self.count);
                    self.known.insert(self.count, Pointee::one(of));
                }
            }
            Act::Store | Act::Write | Act::Exchange | Act::Swap | Act::Buffer
                if event.size == 8 =>
            {
                let points_to = self.spot(event.address).and_then(|(_, spot)| spot.points_to);
                let target = self.find(event.after & ((1 << ADDRESS_BITS) - 1));
                if let (Some(of), Some((block, 0))) = (points_to, target) {
                    let (number, size) = (block.number, block.size);
                    if (1..=size).contains(&self.types.bytes(of.of)) {
                        let types = self.types;
                        self.known.entry(number).or_insert_with(|| types.fitting(of, size));
                    }
                }
            }
            _ => {}
        }
    }

    /// What lies at an address, and the block that it is in.
    fn spot(&self, address: u64) -> Option<(&Block, Spot)> {
        let (block, offset) = self.find(address)?;
        let pointee = *self.known.get(&block.number)?;
        let Pointee { of, is_array, .. } = pointee;
        let bytes = self.types.bytes(of).max(1);
        let number = offset / bytes;
        // What is behind the one is not known.
        if number > 0 && !is_array {
            return None;
        }
        let is_element = is_array && offset % bytes == 0;
        let spot = self.types.find(of, offset % bytes);
        let mut spot = spot.or_else(|| is_element.then(|| self.types.element(pointee)))?;
        let prefix = match (self.structure == Some(block.number), is_array) {
            (true, _) => String::new(),
            (false, true) => format!("#{}[{number}]", block.number),
            (false, false) => format!("#{}", block.number),
        };
        let within = |name: String| {
            let is_bare = prefix.is_empty() || name.is_empty() || name.starts_with('[');
            format!("{prefix}{}{name}", if is_bare { "" } else { "." })
        };
        spot.container = spot.container.map(within);
        spot.name = within(spot.name);
        Some((block, spot))
    }

    /// To be called before the event is told.
    pub fn note(&mut self, event: &Event) {
        if event.act == Act::Allocate {
            self.count += 1;
            let former = self.blocks.get(&event.address).map(|block| block.number);
            self.formers.extend(former.map(|former| (self.count, former)));
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

    /// The number of the block that lay where this one begins, which was freed.
    pub fn former(&self, address: u64) -> Option<usize> {
        let (block, _) = self.find(address)?;
        self.formers.get(&block.number).copied()
    }

    /// The block that holds the address, and how far behind its start that is.
    fn find(&self, address: u64) -> Option<(&Block, u64)> {
        let (start, block) = self.blocks.range(..=address).next_back()?;
        let offset = address - start;
        (offset < block.size.max(1)).then_some((block, offset))
    }

    /// Of an address.
    pub fn place(&self, address: u64) -> String {
        match (self.spot(address), self.find(address)) {
            (Some((_, spot)), _) => spot.name,
            (None, Some((block, 0))) => format!("#{}", block.number),
            (None, Some((block, offset))) => format!("#{}+{offset}", block.number),
            (None, None) => format!("{address:#x}"),
        }
    }

    /// The text with the name of the memory instead of the address that follows " at ", if it has
    /// one.
    pub fn with_names(&self, text: &str) -> String {
        let Some((before, rest)) = text.split_once(" at 0x") else { return text.to_string() };
        let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        match u64::from_str_radix(&rest[..end], 16) {
            Ok(address) => format!("{before} at {}{}", self.place(address), &rest[end..]),
            Err(_) => text.to_string(),
        }
    }

    /// The container of the standard library whose inner working an access is.
    pub fn container(&self, event: &Event) -> Option<Container> {
        let changes = match event.act {
            Act::Read | Act::Load => false,
            Act::Write | Act::Store => true,
            _ => return None,
        };
        let name = self.spot(event.address)?.1.container?;
        Some(Container { name, changes })
    }

    /// Of what an access saw: the bytes of what is named there, where it saw more.
    pub fn value_at(&self, address: u64, value: u64, size: u32) -> String {
        let bytes = self.spot(address).map_or(0, |(_, spot)| spot.bytes.min(8) as u32);
        let size = if matches!(bytes, 1 | 2 | 4) { size.min(bytes) } else { size };
        self.value(value & (u64::MAX >> (64 - 8 * size.clamp(1, 8))), size)
    }

    /// Of a block as a whole.
    pub fn whole(&self, address: u64) -> String {
        match self.find(address) {
            Some((block, 0)) => format!("#{}", block.number),
            _ => self.place(address),
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
            let place = self.whole(address);
            return if tag == 0 { place } else { format!("{place} with tag {tag}") };
        }
        // As iterators have it that are behind the last element.
        if size >= 8
            && let Some((block, offset)) = value.checked_sub(1).and_then(|last| self.find(last))
        {
            return format!("#{}+{}", block.number, offset + 1);
        }
        match value {
            0xffff_0000..0x1_0000_0000 if size == 4 => (value as u32 as i32).to_string(),
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
            around: [0; 4],
        }
    }

    #[test]
    fn blocks_are_numbered_as_they_come() {
        let types = Types::default();
        let mut memory = Memory::of(&[], &types);
        for (at, size) in [(0x1000, 64), (0x2000, 24), (0x1000, 16)] {
            memory.note(&allocate(at, size));
        }
        assert_eq!(memory.place(0x1000), "#3");
        assert_eq!((memory.former(0x1000), memory.former(0x2000)), (Some(1), None));
        assert_eq!(memory.place(0x100f), "#3+15");
        assert_eq!(memory.place(0x1010), "0x1010");
        assert_eq!(memory.value(0x2008, 8), "#2+8");
        assert_eq!(memory.value(0x2008, 4), "8200");
        assert_eq!(
            (memory.value(0x2018, 8), memory.value(0x2019, 8)),
            ("#2+24".into(), "8217".into())
        );
        assert_eq!(
            memory.with_names("read from freed memory at 0x2008, byte 8"),
            "read from freed memory at #2+8, byte 8"
        );
        assert_eq!(memory.with_names("waits for the mutex at 0x7"), "waits for the mutex at 0x7");
        assert_eq!(memory.value(7 << 48 | 0x2000, 8), "#2 with tag 7");
        assert_eq!(memory.value(0, 8), "0");
        assert_eq!(memory.value(-2i64 as u64, 8), "-2");
        assert_eq!(memory.value((-1i32 as u32).into(), 4), "-1");
        assert_eq!(memory.value((-1i32 as u32).into(), 8), "4294967295");
    }
}
