//! Explains why no order gives a get the string it found: names what the string cannot have, or
//! lacks and must have, with the calls that show it. That no order exists is decided elsewhere, by
//! [`super::keyed`].
//!
//! It is for keys of which no value is written twice: a value then names its write.

use crate::check::explanation::{Explanation, OfRecords, OfValues};
use crate::check::verdict::Witness;
use crate::core::history::{History, OperationId};
use crate::core::operation::{Op, Status};
use rustc_hash::FxHashMap;

/// A put or an append on the key, called before the get returned.
#[derive(Clone, Copy)]
struct Write<'a> {
    id: OperationId,
    puts: bool,
    values: &'a [i64],
    start: u64,
    end: u64,
}

/// The writes of a key by what they write, and the get.
struct Key<'a> {
    history: &'a History,
    get: OperationId,
    found: &'a [i64],
    writes: Vec<Write<'a>>,
    /// Which of them writes a value.
    by_value: FxHashMap<i64, usize>,
}

/// The witness against a get that no order explains, if a few calls show it.
pub fn against(history: &History, get: OperationId) -> Option<Witness> {
    let entry = history.entry(get);
    if entry.op != Op::KvGet || entry.status != Status::Ok {
        return None;
    }
    let key = Key::new(history, get)?;
    key.foreign().or_else(|| key.repeated()).or_else(|| key.lost()).or_else(|| key.misplaced())
}

