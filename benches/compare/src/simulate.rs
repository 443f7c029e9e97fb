//! Histories as threads on a real set of 11 keys would leave them. Threads, operations and a
//! profile come in; a history that some order explains goes out, or one with an answer falsified
//! near its end.

use std::fmt;

use interlap::core::history::{Entry, History, Thread};
use interlap::core::operation::{Op, Status};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

const KEYS: u64 = 11;

/// How threads take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// All run at once.
    Parallel,
    /// One at a time, for a while each, switched inside of operations too, as rr does it.
    Quanta,
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Profile::Parallel => "par",
            Profile::Quanta => "rr",
        })
    }
}

impl Profile {
    /// Both, good and bad.
    pub fn each() -> impl Iterator<Item = (Profile, bool)> {
        [Profile::Parallel, Profile::Quanta].into_iter().flat_map(|p| [(p, false), (p, true)])
    }

    /// One in so many steps another thread goes on.
    fn turn(self) -> u64 {
        match self {
            Profile::Parallel => 1,
            Profile::Quanta => 30,
        }
    }
}

#[derive(Clone, Copy)]
struct Doing {
    op: Op,
    args: [i64; 2],
    start: u64,
    answer: Option<(Status, Option<i64>)>,
}

fn answer(keys: &mut u64, op: Op, args: [i64; 2]) -> (Status, Option<i64>) {
    if op == Op::SetRangeCount {
        let count = (args[0]..=args[1]).filter(|key| *keys >> key & 1 == 1).count();
        return (Status::Ok, Some(count as i64));
    }
    let bit = 1 << args[0];
    let present = *keys & bit != 0;
    let ok = present != (op == Op::SetInsert);
    if ok && op != Op::SetContains {
        *keys ^= bit;
    }
    (if ok { Status::Ok } else { Status::Failed }, None)
}

/// A history of so many threads; the operation that is falsified, if any, is among the last.
pub fn ranges(
    threads: usize,
    operations: usize,
    profile: Profile,
    bad: bool,
    seed: u64,
) -> History {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut below = |n: u64| ((u128::from(random.next_u64()) * u128::from(n)) >> 64) as u64;
    let mut history = History::default();
    history.threads.extend((0..threads).map(|client| Thread::new(client as u32)));
    let mut doing: Vec<Option<Doing>> = vec![None; threads];
    let (mut keys, mut clock, mut called, mut returned, mut thread) = (0, 1, 0, 0, 0);
    let mut falsified = !bad;
    while returned < operations {
        if below(profile.turn()) == 0 {
            thread = below(threads as u64) as usize;
        }
        match &mut doing[thread] {
            None if called == operations => thread = below(threads as u64) as usize,
            slot @ None => {
                let ops = [Op::SetInsert, Op::SetRemove, Op::SetContains, Op::SetRangeCount];
                let (op, one, other) = (ops[below(4) as usize], below(KEYS), below(KEYS));
                let args = [one.min(other) as i64, one.max(other) as i64];
                *slot = Some(Doing { op, args, start: clock, answer: None });
                (called, clock) = (called + 1, clock + 1);
            }
            Some(Doing { op, args, answer: due @ None, .. }) => {
                *due = Some(answer(&mut keys, *op, *args));
            }
            Some(Doing { op, args, start, answer: Some((status, result)) }) => {
                let mut result = *result;
                if !falsified && returned >= operations - operations / 100 - 1 && result.is_some() {
                    // More than there are keys: no order explains it, whatever overlaps.
                    (falsified, result) = (true, Some(KEYS as i64 + 1));
                }
                let count = if *op == Op::SetRangeCount { 2 } else { 1 };
                let (args, results) = (&args[..count], result.as_slice());
                let entry =
                    Entry { op: *op, status: *status, start: *start, end: clock, args, results };
                history.threads[thread].push(entry).expect("a call is well formed");
                (returned, clock) = (returned + 1, clock + 1);
                doing[thread] = None;
            }
        }
    }
    assert!(falsified, "no count among the last operations");
    history
}
