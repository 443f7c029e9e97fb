//! Names the member at a byte of a C or C++ object, and finds what a pointer there points to.
//! Reads the types of a library from its debugging information.
//!
//! - `standard`: Translates the names of libstdc++'s members to words that its users know: `begin`,
//!   `use_count`, `root`.

mod standard;

use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

use gimli::{AttributeValue, DebuggingInformationEntry, DwAt, EndianSlice, LittleEndian, Unit};
use object::{Object, ObjectSection};

use super::debug_file::DebugFile;

/// The class of interlap.hpp that has the structure's class as its argument.
const FUNCTIONS: &str = "functions<";
/// Most levels of nested members and aliases.
const DEPTH_MAX: usize = 32;

/// A type, by the offset of its entry in the debugging information.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(usize);

#[derive(Debug, Default, PartialEq)]
enum Kind {
    Class,
    /// It is not known which of its members is active.
    Union,
    Array,
    Pointer,
    /// A typedef, or a type with `const` and the like.
    Alias,
    #[default]
    Other,
}

#[derive(Debug, Default)]
struct Type {
    kind: Kind,
    name: String,
    /// Whether it is of the standard library, whose members have names that users do not know.
    is_std: bool,
    bytes: u64,
    /// The number of elements of an array.
    count: u64,
    /// The type of the elements, of what it points to, or of what an alias names; of a class, its
    /// first template argument.
    of: Option<TypeId>,
    members: Vec<Member>,
    methods: Vec<Method>,
    /// Whether what does not say its access is private, as in a `class`.
    is_private: bool,
}

/// A method that is public and no constructor, destructor or operator.
#[derive(Debug)]
struct Method {
    at: usize,
    name: String,
}

#[derive(Debug)]
struct Member {
    /// None for a base class.
    name: Option<String>,
    at: u64,
    of: TypeId,
}

/// The part of an object from one of its bytes on.
#[derive(Debug, PartialEq, Eq)]
pub struct Subobject {
    /// Its path: "pool.chunks[3]", or "node+4" where no more is known.
    pub name: String,
    pub points_to: Option<Pointee>,
    /// The path of the standard library's container whose internals it belongs to; empty if that
    /// is the object itself.
    pub container: Option<String>,
}

/// What a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointee {
    pub of: TypeId,
    /// Whether it points to an array of these, as far as is known.
    pub is_array: bool,
    /// Whether these are pointers of a container to its own nodes or chunks.
    is_inner: bool,
}

impl Pointee {
    pub fn one(of: TypeId) -> Pointee {
        Pointee { of, is_array: false, is_inner: false }
    }
}

/// A direct part of an object.
struct Part<'a> {
    /// Empty for a base class.
    name: Cow<'a, str>,
    /// The name of a member; empty for an element.
    member: &'a str,
    at: u64,
    of: TypeId,
}

/// The types of one library.
#[derive(Default)]
pub struct Types {
    all: HashMap<usize, Type>,
    /// The definitions of classes, by the offsets of their declarations.
    described: HashMap<usize, usize>,
    structure: Option<TypeId>,
}

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;
type Entry<'a> = DebuggingInformationEntry<Slice<'a>>;

impl Types {
    /// Those of a library's file; none if it has no debugging information or cannot be read.
    pub fn load(library: &Path) -> Types {
        Types::read(library).unwrap_or_default()
    }

