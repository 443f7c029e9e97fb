//! Random executions, of which the races are found by the definitions, too.

use interlap::core::random::Random;
use interlap::trace::frame::AccessKind;

use super::*;

const THREADS: usize = 3;
/// Two atomic locations of four bytes, and two bytes for plain accesses.
const LOCATIONS: [usize; 2] = [0, 8];
const BYTES: usize = 64;
const BLOCK: (usize, usize) = (0, 16);

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Plain {
        address: usize,
        size: usize,
        writes: bool,
    },
    Load(usize, Order),
    Store(usize, Order),
    Update(usize, Order),
    Free,
    Fence(Order),
    Lock(usize),
    Unlock(usize),
    Start(usize),
    Join(usize),
    /// The first thread is the only one that has not ended.
    Left,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    thread: usize,
    what: What,
}

/// What an event does to memory: first byte, size, whether it is atomic, whether it writes.
fn accessed(what: What) -> Option<(usize, usize, bool, bool)> {
    Some(match what {
        What::Plain { address, size, writes } => (address, size, false, writes),
        What::Load(at, _) => (at, 4, true, false),
        What::Store(at, _) | What::Update(at, _) => (at, 4, true, true),
        What::Free => (BLOCK.0, BLOCK.1, false, true),
        _ => return None,
    })
}

/// Which events happen before which, by the definitions of [intro.races].
fn before(events: &[Event]) -> Vec<Vec<bool>> {
    let count = events.len();
    let mut edges = vec![vec![false; count]; count];
    for to in 0..count {
        for from in 0..to {
            let (one, other) = (events[from], events[to]);
            edges[from][to] |= one.thread == other.thread
                || one.what == What::Start(other.thread)
                || other.what == What::Join(one.thread)
                || matches!((one.what, other.what), (What::Unlock(a), What::Lock(b)) if a == b);
        }
        for (source, sink) in synchronized(events, to) {
            edges[source][sink] = true;
        }
    }
    for middle in 0..count {
        for from in 0..count {
            for to in 0..count {
                edges[from][to] |= edges[from][middle] && edges[middle][to];
            }
        }
    }
    edges
}

/// The pairs that synchronise by what the event reads.
fn synchronized(events: &[Event], reads: usize) -> Vec<(usize, usize)> {
    let (location, order) = match events[reads].what {
        What::Load(at, order) | What::Update(at, order) => (at, order),
        _ => return Vec::new(),
    };
    let same_thread = |one: usize, other: usize| events[one].thread == events[other].thread;
    let fences = |at: usize| match events[at].what {
        What::Fence(order) => order,
        _ => Order { acquires: false, releases: false, is_seq_cst: false },
    };
    let later = (reads + 1..events.len()).filter(|at| same_thread(*at, reads));
    let sinks: Vec<usize> = match order.acquires {
        true => vec![reads],
        false => later.filter(|at| fences(*at).acquires).collect(),
    };
    // The release sequence that it reads from, backwards.
    let mut pairs = Vec::new();
    for at in (0..reads).rev() {
        let (order, is_store) = match events[at].what {
            What::Store(other, order) if other == location => (order, true),
            What::Update(other, order) if other == location => (order, false),
            _ => continue,
        };
        let earlier = (0..at).filter(|fence| same_thread(*fence, at) && fences(*fence).releases);
        let sources = earlier.chain(order.releases.then_some(at));
        pairs.extend(sources.flat_map(|source| sinks.iter().map(move |sink| (source, *sink))));
        if is_store {
            break;
        }
    }
    pairs
}

fn random_events(random: &mut Random) -> Vec<Event> {
    let mut events = Vec::new();
    let mut holders: [Option<usize>; 2] = [None; 2];
    // What a thread does that is alone is before all.
    for _ in 0..random.below(4) {
        events.extend(random_step(random, 0, &mut holders).map(|what| Event { thread: 0, what }));
    }
    for child in 1..THREADS {
        events.push(Event { thread: 0, what: What::Start(child) });
        if random.one_in(3) {
            let what = What::Plain { address: BYTES, size: 1, writes: true };
            events.push(Event { thread: 0, what });
        }
    }
    for _ in 0..3 + random.below(14) {
        let thread = random.below(THREADS as u64) as usize;
        events.extend(random_step(random, thread, &mut holders).map(|what| Event { thread, what }));
    }
    for ended in (1..THREADS).filter(|_| random.one_in(2)).collect::<Vec<_>>() {
        let what = What::Plain { address: BYTES, size: 2, writes: true };
        // It does nothing more.
        events.extend([What::Join(ended), what].map(|what| Event { thread: 0, what }));
    }
    // What it does alone, if it has joined both, is after all.
    events.push(Event { thread: 0, what: What::Left });
    for _ in 0..random.below(4) {
        events.extend(random_step(random, 0, &mut holders).map(|what| Event { thread: 0, what }));
    }
    if random.one_in(3) {
        events.push(Event { thread: 0, what: What::Free });
    }
    events
}

