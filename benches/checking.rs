//! How fast histories are checked. `cargo bench --bench checking [operations] [model]...` simulates
//! histories of five threads, checks each, and prints a table: CPU seconds of the check alone, and
//! the memory it took beyond the history. "serializable" are transactions of ten clients on lists.
//! Also what a short round costs, from the pipe to the
//! verdict.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use interlap::check::{Limits, Verdict, check, overlap, search};
use interlap::core::history::{Entry, History, Thread};
use interlap::core::journal::Journal;
use interlap::core::method::Methods;
use interlap::core::operation::{Op, Status};
use interlap::core::plan::{Clock, Plan};
use interlap::model::{self, Cell, Kind, Spec};
use interlap::trace::frame::{
    self, ClockInfo, Frame, FrameReader, Hello, Records, RoundEnd, RoundStart, Steps,
    TRACE_VERSION, TargetInfo,
};
use interlap::trace::records;
use interlap::trace::rounds::Assembler;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};
use rustix::time::{ClockId, clock_gettime};

/// Counts what is allocated now, and the most that ever was.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(held, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// CPU seconds of this thread: other work on the machine does not count.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

struct Random(Pcg64Mcg);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }
}

/// A structure in which every call happens at one instant.
#[derive(Default)]
struct Machine {
    lines: Vec<VecDeque<i64>>,
    cells: Vec<Option<i64>>,
    added: Vec<i64>,
    records: Vec<i64>,
    count: i64,
}

/// A call, on its way.
#[derive(Clone, Copy)]
struct Call {
    op: Op,
    status: Status,
    args: [i64; 2],
    arg_count: usize,
    result: Option<i64>,
    start: u64,
}

/// Most values in a queue or stack, and keys of a set or map.
const LENGTH_MAX: usize = 20;
const KEYS: usize = 1000;

/// How wide a history is: its threads, all of them at once in calls, and the keys of a set.
#[derive(Clone, Copy)]
struct Width {
    threads: usize,
    keys: usize,
}

const FIVE: Width = Width { threads: 5, keys: KEYS };
const THREE: Width = Width { threads: 3, keys: KEYS };

impl Machine {
    fn draw(&mut self, kind: Kind, thread: usize, random: &mut Random) -> (Op, [i64; 2], usize) {
        let keys = self.cells.len();
        let key = random.below(keys) as i64;
        let pick = random.below(3);
        let adds = random.below(2) == 0;
        let mut value = || {
            self.added[thread] += 1;
            thread as i64 * 1_000_000_000 + self.added[thread]
        };
        match kind {
            Kind::Set => ([Op::SetInsert, Op::SetRemove, Op::SetContains][pick], [key, 0], 1),
            Kind::RangeSet => match random.below(10) {
                0 | 1 => {
                    let other = random.below(keys) as i64;
                    (Op::SetRangeCount, [key.min(other), key.max(other)], 2)
                }
                _ => ([Op::SetInsert, Op::SetRemove, Op::SetContains][pick], [key, 0], 1),
            },
            Kind::Counter if adds => (Op::CounterAdd, [1, 0], 1),
            Kind::Counter => (Op::CounterRead, [0, 0], 0),
            Kind::Log => match pick {
                0 => (Op::LogAppend, [value(), 0], 1),
                1 => (Op::LogRead, [random.below(self.records.len() + 1) as i64, 0], 1),
                _ => (Op::LogCheckTail, [0, 0], 0),
            },
            Kind::Map => match pick {
                0 => (Op::MapPut, [key, random.below(1000) as i64], 2),
                1 => (Op::MapGet, [key, 0], 1),
                _ => (Op::MapRemove, [key, 0], 1),
            },
            Kind::Register => match pick {
                0 => (Op::RegisterWrite, [value(), 0], 1),
                _ => (Op::RegisterRead, [0, 0], 0),
            },
            Kind::PriorityQueue if adds => {
                // Random priorities, each of them once.
                let (low, high) = (value(), random.below(1 << 30) as i64);
                (Op::PriorityInsert, [high << 32 | low & 0xffff_ffff, 0], 1)
            }
            Kind::PriorityQueue => (Op::PriorityPoll, [0, 0], 0),
            Kind::Lifo if adds => (Op::Push, [value(), 0], 1),
            Kind::Lifo => (Op::Pop, [0, 0], 0),
            Kind::Deque if thread == 0 && pick < 2 => (Op::DequePush, [value(), 0], 1),
            Kind::Deque if thread == 0 => (Op::DequeTake, [0, 0], 0),
            Kind::Deque => (Op::DequeSteal, [0, 0], 0),
            _ if adds => (Op::Enqueue, [value(), 0], 1),
            _ => (Op::Dequeue, [0, 0], 0),
        }
    }