    fn read(library: &Path) -> Result<Types, Box<dyn Error>> {
        let bytes = std::fs::read(DebugFile::find(library).path)?;
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
        // The entries around the current one: offsets, and whether they are in namespace std.
        let mut within: Vec<(usize, bool)> = Vec::new();
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            within.truncate(entry.depth().max(0) as usize);
            let (parent, is_std) = within.last().copied().unwrap_or_default();
            let reader = Reader { dwarf, unit, entry };
            let is_std = is_std || reader.is_std();
            let at = reader.offset();
            match entry.tag() {
                gimli::DW_TAG_member | gimli::DW_TAG_inheritance => {
                    let member = reader.member();
                    self.all.entry(parent).or_default().members.extend(member);
                }
                gimli::DW_TAG_subprogram => {
                    if let Some(class) = self.all.get_mut(&parent) {
                        let method = reader.method(class);
                        class.methods.extend(method);
                    }
                    self.describe(&reader, at);
                }
                gimli::DW_TAG_template_type_parameter => {
                    self.add_argument(parent, reader.type_id());
                }
                gimli::DW_TAG_subrange_type => {
                    // One for each dimension.
                    let array = self.all.entry(parent).or_default();
                    array.count = array.count.max(1).saturating_mul(reader.count());
                }
                _ => {
                    if let Some(found) = reader.ty(is_std) {
                        self.all.insert(at, found);
                    }
                    self.describe(&reader, at);
                }
            }
            within.push((at, is_std));
        }
        Ok(())
    }

    /// Notes of an entry that describes what was declared before.
    fn describe(&mut self, reader: &Reader, at: usize) {
        if let Some(declared) = reader.reference(gimli::DW_AT_specification) {
            self.described.insert(declared, at);
        }
    }

    fn add_argument(&mut self, parent: usize, argument: Option<TypeId>) {
        let Some(class) = self.all.get_mut(&parent).filter(|ty| ty.kind == Kind::Class) else {
            return;
        };
        class.of = class.of.or(argument);
        if class.name.starts_with(FUNCTIONS) {
            self.structure = self.structure.or(argument);
        }
    }

    /// The class of the structure under test, if its adapter uses interlap.hpp.
    pub fn structure(&self) -> Option<TypeId> {
        self.structure
    }

    /// The public methods of the structure's class that nothing calls: the compiler made no code of
    /// them.
    pub fn uncalled_methods(&self) -> Vec<&str> {
        let methods =
            self.structure.and_then(|id| self.resolve(id)).map_or(&[][..], |class| &class.methods);
        let uncalled = methods.iter().filter(|method| !self.described.contains_key(&method.at));
        uncalled.map(|method| &*method.name).collect()
    }

    fn get(&self, id: TypeId) -> Option<&Type> {
        self.all.get(self.described.get(&id.0).unwrap_or(&id.0))
    }

    /// The type behind all aliases.
    fn resolve(&self, mut id: TypeId) -> Option<&Type> {
        for _ in 0..DEPTH_MAX {
            let ty = self.get(id)?;
            match (&ty.kind, ty.of) {
                (Kind::Alias, Some(of)) => id = of,
                _ => return Some(ty),
            }
        }
        None
    }

    /// The size of an object of this type; 0 if it is not known.
    pub fn bytes(&self, id: TypeId) -> u64 {
        let Some(ty) = self.resolve(id) else { return 0 };
        match (&ty.kind, ty.of) {
            (Kind::Array, Some(of)) if ty.bytes == 0 => ty.count.saturating_mul(self.bytes(of)),
            _ => ty.bytes,
        }
    }

    /// The smallest subobject that holds so many bytes from this one on; none if nothing with a
    /// name is there.
    pub fn find(&self, id: TypeId, offset: u64, bytes: u64) -> Option<Subobject> {
        let (mut name, mut ty, mut at) = (String::new(), self.resolve(id)?, offset);
        // The last member on the path, and whether it points to an array.
        let (mut outer, mut is_array) = ("", false);
        let mut container = None;
        for _ in 0..DEPTH_MAX {
            if ty.is_std && container.is_none() && standard::is_container(&ty.name) {
                container = Some(name.clone());
            }
            // The value in a node is the user's.
            if ty.is_std && standard::is_storage(&ty.name) {
                container = None;
            }
            let holds = |part: &Part| self.bytes(part.of).saturating_sub(at - part.at) >= bytes;
            let Some(part) = self.part(ty, at).filter(holds) else { break };
            let shown = match ty.is_std {
                true => standard::user_name(&part.name, outer),
                false => (!part.name.is_empty()).then_some(&*part.name),
            };
            if let Some(shown) = shown {
                let dot = if name.is_empty() || shown.starts_with('[') { "" } else { "." };
                name = name + dot + shown;
            }
            // A base class is not a member on the path.
            outer = if part.name.is_empty() { outer } else { part.member };
            is_array |= self.holds_array(ty);
            (ty, at) = (self.resolve(part.of)?, at - part.at);
        }
        // Something else may begin where the elements end.
        let is_end = is_array && matches!(outer, "_M_finish" | "_M_end_of_storage");
        let points_to = if at == 0 && !is_end { self.pointee(ty) } else { None };
        let is_inner = container.is_some() && standard::is_index(outer);
        is_array |= is_inner || outer == "_M_first";
        let points_to = points_to.map(|to| Pointee { is_array, is_inner, ..to });
        if at > 0 {
            name += &format!("+{at}");
        }
        let is_named = !name.is_empty() && !name.starts_with('+');
        is_named.then_some(Subobject { points_to, container, name })
    }

    /// The part at this byte of an object; none for a type without parts.
    fn part<'a>(&'a self, ty: &'a Type, at: u64) -> Option<Part<'a>> {
        let whole = |of| Part { name: Cow::Borrowed(""), member: "", at: 0, of };
        let of_member = |member: &'a Member| {
            let name = member.name.as_deref().unwrap_or_default();
            Part { name: Cow::Borrowed(name), member: name, at: member.at, of: member.of }
        };
        match (&ty.kind, ty.of) {
            (Kind::Class, _) if ty.is_std && standard::is_opaque(&ty.name) => None,
            (Kind::Class, Some(of)) if ty.is_std && standard::is_storage(&ty.name) => {
                Some(whole(of))
            }
            (Kind::Class, _) => {
                let end = |m: &Member| m.at.saturating_add(self.bytes(m.of));
                let holds = |m: &&Member| (m.at..end(m)).contains(&at) && !self.is_empty(m.of);
                ty.members.iter().find(holds).map(of_member)
            }
            // The largest member: the others are placeholders until it is constructed.
            (Kind::Union, _) if ty.is_std => {
                let rank = |m: &&Member| self.bytes(m.of);
                ty.members.iter().rev().max_by_key(rank).map(of_member)
            }
            (Kind::Array, Some(of)) if self.bytes(of) > 0 => {
                let number = at / self.bytes(of);
                let name = Cow::Owned(format!("[{number}]"));
                Some(Part { name, member: "", at: number * self.bytes(of), of })
            }
            _ => None,
        }
    }

    /// Whether it is an empty class, which shares its address with other members.
    fn is_empty(&self, id: TypeId) -> bool {
        let is_small = |ty: &&Type| ty.kind == Kind::Class && ty.bytes <= 1;
        let ty = self.resolve(id).filter(is_small);
        ty.is_some_and(|ty| ty.members.iter().all(|member| self.is_empty(member.of)))
    }

    /// Whether pointers in an object of this type point to arrays.
    fn holds_array(&self, ty: &Type) -> bool {
        let of_array = || {
            let of = ty.of.and_then(|of| self.resolve(of));
            of.is_some_and(|of| of.kind == Kind::Array)
        };
        let is = |class: &str| ty.is_std && ty.name.starts_with(class);
        is("vector<") || is("unique_ptr<") && of_array()
    }

    /// The derived class that a pointer points to if its block has this size. The standard library
    /// points to the nodes of containers and the counts of shared pointers by their base class.
    pub fn fitting(&self, pointee: Pointee, bytes: u64) -> Pointee {
        let is_base = |base: &Type| base.is_std && base.kind == Kind::Class && base.bytes < bytes;
        let Some(base) = self.resolve(pointee.of).filter(|base| is_base(base)) else {
            return pointee;
        };
        let derives = |ty: &Type| {
            let first = ty.members.iter().find(|member| !self.is_empty(member.of));
            let first = first.filter(|first| first.name.is_none() && first.at == 0);
            first.and_then(|first| self.resolve(first.of)).is_some_and(|of| std::ptr::eq(of, base))
        };
        let fits = |ty: &Type| ty.is_std && ty.bytes == bytes && derives(ty);
        let mut fitting = self.all.iter().filter(|(_, ty)| fits(ty));
        match (fitting.next(), fitting.next()) {
            (Some((at, _)), None) => Pointee { of: TypeId(*at), ..pointee },
            _ => pointee,
        }
    }

    /// An element as a whole: a number, a lock, a pointer.
    pub fn element(&self, of: Pointee) -> Subobject {
        let ty = self.resolve(of.of);
        let is_node =
            |to: &Pointee| self.resolve(to.of).is_some_and(|of| standard::is_node(&of.name));
        // A pointer of a container that points to no node points to an array.
        let to = |to| Pointee { is_array: of.is_inner && !is_node(&to), ..to };
        let points_to = ty.and_then(|ty| self.pointee(ty)).map(to);
        let container = of.is_inner.then(String::new);
        Subobject { name: String::new(), points_to, container }
    }

    /// What an object of this type points to, if it is a pointer or an atomic pointer.
    fn pointee(&self, ty: &Type) -> Option<Pointee> {
        match ty.kind {
            Kind::Pointer => ty.of.map(Pointee::one),
            Kind::Class if ty.is_std && ty.name.starts_with("atomic<") => {
                self.only_pointer(ty.of?, DEPTH_MAX).map(Pointee::one)
            }
            _ => None,
        }
    }

    /// What the only pointer of an object of this type points to. Some pointers are classes, which
    /// have marks in the lowest bits.
    fn only_pointer(&self, id: TypeId, depth: usize) -> Option<TypeId> {
        let ty = self.resolve(id)?;
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
    fn offset(&self) -> usize {
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

    fn type_id(&self) -> Option<TypeId> {
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
        let name = self.name();
        self.entry.tag() == gimli::DW_TAG_namespace
            && matches!(name.as_deref(), Some("std" | "__gnu_cxx"))
    }

    /// A member that has bytes of its own in every object.
    fn member(&self) -> Option<Member> {
        let is_base = self.entry.tag() == gimli::DW_TAG_inheritance;
        let is_static = self.entry.attr_value(gimli::DW_AT_external).is_some();
        let name = if is_base { None } else { self.name() };
        let is_bits = self.entry.attr_value(gimli::DW_AT_bit_size).is_some();
        // Members of unions have no location; that of a virtual base has to be computed.
        let has_place = self.entry.attr_value(gimli::DW_AT_data_member_location).is_some();
        let at = if has_place { self.number(gimli::DW_AT_data_member_location)? } else { 0 };
        (!is_static && !is_bits).then_some(Member { name, at, of: self.type_id()? })
    }

    fn method(&self, class: &Type) -> Option<Method> {
        let is_public = match self.entry.attr_value(gimli::DW_AT_accessibility) {
            Some(AttributeValue::Accessibility(access)) => access == gimli::DW_ACCESS_public,
            _ => !class.is_private,
        };
        let has = |name| self.entry.attr_value(name).is_some();
        let is_plain = has(gimli::DW_AT_object_pointer) && !has(gimli::DW_AT_artificial);
        let name = self.name().filter(|_| is_public && is_plain && !class.is_std)?;
        let is_special = name.starts_with(['~']) || name.starts_with("operator");
        (!is_special && name != class.name).then(|| Method { at: self.offset(), name })
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
        let is_private = self.entry.tag() == gimli::DW_TAG_class_type;
        let of = self.type_id();
        Some(Type { kind, name, is_std, bytes, of, is_private, ..Type::default() })
    }
}

#[cfg(test)]
mod tests;
