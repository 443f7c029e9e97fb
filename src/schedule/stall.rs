//! Stall: one thread is stopped in the middle of an operation while others complete whole ones,
//! again and again. In come points, pending accesses and ends of operations; out goes the stopped
//! thread when its time has come, else one of the others by a sticky walk. Knows no lengths. The
//! form of most ABA bugs: read, be overtaken by several operations, then compare-and-swap (Michael,
//! Scott: Simple, Fast, and Practical Non-Blocking and Blocking Concurrent Queue Algorithms, PODC
//! 1996, section 1, on earlier queues).

use super::walk::Walk;
use super::{Access, THREADS_MAX, View, bit, nth};
use crate::core::random::Random;

/// Points of its own that a thread passes before it is stopped, at most: some operations.
const POINTS_MAX: u64 = 64;
/// Operations that another thread completes meanwhile, at most.
const OPERATIONS_MAX: u64 = 3;
/// Decisions after which a stopped thread goes on in any case: the others may wait for it in a way
/// that does not show as yielding.
const DECISIONS_MAX: u64 = 1 << 14;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// The victim is to be drawn.
    Idle,
    /// It still runs.
    Hunting,
    Holding,
}

#[derive(Clone, Debug)]
pub struct Stall {
    random: Random,
    walk: Walk,
    phase: Phase,
    victim: usize,
    /// Points that the victim passes before it is stopped.
    points: u64,
    /// It is stopped just before a write.
    at_write: bool,
    /// Operations one other thread must complete.
    wanted: u8,
    completed: [u8; THREADS_MAX],
    /// One did.
    overtaken: bool,
    /// Threads that ran since their last operation ended.
    inside: u64,
    /// Threads that were inside when the victim was stopped: their next end is not of a whole one.
    under_way: u64,
    /// Threads that yielded since the victim was stopped or an operation ended.
    yielded: u64,
    /// Decisions since the victim was stopped.
    decisions: u64,
    /// All that could go on had yielded, at the last decision.
    waiting: bool,
}

impl Stall {
    pub fn new(mut random: Random) -> Stall {
        let percent = *random.pick(&[2, 5, 10, 20]);
        Stall {
            walk: Walk::new(percent, Random::new(random.bits())),
            random,
            phase: Phase::Idle,
            victim: 0,
            points: 0,
            at_write: false,
            wanted: 1,
            completed: [0; THREADS_MAX],
            overtaken: false,
            inside: 0,
            under_way: 0,
            yielded: 0,
            decisions: 0,
            waiting: false,
        }
    }

    #[inline]
    pub fn next(&mut self, view: &View) -> usize {
        let chosen = match view.lone() {
            Some(thread) => {
                if self.phase == Phase::Holding && thread == self.victim {
                    self.phase = Phase::Idle;
                }
                thread
            }
            None => self.choose(view),
        };
        self.inside |= bit(chosen);
        chosen
    }

    pub fn operation_ended(&mut self, thread: usize) {
        self.inside &= !bit(thread);
        self.yielded = 0;
        if self.under_way & bit(thread) != 0 {
            self.under_way &= !bit(thread);
        } else if thread != self.victim {
            let completed = &mut self.completed[thread % THREADS_MAX];
            *completed = completed.saturating_add(1);
            self.overtaken |= *completed >= self.wanted;
        }
    }

    /// As [`super::Policy::quiet`], and so on.
    pub fn quiet(&self, current: usize) -> u64 {
        let other = match self.phase {
            Phase::Idle => 0,
            Phase::Hunting if current == self.victim => self.points,
            Phase::Hunting => u64::MAX,
            Phase::Holding if self.overtaken || self.waiting => 0,
            Phase::Holding => DECISIONS_MAX.saturating_sub(1 + self.decisions),
        };
        other.min(self.walk.quiet())
    }

    pub fn skip(&mut self, current: usize, decisions: u64) {
        match self.phase {
            Phase::Hunting if current == self.victim => self.points -= decisions,
            Phase::Holding => self.decisions += decisions,
            _ => {}
        }
        self.walk.skip(decisions);
    }

    #[inline]
    fn choose(&mut self, view: &View) -> usize {
        if self.phase == Phase::Holding {
            return self.hold(view);
        }
        if self.phase == Phase::Idle || view.runnable & bit(self.victim) == 0 {
            self.aim(view);
        }
        if view.current == self.victim {
            if self.points > 0 {
                self.points -= 1;
            } else if !self.at_write || view.pending[self.victim].access == Access::Write {
                self.stop();
                return self.hold(view);
            }
        }
        self.walk.step(view.current, view.runnable, view.yields)
    }

    fn aim(&mut self, view: &View) {
        let n = self.random.below(u64::from(view.runnable.count_ones()));
        self.victim = nth(view.runnable, n);
        // Often soon: a thread of a short round has few points.
        self.points = self.random.log_between(1, POINTS_MAX) - 1;
        self.at_write = !self.random.one_in(4);
        self.phase = Phase::Hunting;
    }

    fn stop(&mut self) {
        self.wanted = self.random.between(1, OPERATIONS_MAX) as u8;
        self.completed = [0; THREADS_MAX];
        self.overtaken = false;
        self.under_way = self.inside;
        self.yielded = 0;
        self.decisions = 0;
        self.phase = Phase::Holding;
    }

    /// The victim at once when its time has come, so that nothing else happens before it goes on.
    #[inline]
    fn hold(&mut self, view: &View) -> usize {
        self.decisions += 1;
        if view.yields {
            self.yielded |= bit(view.current);
        }
        let others = view.runnable & !bit(self.victim);
        // Those that yield may wait for the victim.
        self.waiting = others & !self.yielded == 0;
        if !self.overtaken && !self.waiting && self.decisions < DECISIONS_MAX {
            return self.walk.step(view.current, others, view.yields);
        }
        self.phase = Phase::Idle;
        if view.runnable & bit(self.victim) != 0 {
            return self.victim;
        }
        self.walk.step(view.current, view.runnable, view.yields)
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulator::Program;
    use super::super::{Policy, Spec};

    /// Operations of four events each; those of thread 0 are overtaken by whole ones.
    #[test]
    fn whole_operations_happen_inside_another() {
        let program = Program::new(&["xyXp;xyXp;xyXp", "xyXp;xyXp;xyXp", "xyXp;xyXp;xyXp"]);
        let (mut overtaken, mut before_write) = (0, 0);
        for seed in 0..1000 {
            let order = program.run(Policy::new(&Spec::Stall, seed, &program.outlook()));
            let found = program.overtaken(&order);
            overtaken += u32::from(!found.is_empty());
            before_write += u32::from(found.iter().any(|event| event % 4 == 2));
        }
        assert!(overtaken > 700, "{overtaken}");
        assert!(before_write > 500, "{before_write}");
    }
}
