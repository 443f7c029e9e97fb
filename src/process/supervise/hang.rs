//! Notices that a harness makes no progress, asks where it hangs, and ends it.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::hang_decision::{HOPELESS_FACTOR, HangDecision, State, Thread};
use super::{Event, GRACE, HELLO_MAX, Harness, threads};
use crate::core::plan::Engine;
use crate::process::fault::{Fault, FaultKind, Hang};
use crate::trace::area::{Snapshot, Stage};

impl Harness {
    /// The process makes progress.
    pub(super) fn note_progress(&mut self) {
        self.wait_anew(self.progress.is_of_calls());
        self.memory.begin_anew();
    }

    /// `went_on`: with its calls, after it had stood still.
    fn wait_anew(&mut self, went_on: bool) {
        self.stillness.end(went_on);
        (self.looked, self.signalled) = (Instant::now(), None);
    }

    /// Whether a round, or a part of one, is that for which the process was killed, or a later one.
    pub(super) fn is_over(&self, round: u64, part: Option<u64>) -> bool {
        let last = match self.hung.as_ref().map(|(event, _)| event) {
            Some(Event::Fault(fault)) => (fault.round, fault.part),
            Some(Event::Stalled { round, .. }) => (*round, 0),
            _ => return false,
        };
        part.map_or(last.0 <= round, |part| last <= (round, part))
    }

    /// Checks that the process is alive and makes progress.
    pub(super) fn check_progress(&mut self) -> Result<Event> {
        if let Some((_, killed)) = &self.hung {
            let over = killed.elapsed() > GRACE;
            return if over { self.find_fault() } else { Ok(Event::Quiet) };
        }
        if self.child.try_wait()?.is_some() {
            // A process that the target forked may still hold the pipe open.
            self.kill_group();
            return Ok(Event::Quiet);
        }
        let snapshot = self.snapshot();
        let progress = snapshot.as_ref().map(Snapshot::progress).unwrap_or_default();
        if progress != self.progress || snapshot.as_ref().is_some_and(Snapshot::waits_for_reader) {
            self.note_progress();
            self.progress = progress;
            return Ok(Event::Quiet);
        }
        self.memory.look(self.process.unwrap_or(self.child.id()));
        let threads = self.threads();
        self.stillness.look(self.looked.elapsed(), &threads);
        self.looked = Instant::now();
        let patience = if snapshot.is_some() { self.hang_max } else { HELLO_MAX };
        let is_in_target = || snapshot.as_ref().is_none_or(|now| self.is_in_target(now));
        match self.stillness.decide(patience, is_in_target) {
            HangDecision::Unsure => Ok(Event::Quiet),
            HangDecision::Hopeless => {
                self.give_up(snapshot, (patience * HOPELESS_FACTOR).as_secs())
            }
            HangDecision::Hangs if self.memory.is_filling() => {
                // It will end by itself, as what it is.
                self.wait_anew(false);
                Ok(Event::Quiet)
            }
            HangDecision::Hangs => {
                let controlled = self.engine == Engine::Controlled && snapshot.is_some();
                if controlled && !self.had_time_to_answer() {
                    return Ok(Event::Quiet);
                }
                self.end_hang(Hang::of(&threads, patience))
            }
        }
    }

    /// Those of the process. A recorder stops all but one, and lets each run in turn.
    fn threads(&self) -> Vec<Thread> {
        let mut threads = threads::of(self.process.unwrap_or(self.child.id()));
        let stopped = threads.iter_mut().filter(|thread| thread.state == State::Stopped);
        if self.recorder {
            stopped.for_each(|thread| thread.state = State::Sleeps);
        }
        threads
    }

    /// Whether code of the target is under way. Under control it is so all the time.
    fn is_in_target(&self, now: &Snapshot) -> bool {
        let under_control = self.engine == Engine::Controlled && now.stage == Stage::Calls;
        under_control || self.area.get().is_some_and(|area| now.is_in_target(area, &self.methods))
    }

    /// Kills a process that stands still although the target may not be the cause.
    fn give_up(&mut self, snapshot: Option<Snapshot>, seconds: u64) -> Result<Event> {
        self.kill()?;
        let Some(now) = snapshot else { bail!("the harness was not ready within {seconds} s") };
        let event = Event::Stalled { round: now.round, seconds };
        self.hung = Some((event, Instant::now()));
        Ok(Event::Quiet)
    }

    /// What a run's last round is stuck in: the hang that it may become. None unless the process
    /// has stood still, with code of the target under way, for a good part of the patience.
    pub fn stuck(&mut self) -> Result<Option<Box<Fault>>> {
        if let Some((event, _)) = self.hung.take() {
            return Ok(if let Event::Fault(fault) = event { Some(fault) } else { None });
        }
        let Some(now) = self.snapshot().filter(|now| now.progress() == self.progress) else {
            return Ok(None);
        };
        let still = self.stillness.counted();
        let is_hang = self.stillness.is_stuck(self.hang_max) && self.is_in_target(&now);
        if !is_hang || self.memory.is_filling() {
            return Ok(None);
        }
        let threads = self.threads();
        Ok(self.hang_fault(Hang::of(&threads, still))?.map(Box::new))
    }

    /// Kills the process that hangs.
    fn end_hang(&mut self, hang: Hang) -> Result<Event> {
        if let Some(fault) = self.hang_fault(hang)? {
            self.kill()?;
            self.hung = Some((Event::Fault(Box::new(fault)), Instant::now()));
        }
        Ok(Event::Quiet)
    }

    /// Notes the hang, then asks for stacks, which may wake a thread. It is no hang but out of
    /// memory if it has filled that; none if it has made progress.
    fn hang_fault(&mut self, hang: Hang) -> Result<Option<Fault>> {
        let is_full = self.memory.is_full();
        let kind = if is_full { FaultKind::OutOfMemory } else { FaultKind::Hang };
        let mut fault = self.fault(kind);
        fault.hang = (!is_full).then_some(hang);
        if self.snapshot().is_some_and(|now| now.progress() != self.progress) {
            self.note_progress();
            return Ok(None);
        }
        // Under rr nobody sends signals.
        if self.recorder {
            fault.add_calls_under_way();
        }
        if !is_full && self.engine == Engine::Native && self.area.get().is_some() {
            while !self.had_time_to_answer() && self.child.try_wait()?.is_none() {
                if self.snapshot().is_none_or(|now| now.is_answered) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            fault.add_stacks(self.snapshot().map(|now| now.stacks).unwrap_or_default());
        }
        Ok(Some(fault))
    }

    /// Asks a hung harness where it hangs. Returns whether it has had time to answer.
    fn had_time_to_answer(&mut self) -> bool {
        if self.signalled.is_none()
            && let Some(pid) = Pid::from_raw(self.child.id() as i32)
        {
            let _ = kill_process(pid, Signal::PROF);
        }
        self.signalled.get_or_insert_with(Instant::now).elapsed() > GRACE
    }
}

impl Hang {
    fn of(threads: &[Thread], still: Duration) -> Hang {
        let running = threads.iter().filter(|thread| thread.state == State::Runnable);
        let running = running.count() as u32;
        Hang { seconds: still.as_secs(), running, waiting: threads.len() as u32 - running }
    }
}
