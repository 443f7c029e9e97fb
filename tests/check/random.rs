//! Makes random histories from a seed and a model: those of a simulated correct structure, with up
//! to three corruptions. Some order may still explain them.

use interlap::core::history::{Entry, History};
use interlap::core::operation::{Family, Op, Status};
use interlap::model::Kind;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::corrupt::{corrupt, tie};
use super::machine::Machine;

pub struct Random(Pcg64Mcg);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(Pcg64Mcg::seed_from_u64(seed))
    }

    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// The parameters of histories.
#[derive(Clone, Copy)]
pub struct Shape {
    pub kind: Kind,
    pub threads: (usize, usize),
    pub operations: (usize, usize),
    /// Percent of queue operations that move several values.
    pub bulk: usize,
    /// Most values of such an operation.
    pub elements: usize,
    /// Percent of threads whose last operation never returns.
    pub pending: usize,
    /// Percent of additions that add a value added before.
    pub duplicates: usize,
    /// Maximum number of corruptions.
    pub corruptions: usize,
    /// Percent of calls that answer "full", or "empty" though the structure is not.
    pub hides: usize,
    /// Percent of calls that ask how many values are inside, or fail because too few are.
    pub counts: usize,
    /// Percent of histories of sets and maps in which half of the changes are void.
    pub voids: usize,
    /// From how many of the values that come next a removal chooses; 0: it takes the next.
    pub relaxation: usize,
}

fn family(family: Family) -> Vec<Op> {
    let wanted = |op: &Op| op.family() == family && !op.is_foreign();
    Op::ALL.iter().copied().filter(wanted).collect()
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Record {
    pub op: Op,
    pub status: Status,
    pub start: u64,
    pub end: u64,
    pub args: Vec<i64>,
    pub results: Vec<i64>,
}

/// A history under construction.
struct Simulation<'a> {
    shape: Shape,
    random: &'a mut Random,
    machine: Machine,
    /// Every value added so far.
    values: Vec<i64>,
    /// Whether each thread draws values from a range of its own, not from a common one.
    ranges: bool,
    two_owners: bool,
    /// Percent of calls that change a key and do not say whether they did.
    unsaid: usize,
    records: Vec<Vec<Record>>,
    clock: u64,
}

/// What a simulated thread is doing.
#[derive(Clone)]
enum Doing {
    Idle,
    /// The operation, and how many of its elements have moved.
    Calling(Record, usize),
    Done(Record),
}

/// The history of these records, a list for each client.
pub fn written(records: &[Vec<Record>]) -> History {
    let mut history = History::default();
    for (client, records) in records.iter().enumerate() {
        for Record { op, status, start, end, args, results } in records.iter().cloned() {
            let entry = Entry { op, status, start, end, args: &args, results: &results };
            history.push(client as u32, entry).expect("a record is well formed");
        }
    }
    history
}

pub fn history(shape: Shape, random: &mut Random) -> History {
    let (least, most) = shape.threads;
    let threads = least + random.below(most - least + 1);
    let mut machine = Machine::default();
    machine.relaxation = shape.relaxation;
    if shape.kind == Kind::Register {
        machine.cells.insert(0, 0);
    }
    let (two_owners, ranges) = (random.percent(10), random.percent(50));
    let unsaid = if random.percent(shape.voids) { 50 } else { 0 };
    let mut simulation = Simulation {
        shape,
        random,
        machine,
        values: Vec::new(),
        ranges,
        two_owners,
        unsaid,
        records: vec![Vec::new(); threads],
        clock: 1,
    };
    simulation.run();
    simulation.finish()
}

