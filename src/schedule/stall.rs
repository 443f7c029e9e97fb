//! Policy stall: a thread is preempted inside an operation while others complete whole ones.
//! Then it resumes at once, and the next victim is drawn. The other threads run by a sticky walk.
//! Most ABA bugs need this: read, be overtaken by several operations, then compare-and-swap
//! (Michael, Scott: Simple, Fast, and Practical Non-Blocking and Blocking Concurrent Queue
//! Algorithms, PODC 1996, section 1, on earlier queues).

use super::walk::Walk;
use super::{Access, THREADS_MAX, View, bit, nth};
use crate::core::random::Random;

/// The victim is stopped after at most so many scheduling points: those of a few operations.
const POINTS_MAX: u64 = 64;
/// Another thread must complete at most so many operations meanwhile.
const OPERATIONS_MAX: u64 = 3;
/// Decisions after which the victim resumes in any case: the others may wait for it without being
/// seen to yield.
const DECISIONS_MAX: u64 = 1 << 14;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// There is no victim.
    Idle,
    /// The victim runs until it is to be stopped.
    Hunting,
    /// The victim is stopped.
    Holding,
}

#[derive(Clone, Debug)]
pub struct Stall {
    random: Random,
    walk: Walk,
    phase: Phase,
    victim: usize,
    /// Scheduling points that the victim still passes before it is stopped.
    points: u64,
    /// The victim is stopped just before a write.
    at_write: bool,
    /// Operations that another thread must complete before the victim resumes.
    wanted: u8,
    completed: [u8; THREADS_MAX],
    /// Another thread has completed `wanted` operations.
    overtaken: bool,
    /// Threads that ran since their last operation ended.
    inside: u64,
    /// Threads that were inside an operation when the victim was stopped. That operation does not
    /// count as completed meanwhile.
    under_way: u64,
    /// Threads that yielded since the victim was stopped or an operation ended.
    yielded: u64,
    /// Decisions since the victim was stopped.
    decisions: u64,
    /// At the last decision, all other threads that could run had yielded.
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
        let chosen = match view.only_runnable() {
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

    /// See [`super::Policy::decided_ahead`].
    pub fn decided_ahead(&self, current: usize) -> u64 {
        let other = match self.phase {
            Phase::Idle => 0,
            Phase::Hunting if current == self.victim => self.points,
            Phase::Hunting => u64::MAX,
            Phase::Holding if self.overtaken || self.waiting => 0,
            Phase::Holding => DECISIONS_MAX.saturating_sub(1 + self.decisions),
        };
        other.min(self.walk.decided_ahead())
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
        // Logarithmic, to stop the victim soon in most cases: in a short round it has few points.
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

    /// Chooses another thread, or the victim as soon as it is overtaken, so that nothing happens
    /// between the overtaking operation and the victim's next step.
    #[inline]
    fn hold(&mut self, view: &View) -> usize {
        self.decisions += 1;
        if view.yields {
            self.yielded |= bit(view.current);
        }
        let others = view.runnable & !bit(self.victim);
        // Threads that yield may wait for the victim.
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

    /// Operations have four events each.
    #[test]
    fn whole_operations_happen_inside_another() {
        let program = Program::new(&["xyXp;xyXp;xyXp", "xyXp;xyXp;xyXp", "xyXp;xyXp;xyXp"]);
        let (mut overtaken, mut before_write) = (0, 0);
        for seed in 0..1000 {
            let order = program.run(Policy::new(&Spec::Stall, seed, &program.size()));
            let found = program.overtaken(&order);
            overtaken += u32::from(!found.is_empty());
            before_write += u32::from(found.iter().any(|event| event % 4 == 2));
        }
        assert!(overtaken > 700, "{overtaken}");
        assert!(before_write > 500, "{before_write}");
    }
}
