//! A list of turns: where in its calls each thread let another go on, recorded from any policy, or
//! a part of that. In comes how far the current thread is; out goes the thread that the list names
//! for that place, else [`unprompted`]. Unlike the steps of a list of switches, the places of a
//! thread stay where they are when other threads do less or in another order, so that most of a
//! schedule is left when calls are left out. Draws nothing.

use std::str::FromStr;

use super::list::unprompted;
use super::{THREADS_MAX, View, bit, lowest};
use crate::core::random::Random;

/// How far a thread is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Calls of the structure that it has come to: 0 before the first.
    pub call: u32,
    /// Its steps since then; the first is the boundary before the call.
    pub steps: u32,
    /// How often it had given way there before.
    pub again: u32,
}

/// How often each thread has given way where it is.
#[derive(Clone, Debug)]
pub struct Tries([Option<Place>; THREADS_MAX]);

impl Tries {
    pub const NONE: Tries = Tries([None; THREADS_MAX]);

    /// The place of a decision; to be asked once for each.
    #[inline]
    pub fn place(&mut self, view: &View) -> Place {
        if goes_on(view) {
            return view.place;
        }
        let last = &mut self.0[view.current % THREADS_MAX];
        let again = match *last {
            Some(last) if Place { again: 0, ..last } == view.place => last.again + 1,
            _ => 0,
        };
        let place = Place { again, ..view.place };
        *last = Some(place);
        place
    }
}

/// There, this thread lets that one go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub thread: usize,
    pub place: Place,
    /// It cannot go on there itself: it waits, has ended, or yields.
    pub gives_way: bool,
    pub to: usize,
}

impl Turn {
    /// At this place, to which [`Tries`] added how often.
    pub fn new(view: &View, place: Place, to: usize) -> Turn {
        Turn { thread: view.current, place, gives_way: !goes_on(view), to }
    }
}

/// Whether the current thread can go on, and does not ask to let others go first.
#[inline]
fn goes_on(view: &View) -> bool {
    view.runnable & bit(view.current) != 0 && !view.yields
}

#[derive(Clone, Debug)]
pub struct Turns {
    turns: Vec<Turn>,
    /// Of each thread: its next turn, as an index.
    next: [u32; THREADS_MAX],
    tries: Tries,
}

impl Turns {
    /// Those of one thread in the order in which it comes to them.
    pub fn new(turns: &[Turn]) -> Turns {
        let mut all = Turns { turns: turns.to_vec(), next: [0; THREADS_MAX], tries: Tries::NONE };
        for thread in 0..THREADS_MAX {
            all.next[thread] = all.of(thread, 0);
        }
        all
    }

    /// The thread's first turn from `at` on.
    fn of(&self, thread: usize, at: u32) -> u32 {
        let rest = self.turns.iter().skip(at as usize);
        at + rest.take_while(|turn| turn.thread != thread).count() as u32
    }

    pub fn next(&mut self, view: &View) -> usize {
        let thread = view.current % THREADS_MAX;
        let place = self.tries.place(view);
        let mut named = None;
        while let Some(turn) = self.turns.get(self.next[thread] as usize).copied() {
            let is_late = turn.place < place;
            if turn.place > place || !is_late && turn.gives_way && goes_on(view) {
                break;
            }
            self.next[thread] = self.of(thread, self.next[thread] + 1);
            // A place that was passed by counts now, unless the thread was to wait there and need
            // not.
            if !(turn.gives_way && goes_on(view)) {
                named = Some(turn.to);
            }
            if !is_late {
                break;
            }
        }
        match named {
            Some(to) if view.runnable & bit(to) != 0 => lowest(bit(to)),
            _ => unprompted(view),
        }
    }
}

/// Changes of a list, at most.
const CHANGES_MAX: u64 = 3;
/// Steps by which a turn comes earlier or later, at most.
const SHIFT_MAX: u64 = 16;

/// A list that differs from this one in a few places: turns that come earlier or later, are to
/// another thread or do not happen.
pub fn varied(turns: &[Turn], random: &mut Random) -> Vec<Turn> {
    let mut varied = turns.to_vec();
    for _ in 0..random.between(1, CHANGES_MAX) {
        if varied.is_empty() {
            break;
        }
        let at = random.below(varied.len() as u64) as usize;
        let steps = random.log_between(1, SHIFT_MAX) as u32;
        let to = varied[random.below(varied.len() as u64) as usize].thread;
        let turn = &mut varied[at];
        match random.below(8) {
            0..3 => turn.place.steps = turn.place.steps.saturating_sub(steps),
            3..6 => turn.place.steps += steps,
            6 => turn.to = to,
            _ => drop(varied.remove(at)),
        }
    }
    varied
}

