//! Compares the online check with the check of every prefix on runs that are never quiescent: some
//! call is always under way, on each key too, and structures are hardly ever empty. Also checks
//! that it prunes enough.

use interlap::check::{Events, Limits, Online, Verdict, check};
use interlap::core::history::{Entry, History};
use interlap::core::operation::{Family, Op, Status};
use interlap::model::{Kind, Spec};

use super::corrupt::{corrupt, tie};
use super::machine::Machine;
use super::online::until;
use super::random::{Random, Record, written};

/// The parameters of a run.
#[derive(Clone, Copy)]
struct Run {
    threads: usize,
    calls: usize,
    /// About how many values the structure holds, at least and at most.
    least: usize,
    most: usize,
    /// Percent of calls that take effect at once.
    quick: usize,
    /// Whether each thread only adds or only removes, where it can.
    roles: bool,
    /// Percent of calls of unknown outcome.
    unknown: usize,
    keys: usize,
    /// Percent of a log's calls that append.
    appends: usize,
}

const LONG: Run = Run {
    threads: 5,
    calls: 30_000,
    least: 2,
    most: 6,
    quick: 10,
    roles: false,
    unknown: 0,
    keys: 2,
    appends: 1,
};

enum Doing {
    Idle,
    Called(Record),
    Done(Record),
}

struct Simulation<'a> {
    run: Run,
    spec: Spec,
    random: &'a mut Random,
    machine: Machine,
    size: usize,
    value: i64,
    clock: u64,
    records: Vec<Vec<Record>>,
}

/// The key of an operation; 0 where operations have none.
fn key(spec: &Spec, record: &Record) -> i64 {
    let by_key = matches!(spec.kind, Kind::Set | Kind::Map | Kind::Kv);
    if by_key { record.args[0] } else { 0 }
}

fn records(run: Run, spec: Spec, random: &mut Random) -> Vec<Vec<Record>> {
    let mut machine = Machine::default();
    match spec.kind {
        Kind::Register => drop(machine.cells.insert(0, 0)),
        Kind::FifoRelaxed => machine.relaxation = spec.k as usize,
        _ => {}
    }
    let records = vec![Vec::new(); run.threads];
    let (size, value, clock) = (0, 0, 1);
    let mut simulation = Simulation { run, spec, random, machine, size, value, clock, records };
    simulation.run();
    simulation.records
}

