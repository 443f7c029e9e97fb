//! JSON, MessagePack and TOML as one tree, of which mutants are made that keep its form: most of
//! them pass the parser, and what comes after it must hold.

use std::fmt;
use std::mem::discriminant;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeMap};

use super::format::packed_records;
use crate::check::random::Random;

#[derive(Clone, Debug)]
pub enum Tree {
    Nil,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Tree>),
    Map(Vec<(Tree, Tree)>),
    /// Calls as a trace has them: bytes inside of MessagePack.
    Records(Vec<Tree>),
}

/// Numbers at which sizes, indices and sums go wrong.
const NUMBERS: [u64; 14] = [
    0,
    1,
    2,
    64,
    255,
    (1 << 31) - 1,
    (1 << 32) - 1,
    1 << 32,
    1 << 40,
    1 << 53,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

const FLOATS: [f64; 5] = [0.0, -1.0, f64::MAX, 1e-300, 0.5];

const TEXTS: [&str; 9] =
    ["", "../../x", "/x", "\u{1b}]0;x\u{7}", "</script>", "a\nb", "%n\"\\", "ä\u{202e}b", "9e99"];

pub fn any_number(random: &mut Random) -> u64 {
    NUMBERS[random.below(NUMBERS.len())]
}

impl Tree {
    fn below(&mut self) -> Vec<&mut Tree> {
        match self {
            Tree::List(list) | Tree::Records(list) => list.iter_mut().collect(),
            Tree::Map(map) => map.iter_mut().map(|(_, value)| value).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether readers take few changes of it: most texts are names of which few are known, most
    /// fields of maps must be there, and so must elements of several kinds.
    fn is_fragile(&self) -> bool {
        match self {
            Tree::Text(_) | Tree::Map(_) => true,
            Tree::List(list) => {
                let mut kinds = list.iter().map(discriminant);
                let first = kinds.next();
                list.len() < 3 || kinds.any(|kind| Some(kind) != first)
            }
            _ => false,
        }
    }

    /// How many nodes it has, itself with them.
    fn size(&self) -> usize {
        1 + match self {
            Tree::List(list) | Tree::Records(list) => list.iter().map(Tree::size).sum(),
            Tree::Map(map) => map.iter().map(|(_, value)| value.size()).sum(),
            _ => 0,
        }
    }

    /// A node by its number in depth-first order.
    fn node(&mut self, mut number: usize) -> &mut Tree {
        if number == 0 {
            return self;
        }
        number -= 1;
        for tree in self.below() {
            let size = tree.size();
            if number < size {
                return tree.node(number);
            }
            number -= size;
        }
        unreachable!("numbers are below the size")
    }

    /// A copy with so many nodes changed.
    pub fn mutant(&self, changes: usize, random: &mut Random) -> Tree {
        let mut tree = self.clone();
        for _ in 0..changes {
            let size = tree.size();
            let donor = tree.node(random.below(size)).clone();
            let mut number = random.below(size);
            for _ in 0..5 {
                if tree.node(number).is_fragile() {
                    number = random.below(size);
                }
            }
            let at = tree.node(number);
            let old = at.number();
            match random.below(50) {
                0 => *at = Tree::Nil,
                1 => *at = donor,
                _ => at.change(donor, random),
            }
            // A number may name something: then it does so everywhere.
            if let (Some(old), Some(new)) = (old, at.number())
                && random.percent(80)
            {
                tree.rename(old, new);
            }
        }
        tree
    }

    /// Its value, if it is a number.
    pub fn number(&self) -> Option<u64> {
        match self {
            Tree::Signed(number) => Some(*number as u64),
            Tree::Unsigned(number) => Some(*number),
            _ => None,
        }
    }

    fn rename(&mut self, old: u64, new: u64) {
        if self.number() == Some(old) {
            *self = Tree::Unsigned(new);
        }
        self.below().into_iter().for_each(|tree| tree.rename(old, new));
    }

    fn change(&mut self, donor: Tree, random: &mut Random) {
        match (self, donor) {
            (Tree::Nil, _) => {}
            (Tree::Bool(flag), _) => *flag = !*flag,
            (Tree::Float(number), _) => *number = FLOATS[random.below(FLOATS.len())],
            (Tree::Text(text), Tree::Text(other)) => *text = other,
            (Tree::Text(text), _) => *text = TEXTS[random.below(TEXTS.len())].to_string(),
            (Tree::Bytes(bytes), _) => change_bytes(bytes, random),
            (Tree::List(list) | Tree::Records(list), _) => change_list(list, random),
            (Tree::Map(map), _) => change_list(map, random),
            (Tree::Signed(number), _) => *number = changed_number(*number, random) as i64,
            (Tree::Unsigned(number), _) => *number = changed_number(*number as i64, random),
        }
    }
}

/// A number like the old one: one more or less, or at the end of a range. Where it was small, only
/// 32 bits may have room.
fn changed_number(old: i64, random: &mut Random) -> u64 {
    match random.below(8) {
        0 | 1 => old.wrapping_add(1) as u64,
        2 | 3 if old > 0 => old as u64 - 1,
        4 => any_number(random),
        5 if old < 0 => any_number(random).wrapping_neg(),
        _ if u32::try_from(old).is_ok() => any_number(random) & u64::from(u32::MAX),
        _ => any_number(random),
    }
}

fn change_list<T: Clone>(list: &mut Vec<T>, random: &mut Random) {
    if list.is_empty() {
        return;
    }
    let (one, other) = (random.below(list.len()), random.below(list.len()));
    match random.below(4) {
        0 => drop(list.remove(one)),
        1 => list.insert(one, list[other].clone()),
        2 => list.swap(one, other),
        _ => list.truncate(one),
    }
}

fn change_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len());
    match random.below(3) {
        0 => bytes.truncate(at),
        _ => bytes[at] = any_number(random) as u8,
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Tree::Nil => to.serialize_unit(),
            Tree::Bool(flag) => to.serialize_bool(*flag),
            Tree::Signed(number) => to.serialize_i64(*number),
            Tree::Unsigned(number) => to.serialize_u64(*number),
            Tree::Float(number) => to.serialize_f64(*number),
            Tree::Text(text) => to.serialize_str(text),
            Tree::Bytes(bytes) => to.serialize_bytes(bytes),
            Tree::Records(records) => to.serialize_bytes(&packed_records(records)),
            Tree::List(list) => list.serialize(to),
            Tree::Map(map) => {
                let mut entries = to.serialize_map(Some(map.len()))?;
                map.iter().try_for_each(|(key, value)| entries.serialize_entry(key, value))?;
                entries.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Tree, D::Error> {
        from.deserialize_any(Planter)
    }
}

struct Planter;

impl<'de> Visitor<'de> for Planter {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "anything")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Nil)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Tree, E> {
        Ok(Tree::Signed(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Tree, E> {
        Ok(Tree::Unsigned(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Tree, E> {
        Ok(Tree::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Text(text.to_string()))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Tree, E> {
        Ok(Tree::Bytes(bytes.to_vec()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(tree) = from.next_element()? {
            list.push(tree);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Tree, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = from.next_entry()? {
            map.push(entry);
        }
        Ok(Tree::Map(map))
    }
}