    fn apply(&mut self, kind: Kind, thread: usize, call: &mut Call, random: &mut Random) {
        match kind {
            Kind::Set | Kind::RangeSet | Kind::Map | Kind::Register => self.answer(call),
            Kind::Counter | Kind::Log => self.count_or_record(call),
            _ => {
                let lines = if kind == Kind::FifoPerProducer { self.lines.len() } else { 1 };
                let from = random.below(lines);
                let filled = (0..lines).map(|at| (from + at) % lines);
                let filled = filled.into_iter().find(|at| !self.lines[*at].is_empty());
                let at = if call.op.adds() { thread % lines } else { filled.unwrap_or(0) };
                let line = &mut self.lines[at];
                if call.op.adds() && line.len() >= LENGTH_MAX {
                    call.status = Status::Full;
                } else if call.op == Op::PriorityInsert {
                    let at = line.partition_point(|other| *other < call.args[0]);
                    line.insert(at, call.args[0]);
                } else if call.op.adds() {
                    line.push_back(call.args[0]);
                } else {
                    let back = matches!(call.op, Op::Pop | Op::DequeTake);
                    call.result = if back { line.pop_back() } else { line.pop_front() };
                    call.status = if call.result.is_some() { Status::Ok } else { Status::Empty };
                }
            }
        }
    }

    fn count_or_record(&mut self, call: &mut Call) {
        match call.op {
            Op::CounterAdd => self.count += call.args[0],
            Op::CounterRead => call.result = Some(self.count),
            Op::LogCheckTail => call.result = Some(self.records.len() as i64),
            Op::LogAppend => {
                call.result = Some(self.records.len() as i64);
                self.records.push(call.args[0]);
            }
            _ => {
                call.result = self.records.get(call.args[0] as usize).copied();
                call.status = if call.result.is_some() { Status::Ok } else { Status::Empty };
            }
        }
    }

    fn answer(&mut self, call: &mut Call) {
        if call.op == Op::SetRangeCount {
            let cells = &self.cells[call.args[0] as usize..=call.args[1] as usize];
            call.result = Some(cells.iter().flatten().count() as i64);
            return;
        }
        let register = call.op.family() == Kind::Register.family();
        let cell = &mut self.cells[if register { 0 } else { call.args[0] as usize }];
        let held = *cell;
        let ok = match call.op {
            Op::SetInsert => held.is_none(),
            Op::RegisterWrite => true,
            _ => held.is_some(),
        };
        call.status = if ok { Status::Ok } else { Status::Failed };
        match call.op {
            Op::SetInsert => *cell = Some(1),
            Op::SetRemove | Op::MapRemove => *cell = None,
            Op::MapPut => *cell = Some(call.args[1]),
            Op::RegisterWrite => *cell = Some(call.args[0]),
            Op::MapGet | Op::RegisterRead => call.result = held,
            _ => {}
        }
    }
}

