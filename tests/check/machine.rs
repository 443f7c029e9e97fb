//! Simulates a correct structure: calls take effect one instant at a time and get right answers.
//! Independent of the sequential objects that the checkers use.

use std::collections::{BTreeMap, VecDeque};

use interlap::core::operation::{Op, Status};

use super::random::{Random, Record};

/// The structure, if every call took effect at one instant (a bulk call at several).
#[derive(Default)]
pub struct Machine {
    lines: BTreeMap<usize, VecDeque<i64>>,
    pub cells: BTreeMap<i64, i64>,
    texts: BTreeMap<i64, Vec<i64>>,
    records: Vec<i64>,
    count: i64,
    /// From how many of the values that come next a removal chooses; 0: it takes the next.
    pub relaxation: usize,
}

impl Machine {
    /// Moves the next element of a queue, stack or deque operation; whether more follow.
    pub fn transfer(
        &mut self,
        record: &mut Record,
        line: usize,
        moved: usize,
        random: &mut Random,
    ) -> bool {
        if record.op.adds() {
            self.lines.entry(line).or_default().push_back(record.args[moved]);
            return moved + 1 < record.args.len();
        }
        self.lines.retain(|_, values| !values.is_empty());
        let full = self.lines.len();
        if full == 0 {
            if moved == 0 {
                record.status = Status::Empty;
            }
            return false;
        }
        let values = self.lines.values_mut().nth(random.below(full)).expect("one of them");
        if record.op == Op::PriorityPoll {
            values.make_contiguous().sort_unstable();
        }
        let front = record.op == Op::PriorityPoll
            || matches!(record.op, Op::Dequeue | Op::DequeueBulk | Op::DequeSteal);
        if self.relaxation > 0 {
            let near = random.below(self.relaxation.min(values.len()));
            let at = if front { near } else { values.len() - 1 - near };
            record.results.push(values.remove(at).expect("it is there"));
            return record.op == Op::DequeueBulk && ((moved + 1) as i64) < record.args[0];
        }
        let value = if front { values.pop_front() } else { values.pop_back() };
        record.results.push(value.expect("it is not empty"));
        record.op == Op::DequeueBulk && ((moved + 1) as i64) < record.args[0]
    }

    /// How many values a queue, stack or deque holds.
    pub fn count(&self) -> i64 {
        self.lines.values().map(VecDeque::len).sum::<usize>() as i64
    }

    pub fn answer(&mut self, record: &Record, random: &mut Random) -> (Status, Vec<i64>) {
        if let Some(answer) = self.answer_of_others(record, random) {
            return answer;
        }
        let key = if record.op.family().name() == "register" { 0 } else { record.args[0] };
        let held = self.cells.get(&key).copied();
        let last = record.args.last().copied();
        let answered = if random.percent(50) { Vec::from_iter(held) } else { Vec::new() };
        let (ok, next, results) = match record.op {
            Op::SetInsert => (held.is_none(), Some(1), Vec::new()),
            Op::SetRemove => (held.is_some(), None, Vec::new()),
            Op::SetContains => (held.is_some(), held, Vec::new()),
            Op::MapGet | Op::RegisterRead => (held.is_some(), held, Vec::from_iter(held)),
            Op::MapPut if held.is_none() && random.percent(50) => (true, last, Vec::new()),
            Op::MapPut => (held.is_some(), last, answered),
            Op::RegisterWrite => (true, last, answered),
            Op::MapInsertIfAbsent if held.is_none() => (true, last, Vec::new()),
            Op::MapInsertIfAbsent => (false, held, answered),
            Op::MapRemove => (held.is_some(), None, answered),
            _ if held == Some(record.args[record.args.len() - 2]) => (true, last, Vec::new()),
            _ => (false, held, answered),
        };
        match next {
            Some(value) => drop(self.cells.insert(key, value)),
            None => drop(self.cells.remove(&key)),
        }
        (if ok { Status::Ok } else { Status::Failed }, results)
    }

    /// The answers of counters, logs, strings and ordered sets.
    fn answer_of_others(
        &mut self,
        record: &Record,
        random: &mut Random,
    ) -> Option<(Status, Vec<i64>)> {
        let args = &record.args[..];
        let within = |low: i64, high: i64| -> Vec<i64> {
            self.cells.keys().copied().filter(|key| (low..=high).contains(key)).collect()
        };
        let results = match record.op {
            op if op.counts_values() && op.is_question() => {
                let is_empty = if self.count() == 0 { Status::Ok } else { Status::Failed };
                return Some((is_empty, Vec::new()));
            }
            op if op.counts_values() => vec![self.count()],
            Op::SetRangeCount => vec![within(args[0], args[1]).len() as i64],
            Op::SetRangeList => within(args[0], args[1]),
            Op::SetRank => vec![within(i64::MIN, args[0] - 1).len() as i64],
            Op::SetSize => vec![self.cells.len() as i64],
            Op::SetSelect => match self.cells.keys().nth(args[0] as usize) {
                Some(key) => vec![*key],
                None => return Some((Status::Failed, Vec::new())),
            },
            Op::CounterRead => vec![self.count],
            Op::CounterAdd => {
                let answered = random.percent(40).then_some(self.count);
                self.count += args[0];
                Vec::from_iter(answered)
            }
            Op::LogAppend => {
                self.records.push(args[0]);
                vec![self.records.len() as i64 - 1]
            }
            Op::LogCheckTail => vec![self.records.len() as i64],
            Op::LogRead => match self.records.get(args[0] as usize) {
                Some(record) => vec![*record],
                None => return Some((Status::Empty, Vec::new())),
            },
            Op::KvGet => self.texts.get(&args[0]).cloned().unwrap_or_default(),
            Op::KvPut => {
                self.texts.insert(args[0], args[1..].to_vec());
                Vec::new()
            }
            Op::KvAppend => {
                self.texts.entry(args[0]).or_default().extend_from_slice(&args[1..]);
                Vec::new()
            }
            _ => return None,
        };
        Some((Status::Ok, results))
    }
}
