//! Names memory: `#3+8` is byte 8 of the third block that the round allocated. If types are known,
//! `#3.next` is a member of that block, and `head.next` one of the structure under test.

use std::collections::{BTreeMap, HashMap};

use crate::binary::members::{Pointee, Types};
use crate::finding::interleaving::{Container, Memory as Name, Value};
use crate::trace::trail::{Act, Event, NEW_BLOCK_BYTE};

/// Bits of an address; those above are a tag.
const ADDRESS_BITS: u32 = 48;

struct Block {
    number: usize,
    size: u64,
}

/// A member at an address.
struct Member {
    name: Name,
    container: Option<Name>,
    points_to: Option<Pointee>,
    /// Its size, as far as it is one value.
    bytes: u64,
}

/// Most passes over the trail to find the types of blocks: a pointer in a block whose type is found
/// in one pass is followed in the next.
const PASSES_MAX: usize = 4;

/// The blocks of a round, live or freed.
pub struct Memory<'a> {
    /// By their addresses.
    blocks: BTreeMap<u64, Block>,
    count: usize,
    types: &'a Types,
    /// The types of blocks, by number.
    known: HashMap<usize, Pointee>,
    /// The number of the structure's block.
    structure: Option<usize>,
    /// For a block where another one lay before: that one's number.
    formers: HashMap<usize, usize>,
}

