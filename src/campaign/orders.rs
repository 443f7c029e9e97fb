//! Which memory orders of a target its calls need: each is taken weaker by steps, and the same
//! rounds are run again. Stored as `orders.json`, so that a run that was stopped can go on.
//!
//! What a weaker order allows contains what a stronger one does. So an order is tried only if
//! nothing was found with those one step stronger, and never if it is weaker than one with which
//! something was.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::{Condvar, Mutex};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::binary::atomics::Atomics;
use crate::core::files;
use crate::core::memory_order::{MemoryOrder, OrderPlace, Ordered, OrderedAccess, Weakening};
use crate::core::plan::Plan;

const VERSION: u32 = 1;
/// The name of its file.
pub const ORDERS_FILE: &str = "orders.json";

/// The orders of a target, and what became of those that were weakened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Orders {
    pub version: u32,
    /// Of the rounds, with the orders as they are written.
    pub plan: Plan,
    /// BLAKE3 of the compiled adapter, in hexadecimal digits.
    pub library: String,
    /// The rounds of a trial.
    pub rounds: u64,
    pub rows: Vec<Row>,
    /// Accesses that no round made.
    pub unreached: Vec<Unreached>,
    pub blind: Blind,
}

/// Why fewer weaker orders may be noticed than should be: after a race that is not told, loads of
/// its round read the last stores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Blind {
    /// Libraries without hooks, which may order accesses unseen, so that no race is told.
    pub unhooked: Vec<String>,
    /// The adapter accepts some races.
    pub accepts_races: bool,
}

/// The accesses of one line, kind and order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    #[serde(flatten)]
    pub place: OrderPlace,
    /// What was tried, in this order.
    pub trials: Vec<Trial>,
}

/// The rounds with a weaker order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    pub to: MemoryOrder,
    /// None: all rounds that were decided were as with the order that is written.
    pub noticed: Option<Noticed>,
    /// The rounds that were not.
    #[serde(default)]
    pub undecided: u64,
}

/// What was found with a weaker order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noticed {
    /// The kind of a fault, or what is wrong and of which operations.
    pub what: String,
    pub signature: String,
    pub round: u64,
    /// The finding, seen from the directory of `orders.json`.
    pub directory: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unreached {
    pub file: String,
    pub line: u32,
    pub of: Ordered,
}

impl Row {
    /// Whether `order` is as strong as the other, or stronger.
    fn is_at_least(&self, order: MemoryOrder, other: MemoryOrder) -> bool {
        let weaker = || order.weaker(self.place.of).iter();
        order == other || weaker().any(|weaker| self.is_at_least(*weaker, other))
    }

    fn trial(&self, to: MemoryOrder) -> Option<&Trial> {
        self.trials.iter().find(|trial| trial.to == to)
    }

    fn is_noticed(&self, order: MemoryOrder) -> bool {
        let noticed = self.trials.iter().filter(|trial| trial.noticed.is_some());
        noticed.into_iter().any(|trial| self.is_at_least(trial.to, order))
    }

    /// The order as written, and those with which nothing was found.
    fn silent(&self) -> impl Iterator<Item = MemoryOrder> {
        let silent = self.trials.iter().filter(|trial| trial.noticed.is_none());
        std::iter::once(self.place.order).chain(silent.map(|trial| trial.to))
    }

    /// The next order to try; none: all were, as far as is needed.
    pub fn next(&self) -> Option<MemoryOrder> {
        let weaker = self.silent().flat_map(|order| order.weaker(self.place.of)).copied();
        weaker.into_iter().find(|to| self.trial(*to).is_none() && !self.is_noticed(*to))
    }

    /// The weakest orders with which nothing was found; none: not all trials were made.
    pub fn weakest(&self) -> Option<Vec<MemoryOrder>> {
        let is_last = |order: &MemoryOrder| {
            order.weaker(self.place.of).iter().all(|weaker| self.is_noticed(*weaker))
        };
        self.next().is_none().then(|| self.silent().filter(is_last).collect())
    }

    /// Whether nothing was found with some weaker order.
    pub fn is_stronger_than_needed(&self) -> bool {
        self.weakest().is_some_and(|weakest| weakest != [self.place.order])
    }
}