impl Simulation<'_> {
    fn run(&mut self) {
        let mut doing: Vec<Doing> = (0..self.run.threads).map(|_| Doing::Idle).collect();
        // A client continues as another thread after a call of unknown outcome.
        let mut rows: Vec<usize> = (0..self.run.threads).collect();
        let mut done = 0;
        while done < self.run.calls {
            let at = self.random.below(doing.len());
            doing[at] = match std::mem::replace(&mut doing[at], Doing::Idle) {
                Doing::Idle => match self.call(at) {
                    Some(record) if self.random.percent(self.run.quick) => self.act(at, record),
                    Some(record) => Doing::Called(record),
                    None => Doing::Idle,
                },
                Doing::Called(record) => self.act(at, record),
                Doing::Done(mut record) => {
                    let same = |other: &Doing| match other {
                        Doing::Idle => false,
                        Doing::Called(other) | Doing::Done(other) => {
                            key(&self.spec, other) == key(&self.spec, &record)
                        }
                    };
                    if !doing.iter().any(same) && done + 1 < self.run.calls {
                        doing[at] = Doing::Done(record);
                        // Another call has to overlap it first.
                        continue;
                    }
                    record.end = self.tick();
                    done += 1;
                    // A removal without an answer leaves most states possible.
                    let is_lost = self.random.percent(self.run.unknown)
                        && (!record.op.removes() || self.random.percent(20));
                    if is_lost {
                        record.status = Status::Unknown;
                        record.results.clear();
                    }
                    self.records[rows[at]].push(record);
                    if is_lost {
                        rows[at] = self.records.len();
                        self.records.push(Vec::new());
                    }
                    Doing::Idle
                }
            };
        }
        for (at, doing) in doing.into_iter().enumerate() {
            if let Doing::Called(record) | Doing::Done(record) = doing {
                let (status, end) = (Status::Pending, self.clock);
                self.records[rows[at]].push(Record { status, end, results: Vec::new(), ..record });
            }
        }
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock - 1
    }

    /// The next call of a thread, if it can make one now.
    fn call(&mut self, thread: usize) -> Option<Record> {
        let adds = match self.run.roles {
            _ if self.spec.kind == Kind::Deque && thread > 0 => false,
            true if self.spec.kind != Kind::Deque => thread < self.run.threads / 2,
            _ if self.size <= self.run.least => true,
            _ => self.size < self.run.most && self.random.percent(50),
        };
        let (few, many) = (self.size <= self.run.least, self.size >= self.run.most);
        let is_container =
            ["queue", "stack", "deque", "priority-queue"].contains(&self.spec.kind.family().name());
        let waits = few && !adds || many && adds;
        // Sometimes all the same, because other calls may wait to be overlapped.
        if is_container && waits && !self.random.percent(2) {
            return None;
        }
        let op = self.draw(thread, adds);
        let small = |random: &mut Random| random.below(3) as i64;
        let key = self.random.below(self.run.keys.max(1)) as i64;
        let args = match op {
            op if op.adds() || op == Op::LogAppend => {
                self.value += 1;
                vec![self.value]
            }
            Op::SetInsert | Op::SetRemove | Op::SetContains | Op::MapGet | Op::MapRemove => {
                vec![key]
            }
            Op::KvGet => vec![key],
            Op::RegisterWrite | Op::SetRank | Op::SetSelect | Op::LogRead => {
                vec![small(self.random)]
            }
            Op::RegisterCompareExchange | Op::SetRangeCount | Op::SetRangeList => {
                vec![small(self.random), small(self.random)]
            }
            Op::MapPut | Op::MapInsertIfAbsent => vec![key, small(self.random)],
            Op::MapCompareExchange => vec![key, small(self.random), small(self.random)],
            Op::CounterAdd => vec![small(self.random) - 1],
            Op::KvPut => vec![key, small(self.random)],
            Op::KvAppend => vec![key, small(self.random)],
            _ => Vec::new(),
        };
        let start = self.tick();
        Some(Record { op, status: Status::Ok, start, end: 0, args, results: Vec::new() })
    }

    fn draw(&mut self, thread: usize, adds: bool) -> Op {
        let family = self.spec.kind.family();
        match family {
            Family::Queue if adds => Op::Enqueue,
            Family::Queue => Op::Dequeue,
            Family::Stack if adds => Op::Push,
            Family::Stack => Op::Pop,
            Family::Deque if adds => Op::DequePush,
            Family::Deque if thread == 0 => Op::DequeTake,
            Family::Deque => Op::DequeSteal,
            Family::PriorityQueue if adds => Op::PriorityInsert,
            Family::PriorityQueue => Op::PriorityPoll,
            Family::Log if self.random.percent(100 - self.run.appends) => {
                [Op::LogRead, Op::LogCheckTail][self.random.below(2)]
            }
            Family::Log => Op::LogAppend,
            Family::Kv => {
                let ops = [Op::KvGet, Op::KvGet, Op::KvPut, Op::KvPut, Op::KvAppend];
                ops[self.random.below(ops.len())]
            }
            _ => {
                let accepts = |op: &&Op| op.family() == family && self.spec.accepts(**op);
                let ops: Vec<Op> = Op::ALL.iter().filter(accepts).copied().collect();
                ops[self.random.below(ops.len())]
            }
        }
    }

    /// The call takes effect.
    fn act(&mut self, thread: usize, mut record: Record) -> Doing {
        if record.op.adds() || record.op.removes() {
            let line = match self.spec.kind {
                Kind::FifoPerProducer => thread,
                Kind::Pool => record.start as usize,
                _ => 0,
            };
            self.machine.transfer(&mut record, line, 0, self.random);
            if record.op.adds() {
                self.size += 1;
            }
            self.size -= record.results.len();
        } else {
            (record.status, record.results) = self.machine.answer(&record, self.random);
        }
        Doing::Done(record)
    }
}

const SPECS: [&str; 20] = [
    "lifo",
    "lifo:empty=lone",
    "lifo:empty=none",
    "deque",
    "deque:empty=lone",
    "register",
    "map",
    "kv",
    "set",
    "counter",
    "log",
    "range-set",
    "fifo-relaxed",
    "fifo-relaxed:empty=none",
    "fifo-relaxed:empty=strong",
    "fifo",
    "fifo:empty=lone",
    "fifo-per-producer",
    "pool",
    "priority-queue",
];

/// The size of the window depends only on the structure's size and on how many calls overlap.
fn hold(run: Run, specs: &[&str], bound: usize) {
    for text in specs {
        let spec: Spec = text.parse().expect(text);
        let mut random = Random::new(77);
        let history = written(&records(run, spec, &mut random));
        let mut online = Online::new(spec, Limits::default()).every(256);
        let begin = std::time::Instant::now();
        feed(&mut online, &history, |_, _, found| assert_eq!(found, 0, "{text}"));
        let (now, most) = online.held();
        println!(
            "{text}: {most} of {} at most, {now} in the end, {:?}",
            history.len(),
            begin.elapsed()
        );
        assert!(most < bound, "{text} held {most} operations of {}", history.len());
        let (verdict, _) = online.finish(false);
        assert_eq!(verdict, Verdict::Consistent, "{text}");
    }
}

