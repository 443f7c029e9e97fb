//! What is known of strings in advance. A history of gets, puts and appends comes in; for a put or
//! append, what a later get found that shows what the string had become, goes out. Knows no search.
//!
//! A get that is called after a change has returned finds what the string became by it, or what
//! that grew to, unless a put replaced it in between. So where no put overlaps the time from the
//! call of the change to the return of the get, the string after the change is a prefix of what the
//! get found. Without this, a search has to try every order of the appends that are open at once.

use super::hash::FastMap;
use crate::history::{History, NEVER, OperationId};
use crate::operation::{Op, Status};

/// The gets and puts of one key.
#[derive(Default)]
struct Key {
    /// Start, end and name of each answered get, by start.
    gets: Vec<(u64, u64, OperationId)>,
    /// By place in `gets`: the place of the get that returns first, of it and those after it.
    first_back: Vec<usize>,
    /// Start and name of each put, by start.
    puts: Vec<(u64, OperationId)>,
    /// By number of puts, earliest calls first: the latest end of so many.
    latest_end: Vec<u64>,
}

pub struct Horizons(FastMap<i64, Key>);

impl Horizons {
    pub fn of(history: &History) -> Horizons {
        let mut keys: FastMap<i64, Key> = FastMap::default();
        for id in history.ids() {
            let operation = history.operation(id);
            let key = history.args(id)[0];
            match operation.op {
                Op::KvGet if operation.status == Status::Ok => {
                    let get = (operation.start, operation.end, id);
                    keys.entry(key).or_default().gets.push(get);
                }
                Op::KvPut => keys.entry(key).or_default().puts.push((operation.start, id)),
                _ => {}
            }
        }
        keys.values_mut().for_each(|key| key.arrange(history));
        Horizons(keys)
    }

    /// What the string is a prefix of once the change `id` has taken effect, if that is known.
    pub fn after<'a>(&self, history: &'a History, id: OperationId) -> Option<&'a [i64]> {
        let change = history.operation(id);
        if change.op == Op::KvGet || change.end == NEVER {
            return None;
        }
        let key = self.0.get(&history.args(id)[0])?;
        let later = key.gets.partition_point(|(start, ..)| *start <= change.end);
        let (_, end, get) = key.gets[*key.first_back.get(later)?];
        let before = key.puts.partition_point(|put| *put < (change.start, id));
        let own = usize::from(change.op == Op::KvPut);
        let called = key.puts.partition_point(|(start, _)| *start <= end);
        let replaced =
            called > before + own || (before > 0 && key.latest_end[before] >= change.start);
        (!replaced).then(|| history.results(get))
    }
}

impl Key {
    fn arrange(&mut self, history: &History) {
        self.gets.sort_unstable();
        self.puts.sort_unstable();
        self.first_back = (0..self.gets.len()).collect();
        for at in (1..self.gets.len()).rev() {
            let best = self.first_back[at];
            if self.gets[best].1 < self.gets[at - 1].1 {
                self.first_back[at - 1] = best;
            }
        }
        let mut latest = 0;
        self.latest_end.push(latest);
        for (_, put) in &self.puts {
            latest = latest.max(history.operation(*put).end);
            self.latest_end.push(latest);
        }
    }
}