impl Orders {
    /// Of the accesses that were made in rounds of the plan.
    pub fn new(
        plan: &Plan,
        library: &Path,
        rounds: u64,
        made: impl IntoIterator<Item = OrderedAccess>,
        blind: Blind,
    ) -> Result<Orders> {
        let atomics = Atomics::find(library).with_context(|| library.display().to_string())?;
        let (mut rows, mut reached) = (BTreeMap::new(), HashSet::new());
        for OrderedAccess { address, of, order } in made {
            reached.insert(address);
            if let Some((file, line)) = atomics.line(address) {
                let place = OrderPlace { file: file.clone(), line: *line, of, order };
                rows.insert(place.clone(), Row { place, trials: Vec::new() });
            }
        }
        let left = atomics.all().filter(|(address, ..)| !reached.contains(address));
        let mut unreached: Vec<Unreached> = left
            .map(|(_, of, (file, line))| Unreached { file: file.clone(), line: *line, of })
            .collect();
        unreached.sort();
        unreached.dedup();
        // A line may be in the library several times.
        let is_there = |of: &Unreached| {
            let all = rows.keys().map(|place: &OrderPlace| (&place.file, place.line, place.of));
            all.into_iter().any(|place| place == (&of.file, of.line, of.of))
        };
        unreached.retain(|of| !is_there(of));
        Ok(Orders {
            version: VERSION,
            plan: plan.clone(),
            library: digest(library)?,
            rounds,
            rows: rows.into_values().collect(),
            unreached,
            blind,
        })
    }

    /// What is stored in this directory, if it is of the same rounds of the same library.
    pub fn load(directory: &Path, plan: &Plan, library: &Path, rounds: u64) -> Option<Orders> {
        let bytes = files::read(&directory.join(ORDERS_FILE)).ok()?;
        let stored: Orders = serde_json::from_slice(&bytes).ok()?;
        let is_same = stored.version == VERSION
            && stored.plan == *plan
            && stored.rounds == rounds
            && digest(library).is_ok_and(|digest| digest == stored.library);
        is_same.then_some(stored)
    }

    pub fn save(&self, directory: &Path) -> Result<()> {
        let path = directory.join(ORDERS_FILE);
        fs::create_dir_all(directory)
            .and_then(|()| files::replace(&path, &serde_json::to_vec_pretty(self)?))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// The trials that were made, and with how many of them something was found.
    pub fn score(&self) -> (usize, usize) {
        let trials = || self.rows.iter().flat_map(|row| &row.trials);
        (trials().count(), trials().filter(|trial| trial.noticed.is_some()).count())
    }

    /// Rounds that were not decided, of trials in which nothing was found.
    pub fn undecided(&self) -> u64 {
        let silent = self.rows.iter().flat_map(|row| &row.trials);
        silent.filter(|trial| trial.noticed.is_none()).map(|trial| trial.undecided).sum()
    }

    pub fn is_complete(&self) -> bool {
        self.rows.iter().all(|row| row.next().is_none())
    }
}

fn digest(library: &Path) -> Result<String> {
    let bytes = fs::read(library).with_context(|| library.display().to_string())?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}

/// What all threads of [`walk`] share.
struct Walk {
    orders: Orders,
    /// The rows of which a trial is under way.
    taken: HashSet<usize>,
    ended: Option<Result<()>>,
}

/// Makes all trials that are to be made, so many at a time. `run` makes one: none if it was stopped
/// before its end, which ends the walk. `made` sees what is known after each.
pub fn walk(
    orders: Orders,
    jobs: u64,
    run: impl Fn(&Weakening) -> Result<Option<Trial>> + Sync,
    made: impl Fn(&Orders) -> Result<()> + Sync,
) -> Result<Orders> {
    let walk = Mutex::new(Walk { orders, taken: HashSet::new(), ended: None });
    let freed = Condvar::new();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| while step(&walk, &freed, &run, &made) {});
        }
    });
    let Walk { orders, ended, .. } = walk.into_inner().expect("no thread has panicked");
    ended.unwrap_or(Ok(())).map(|()| orders)
}