impl<'a> Memory<'a> {
    /// Finds the types of the blocks that the trail allocates, and starts without any block. The
    /// structure is the first block of its size; members that are pointers give the other types.
    pub fn with_types_from(trail: &[Event], types: &'a Types) -> Memory<'a> {
        let (mut known, mut structure) = (HashMap::new(), None);
        for _ in 0..PASSES_MAX {
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
            Act::Store | Act::Write | Act::ReadModifyWrite | Act::CompareExchange | Act::Buffer
                if event.size == 8 =>
            {
                let points_to = self.member(event.address).and_then(|member| member.points_to);
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

    /// The member at an address, if the type of its block is known.
    fn member(&self, address: u64) -> Option<Member> {
        let (block, offset) = self.find(address)?;
        let pointee = *self.known.get(&block.number)?;
        let Pointee { of, is_array, .. } = pointee;
        let bytes = self.types.bytes(of).max(1);
        let number = offset / bytes;
        // The type says nothing about memory behind the object.
        if number > 0 && !is_array {
            return None;
        }
        let is_element = is_array && offset % bytes == 0;
        let spot = self.types.find(of, offset % bytes);
        let spot = spot.or_else(|| is_element.then(|| self.types.element(pointee)))?;
        let (number_of_block, index) = match (self.structure == Some(block.number), is_array) {
            (true, _) => (None, None),
            (false, true) => (Some(block.number), Some(number)),
            (false, false) => (Some(block.number), None),
        };
        let name = |path| Name::Member { block: number_of_block, index, path };
        Some(Member {
            name: name(spot.name),
            container: spot.container.map(name),
            points_to: spot.points_to,
            bytes: spot.bytes,
        })
    }

    /// Adds the block of an allocation. Call it for each event before naming its memory.
    pub fn note(&mut self, event: &Event) {
        if event.act == Act::Allocate {
            self.count += 1;
            let former = self.blocks.get(&event.address).map(|block| block.number);
            self.formers.extend(former.map(|former| (self.count, former)));
            let end = event.address + u64::from(event.size);
            let gone: Vec<u64> = self.blocks.range(event.address..end).map(|(at, _)| *at).collect();
            gone.iter().for_each(|at| {
                self.blocks.remove(at);
            });
            let block = Block { number: self.count, size: event.size.into() };
            self.blocks.insert(event.address, block);
        }
    }

    /// The number of the freed block that lay where this one begins.
    pub fn former(&self, address: u64) -> Option<usize> {
        let (block, _) = self.find(address)?;
        self.formers.get(&block.number).copied()
    }

    /// The block of an address, and the offset in it.
    fn find(&self, address: u64) -> Option<(&Block, u64)> {
        let (start, block) = self.blocks.range(..=address).next_back()?;
        let offset = address - start;
        (offset < block.size.max(1)).then_some((block, offset))
    }

    /// The name of an address.
    pub fn name(&self, address: u64) -> Name {
        match (self.member(address), self.find(address)) {
            (Some(member), _) => member.name,
            (None, Some((block, offset))) => Name::Block { number: block.number, offset },
            (None, None) => Name::Address(address),
        }
    }

    /// The container of the standard library whose internals an access uses.
    pub fn container(&self, event: &Event) -> Option<Container> {
        let changes = match event.act {
            Act::Read | Act::Load => false,
            Act::Write | Act::Store => true,
            _ => return None,
        };
        let name = self.member(event.address)?.container?;
        Some(Container { name, changes })
    }

    /// The value that an access found, cut to the size of the member at its address.
    pub fn value_at(&self, address: u64, value: u64, size: u32) -> Value {
        let bytes = self.member(address).map_or(0, |member| member.bytes.min(8) as u32);
        let size = if matches!(bytes, 1 | 2 | 4) { size.min(bytes) } else { size };
        self.value(value & (u64::MAX >> (64 - 8 * size.clamp(1, 8))), size)
    }

    /// The name of the block that begins at an address.
    pub fn block_name(&self, address: u64) -> Name {
        match self.find(address) {
            Some((block, 0)) => Name::Block { number: block.number, offset: 0 },
            _ => self.name(address),
        }
    }

    /// Whether the value is what the heap fills new blocks with.
    pub fn is_junk(&self, value: u64, size: u32) -> bool {
        let bytes = value.to_le_bytes();
        bytes[..size.clamp(1, 8) as usize].iter().all(|byte| *byte == NEW_BLOCK_BYTE)
    }

    /// A value in memory: a pointer into a block, perhaps with a tag, else a number.
    pub fn value(&self, value: u64, size: u32) -> Value {
        let (address, tag) = (value & ((1 << ADDRESS_BITS) - 1), value >> ADDRESS_BITS);
        if size >= 8 && self.find(address).is_some() {
            return Value::Pointer { to: self.block_name(address), tag };
        }
        // An end iterator points behind the last element.
        if size >= 8
            && let Some((block, offset)) = value.checked_sub(1).and_then(|last| self.find(last))
        {
            let to = Name::Block { number: block.number, offset: offset + 1 };
            return Value::Pointer { to, tag: 0 };
        }
        match value {
            0xffff_0000..0x1_0000_0000 if size == 4 => Value::Number((value as u32 as i32).into()),
            0..0x1_0000_0000 => Value::Number(value as i64),
            _ if value as i64 > -0x1_0000 && (value as i64) < 0 => Value::Number(value as i64),
            _ => Value::Bits(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocate(address: u64, size: u32) -> Event {
        let (act, step, thread, call, before, after, code) = (Act::Allocate, 1, 0, 1, 0, 0, 0);
        Event { step, thread, call, act, address, size, before, after, code, around: [0; 4] }
    }

    #[test]
    fn blocks_are_numbered_as_they_are_allocated() {
        let types = Types::default();
        let mut memory = Memory::with_types_from(&[], &types);
        for (at, size) in [(0x1000, 64), (0x2000, 24), (0x1000, 16)] {
            memory.note(&allocate(at, size));
        }
        let block = |number, offset| Name::Block { number, offset };
        let pointer = |to, tag| Value::Pointer { to, tag };
        assert_eq!(memory.name(0x1000), block(3, 0));
        assert_eq!((memory.former(0x1000), memory.former(0x2000)), (Some(1), None));
        assert_eq!(memory.name(0x100f), block(3, 15));
        assert_eq!(memory.name(0x1010), Name::Address(0x1010));
        assert_eq!(memory.value(0x2008, 8), pointer(block(2, 8), 0));
        assert_eq!(memory.value(0x2008, 4), Value::Number(8200));
        let behind = (memory.value(0x2018, 8), memory.value(0x2019, 8));
        assert_eq!(behind, (pointer(block(2, 24), 0), Value::Number(8217)));
        assert_eq!(memory.value(7 << 48 | 0x2000, 8), pointer(block(2, 0), 7));
        assert_eq!(memory.value(0, 8), Value::Number(0));
        assert_eq!(memory.value(-2i64 as u64, 8), Value::Number(-2));
        assert_eq!(memory.value((-1i32 as u32).into(), 4), Value::Number(-1));
        assert_eq!(memory.value((-1i32 as u32).into(), 8), Value::Number(4294967295));
    }
}