#[test]
fn long_runs_that_are_never_quiescent_need_little_memory() {
    let is_relaxed = |text: &&str| text.starts_with("fifo-relaxed");
    let (_, specs): (Vec<_>, Vec<_>) = SPECS.into_iter().partition(is_relaxed);
    hold(LONG, &specs, 3_000);
    // An operation costs a hundred times that of the others.
    hold(Run { calls: 4_000, ..LONG }, &["fifo-relaxed"], 1_000);
    hold(Run { roles: true, ..LONG }, &["lifo", "lifo:empty=none"], 3_000);
}

/// Feeds `history`. After all events of each time with a response, calls `look` with that time and
/// with the time of the violation plus one, or 0. A call of unknown outcome returns at once.
fn feed(online: &mut Online, history: &History, mut look: impl FnMut(u64, &mut Online, u64)) {
    let events: Vec<_> = Events::new(history).collect();
    for (at, event) in events.iter().enumerate() {
        let (client, time, entry) = (event.id.thread, event.time, history.entry(event.id));
        let found = if event.returns {
            online.answer(client, entry.status, entry.results, time)
        } else {
            online.call(client, entry.op, entry.args, time).expect("in order");
            if entry.status != Status::Unknown {
                continue;
            }
            online.answer(client, Status::Unknown, &[], time)
        };
        let found = found.expect("in order").map_or(0, |found| found.time + 1);
        if events.get(at + 1).is_none_or(|next| next.time > time) {
            look(time, online, found);
        }
    }
}

/// Counts of many runs.
#[derive(Debug, Default)]
struct Counts {
    bad: usize,
    /// Violations found after something was pruned.
    late: usize,
    shorter: usize,
    undecided: usize,
}

/// Compares the online check of corrupted runs with the check of every prefix.
fn compare(run: Run, text: &str, runs: usize, seed: u64) -> Counts {
    let (spec, limits): (Spec, _) = (text.parse().expect(text), Limits::default());
    let (mut random, mut counts) = (Random::new(seed), Counts::default());
    for _ in 0..runs {
        let history = damaged(run, spec, &mut random);
        let mut online = Online::new(spec, limits.clone());
        let (mut first, mut forgot, mut called) = (0, false, 0);
        feed(&mut online, &history, |time, online, found| {
            if first != 0 {
                return;
            }
            let known = until(&history, time);
            called = known.len();
            match check(&known, &spec, &limits) {
                Verdict::Violation(_) => {
                    assert_ne!(found, 0, "{text}: too late, after {time}: {history:?}");
                    counts.late += usize::from(forgot);
                }
                Verdict::Consistent => {
                    assert_eq!(found, 0, "{text}: a false alarm after {time}: {history:?}");
                    forgot = online.held().0 + run.threads < called;
                }
                Verdict::Inconclusive(_) => counts.undecided += 1,
            }
            first = found;
        });
        counts.bad += usize::from(first != 0);
        counts.shorter += usize::from(forgot);
        let mut rarely = Online::new(spec, limits.clone()).every(4);
        let mut last = 0;
        feed(&mut rarely, &history, |_, _, found| last = found);
        assert!(last == 0 || last == first, "{text}: {last} for {first}: {history:?}");
        let (verdict, rest) = rarely.finish(false);
        let whole = check(&history, &spec, &limits);
        let kind = std::mem::discriminant::<Verdict>;
        assert_eq!(kind(&verdict), kind(&whole), "{text}: {verdict:?}, {rest:?} of {history:?}");
    }
    counts
}

/// A run with up to two corruptions.
fn damaged(run: Run, spec: Spec, random: &mut Random) -> History {
    let quick = [0, 30, 60][random.below(3)];
    let roles = random.percent(20);
    let least = random.below(2);
    let run = Run { quick, roles, least, ..run };
    let mut records = records(run, spec, random);
    for _ in 0..random.below(3) {
        corrupt(&mut records, random.below(run.calls) as i64, random);
    }
    if random.percent(30) {
        tie(&mut records);
    }
    written(&records)
}

const SHORT: Run = Run { threads: 3, calls: 12, most: 4, appends: 30, ..LONG };

#[test]
fn online_agrees_on_every_prefix_of_stacks_that_are_never_quiescent() {
    for (at, text) in ["lifo", "lifo:empty=lone", "lifo:empty=none"].into_iter().enumerate() {
        let share = if at == 0 { 1 } else { 10 };
        for (threads, calls, unknown, runs) in
            [(3, 12, 0, 50_000), (4, 14, 0, 40_000), (4, 20, 5, 10_000), (5, 40, 1, 4_000)]
        {
            let run = Run { threads, calls, unknown, ..SHORT };
            let runs = crate::how_many(runs / share);
            let counts = compare(run, text, runs, 600 + at as u64);
            println!("{text}, {threads} threads, {calls} calls: {runs} runs, {counts:?}");
            // A tenth of the runs may be too few for these shares.
            let enough = runs < 1_000 || counts.bad > runs / 10 && counts.late > runs / 60;
            assert!(enough, "{counts:?}");
            assert_eq!(counts.undecided, 0);
        }
    }
}