impl<'a> Key<'a> {
    /// None where some value is written twice.
    fn new(history: &'a History, get: OperationId) -> Option<Key<'a>> {
        let (key, end) = (history.args(get)[0], history.operation(get).end);
        let mut writes = Vec::new();
        for id in history.ids() {
            let (operation, args) = (history.operation(id), history.args(id));
            let puts = operation.op == Op::KvPut;
            if (puts || operation.op == Op::KvAppend) && args[0] == key && operation.start <= end {
                let (start, end) = (operation.start, operation.end);
                writes.push(Write { id, puts, values: &args[1..], start, end });
            }
        }
        writes.sort_by_key(|write| (write.start, write.id));
        let mut by_value = FxHashMap::default();
        for (at, write) in writes.iter().enumerate() {
            for value in write.values {
                if by_value.insert(*value, at).is_some() {
                    return None;
                }
            }
        }
        Some(Key { history, get, found: history.results(get), writes, by_value })
    }

    fn witness(
        &self,
        rule: &'static str,
        explanation: Explanation,
        writes: &[OperationId],
    ) -> Witness {
        let operations = writes.iter().copied().chain([self.get]).collect();
        Witness::new(rule, explanation, operations)
    }

    /// A value that nobody had begun to write.
    fn foreign(&self) -> Option<Witness> {
        let value = self.found.iter().find(|value| !self.by_value.contains_key(value))?;
        let explanation = Explanation::Values(OfValues::FromNowhere {
            value: *value,
            found: self.get,
            addition: None,
        });
        Some(self.witness("from-nowhere", explanation, &[]))
    }

    /// A value that is there twice.
    fn repeated(&self) -> Option<Witness> {
        let is_again = |at: &usize| self.found[..*at].contains(&self.found[*at]);
        let value = self.found[(0..self.found.len()).find(is_again)?];
        let write = self.writes[self.by_value[&value]].id;
        let explanation =
            Explanation::Records(OfRecords::WrittenTwice { get: self.get, value, write });
        Some(self.witness("appended-twice", explanation, &[write]))
    }

    /// A write that was over before the get began, and that no put can have replaced.
    fn lost(&self) -> Option<Witness> {
        let start = self.history.operation(self.get).start;
        let is_over = |write: &&Write| write.end < start && !write.values.is_empty();
        let is_there = |write: &Write| write.values.iter().all(|value| self.found.contains(value));
        let replaces =
            |put: &Write, write: &Write| put.puts && put.id != write.id && put.end >= write.start;
        let is_lost = |write: &&Write| {
            !is_there(write) && !self.writes.iter().any(|put| replaces(put, write))
        };
        let write = self.writes.iter().filter(is_over).find(is_lost)?;
        let rule = if write.puts { "lost-put" } else { "lost-append" };
        let explanation =
            Explanation::Records(OfRecords::NotWritten { get: self.get, write: write.id });
        Some(self.witness(rule, explanation, &[write.id]))
    }

    /// Two values in the other order than that of their writes.
    fn misplaced(&self) -> Option<Witness> {
        let writes = || self.found.iter().map(|value| &self.writes[self.by_value[value]]);
        let pairs = writes()
            .enumerate()
            .flat_map(|(at, first)| writes().skip(at + 1).map(move |second| (first, second)));
        let (first, second) = pairs.into_iter().find(|(first, second)| second.end < first.start)?;
        let writes = [second.id, first.id];
        let explanation = Explanation::Records(OfRecords::Misplaced { get: self.get, writes });
        Some(self.witness("misplaced-append", explanation, &writes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::decide::check;
    use crate::check::verdict::{Limits, Verdict};
    use crate::core::history::Entry;
    use crate::model::Spec;

    /// What is called, in which box, and what a get found.
    type Row<'a> = (Op, &'a [i64], u64, u64, &'a [i64]);

    /// Each on a thread of its own.
    fn rule(lines: &[Row]) -> &'static str {
        let mut history = History::default();
        for (client, &(op, args, start, end, results)) in (0..).zip(lines) {
            let entry = Entry { op, status: Status::Ok, start, end, args, results };
            history.push(client, entry).expect("a well formed line");
        }
        let spec: Spec = "kv".parse().expect("a model");
        match check(&history, &spec, &Limits::default()) {
            Verdict::Violation(witness) => witness.rule,
            Verdict::Consistent => "consistent",
            Verdict::Inconclusive(why) => panic!("{why:?}"),
        }
    }

    use Op::{KvAppend as APPEND, KvGet as GET, KvPut as PUT};

    #[test]
    fn what_a_string_lacks_is_told() {
        let one = (APPEND, &[0, 1][..], 0, 5, &[][..]);
        let two = (APPEND, &[0, 2][..], 1, 6, &[][..]);
        assert_eq!(rule(&[one, two, (GET, &[0], 7, 8, &[2])]), "lost-append");
        assert_eq!(rule(&[one, two, (GET, &[0], 6, 8, &[1])]), "consistent");
        // A put that may have come after the append is an excuse, an earlier one is not.
        let put = |start, end| (PUT, &[0, 9][..], start, end, &[][..]);
        assert_eq!(rule(&[one, put(3, 6), (GET, &[0], 7, 8, &[9])]), "consistent");
        let late = (APPEND, &[0, 1][..], 4, 6, &[][..]);
        assert_eq!(rule(&[late, put(0, 3), (GET, &[0], 7, 8, &[9])]), "lost-append");
        assert_eq!(rule(&[put(0, 3), (GET, &[0], 7, 8, &[])]), "lost-put");
        assert_eq!(rule(&[put(0, 9), (GET, &[0], 7, 8, &[])]), "consistent");
        // What the get does not lack is another key's.
        let other = (APPEND, &[3, 1][..], 0, 5, &[][..]);
        assert_eq!(rule(&[other, (GET, &[0], 7, 8, &[])]), "consistent");
    }

    #[test]
    fn what_a_string_has_too_much_is_told() {
        let one = (APPEND, &[0, 1][..], 0, 2, &[][..]);
        let two = (APPEND, &[0, 2][..], 3, 4, &[][..]);
        assert_eq!(rule(&[one, (GET, &[0], 7, 8, &[1, 5])]), "from-nowhere");
        assert_eq!(rule(&[one, (GET, &[0], 7, 8, &[1, 1])]), "appended-twice");
        assert_eq!(rule(&[one, two, (GET, &[0], 7, 8, &[2, 1])]), "misplaced-append");
        assert_eq!(rule(&[one, two, (GET, &[0], 7, 8, &[1, 2])]), "consistent");
        // Nobody can tell which of two is meant: the search alone knows.
        let again = (APPEND, &[0, 1][..], 3, 4, &[][..]);
        assert_eq!(rule(&[one, again, (GET, &[0], 7, 8, &[1, 1, 1])]), "not-linearizable");
    }
}