/// Makes one trial. Returns whether there may be more.
fn step(
    walk: &Mutex<Walk>,
    freed: &Condvar,
    run: &impl Fn(&Weakening) -> Result<Option<Trial>>,
    made: &impl Fn(&Orders) -> Result<()>,
) -> bool {
    let lock = || walk.lock().expect("no thread has panicked");
    let mut shared = lock();
    let (row, to) = loop {
        if shared.ended.is_some() {
            return false;
        }
        let free = (0..shared.orders.rows.len()).filter(|row| !shared.taken.contains(row));
        let next = free.into_iter().find_map(|row| Some((row, shared.orders.rows[row].next()?)));
        match next {
            Some(next) => break next,
            None if shared.taken.is_empty() => return false,
            None => shared = freed.wait(shared).expect("no thread has panicked"),
        }
    };
    shared.taken.insert(row);
    let place = shared.orders.rows[row].place.clone();
    drop(shared);
    let done = run(&Weakening { place, to });
    let mut shared = lock();
    shared.taken.remove(&row);
    let made = match done {
        Ok(Some(trial)) => {
            shared.orders.rows[row].trials.push(trial);
            made(&shared.orders).map(|()| true)
        }
        Ok(None) => Ok(false),
        Err(error) => Err(error),
    };
    let goes_on = matches!(made, Ok(true));
    if !goes_on && shared.ended.is_none() {
        shared.ended = Some(made.map(|_| ()));
    }
    freed.notify_all();
    goes_on
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(of: Ordered, order: MemoryOrder) -> Row {
        let place = OrderPlace { file: "a.h".to_string(), line: 1, of, order };
        Row { place, trials: Vec::new() }
    }

    fn orders(rows: Vec<Row>) -> Orders {
        let (plan, library) = (Plan::new("a", 1), String::new());
        let (unreached, blind) = (Vec::new(), Blind::default());
        Orders { version: VERSION, plan, library, rounds: 1, rows, unreached, blind }
    }

    /// For each set of orders that suffice, closed under stronger ones, the walk finds the least of
    /// it, and tries no order twice or in vain.
    #[test]
    fn the_weakest_orders_that_suffice_are_found() {
        for of in Ordered::ALL {
            for set in 0..1 << MemoryOrder::ALL.len() {
                let suffices = |order: MemoryOrder| set >> order as u32 & 1 == 1;
                for written in MemoryOrder::ALL {
                    let weaker_of = |order: MemoryOrder| order.weaker(of).iter().copied();
                    let is_closed = MemoryOrder::ALL
                        .into_iter()
                        .all(|order| suffices(order) || !weaker_of(order).any(suffices));
                    if !is_closed || !suffices(written) {
                        continue;
                    }
                    let run = |weakening: &Weakening| {
                        let found = Noticed {
                            what: String::new(),
                            signature: String::new(),
                            round: 1,
                            directory: String::new(),
                        };
                        let noticed = (!suffices(weakening.to)).then_some(found);
                        // Only those of trials that are silent count.
                        let undecided = u64::from(noticed.is_some());
                        Ok(Some(Trial { to: weakening.to, noticed, undecided }))
                    };
                    let done = walk(orders(vec![row(of, written)]), 2, run, |_| Ok(()));
                    let done = done.expect("no error");
                    assert_eq!(done.undecided(), 0);
                    let row = &done.rows[0];
                    let mut tried: Vec<MemoryOrder> =
                        row.trials.iter().map(|trial| trial.to).collect();
                    let count = tried.len();
                    tried.sort();
                    tried.dedup();
                    assert_eq!(tried.len(), count, "{of} {written} {set:b}: {row:?}");
                    let below =
                        MemoryOrder::ALL.into_iter().filter(|to| row.is_at_least(written, *to));
                    let least = below.filter(|to| suffices(*to) && !weaker_of(*to).any(suffices));
                    let mut least: Vec<MemoryOrder> = least.collect();
                    let mut found = row.weakest().expect("all were tried");
                    least.sort();
                    found.sort();
                    assert_eq!(found, least, "{of} {written} {set:b}: {row:?}");
                }
            }
        }
    }

    #[test]
    fn a_walk_that_was_stopped_goes_on_where_it_was() {
        let rows = || vec![row(Ordered::Load, MemoryOrder::SeqCst); 3];
        let silent = |weakening: &Weakening| {
            Ok(Some(Trial { to: weakening.to, noticed: None, undecided: 2 }))
        };
        let left = std::sync::atomic::AtomicUsize::new(3);
        let some = |weakening: &Weakening| {
            use std::sync::atomic::Ordering::Relaxed;
            match left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)) {
                Ok(_) => silent(weakening),
                Err(_) => Ok(None),
            }
        };
        let stopped = walk(orders(rows()), 2, some, |_| Ok(())).expect("no error");
        assert_eq!((stopped.score(), stopped.is_complete()), ((3, 0), false));
        let whole = walk(stopped, 2, silent, |_| Ok(())).expect("no error");
        assert_eq!((whole.score(), whole.is_complete()), ((6, 0), true));
        assert_eq!(whole.undecided(), 12);
    }
}
