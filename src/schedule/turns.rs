//! Policy turns: repeats recorded switches by the position of a thread in its own calls.
//! At other positions it makes the [`default_choice`]. Unlike the step numbers of a list, positions
//! stay valid when other threads do less or run in another order, so most of a schedule remains
//! when calls are removed.

use std::str::FromStr;

use super::list::default_choice;
use super::{THREADS_MAX, View, bit, lowest};
use crate::core::random::Random;

/// The position of a thread in its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Calls of the structure that it has reached: 0 before the first.
    pub call: u32,
    /// Its steps since then. The first is the boundary before the call.
    pub steps: u32,
    /// How often it has blocked or yielded at this step before.
    pub repeats: u32,
}

/// The last position at which each thread blocked or yielded, to count the repeats.
#[derive(Clone, Debug)]
pub struct YieldCounts([Option<Position>; THREADS_MAX]);

impl YieldCounts {
    pub const NONE: YieldCounts = YieldCounts([None; THREADS_MAX]);

    /// The position of a decision, with its repeats. To be called once for each decision.
    #[inline]
    pub fn position(&mut self, view: &View) -> Position {
        if goes_on(view) {
            return view.position;
        }
        let last = &mut self.0[view.current % THREADS_MAX];
        let repeats = match *last {
            Some(last) if Position { repeats: 0, ..last } == view.position => last.repeats + 1,
            _ => 0,
        };
        let position = Position { repeats, ..view.position };
        *last = Some(position);
        position
    }
}

/// A switch from `thread`, at this position in its calls, to another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub thread: usize,
    pub position: Position,
    /// Not a preemption: `thread` blocks, has ended, or yields.
    pub gives_way: bool,
    pub to: usize,
}

impl Turn {
    /// A turn at a position from [`YieldCounts::position`].
    pub fn new(view: &View, position: Position, to: usize) -> Turn {
        Turn { thread: view.current, position, gives_way: !goes_on(view), to }
    }
}

/// Whether the current thread can run and does not yield.
#[inline]
fn goes_on(view: &View) -> bool {
    view.runnable & bit(view.current) != 0 && !view.yields
}

#[derive(Clone, Debug)]
pub struct Turns {
    turns: Vec<Turn>,
    /// By thread: the index of its next turn.
    next: [u32; THREADS_MAX],
    counts: YieldCounts,
}

impl Turns {
    /// The turns of each thread are in the order in which it reaches them.
    pub fn new(turns: &[Turn]) -> Turns {
        let counts = YieldCounts::NONE;
        let mut all = Turns { turns: turns.to_vec(), next: [0; THREADS_MAX], counts };
        for thread in 0..THREADS_MAX {
            all.next[thread] = all.next_turn(thread, 0);
        }
        all
    }

    /// The index of the thread's first turn from `at` on.
    fn next_turn(&self, thread: usize, at: u32) -> u32 {
        let rest = self.turns.iter().skip(at as usize);
        at + rest.take_while(|turn| turn.thread != thread).count() as u32
    }

    pub fn next(&mut self, view: &View) -> usize {
        let thread = view.current % THREADS_MAX;
        let position = self.counts.position(view);
        let mut named = None;
        while let Some(turn) = self.turns.get(self.next[thread] as usize).copied() {
            let is_late = turn.position < position;
            if turn.position > position || !is_late && turn.gives_way && goes_on(view) {
                break;
            }
            self.next[thread] = self.next_turn(thread, self.next[thread] + 1);
            // A turn that was passed happens now, unless the thread had blocked or yielded there
            // and now can go on.
            if !(turn.gives_way && goes_on(view)) {
                named = Some(turn.to);
            }
            if !is_late {
                break;
            }
        }
        match named {
            Some(to) if view.runnable & bit(to) != 0 => lowest(bit(to)),
            _ => default_choice(view),
        }
    }
}

/// Maximum number of changes of a mutation.
const CHANGES_MAX: u64 = 3;
/// Maximum number of steps by which a turn is moved.
const SHIFT_MAX: u64 = 16;