#[test]
fn online_agrees_on_every_prefix_of_runs_that_are_never_quiescent() {
    for (at, text) in SPECS.into_iter().enumerate().filter(|(_, text)| !text.starts_with("lifo")) {
        for (threads, calls, unknown, runs) in [(3, 14, 0, 1_000), (4, 24, 0, 500), (4, 30, 6, 250)]
        {
            let run = Run { threads, calls, unknown, ..SHORT };
            // For these models, pruned operations rarely matter.
            let often = if ["log", "fifo-relaxed"].contains(&text) { 4 } else { 1 };
            let runs = crate::how_many(often * runs);
            let counts = compare(run, text, runs, 700 + at as u64);
            println!("{text}, {threads} threads, {calls} calls: {runs} runs, {counts:?}");
        }
    }
}

/// The pushes of 1 and 2 overlap. A value that was pushed and popped meanwhile proves that 1 came
/// first.
#[test]
fn pruned_operations_still_order_those_that_remain() {
    for (text, push, take) in [("lifo", Op::Push, Op::Pop), ("deque", Op::DequePush, Op::DequeTake)]
    {
        let calls = [
            (1, push, 1, 1, 8),
            (2, push, 9, 2, 3),
            (3, push, 2, 6, 20),
            (2, take, 9, 9, 10),
            (3, push, 5, 22, 23),
            (3, take, 5, 24, 25),
            (1, take, 1, 30, 31),
        ];
        let mut history = History::default();
        for (client, op, value, start, end) in calls {
            let (args, results): (&[i64], &[i64]) =
                if op == push { (&[value], &[]) } else { (&[], &[value]) };
            let entry = Entry { op, status: Status::Ok, start, end, args, results };
            history.push(client, entry).expect("in order");
        }
        let mut online = Online::new(text.parse().expect(text), Limits::default());
        let mut times = Vec::new();
        feed(&mut online, &history, |_, _, found| times.push(found));
        assert_eq!(times, [0, 0, 0, 0, 0, 0, 32], "{text}");
    }
}

/// Earlier reads determine the positions of appends without an answer.
#[test]
fn a_pruned_log_keeps_the_positions_of_appends_without_an_answer() {
    type Seen = (u32, Op, Status, i64, i64, u64, u64);
    let append = |client, value, start| -> Seen {
        (client, Op::LogAppend, Status::Unknown, value, 0, start, 0)
    };
    let look = |client, tail, start, end| -> Seen {
        (client, Op::LogCheckTail, Status::Ok, 0, tail, start, end)
    };
    let read = |client, at, value, start, end| -> Seen {
        (client, Op::LogRead, Status::Ok, at, value, start, end)
    };
    let rest = [look(0, 1, 20, 21), look(0, 1, 22, 23)];
    // There was one record before 8 was appended, so the first is 7.
    let before = [append(1, 7, 5), look(2, 1, 6, 7), append(3, 8, 8), look(4, 1, 10, 11)];
    let placed = [&before[..], &rest, &[read(5, 0, 8, 30, 31)]].concat();
    // A record does not vanish.
    let there = [&before[..2], &rest, &[look(5, 0, 30, 31)]].concat();
    // A record has one position.
    let appends = [append(1, 7, 4), append(3, 8, 5), read(2, 0, 7, 6, 7), look(4, 2, 10, 11)];
    let rest = [look(0, 2, 20, 21), look(0, 2, 22, 23)];
    let twice = [&appends[..], &rest, &[read(5, 1, 7, 30, 31)]].concat();
    for seen in [placed, there, twice] {
        let mut history = History::default();
        for (client, op, status, arg, result, start, end) in seen {
            let (args, results) = ([arg], [result]);
            let args = if op == Op::LogCheckTail { &[][..] } else { &args };
            let results = if status.is_open() { &[][..] } else { &results };
            let entry = Entry { op, status, start, end, args, results };
            history.push(client, entry).expect("in order");
        }
        let mut online = Online::new("log".parse().expect("a model"), Limits::default());
        let mut found = Vec::new();
        feed(&mut online, &history, |time, _, found_at| found.push((time, found_at)));
        assert!(found.iter().all(|(time, at)| (*at != 0) == (*time == 31)), "{found:?}");
        assert!(found.iter().any(|(time, _)| *time == 31));
    }
}
