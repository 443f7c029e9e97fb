//! What lies where in the structure under test: the debugging information of its library comes in;
//! out go the types of C and C++ objects, the name of the member at a byte of one, and what a
//! pointer there points to. Knows no addresses.

use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

use gimli::{AttributeValue, DebuggingInformationEntry, DwAt, EndianSlice, LittleEndian, Unit};
use object::{Object, ObjectSection};

/// The class of interlap.hpp that has the structure's class as its argument.
const FUNCTIONS: &str = "functions<";
/// Bytes of a vector that is three pointers, of which the first points to its elements.
const VECTOR: u64 = 24;
/// Members of members are looked into so deep.
const DEPTH_MAX: usize = 32;

/// A type, by where it is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(usize);

#[derive(Debug, Default, PartialEq)]
enum Kind {
    Class,
    /// Which of its members is alive is not known.
    Union,
    Array,
    Pointer,
    /// Another by a name, or with `const` and the like.
    Alias,
    #[default]
    Other,
}

#[derive(Debug, Default)]
struct Type {
    kind: Kind,
    name: String,
    /// Of the standard library: how it does its work is of no interest.
    is_std: bool,
    bytes: u64,
    /// How many, of an array.
    count: u64,
    /// What it is an array of, points to or stands for; of a class, its first template argument.
    of: Option<TypeId>,
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    /// None of a base class.
    name: Option<String>,
    at: u64,
    of: TypeId,
}

/// What is at a byte of an object.
#[derive(Debug, PartialEq, Eq)]
pub struct Spot {
    /// "pool.chunks[3]", or "node+4" where no more is known.
    pub name: String,
    pub points_to: Option<Pointee>,
}

/// What a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointee {
    pub of: TypeId,
    /// Many of these, as far as is known.
    pub is_array: bool,
}

/// The types of one library.
#[derive(Default)]
pub struct Types {
    all: HashMap<usize, Type>,
    /// Where a class is described that is only declared here.
    described: HashMap<usize, usize>,
    structure: Option<TypeId>,
}

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;
type Entry<'a> = DebuggingInformationEntry<Slice<'a>>;

impl Types {
    /// Of a library's file; none where there is no such information, or it cannot be read.
    pub fn of(library: &Path) -> Types {
        Types::read(library).unwrap_or_default()
    }

    fn read(library: &Path) -> Result<Types, Box<dyn Error>> {
        let bytes = std::fs::read(library)?;
        let file = object::File::parse(&*bytes)?;
        let sections = gimli::DwarfSections::load(|id| -> Result<Cow<[u8]>, gimli::Error> {
            let section = file.section_by_name(id.name());
            Ok(section.and_then(|section| section.uncompressed_data().ok()).unwrap_or_default())
        })?;
        let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
        let mut types = Types::default();
        let mut units = dwarf.units();
        while let Some(header) = units.next()? {
            types.read_unit(&dwarf, &dwarf.unit(header)?)?;
        }
        Ok(types)
    }