/// As a plan has them: thread, call, steps, and how often before if ever; `@` where it is made to
/// stop and `~` where it gives way; and the thread that goes on: `1.2.17@0`.
pub fn text(turns: &[Turn]) -> String {
    let turns = turns.iter().map(|turn| {
        let Turn { thread, place: Place { call, steps, again }, gives_way, to } = turn;
        let mark = if *gives_way { '~' } else { '@' };
        match again {
            0 => format!("{thread}.{call}.{steps}{mark}{to}"),
            again => format!("{thread}.{call}.{steps}.{again}{mark}{to}"),
        }
    });
    turns.collect::<Vec<_>>().join(",")
}

impl FromStr for Turn {
    type Err = String;

    fn from_str(text: &str) -> Result<Turn, String> {
        let wrong = || format!("'{text}' is not THREAD.CALL.STEPS@THREAD");
        let (from, to) = text.split_once(['@', '~']).ok_or_else(wrong)?;
        let parts: Vec<u32> =
            from.split('.').map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
        let (&[thread, call, steps, ref again @ ..], Ok(to)) = (&parts[..], to.parse::<usize>())
        else {
            return Err(wrong());
        };
        let again = match again {
            [] => 0,
            [again] => *again,
            _ => return Err(wrong()),
        };
        let thread = thread as usize;
        if thread >= THREADS_MAX || to >= THREADS_MAX {
            return Err(format!("'{text}': threads are numbers below {THREADS_MAX}"));
        }
        Ok(Turn { thread, place: Place { call, steps, again }, gives_way: text.contains('~'), to })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pending;
    use super::*;

    fn turn(text: &str) -> Turn {
        text.parse().expect(text)
    }

    fn asked(turns: &mut Turns, current: usize, call: u32, steps: u32, runnable: u64) -> usize {
        let pending = [Pending::default(); THREADS_MAX];
        let place = Place { call, steps, again: 0 };
        turns.next(&View { current, runnable, yields: false, step: 0, place, pending: &pending })
    }

    #[test]
    fn a_turn_holds_at_its_place() {
        let mut turns = Turns::new(&["0.1.4@2", "2.0.1~1", "0.2.1@1"].map(turn));
        assert_eq!(asked(&mut turns, 0, 1, 3, 0b111), 0);
        assert_eq!(asked(&mut turns, 0, 1, 4, 0b111), 2);
        assert_eq!(asked(&mut turns, 2, 0, 1, 0b111), 2, "it can go on");
        assert_eq!(asked(&mut turns, 2, 0, 1, 0b011), 1, "now it waits");
        assert_eq!(asked(&mut turns, 1, 1, 1, 0b001), 0, "the lowest that can");
        assert_eq!(asked(&mut turns, 0, 2, 1, 0b101), 0, "1 cannot run");
        assert_eq!(asked(&mut turns, 0, 2, 1, 0b111), 0, "its turn is over");
    }

    #[test]
    fn a_thread_that_waits_again_has_a_turn_for_each_time() {
        let mut turns = Turns::new(&["2.1.4~1", "2.1.4.2~1"].map(turn));
        let waits = (0..4).map(|_| asked(&mut turns, 2, 1, 4, 0b011));
        assert_eq!(waits.collect::<Vec<_>>(), [1, 0, 1, 0]);
    }

    #[test]
    fn a_place_that_was_passed_by_counts_late() {
        let mut turns = Turns::new(&["0.1.9@1", "0.1.12~2", "0.3.1@2"].map(turn));
        assert_eq!(asked(&mut turns, 0, 2, 1, 0b111), 1, "0 need not wait for 2");
        assert_eq!(asked(&mut turns, 0, 3, 2, 0b111), 2);
        assert_eq!(asked(&mut turns, 0, 4, 1, 0b111), 0);
    }

    #[test]
    fn variations_are_of_all_kinds_and_few_changes() {
        let list: Vec<Turn> = (0..9).map(|n| turn(&format!("{}.{n}.20@{}", n % 3, 9))).collect();
        let (mut random, mut dropped, mut shifted, mut moved) = (Random::new(1), 0, 0, 0);
        for _ in 0..1000 {
            let varied = varied(&list, &mut random);
            let same = varied.iter().filter(|turn| list.contains(turn)).count();
            assert!(same + 3 >= list.len(), "{}", text(&varied));
            dropped += list.len() - varied.len();
            shifted += varied.iter().filter(|turn| turn.place.steps != 20).count();
            moved += varied.iter().filter(|turn| turn.to != 9).count();
        }
        assert!(dropped > 100 && shifted > 1000 && moved > 100, "{dropped} {shifted} {moved}");
        assert_eq!(super::varied(&[], &mut random), []);
    }

    #[test]
    fn what_is_no_turn_is_refused() {
        for text in ["", "1@2", "1.2@3", "1.2.3", "1.2.3@", "1.2.3.4.5@6", "64.1.1@0", "0.1.1@64"] {
            assert!(text.parse::<Turn>().is_err(), "{text}");
        }
        assert_eq!(text(&[turn("3.2.1.9~0"), turn("0.0.0@63")]), "3.2.1.9~0,0.0.0@63");
    }
}
