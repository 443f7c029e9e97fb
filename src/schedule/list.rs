//! Policy list: repeats recorded switches, or a part of them, by the number of the step.
//! At other steps it makes the [`default_choice`], so that a list from which the minimizer removed
//! switches is still a schedule that ends (Jalbert, Sen: A Trace Simplification Technique for
//! Effective Debugging of Concurrent Programs, FSE 2010).

use super::{Switch, View, bit, lowest};

#[derive(Clone, Debug)]
pub struct List {
    /// By step.
    switches: Vec<Switch>,
    next: usize,
}

/// The choice at a step without a recorded switch: the current thread; if it cannot run, the lowest
/// that can. If it yields, the next higher one, in a circle, so that spinning threads yield to all
/// others and not only to each other. A recorder stores only the steps that differ from this.
#[inline]
pub fn default_choice(view: &View) -> usize {
    let current = bit(view.current);
    if view.runnable & current == 0 {
        return lowest(view.runnable);
    }
    let others = view.runnable & !current;
    if !view.yields || others == 0 {
        return lowest(current);
    }
    let higher = others & !(current | (current - 1));
    lowest(if higher != 0 { higher } else { others })
}

impl List {
    pub fn new(switches: &[Switch]) -> List {
        let mut switches = switches.to_vec();
        switches.sort_by_key(|switch| switch.step);
        List { switches, next: 0 }
    }

    #[inline]
    pub fn next(&mut self, view: &View) -> usize {
        while let Some(switch) = self.switches.get(self.next) {
            if switch.step > view.step {
                break;
            }
            self.next += 1;
            if switch.step == view.step && view.runnable & bit(switch.thread) != 0 {
                return lowest(bit(switch.thread));
            }
        }
        default_choice(view)
    }

    /// See [`super::Policy::decided_ahead`]; nothing depends on skipped decisions.
    #[inline]
    pub fn decided_ahead(&self, step: u64) -> u64 {
        let next = self.switches.get(self.next).map_or(u64::MAX, |switch| switch.step);
        next.saturating_sub(step + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Pending, Policy, Position, RoundSize, Spec, THREADS_MAX};
    use super::*;

    fn switch(step: u64, thread: usize) -> Switch {
        Switch { step, thread }
    }

    #[test]
    fn a_switch_happens_if_its_thread_can_run() {
        let switches = vec![switch(4, 2), switch(1, 1), switch(2, 3), switch(9, 5)];
        let size = RoundSize { threads: 3, operations: 9 };
        let mut policy = Policy::new(&Spec::List(switches), 0, &size);
        let pending = [Pending::default(); THREADS_MAX];
        let mut next = |current, runnable, yields, step| {
            let position = Position::default();
            policy.next(&View { current, runnable, yields, step, position, pending: &pending })
        };
        assert_eq!(next(0, 0b111, false, 0), 0);
        assert_eq!(next(0, 0b111, false, 1), 1);
        assert_eq!(next(1, 0b111, false, 2), 1, "3 cannot run");
        assert_eq!(next(1, 0b101, false, 3), 0, "the lowest that can");
        // Step 4 was left out.
        assert_eq!(next(0, 0b111, false, 5), 0);
        assert_eq!(next(0, 0b111, true, 6), 1);
        assert_eq!(next(1, 0b111, true, 7), 2);
        assert_eq!(next(2, 0b111, true, 8), 0);
        assert_eq!(next(0, 0b100001, false, 9), 5);
        assert_eq!(next(63, 1 << 63 | 1, true, 10), 0);
    }
}