    fn read_unit(&mut self, dwarf: &Dwarf, unit: &Unit<Slice>) -> Result<(), gimli::Error> {
        // What the entry at hand is within: offsets, and whether that is in namespace std.
        let mut within: Vec<(usize, bool)> = Vec::new();
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            within.truncate(entry.depth().max(0) as usize);
            let (parent, is_std) = within.last().copied().unwrap_or_default();
            let reader = Reader { dwarf, unit, entry };
            let is_std = is_std || reader.is_std();
            let at = reader.own();
            match entry.tag() {
                gimli::DW_TAG_member | gimli::DW_TAG_inheritance => {
                    let member = reader.member();
                    self.all.entry(parent).or_default().members.extend(member);
                }
                gimli::DW_TAG_template_type_parameter => self.argument(parent, reader.of()),
                gimli::DW_TAG_subrange_type => {
                    // One for each dimension.
                    let array = self.all.entry(parent).or_default();
                    array.count = array.count.max(1).saturating_mul(reader.count());
                }
                _ => {
                    if let Some(found) = reader.ty(is_std) {
                        self.all.insert(at, found);
                    }
                    if let Some(declared) = reader.reference(gimli::DW_AT_specification) {
                        self.described.insert(declared, at);
                    }
                }
            }
            within.push((at, is_std));
        }
        Ok(())
    }

    fn argument(&mut self, parent: usize, argument: Option<TypeId>) {
        let Some(class) = self.all.get_mut(&parent).filter(|ty| ty.kind == Kind::Class) else {
            return;
        };
        class.of = class.of.or(argument);
        if class.name.starts_with(FUNCTIONS) {
            self.structure = self.structure.or(argument);
        }
    }

    /// The class of the structure under test, where the adapter is written with interlap.hpp.
    pub fn structure(&self) -> Option<TypeId> {
        self.structure
    }

    fn get(&self, id: TypeId) -> Option<&Type> {
        self.all.get(self.described.get(&id.0).unwrap_or(&id.0))
    }

    /// The type itself, whatever it is called here.
    fn peel(&self, mut id: TypeId) -> Option<&Type> {
        for _ in 0..DEPTH_MAX {
            let ty = self.get(id)?;
            match (&ty.kind, ty.of) {
                (Kind::Alias, Some(of)) => id = of,
                _ => return Some(ty),
            }
        }
        None
    }

    /// How many bytes an object of it has; 0 where that is not known.
    pub fn bytes(&self, id: TypeId) -> u64 {
        let Some(ty) = self.peel(id) else { return 0 };
        match (&ty.kind, ty.of) {
            (Kind::Array, Some(of)) if ty.bytes == 0 => ty.count.saturating_mul(self.bytes(of)),
            _ => ty.bytes,
        }
    }

    /// What is at this byte of an object; none where nothing is that has a name.
    pub fn find(&self, id: TypeId, offset: u64) -> Option<Spot> {
        let (mut name, mut ty, mut at) = (String::new(), self.peel(id)?, offset);
        for _ in 0..DEPTH_MAX {
            let (inner, start) = match (&ty.kind, ty.of) {
                (Kind::Class, _) if !ty.is_std => {
                    let holds =
                        |m: &&Member| (m.at..m.at.saturating_add(self.bytes(m.of))).contains(&at);
                    let Some(member) = ty.members.iter().find(holds) else { break };
                    if let Some(own) = &member.name {
                        name += if name.is_empty() { "" } else { "." };
                        name += own;
                    }
                    (member.of, member.at)
                }
                (Kind::Array, Some(of)) if self.bytes(of) > 0 => {
                    let number = at / self.bytes(of);
                    name += &format!("[{number}]");
                    (of, number * self.bytes(of))
                }
                _ => break,
            };
            (ty, at) = (self.peel(inner)?, at - start);
        }
        let points_to = if at == 0 { self.pointee(ty) } else { None };
        if at > 0 {
            name += &format!("+{at}");
        }
        (!name.is_empty() && !name.starts_with('+')).then_some(Spot { name, points_to })
    }

    /// What an object of this type points to, if it is but a pointer.
    fn pointee(&self, ty: &Type) -> Option<Pointee> {
        let one = |of| Pointee { of, is_array: false };
        match ty.kind {
            Kind::Pointer => ty.of.map(one),
            Kind::Class if ty.is_std && ty.name.starts_with("atomic<") => {
                self.only_pointer(ty.of?, DEPTH_MAX).map(one)
            }
            Kind::Class if ty.is_std && ty.name.starts_with("unique_ptr<") => {
                let of = self.peel(ty.of?)?;
                match of.kind {
                    Kind::Array => Some(Pointee { of: of.of?, is_array: true }),
                    _ => ty.of.map(one),
                }
            }
            // With an allocator of the user's own, something else may come first.
            Kind::Class if ty.is_std && ty.name.starts_with("vector<") && ty.bytes == VECTOR => {
                ty.of.map(|of| Pointee { of, is_array: true })
            }
            _ => None,
        }
    }

    /// What the one pointer points to that an object of this type is; some are classes, with marks
    /// in its lowest bits.
    fn only_pointer(&self, id: TypeId, depth: usize) -> Option<TypeId> {
        let ty = self.peel(id)?;
        let is_whole = |member: &&Member| member.at == 0 && self.bytes(member.of) == ty.bytes;
        match ty.kind {
            Kind::Pointer => ty.of,
            Kind::Class | Kind::Union if depth > 0 => {
                let whole = ty.members.iter().filter(is_whole);
                whole.filter_map(|member| self.only_pointer(member.of, depth - 1)).next()
            }
            _ => None,
        }
    }
}