/// Threads step through call, effect and return in random turns.
fn simulate(kind: Kind, width: Width, operations: usize, seed: u64) -> History {
    let Width { threads, keys } = width;
    let mut random = Random(Pcg64Mcg::seed_from_u64(seed));
    let initial = (kind == Kind::Register).then_some(0);
    let mut machine = Machine {
        lines: vec![VecDeque::new(); threads],
        cells: vec![initial; keys],
        added: vec![0; threads],
        ..Machine::default()
    };
    let mut history = History::default();
    for client in 0..threads {
        let mut thread = Thread::new(client as u32);
        thread.reserve(operations / threads + operations / 100);
        history.threads.push(thread);
    }
    let mut doing: Vec<(u8, Option<Call>)> = vec![(0, None); threads];
    let (mut clock, mut called, mut finished) = (1, 0, 0);
    while finished < operations {
        let thread = random.below(threads);
        let (step, call) = &mut doing[thread];
        match (*step, call.as_mut()) {
            (1, Some(call)) => machine.apply(kind, thread, call, &mut random),
            (2, Some(call)) => {
                let entry = Entry {
                    op: call.op,
                    status: call.status,
                    start: call.start,
                    end: clock,
                    args: &call.args[..call.arg_count],
                    results: call.result.as_slice(),
                };
                history.threads[thread].push(entry).expect("a call is well formed");
                clock += 1;
                finished += 1;
            }
            _ if called == operations => continue,
            _ => {
                called += 1;
                let (op, args, arg_count) = machine.draw(kind, thread, &mut random);
                let status = Status::Ok;
                *call = Some(Call { op, status, args, arg_count, result: None, start: clock });
                clock += 1;
            }
        }
        *step = (*step + 1) % 3;
    }
    history
}

/// Transactions of ten clients, one after another, on lists of up to 64 values.
fn simulate_lists(operations: usize) -> History {
    let mut random = Random(Pcg64Mcg::seed_from_u64(1));
    let (mut history, mut clock) = (History::default(), 0);
    let mut lists: Vec<Vec<i64>> = vec![Vec::new(); 10];
    let mut keys: Vec<i64> = (0..10).collect();
    while history.len() < operations {
        let client = random.below(10) as u32;
        let mut push = |op, args: &[i64], results: &[i64]| {
            clock += 2;
            let status = Status::Ok;
            let entry = Entry { op, status, start: clock, end: clock + 1, args, results };
            history.push(client, entry).expect("in order");
        };
        push(Op::StoreBegin, &[], &[]);
        for _ in 0..=random.below(4) {
            let at = random.below(10);
            if random.below(2) == 0 {
                push(Op::StoreReadList, &[keys[at]], &lists[at]);
                continue;
            }
            if lists[at].len() == 64 {
                keys[at] += 10;
                lists[at].clear();
            }
            let value = lists[at].len() as i64;
            lists[at].push(value);
            push(Op::StoreAppend, &[keys[at], value], &[]);
        }
        push(Op::StoreCommit, &[], &[]);
    }
    history
}

fn measure(text: &str, operations: usize) {
    let spec: Spec = text.parse().expect(text);
    let history = match spec.kind {
        Kind::Serializable => simulate_lists(operations),
        kind => simulate(kind, FIVE, operations, 1),
    };
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let start = cpu_seconds();
    let verdict = check(&history, &spec, &Limits { steps_max: u64::MAX, ..Limits::default() });
    let seconds = cpu_seconds() - start;
    assert_eq!(verdict, Verdict::Consistent, "{text}");
    let extra = (PEAK.load(Relaxed) - before) as f64 / operations as f64;
    let speed = operations as f64 / seconds / 1e6;
    println!("{text:38} {operations:>10} {seconds:>8.3} {speed:>8.1} {extra:>8.1}");
}

/// Range sets of 50 threads that are all in calls at once, the worst case of their checker: CPU
/// seconds of a check, the fastest, the median and the slowest of some histories.
fn measure_wide(keys: usize) {
    const HISTORIES: u64 = 41;
    const OPERATIONS: usize = 5_000;
    let spec: Spec = "range-set".parse().expect("a model");
    let seconds = |seed| {
        let width = Width { threads: 50, keys };
        let history = simulate(spec.kind, width, OPERATIONS, seed);
        let start = cpu_seconds();
        assert_eq!(check(&history, &spec, &Limits::default()), Verdict::Consistent);
        cpu_seconds() - start
    };
    let mut all: Vec<f64> = (0..HISTORIES).map(seconds).collect();
    all.sort_by(f64::total_cmp);
    let [first, median, last] = [0, all.len() / 2, all.len() - 1].map(|at| all[at]);
    println!(
        "{keys:>7} keys, {OPERATIONS} operations {:8} {first:>8.4} {median:>8.4} {last:>8.4}",
        ""
    );
}