fn random_step(
    random: &mut Random,
    thread: usize,
    holders: &mut [Option<usize>; 2],
) -> Option<What> {
    let (acquires, releases) = (random.one_in(2), random.one_in(2));
    let order = Order { acquires, releases, is_seq_cst: false };
    let location = LOCATIONS[random.below(2) as usize];
    Some(match random.below(12) {
        0..3 => {
            let places = [(BYTES, 1), (BYTES, 2), (BYTES + 1, 1), (0, 4), (6, 4)];
            let (address, size) = places[random.below(5) as usize];
            // To write atomic locations plainly would end what was told there.
            What::Plain { address, size, writes: address >= BYTES && random.one_in(2) }
        }
        3..5 => What::Load(location, order),
        5..7 => What::Store(location, order),
        7..9 => What::Update(location, order),
        9 => What::Fence(order),
        _ => {
            let lock = random.below(2) as usize;
            match holders[lock] {
                None => {
                    holders[lock] = Some(thread);
                    What::Lock(lock)
                }
                Some(own) if own == thread => {
                    holders[lock] = None;
                    What::Unlock(lock)
                }
                Some(_) => return None,
            }
        }
    })
}

/// Makes the event; gives the number of the event that it races with.
fn make(order: &mut HappensBefore<usize>, number: usize, event: Event) -> Option<usize> {
    let Event { thread, what } = event;
    let of = |(address, size, is_atomic, writes)| Access {
        thread: thread as u16,
        address,
        size: size as u32,
        kind: if is_atomic { AccessKind::Atomic } else { AccessKind::Plain },
        writes,
        told: number,
    };
    let made = match (what, accessed(what).map(of)) {
        (What::Plain { .. }, Some(access)) => order.plain(access),
        (What::Load(_, by) | What::Store(_, by), Some(access)) => order.atomic(access, false, by),
        (What::Update(_, by), Some(access)) => order.atomic(access, true, by),
        (_, Some(access)) => order.frees(access),
        (other, None) => {
            match other {
                What::Fence(by) => order.fence(thread, by),
                What::Lock(key) => order.acquires(thread, key),
                What::Unlock(key) => order.releases(thread, key),
                What::Start(child) => order.starts(thread, child),
                What::Join(ended) => order.joins(thread, ended),
                What::Left => order.is_left(thread),
                _ => unreachable!("all others access memory"),
            }
            Ok(())
        }
    };
    made.err().map(|first| first.told)
}

#[test]
fn races_are_those_of_the_definitions() {
    let (mut random, mut raced, mut free) = (Random::new(9), 0, 0);
    let mut order = HappensBefore::new(|_, _| false);
    for _ in 0..20_000 {
        let events = random_events(&mut random);
        let before = before(&events);
        order.begin(0, false);
        let mut is_raced = false;
        for (at, event) in events.iter().enumerate() {
            let found = make(&mut order, at, *event);
            let races = |other: &usize| {
                let Some((start, size, is_atomic, writes)) = accessed(event.what) else {
                    return false;
                };
                let of = events[*other];
                accessed(of.what).is_some_and(|(from, length, other_atomic, other_writes)| {
                    let overlaps = start < from + length && from < start + size;
                    let conflicts = (writes || other_writes) && !(is_atomic && other_atomic);
                    of.thread != event.thread && overlaps && conflicts && !before[*other][at]
                })
            };
            let wanted: Vec<usize> = (0..at).filter(races).collect();
            let is_right = found.map_or(wanted.is_empty(), |found| wanted.contains(&found));
            assert!(is_right, "{at}: {found:?}, not one of {wanted:?}\n{events:#?}");
            // The round ends there.
            is_raced = found.is_some();
            if is_raced {
                break;
            }
        }
        (raced, free) = (raced + u32::from(is_raced), free + u32::from(!is_raced));
    }
    assert!(raced > 5_000 && free > 2_000, "{raced} with a race, {free} without");
}

/// As a lock-free list hands a node to another thread, which frees it.
#[test]
fn memory_that_is_given_out_again_is_other_memory() {
    let mut order = HappensBefore::new(|_, _| false);
    order.begin(0, false);
    (1..3).for_each(|child| order.starts(0, child));
    let write = |thread: u16| Access {
        thread,
        address: 64,
        size: 8,
        kind: AccessKind::Plain,
        writes: true,
        told: thread,
    };
    assert_eq!(order.plain(write(1)), Ok(()));
    assert_eq!(order.plain(write(2)), Err(write(1)));
    order.forget(64, 8);
    assert_eq!(order.plain(write(2)), Ok(()));
    // Of a block that is longer than all that is known.
    order.forget(0, 1 << 20);
    assert_eq!(order.plain(write(1)), Ok(()));
}