/// A mutation of the list: a few turns come earlier or later, switch to another thread, or are
/// removed.
pub fn mutated(turns: &[Turn], random: &mut Random) -> Vec<Turn> {
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
            0..3 => turn.position.steps = turn.position.steps.saturating_sub(steps),
            3..6 => turn.position.steps += steps,
            6 => turn.to = to,
            _ => drop(varied.remove(at)),
        }
    }
    varied
}

/// The notation of plans, as in `1.2.17@0`: thread, call, steps, and the repeats if not 0; `@` for
/// a preemption or `~` if the thread gives way; and the thread that runs next.
pub fn text(turns: &[Turn]) -> String {
    let turns = turns.iter().map(|turn| {
        let Turn { thread, position: Position { call, steps, repeats }, gives_way, to } = turn;
        let mark = if *gives_way { '~' } else { '@' };
        match repeats {
            0 => format!("{thread}.{call}.{steps}{mark}{to}"),
            repeats => format!("{thread}.{call}.{steps}.{repeats}{mark}{to}"),
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
        let (&[thread, call, steps, ref repeats @ ..], Ok(to)) = (&parts[..], to.parse::<usize>())
        else {
            return Err(wrong());
        };
        let repeats = match repeats {
            [] => 0,
            [repeats] => *repeats,
            _ => return Err(wrong()),
        };
        let thread = thread as usize;
        if thread >= THREADS_MAX || to >= THREADS_MAX {
            return Err(format!("'{text}': threads are numbers below {THREADS_MAX}"));
        }
        let position = Position { call, steps, repeats };
        Ok(Turn { thread, position, gives_way: text.contains('~'), to })
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
        let position = Position { call, steps, repeats: 0 };
        let view = View { current, runnable, yields: false, step: 0, position, pending: &pending };
        turns.next(&view)
    }

    #[test]
    fn a_turn_happens_at_its_position() {
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
    fn a_thread_that_blocks_repeatedly_has_a_turn_for_each_time() {
        let mut turns = Turns::new(&["2.1.4~1", "2.1.4.2~1"].map(turn));
        let waits = (0..4).map(|_| asked(&mut turns, 2, 1, 4, 0b011));
        assert_eq!(waits.collect::<Vec<_>>(), [1, 0, 1, 0]);
    }

    #[test]
    fn a_turn_that_was_passed_happens_late() {
        let mut turns = Turns::new(&["0.1.9@1", "0.1.12~2", "0.3.1@2"].map(turn));
        assert_eq!(asked(&mut turns, 0, 2, 1, 0b111), 1, "0 need not wait for 2");
        assert_eq!(asked(&mut turns, 0, 3, 2, 0b111), 2);
        assert_eq!(asked(&mut turns, 0, 4, 1, 0b111), 0);
    }

    #[test]
    fn mutations_are_of_all_kinds_and_small() {
        let list: Vec<Turn> = (0..9).map(|n| turn(&format!("{}.{n}.20@{}", n % 3, 9))).collect();
        let (mut random, mut dropped, mut shifted, mut moved) = (Random::new(1), 0, 0, 0);
        for _ in 0..1000 {
            let varied = mutated(&list, &mut random);
            let same = varied.iter().filter(|turn| list.contains(turn)).count();
            assert!(same + 3 >= list.len(), "{}", text(&varied));
            dropped += list.len() - varied.len();
            shifted += varied.iter().filter(|turn| turn.position.steps != 20).count();
            moved += varied.iter().filter(|turn| turn.to != 9).count();
        }
        assert!(dropped > 100 && shifted > 1000 && moved > 100, "{dropped} {shifted} {moved}");
        assert_eq!(super::mutated(&[], &mut random), []);
    }

    #[test]
    fn malformed_turns_are_refused() {
        for text in ["", "1@2", "1.2@3", "1.2.3", "1.2.3@", "1.2.3.4.5@6", "64.1.1@0", "0.1.1@64"] {
            assert!(text.parse::<Turn>().is_err(), "{text}");
        }
        assert_eq!(text(&[turn("3.2.1.9~0"), turn("0.0.0@63")]), "3.2.1.9~0,0.0.0@63");
    }
}
