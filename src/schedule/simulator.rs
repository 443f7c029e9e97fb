//! Runs small programs under a policy, for tests.
//! A program is a word for each thread, a letter of which is one event: a capital writes the
//! address of that letter, a small letter reads it, `p` to `w` access nothing. `;` ends an
//! operation.

use std::collections::BTreeMap;

use super::{Access, Pending, Policy, Position, RoundSize, Spec, THREADS_MAX, View};

pub struct Program {
    events: Vec<Vec<Event>>,
}

#[derive(Clone, Copy)]
struct Event {
    letter: char,
    pending: Pending,
    /// An operation ends with it.
    ends: bool,
}

impl Program {
    pub fn new(threads: &[&str]) -> Program {
        let events = threads.iter().map(|word| {
            let mut events: Vec<Event> = Vec::new();
            for letter in word.chars() {
                match (letter, events.last_mut()) {
                    (';', Some(last)) => last.ends = true,
                    _ => events.push(Event { letter, pending: pending(letter), ends: false }),
                }
            }
            events.last_mut().expect("an event").ends = true;
            events
        });
        Program { events: events.collect() }
    }

    pub fn threads(&self) -> usize {
        self.events.len()
    }

    pub fn length(&self, thread: usize) -> usize {
        self.events[thread].len()
    }

    /// The thread of each event, in the order of the events.
    pub fn run(&self, policy: Policy) -> Vec<usize> {
        self.run_by(policy, |policy, view, ended| {
            if ended {
                policy.operation_ended(view.current);
            }
            policy.next(view)
        })
    }

    /// As [`Program::run`], with decisions by `decide`. Its last argument is whether an operation
    /// of the current thread just ended.
    pub fn run_by(
        &self,
        mut policy: Policy,
        mut decide: impl FnMut(&mut Policy, &View, bool) -> usize,
    ) -> Vec<usize> {
        let mut done = [0; THREADS_MAX];
        let (mut order, mut current, mut ended) = (Vec::new(), 0, false);
        loop {
            let (runnable, pending) = self.pending(&done);
            if runnable == 0 {
                return order;
            }
            let step = order.len() as u64;
            let position = Position { steps: done[current] as u32, ..Position::default() };
            let view = View { current, runnable, yields: false, step, position, pending: &pending };
            current = decide(&mut policy, &view, ended);
            assert_ne!(runnable >> current & 1, 0, "thread {current} cannot run");
            let event = self.events[current][done[current]];
            done[current] += 1;
            order.push(current);
            ended = event.ends;
        }
    }

    pub fn size(&self) -> RoundSize {
        let operations = self.events.iter().flatten().filter(|event| event.ends).count() as u64;
        RoundSize { threads: self.threads(), operations }
    }

    /// The threads of the events of one letter, or of all events: `a` for thread 0, `b` for 1.
    pub fn threads_text(&self, order: &[usize], letter: Option<char>) -> String {
        let mut done = [0; THREADS_MAX];
        let letters = order.iter().filter_map(|thread| {
            let event = self.events[*thread][done[*thread]];
            done[*thread] += 1;
            let wanted = letter.is_none_or(|letter| letter == event.letter);
            wanted.then(|| char::from(b'a' + *thread as u8))
        });
        letters.collect()
    }

    /// The events inside operations before which another thread completed a whole operation.
    pub fn overtaken(&self, order: &[usize]) -> Vec<usize> {
        let mut done = [0; THREADS_MAX];
        // For each thread: operations that others began and completed since its last event.
        let mut whole = [0u32; THREADS_MAX];
        let mut began = [[false; THREADS_MAX]; THREADS_MAX];
        let mut found = Vec::new();
        for &thread in order {
            let at = done[thread];
            let inside = at > 0 && !self.events[thread][at - 1].ends;
            if inside && whole[thread] > 0 {
                found.push(at);
            }
            whole[thread] = 0;
            began[thread] = [false; THREADS_MAX];
            for other in (0..self.threads()).filter(|other| *other != thread) {
                began[other][thread] |= at == 0 || self.events[thread][at - 1].ends;
                if began[other][thread] && self.events[thread][at].ends {
                    whole[other] += 1;
                    began[other][thread] = false;
                }
            }
            done[thread] += 1;
        }
        found
    }

    /// The threads that have events left, and their next accesses.
    fn pending(&self, done: &[usize; THREADS_MAX]) -> (u64, [Pending; THREADS_MAX]) {
        let (mut runnable, mut pending) = (0, [Pending::default(); THREADS_MAX]);
        for (thread, events) in self.events.iter().enumerate() {
            if let Some(event) = events.get(done[thread]) {
                runnable |= 1 << thread;
                pending[thread] = event.pending;
            }
        }
        (runnable, pending)
    }
}

fn pending(letter: char) -> Pending {
    let address = 0x1000 + 8 * u64::from(letter.to_ascii_lowercase());
    match letter {
        'p'..='w' => Pending::default(),
        'A'..='Z' => Pending { address, access: Access::Write },
        _ => Pending { address, access: Access::Read },
    }
}

/// A thread, and the number of one of its events.
pub type At = (usize, usize);

/// Whether event `a` happened before `b`.
pub fn before(order: &[usize], a: At, b: At) -> bool {
    let at = |(thread, event): At| {
        let own = order.iter().enumerate().filter(|(_, other)| **other == thread);
        own.map(|(at, _)| at).nth(event).expect("as many events")
    };
    at(a) < at(b)
}

/// How many times a thread starts to run, including the first.
pub fn turns(order: &[usize]) -> usize {
    order.chunk_by(|a, b| a == b).count()
}

/// How often each order of events occurred in `rounds` rounds.
pub fn orders(
    program: &Program,
    policy: impl Fn(u64) -> Policy,
    letter: Option<char>,
    rounds: u64,
) -> BTreeMap<String, u64> {
    let mut seen = BTreeMap::new();
    for seed in 0..rounds {
        *seen.entry(program.threads_text(&program.run(policy(seed)), letter)).or_insert(0) += 1;
    }
    seen
}

/// Asserts the share of each of these orders, within five standard deviations.
pub fn assert_shares(program: &Program, spec: &Spec, shares: &[(&str, f64)]) {
    let rounds = 20_000;
    let policy = |seed| Policy::new(spec, seed, &program.size());
    let seen = orders(program, policy, None, rounds);
    for (order, share) in shares {
        let count = seen.get(*order).copied().unwrap_or(0) as f64;
        let expected = share * rounds as f64;
        let bound = 5.0 * (expected * (1.0 - share)).sqrt();
        assert!((count - expected).abs() <= bound, "{order}: {count}, expected {expected}");
    }
}

/// Asserts that the events of one letter have `expected` orders, and that all are equally likely:
/// chi-square is within six standard deviations of its mean.
pub fn assert_uniform(
    program: &Program,
    policy: impl Fn(u64) -> Policy,
    letter: char,
    expected: usize,
) {
    let rounds = 100 * expected as u64;
    let seen = orders(program, policy, Some(letter), rounds);
    assert_eq!(seen.len(), expected);
    let each = rounds as f64 / expected as f64;
    let square: f64 = seen.values().map(|count| (*count as f64 - each).powi(2) / each).sum();
    let freedom = expected as f64 - 1.0;
    assert!(square <= freedom + 6.0 * (2.0 * freedom).sqrt(), "{square} for {expected}: {seen:?}");
}