/// The general search alone: of maps and registers with a frontier for each key, as for a user's
/// model.
fn check_generally(history: &History, journal: &Journal<model::Call>, spec: &Spec) -> Verdict {
    let cell = Cell { initial: (spec.kind == Kind::Register).then_some(0) };
    match spec.kind {
        Kind::Map | Kind::Register => check(journal, &cell, &Limits::default()),
        _ => search(history, spec, &Limits::default()),
    }
}

fn journal(history: &History) -> Journal<model::Call<'_>> {
    let mut journal = Journal::default();
    for id in history.ids() {
        let Entry { op, status, args, results, start, end } = history.entry(id);
        let call = model::Call { op, status, args, results, id, queue: None };
        journal.push(id.thread, call, start, Some(end)).expect("as it was in its thread");
    }
    journal
}

/// Many histories of 3 threads x 8 operations: what bounds a fuzzer of short rounds. Each pass
/// checks them all, and then by the general search; the first pass is to warm up. Prints
/// microseconds a history, the fastest pass and the median, the median of the general search, and
/// how many times as long that is.
fn measure_small(text: &str) {
    const HISTORIES: usize = 1000;
    const PASSES: usize = 9;
    let spec: Spec = text.parse().expect(text);
    let histories: Vec<History> =
        (0..HISTORIES as u64).map(|seed| simulate(spec.kind, THREE, 24, seed)).collect();
    let journals: Vec<_> = histories.iter().map(journal).collect();
    let both: Vec<_> = histories.iter().zip(&journals).collect();
    let pass = |judge: &dyn Fn(&History, &Journal<model::Call>) -> Verdict| {
        let start = cpu_seconds();
        for (history, journal) in &both {
            assert_eq!(std::hint::black_box(judge(history, journal)), Verdict::Consistent);
        }
        (cpu_seconds() - start) / HISTORIES as f64 * 1e6
    };
    let (mut micros, mut general) = (Vec::new(), Vec::new());
    for _ in 0..=PASSES {
        micros.push(pass(&|history, _| check(history, &spec, &Limits::default())));
        general.push(pass(&|history, journal| check_generally(history, journal, &spec)));
    }
    for times in [&mut micros, &mut general] {
        times.remove(0);
        times.sort_by(f64::total_cmp);
    }
    let (median, general) = (micros[PASSES / 2], general[PASSES / 2]);
    let times = general / median;
    println!("{text:38} {:>8.2} {median:>8.2} {general:>8.2} {times:>6.1}", micros[0]);
}

/// A stream of rounds as a harness of the controlled engine sends it, header first.
fn stream(histories: &[History]) -> Vec<u8> {
    let target = TargetInfo {
        library: String::new(),
        version: String::new(),
        model: String::new(),
        operations: Vec::new(),
        thread_max: 0,
        capacity: 0,
        block_size: 0,
    };
    let clock = ClockInfo { clock: Clock::Tsc, refused: None, nanoseconds_per_unit: 1.0 };
    let (version, plan) = (TRACE_VERSION, Plan::new("bench", 1));
    let hello = Hello {
        version,
        plan,
        target,
        clock,
        area_fd: None,
        process: None,
        code: None,
        warnings: vec![],
        unhooked: vec![],
    };
    let mut bytes = Vec::new();
    let mut put = |frame| frame::write(&mut bytes, &frame).expect("memory");
    put(Frame::Hello(Box::new(hello)));
    for (round, history) in histories.iter().enumerate() {
        let round = round as u64;
        let threads = history.threads.len() as u32;
        put(Frame::Round(RoundStart { round, threads, calls: 8, sequential: false, fresh: false }));
        for thread in history.clients() {
            put(Frame::Records(Records {
                thread,
                bytes: records::encode(history, thread, &Methods::default()),
            }));
        }
        let steps = Steps {
            policy: "pct:3".to_string(),
            steps: 400,
            switches: 40,
            schedule: round.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            atomics: 300,
            blocking: 0,
            pairs: Vec::new(),
            leaked_blocks: 0,
            leaked_bytes: 0,
            recorded: None,
            trail: None,
        };
        let steps = Some(Box::new(steps));
        put(Frame::End(RoundEnd { steps, ..RoundEnd::new(round, false) }));
    }
    bytes
}

