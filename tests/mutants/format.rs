//! The formats of files of which mutants are made.

use interlap::core::method::Methods;
use interlap::trace::records::Reader;

use super::tree::{Tree, any_number};
use crate::check::random::Random;

/// A file that mutants are made of.
pub enum Sample {
    Json(Tree),
    /// JSON, a value a line.
    Lines(Tree),
    /// MessagePack values one after the other.
    Packed(Tree),
    Toml(Tree),
    /// Words, numbers and brackets with what lies between them.
    Words(Vec<String>),
}

impl Sample {
    pub fn json(text: &str) -> Sample {
        Sample::Json(serde_json::from_str(text).expect("JSON"))
    }

    pub fn lines(text: &str) -> Sample {
        let lines = text.lines().filter(|line| !line.is_empty());
        let lines = lines.map(|line| serde_json::from_str(line).expect("JSON"));
        Sample::Lines(Tree::List(lines.collect()))
    }

    pub fn packed(mut bytes: &[u8]) -> Sample {
        let mut values = Vec::new();
        while !bytes.is_empty() {
            values.push(rmp_serde::from_read(&mut bytes).expect("MessagePack"));
        }
        Sample::Packed(Tree::List(values))
    }

    /// A trace: MessagePack with the records of calls in it.
    pub fn trace(bytes: &[u8]) -> Sample {
        let mut sample = Sample::packed(bytes);
        let Sample::Packed(Tree::List(frames)) = &mut sample else { unreachable!("a list") };
        for frame in frames {
            if let Tree::List(fields) = frame
                && let [.., Tree::Bytes(bytes)] = &fields[..]
            {
                let records = unpacked_records(bytes);
                *fields.last_mut().expect("the bytes") = records;
            }
        }
        sample
    }

    pub fn toml(text: &str) -> Sample {
        Sample::Toml(toml::from_str(text).expect("TOML"))
    }

    pub fn words(text: &str) -> Sample {
        let mut words = vec![String::new()];
        let is_part = |c: char| c.is_alphanumeric() || "-_.:/".contains(c);
        let mut was_part = false;
        for c in text.chars() {
            if !(was_part && is_part(c)) {
                words.push(String::new());
            }
            was_part = is_part(c);
            words.last_mut().expect("one at least").push(c);
        }
        Sample::Words(words)
    }

    /// The bytes of the file with so many changes; none if the format cannot express them.
    pub fn changed(&self, changes: usize, random: &mut Random) -> Option<Vec<u8>> {
        match self {
            Sample::Json(tree) => serde_json::to_vec(&tree.mutant(changes, random)).ok(),
            Sample::Toml(tree) => {
                Some(toml::to_string(&tree.mutant(changes, random)).ok()?.into_bytes())
            }
            Sample::Lines(tree) => each(&tree.mutant(changes, random), |line| {
                Some([serde_json::to_vec(line).ok()?, vec![b'\n']].concat())
            }),
            Sample::Packed(tree) => {
                each(&tree.mutant(changes, random), |value| rmp_serde::to_vec(value).ok())
            }
            Sample::Words(words) => {
                Some(changed_words(words, changes, random).concat().into_bytes())
            }
        }
    }
}

fn each(tree: &Tree, write: impl Fn(&Tree) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let Tree::List(values) = tree else { return None };
    Some(values.iter().map(write).collect::<Option<Vec<_>>>()?.concat())
}

fn changed_words(words: &[String], changes: usize, random: &mut Random) -> Vec<String> {
    let mut words = words.to_vec();
    for _ in 0..changes {
        let (at, other) = (random.below(words.len()), random.below(words.len()));
        let is_number = words[at].parse::<i64>().is_ok();
        // A word for a word: brackets stay as they are.
        let alike = |word: &str| word.starts_with(|c: char| c.is_alphanumeric() || c == ':');
        match random.below(8) {
            0 if words.len() > 1 => drop(words.remove(at)),
            1 => words.insert(at, words[other].clone()),
            2 => {
                let end = (at + random.below(40)).min(words.len());
                let copied = words[at..end].to_vec();
                words.splice(other..other, copied);
            }
            3..=5 if is_number => words[at] = any_number(random).to_string(),
            _ if alike(&words[at]) && alike(&words[other]) => words[at] = words[other].clone(),
            _ => {}
        }
    }
    words
}

/// The records of a thread: of each call its operation, arguments and start, and then status,
/// duration and results. Operation and status are texts, because few numbers are known.
fn unpacked_records(bytes: &[u8]) -> Tree {
    let mut reader = Reader::new(0, Methods::default());
    reader.feed(bytes).expect("records");
    let threads = reader.finish().expect("whole records");
    let values = |values: &[i64]| Tree::List(values.iter().map(|v| Tree::Signed(*v)).collect());
    let calls = threads.iter().flat_map(|thread| thread.entries()).map(|call| {
        let [op, status] =
            [call.op.code(), call.status as u8].map(|code| Tree::Text(code.to_string()));
        let before = [op, values(call.args), Tree::Unsigned(call.start)];
        let duration = Tree::Unsigned(call.end.wrapping_sub(call.start));
        let after = [status, duration, values(call.results)];
        let after = after.into_iter().filter(|_| !call.status.is_open());
        Tree::List(before.into_iter().chain(after).collect())
    });
    Tree::Records(calls.collect())
}

/// What [`unpacked_records`] reads, or what is like it.
pub fn packed_records(records: &[Tree]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for record in records {
        let Tree::List(fields) = record else { continue };
        let number = |tree: &Tree| tree.number().unwrap_or_default();
        for (at, field) in fields.iter().enumerate() {
            match (at, field) {
                (_, Tree::List(values)) => {
                    varint(&mut bytes, values.len() as u64);
                    let each = values.iter().map(|value| number(value) as i64);
                    each.for_each(|v| varint(&mut bytes, ((v << 1) ^ (v >> 63)) as u64));
                }
                (_, Tree::Text(code)) => bytes.push(code.parse().unwrap_or_default()),
                (2, field) => bytes.extend(number(field).to_le_bytes()),
                (_, field) => varint(&mut bytes, number(field)),
            }
        }
    }
    bytes
}

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