impl Simulation<'_> {
    fn run(&mut self) {
        let (least, most) = self.shape.operations;
        let operations = least + self.random.below(most - least + 1);
        let switch = [20, 50, 100][self.random.below(3)];
        let mut doing = vec![Doing::Idle; self.records.len()];
        let (mut issued, mut finished, mut thread) = (0, 0, 0);
        while finished < operations {
            if self.random.percent(switch) {
                thread = self.random.below(doing.len());
            }
            let at = thread;
            doing[at] = match doing[at].clone() {
                Doing::Idle if issued == operations => {
                    thread = (at + 1) % doing.len();
                    Doing::Idle
                }
                Doing::Idle => {
                    issued += 1;
                    Doing::Calling(self.call(at), 0)
                }
                Doing::Calling(record, moved) => self.advance(at, record, moved),
                Doing::Done(mut record) => {
                    finished += 1;
                    record.end = self.tick();
                    self.records[at].push(record);
                    Doing::Idle
                }
            };
        }
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock - 1
    }

    /// A value to add.
    fn value(&mut self, thread: usize) -> i64 {
        if self.random.percent(self.shape.duplicates) {
            return self.known_value();
        }
        let base = if self.ranges { 1_000_000 * (3 - thread as i64) } else { 0 };
        let count = self.values.len() as i64;
        // Priorities are added in no order, and stay distinct.
        let scattered = self.shape.kind == Kind::PriorityQueue && self.random.percent(50);
        self.values.push(base + if scattered { -1 - count } else { count });
        self.values[self.values.len() - 1]
    }

    /// A value added before, or one that is never added.
    fn known_value(&mut self) -> i64 {
        let at = self.random.below(self.values.len() + 1);
        self.values.get(at).copied().unwrap_or(7777)
    }

    fn call(&mut self, thread: usize) -> Record {
        let op = self.draw(thread);
        let small = |random: &mut Random| random.below(3) as i64;
        let args = match op {
            Op::Enqueue | Op::Push | Op::DequePush | Op::PriorityInsert => vec![self.value(thread)],
            Op::EnqueueBulk => {
                let elements = 1 + self.random.below(self.shape.elements);
                (0..elements).map(|_| self.value(thread)).collect()
            }
            Op::DequeueBulk => vec![1 + self.random.below(self.shape.elements) as i64],
            Op::SetInsert | Op::SetRemove | Op::SetContains | Op::MapGet | Op::MapRemove => {
                vec![self.random.below(2) as i64]
            }
            Op::RegisterWrite => vec![small(self.random)],
            Op::RegisterCompareExchange => vec![small(self.random), small(self.random)],
            Op::MapPut | Op::MapInsertIfAbsent => {
                vec![self.random.below(2) as i64, small(self.random)]
            }
            Op::MapCompareExchange => {
                vec![self.random.below(2) as i64, small(self.random), small(self.random)]
            }
            Op::SetRank | Op::SetSelect | Op::LogRead | Op::KvGet => vec![small(self.random)],
            Op::SetRangeCount | Op::SetRangeList => vec![small(self.random), small(self.random)],
            // Half of the counters count by ones.
            Op::CounterAdd if self.ranges => vec![1],
            Op::CounterAdd => vec![small(self.random) - 1],
            Op::LogAppend => vec![self.value(thread)],
            Op::KvPut | Op::KvAppend => {
                let characters = self.random.below(3);
                let key = vec![self.random.below(2) as i64];
                key.into_iter().chain((0..characters).map(|_| small(self.random) % 2)).collect()
            }
            _ => Vec::new(),
        };
        let start = self.tick();
        Record { op, status: Status::Ok, start, end: 0, args, results: Vec::new() }
    }

    fn draw(&mut self, thread: usize) -> Op {
        let of = |ops: &[Op], random: &mut Random| ops[random.below(ops.len())];
        if self.random.percent(self.shape.counts) {
            let mut ops = family(self.shape.kind.family());
            ops.retain(|op| op.counts_values());
            return of(&ops, self.random);
        }
        let bulk = self.random.percent(self.shape.bulk);
        match self.shape.kind {
            Kind::Fifo | Kind::FifoRelaxed | Kind::FifoPerProducer | Kind::Pool if bulk => {
                of(&[Op::EnqueueBulk, Op::DequeueBulk], self.random)
            }
            Kind::Fifo | Kind::FifoRelaxed | Kind::FifoPerProducer | Kind::Pool => {
                of(&[Op::Enqueue, Op::Dequeue], self.random)
            }
            Kind::Lifo => of(&[Op::Push, Op::Pop], self.random),
            Kind::Deque if thread == 0 || (thread == 1 && self.two_owners) => {
                of(&[Op::DequePush, Op::DequePush, Op::DequeTake], self.random)
            }
            Kind::Deque => Op::DequeSteal,
            Kind::Set => of(&[Op::SetInsert, Op::SetRemove, Op::SetContains], self.random),
            Kind::Map => of(&family(Family::Map), self.random),
            Kind::Register => of(&family(Family::Register), self.random),
            Kind::PriorityQueue => of(&[Op::PriorityInsert, Op::PriorityPoll], self.random),
            Kind::RangeSet if self.random.percent(50) => {
                of(&[Op::SetInsert, Op::SetRemove], self.random)
            }
            Kind::RangeSet | Kind::Counter | Kind::Log | Kind::Kv => {
                of(&family(self.shape.kind.family()), self.random)
            }
            Kind::Snapshot | Kind::Serializable | Kind::Itself | Kind::Class | Kind::Own => {
                unreachable!("transactions are drawn apart")
            }
        }
    }

    /// One more instant of a call.
    fn advance(&mut self, thread: usize, mut record: Record, moved: usize) -> Doing {
        if record.op.family().name() != self.shape.kind.family().name() {
            unreachable!("an operation of another family");
        }
        if self.shape.kind == Kind::FifoRelaxed {
            self.machine.relaxation = 2;
        }
        if !record.op.adds() && !record.op.removes() {
            (record.status, record.results) = self.machine.answer(&record, self.random);
            let may_be_void = matches!(record.op, Op::SetInsert | Op::SetRemove | Op::MapRemove);
            if may_be_void && self.random.percent(self.unsaid) {
                (record.status, record.results) = (Status::Done, Vec::new());
            }
            return Doing::Done(record);
        }
        if moved == 0 && self.random.percent(self.shape.hides) {
            // A structure may be full, or hide its values.
            record.status = if record.op.adds() { Status::Full } else { Status::Empty };
            return Doing::Done(record);
        }
        let too_few = record.op == Op::DequeueBulk && self.machine.count() < record.args[0];
        if moved == 0 && too_few && self.random.percent(10 * self.shape.counts) {
            record.status = Status::Failed;
            return Doing::Done(record);
        }
        let line = match self.shape.kind {
            Kind::FifoPerProducer => thread,
            // Each call is a queue of its own.
            Kind::Pool => record.start as usize,
            _ => 0,
        };
        let all = self.random.percent(50);
        let mut moved = moved;
        loop {
            let more = self.machine.transfer(&mut record, line, moved, self.random);
            moved += 1;
            match (more, all) {
                (false, _) => return Doing::Done(record),
                (true, false) => return Doing::Calling(record, moved),
                (true, true) => {}
            }
        }
    }

    /// Drains, leaves operations pending, corrupts, makes stamps equal; then makes the history.
    fn finish(mut self) -> History {
        let container = self.shape.kind.family().name();
        let containers = ["queue", "stack", "deque", "priority-queue"];
        let drains = containers.contains(&container) && self.random.percent(40);
        for thread in 0..self.records.len() {
            if self.random.percent(self.shape.pending)
                && let Some(last) = self.records[thread].last_mut()
            {
                last.status =
                    if self.random.percent(50) { Status::Pending } else { Status::Unknown };
                last.results.clear();
            }
        }
        if drains {
            self.drain();
        }
        for _ in 0..self.random.below(self.shape.corruptions + 1) {
            let wrong = self.known_value();
            corrupt(&mut self.records, wrong, self.random);
        }
        if self.random.percent(30) {
            tie(&mut self.records);
        }
        History { drained: drains, ..written(&self.records) }
    }

    fn drain(&mut self) {
        let op = match self.shape.kind {
            Kind::Lifo => Op::Pop,
            Kind::Deque => Op::DequeSteal,
            Kind::PriorityQueue => Op::PriorityPoll,
            _ => Op::Dequeue,
        };
        let mut records = Vec::new();
        loop {
            let start = self.tick();
            let mut record = Record {
                op,
                status: Status::Ok,
                start,
                end: 0,
                args: Vec::new(),
                results: Vec::new(),
            };
            self.machine.transfer(&mut record, 0, 0, self.random);
            record.end = self.tick();
            let empty = record.status == Status::Empty;
            records.push(record);
            if empty {
                break;
            }
        }
        self.records.push(records);
    }
}