/// The same histories, from the bytes on the pipe to the verdict.
fn measure_pipeline(text: &str) {
    const HISTORIES: usize = 20_000;
    /// As many as the reading thread hands on at once.
    const BATCH: usize = 500;
    let spec: Spec = text.parse().expect(text);
    let histories: Vec<History> =
        (0..HISTORIES as u64).map(|seed| simulate(spec.kind, THREE, 24, seed)).collect();
    let bytes = stream(&histories);
    drop(histories);
    let mut frames = FrameReader::new(&bytes[..]);
    let mut assembler = Assembler::default();
    let mut seconds = [0.0; 3];
    let mut rounds = Vec::new();
    for _ in 0..HISTORIES / BATCH {
        let start = cpu_seconds();
        while rounds.len() < BATCH {
            let frame = frames.next_frame().expect("sound").expect("as many as were written");
            rounds.extend(assembler.feed(frame).expect("sound"));
        }
        let decoded = cpu_seconds();
        for round in &rounds {
            std::hint::black_box(overlap(&round.history));
        }
        let counted = cpu_seconds();
        for round in rounds.drain(..) {
            std::hint::black_box(check(&round.history, &spec, &Limits::default()));
        }
        seconds[0] += decoded - start;
        seconds[1] += counted - decoded;
        seconds[2] += cpu_seconds() - counted;
    }
    let [decode, count, check] = seconds.map(|seconds| seconds / HISTORIES as f64 * 1e6);
    let all = decode + count + check;
    println!("{text:38} {decode:>8.2} {count:>8.2} {check:>8.2} {all:>8.2}");
}

const LONG: [&str; 14] = [
    "set",
    "fifo-per-producer",
    "fifo-per-producer:empty=strong",
    "fifo",
    "pool",
    "lifo",
    "priority-queue",
    "counter",
    "log",
    "map",
    "register",
    "range-set",
    "deque",
    "serializable",
];
const SMALL: [&str; 12] = [
    "set",
    "fifo-per-producer",
    "fifo",
    "pool",
    "lifo",
    "priority-queue",
    "deque",
    "map",
    "register",
    "counter",
    "log",
    "range-set",
];
const PIPED: [&str; 7] = ["set", "fifo-per-producer", "fifo", "lifo", "deque", "map", "register"];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let number = words.iter().find_map(|word| word.parse().ok());
    let named: Vec<&String> = words.iter().filter(|w| w.parse::<usize>().is_err()).collect();
    let asked = |text: &&&str| named.is_empty() || named.iter().any(|word| word == *text);
    let operations: usize = number.unwrap_or(10_000_000);
    println!("{:38} {:>10} {:>8} {:>8} {:>8}", "model", "operations", "CPU s", "M ops/s", "B/op");
    for text in LONG.iter().filter(asked) {
        let is_tenth = ["deque", "serializable"].contains(text);
        measure(text, if is_tenth { operations.div_ceil(10) } else { operations });
    }
    let head = "24 operations of 3 threads, us";
    println!("\n{head:38} {:>8} {:>8} {:>8} {:>6}", "best", "median", "general", "times");
    SMALL.iter().filter(asked).for_each(|text| measure_small(text));
    if asked(&&"range-set") {
        let head = "range-set, 50 threads at once, CPU s";
        println!("\n{head:38} {:>8} {:>8} {:>8}", "best", "median", "worst");
        [20, 100, 1000].into_iter().for_each(measure_wide);
    }
    println!(
        "\n{:38} {:>8} {:>8} {:>8} {:>8}",
        "us per round", "decode", "overlap", "check", "all"
    );
    PIPED.iter().filter(asked).for_each(|text| measure_pipeline(text));
    println!("goal: under 10 us");
}