/// One entry of the debugging information.
struct Reader<'r, 'a> {
    dwarf: &'r Dwarf<'a>,
    unit: &'r Unit<Slice<'a>>,
    entry: &'r Entry<'a>,
}

impl Reader<'_, '_> {
    fn own(&self) -> usize {
        self.global(self.entry.offset())
    }

    fn global(&self, offset: gimli::UnitOffset) -> usize {
        offset.to_debug_info_offset(&self.unit.header).map_or(usize::MAX, |offset| offset.0)
    }

    fn reference(&self, name: DwAt) -> Option<usize> {
        match self.entry.attr_value(name)? {
            AttributeValue::UnitRef(offset) => Some(self.global(offset)),
            AttributeValue::DebugInfoRef(offset) => Some(offset.0),
            _ => None,
        }
    }

    fn of(&self) -> Option<TypeId> {
        self.reference(gimli::DW_AT_type).map(TypeId)
    }

    fn number(&self, name: DwAt) -> Option<u64> {
        self.entry.attr_value(name)?.udata_value()
    }

    fn name(&self) -> Option<String> {
        let value = self.entry.attr_value(gimli::DW_AT_name)?;
        Some(self.dwarf.attr_string(self.unit, value).ok()?.to_string_lossy().into_owned())
    }

    fn is_std(&self) -> bool {
        self.entry.tag() == gimli::DW_TAG_namespace && self.name().as_deref() == Some("std")
    }

    /// A member that has bytes of its own in every object.
    fn member(&self) -> Option<Member> {
        let is_base = self.entry.tag() == gimli::DW_TAG_inheritance;
        let is_static = self.entry.attr_value(gimli::DW_AT_external).is_some();
        let name = if is_base { None } else { self.name() };
        let is_bits = self.entry.attr_value(gimli::DW_AT_bit_size).is_some();
        // Members of unions have no place; that of a virtual base has to be computed.
        let has_place = self.entry.attr_value(gimli::DW_AT_data_member_location).is_some();
        let at = if has_place { self.number(gimli::DW_AT_data_member_location)? } else { 0 };
        (!is_static && !is_bits).then_some(Member { name, at, of: self.of()? })
    }

    fn count(&self) -> u64 {
        let most = || self.number(gimli::DW_AT_upper_bound).map(|most| most.wrapping_add(1));
        self.number(gimli::DW_AT_count).or_else(most).unwrap_or(0)
    }

