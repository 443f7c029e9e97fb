//! Names of memory: `#3+8` is byte 8 of the third block that the round allocated; `#3.next` is a
//! member of it, and `head.next` one of the structure under test, where their types are known. A
//! trail's events come in one by one; names of addresses, and of values that are addresses, go out.

use std::collections::{BTreeMap, HashMap};

use crate::binary::members::{Pointee, Types};
use crate::finding::interleaving::{Container, Memory as Name, Value};
use crate::trace::trail::{Act, Event};

/// Addresses have no more bits; what is above is a tag.
const ADDRESS_BITS: u32 = 48;

/// What the harness's heap fills new blocks with.
const JUNK: u8 = 0xa5;

struct Block {
    number: usize,
    size: u64,
}

/// What lies at an address, by its name.
struct Named {
    name: Name,
    container: Option<Name>,
    points_to: Option<Pointee>,
    /// How many bytes it has that can be told as one.
    bytes: u64,
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
                let points_to = self.spot(event.address).and_then(|spot| spot.points_to);
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

    /// What lies at an address.
    fn spot(&self, address: u64) -> Option<Named> {
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
        let spot = spot.or_else(|| is_element.then(|| self.types.element(pointee)))?;
        let (number_of_block, index) = match (self.structure == Some(block.number), is_array) {
            (true, _) => (None, None),
            (false, true) => (Some(block.number), Some(number)),
            (false, false) => (Some(block.number), None),
        };
        let member = |path| Name::Member { block: number_of_block, index, path };
        Some(Named {
            name: member(spot.name),
            container: spot.container.map(member),
            points_to: spot.points_to,
            bytes: spot.bytes,
        })
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
    pub fn place(&self, address: u64) -> Name {
        match (self.spot(address), self.find(address)) {
            (Some(spot), _) => spot.name,
            (None, Some((block, offset))) => Name::Block { number: block.number, offset },
            (None, None) => Name::Address(address),
        }
    }

    /// The container of the standard library whose inner working an access is.
    pub fn container(&self, event: &Event) -> Option<Container> {
        let changes = match event.act {
            Act::Read | Act::Load => false,
            Act::Write | Act::Store => true,
            _ => return None,
        };
        let name = self.spot(event.address)?.container?;
        Some(Container { name, changes })
    }

    /// Of what an access saw: the bytes of what is named there, where it saw more.
    pub fn value_at(&self, address: u64, value: u64, size: u32) -> Value {
        let bytes = self.spot(address).map_or(0, |spot| spot.bytes.min(8) as u32);
        let size = if matches!(bytes, 1 | 2 | 4) { size.min(bytes) } else { size };
        self.value(value & (u64::MAX >> (64 - 8 * size.clamp(1, 8))), size)
    }

    /// Of a block as a whole.
    pub fn whole(&self, address: u64) -> Name {
        match self.find(address) {
            Some((block, 0)) => Name::Block { number: block.number, offset: 0 },
            _ => self.place(address),
        }
    }

    /// Whether it is what the heap fills new blocks with.
    pub fn is_junk(&self, value: u64, size: u32) -> bool {
        let bytes = value.to_le_bytes();
        bytes[..size.clamp(1, 8) as usize].iter().all(|byte| *byte == JUNK)
    }

    /// Of what was in memory: an address of a block, perhaps with a tag, else a number.
    pub fn value(&self, value: u64, size: u32) -> Value {
        let (address, tag) = (value & ((1 << ADDRESS_BITS) - 1), value >> ADDRESS_BITS);
        if size >= 8 && self.find(address).is_some() {
            return Value::Pointer { to: self.whole(address), tag };
        }
        // As iterators have it that are behind the last element.
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
        let block = |number, offset| Name::Block { number, offset };
        let pointer = |to, tag| Value::Pointer { to, tag };
        assert_eq!(memory.place(0x1000), block(3, 0));
        assert_eq!((memory.former(0x1000), memory.former(0x2000)), (Some(1), None));
        assert_eq!(memory.place(0x100f), block(3, 15));
        assert_eq!(memory.place(0x1010), Name::Address(0x1010));
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
