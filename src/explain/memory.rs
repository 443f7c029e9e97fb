//! Names memory: `#3+8` is byte 8 of the third block that the round allocated. If types are known,
//! `#3.next` is a member of that block, and `head.next` one of the structure under test.

use std::collections::{BTreeMap, HashMap};

use super::visibility::changes_memory;
use crate::binary::members::{Pointee, Types};
use crate::finding::interleaving::{Container, Memory as Name, Value};
use crate::trace::trail::{Act, Event, is_new_memory};

/// Bits of an address; those above are a tag.
const ADDRESS_BITS: u32 = 48;

/// Bytes of a value that an event holds.
const VALUE_BYTES: u32 = 8;

struct Block {
    number: usize,
    size: u64,
    /// What of it was written: first bytes, and the bytes behind the last.
    written: BTreeMap<u64, u64>,
}

impl Block {
    fn write(&mut self, mut from: u64, mut to: u64) {
        while let Some((&start, &end)) = self.written.range(..=to).next_back()
            && end >= from
        {
            self.written.remove(&start);
            (from, to) = (from.min(start), to.max(end));
        }
        self.written.insert(from, to);
    }

    fn is_written(&self, from: u64, to: u64) -> bool {
        self.written.range(..to).next_back().is_some_and(|(_, end)| *end > from)
    }
}

/// A member at an address.
struct Member {
    name: Name,
    container: Option<Name>,
    points_to: Option<Pointee>,
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
                let member = self.member(event.address, event.size);
                let points_to = member.and_then(|member| member.points_to);
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

    /// The smallest member that an access of so many bytes lies in, as far as its value is known;
    /// none if the type of its block is not known.
    fn member(&self, address: u64, size: u32) -> Option<Member> {
        let (block, offset) = self.find(address)?;
        let pointee = *self.known.get(&block.number)?;
        let Pointee { of, is_array, .. } = pointee;
        let bytes = self.types.bytes(of).max(1);
        let number = offset / bytes;
        // The type says nothing about memory behind the object.
        if number > 0 && !is_array {
            return None;
        }
        let size = u64::from(size.clamp(1, VALUE_BYTES));
        // It lies in several elements, or beyond the object.
        if offset % bytes + size > bytes {
            return None;
        }
        let is_element = is_array && offset % bytes == 0;
        let spot = self.types.find(of, offset % bytes, size);
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
            let (size, written) = (event.size.into(), BTreeMap::new());
            let block = Block { number: self.count, size, written };
            self.blocks.insert(event.address, block);
        }
    }

    /// Notes what an event wrote. Call it for each event after naming its values.
    pub fn note_write(&mut self, event: &Event) {
        let writes = changes_memory(event) && event.act != Act::Free || event.act == Act::Buffer;
        if writes
            && let Some((start, block)) = self.blocks.range_mut(..=event.address).next_back()
            && event.address - start < block.size
        {
            let from = event.address - start;
            block.write(from, from.saturating_add(event.size.into()));
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
        self.name_of(address, 1)
    }

    /// The name of what an access of so many bytes uses.
    pub fn name_of(&self, address: u64, size: u32) -> Name {
        match (self.member(address, size), self.find(address)) {
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
        let name = self.member(event.address, event.size)?.container?;
        Some(Container { name, changes })
    }

    /// The value that an access of so many bytes found.
    pub fn value_at(&self, address: u64, value: u64, size: u32) -> Value {
        let size = size.clamp(1, VALUE_BYTES);
        if is_new_memory(value, size) && (size >= 4 || !self.is_written(address, size)) {
            return Value::Uninitialised;
        }
        self.value(value & (u64::MAX >> (64 - 8 * size)), size)
    }

    /// Whether a part of it was written, as far as is known: what other code writes is not.
    fn is_written(&self, address: u64, size: u32) -> bool {
        let found = self.find(address);
        found.is_none_or(|(block, offset)| block.is_written(offset, offset + u64::from(size)))
    }

    /// The name of the block that begins at an address.
    pub fn block_name(&self, address: u64) -> Name {
        match self.find(address) {
            Some((block, 0)) => Name::Block { number: block.number, offset: 0 },
            _ => self.name(address),
        }
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

    #[test]
    fn a_value_is_as_wide_as_its_access() {
        let types = Types::default();
        let mut memory = Memory::with_types_from(&[], &types);
        memory.note(&allocate(0x1000, 64));
        let value = |value, size| memory.value_at(0x1000, value, size);
        assert_eq!(value(404, 8), Value::Number(404));
        assert_eq!(value(404, 1), Value::Number(148));
        assert_eq!(value(7 << 32 | 3, 16), Value::Bits(7 << 32 | 3));
        assert_eq!(value(7 << 32 | 3, 4), Value::Number(3));
    }

    #[test]
    fn what_nobody_has_written_is_no_value() {
        let types = Types::default();
        let mut memory = Memory::with_types_from(&[], &types);
        memory.note(&allocate(0x1000, 64));
        let filling = 0xa5a5_a5a5_a5a5_a5a5;
        let write = |address, size| Event { act: Act::Write, ..allocate(address, size) };
        memory.note_write(&write(0x1008, 2));
        memory.note_write(&write(0x1010, 8));
        memory.note_write(&write(0x100a, 6));
        let value = |at, size| memory.value_at(at, filling, size);
        assert_eq!(
            (value(0x1000, 8), value(0x1007, 1)),
            (Value::Uninitialised, Value::Uninitialised)
        );
        for at in [0x1008, 0x1009, 0x100a, 0x1010, 0x1017] {
            assert_eq!(value(at, 1), Value::Number(0xa5), "{at:x}");
        }
        assert_eq!(value(0x1018, 1), Value::Uninitialised);
        // A copy of it.
        assert_eq!(value(0x1010, 8), Value::Uninitialised);
        assert_eq!(value(0x1000, 3), Value::Uninitialised);
        assert_eq!(memory.value_at(0x1000, filling << 8, 8), Value::Bits(filling << 8));
        // The block is another one.
        memory.note(&allocate(0x1000, 64));
        assert_eq!(memory.value_at(0x1008, filling, 1), Value::Uninitialised);
    }
}