    fn ty(&self, is_std: bool) -> Option<Type> {
        let kind = match self.entry.tag() {
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => Kind::Class,
            gimli::DW_TAG_union_type => Kind::Union,
            gimli::DW_TAG_array_type => Kind::Array,
            gimli::DW_TAG_pointer_type => Kind::Pointer,
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type => Kind::Alias,
            gimli::DW_TAG_base_type | gimli::DW_TAG_enumeration_type => Kind::Other,
            _ => return None,
        };
        let name = self.name().unwrap_or_default();
        let bytes = self.number(gimli::DW_AT_byte_size);
        let bytes = bytes.unwrap_or(if kind == Kind::Pointer { 8 } else { 0 });
        Some(Type { kind, name, is_std, bytes, of: self.of(), ..Type::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const SOURCE: &str = r#"
        #include <atomic>
        #include <memory>
        #include <memory_resource>
        #include <vector>
        namespace interlap { namespace detail {
        template <class T> struct functions { static T *create() { return new T(); } };
        } }
        struct Node;
        template <class Mark, class T> struct Marked { union { T *pointer; long bits; }; };
        struct Apart { virtual ~Apart() {} long far; };
        struct Counted { static int all; long count; };
        struct Queue : Counted {
            struct Slot { long value; std::atomic<long> turn; };
            std::atomic<Node *> head;
            std::atomic<Marked<short, Node>> tail;
            std::unique_ptr<Slot[]> more;
            Slot slots[2][3];
            union { int number; float real; };
            const volatile short last = 1;
            int one : 3, two : 5;
            std::vector<Slot> cells;
            std::pmr::vector<Slot> pooled;
        };
        struct Remote : virtual Apart { long near; };
        Remote remote;
        struct Node { long value; Node *next; };
        extern "C" void *make() { return interlap::detail::functions<Queue>::create(); }
        Node node;
    "#;

    /// With the debugging information that targets are compiled with.
    fn compiled(folder: &Path) -> Types {
        let (source, library) = (folder.join("queue.cpp"), folder.join("queue.so"));
        std::fs::write(&source, SOURCE).expect("room");
        let mut compiler = Command::new("g++");
        compiler.args(["-std=c++17", "-g", "-gdwarf-4", "-O1", "-shared", "-fPIC", "-o"]);
        assert!(compiler.arg(&library).arg(&source).status().expect("g++").success());
        Types::of(&library)
    }

    #[test]
    fn members_are_found_by_their_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let types = compiled(folder.path());
        let queue = types.structure().expect("of interlap.hpp");
        let name = |at| types.find(queue, at).map(|spot| spot.name);
        for (at, expected) in [
            (0, "count"),
            (4, "count+4"),
            (8, "head"),
            (16, "tail"),
            (24, "more"),
            (32, "slots[0].value"),
            (32 + 5 * 16 + 8, "slots[5].turn"),
            (132, "last"),
            (136, "cells"),
            (144, "cells+8"),
            (160, "pooled"),
        ] {
            assert_eq!(name(at).as_deref(), Some(expected), "{at}");
        }
        // A union without a name, bits that share a byte, nothing, and beyond the end.
        assert_eq!([128, 134, 135, 200].map(name), [None, None, None, None]);
        assert_eq!(types.bytes(queue), 192);
    }

    #[test]
    fn a_virtual_base_is_not_taken_to_be_at_the_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let types = compiled(folder.path());
        let remote = types.all.iter().find(|(_, ty)| ty.name == "Remote" && ty.bytes > 0);
        let remote = TypeId(*remote.expect("a class").0);
        let near = types.find(remote, 8).expect("a member").name;
        assert_eq!(near, "near");
        assert_eq!(types.find(remote, 24), None);
    }

    #[test]
    fn pointers_are_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let types = compiled(folder.path());
        let queue = types.structure().expect("of interlap.hpp");
        let target = |at| types.find(queue, at).expect("a member").points_to;
        let node = target(8).expect("a node");
        assert!(!node.is_array && types.bytes(node.of) == 16);
        assert_eq!(target(16), Some(node), "a class of one pointer");
        let next = types.find(node.of, 8).expect("a member");
        assert_eq!((next.name.as_str(), next.points_to), ("next", Some(node)));
        let slots = target(24).expect("slots");
        assert!(slots.is_array);
        assert_eq!(types.find(slots.of, 8).expect("a member").name, "turn");
        assert_eq!(target(136), Some(slots), "elements of a vector");
        // Not where the vector ends, nor an allocator of its own.
        assert_eq!([0, 32, 144, 160].map(target), [None; 4]);
    }

    #[test]
    fn without_debugging_information_nothing_is_known() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(Types::of(&folder.path().join("none.so")).structure(), None);
        let none = Types::of(&std::env::current_exe().expect("this test"));
        assert_eq!(none.structure(), None);
    }
}
