//! Collects the findings and statistics that the jobs of a run send, and decides when the run ends.
//! Of several sightings of a finding, the one with the shortest history is kept.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::statistics::Counting;
use super::worker::{Message, Sighting};
use super::{
    Ending, Observer, Options, Summary, Uncontrolled, Warning, adapter_lint, finding_recording,
    rerun,
};
use crate::binary::members::Types;
use crate::check::Limits;
use crate::core::memory_order::OrderedAccess;
use crate::core::operation::Op;
use crate::core::plan::{Engine, PlainPoints, Races};
use crate::finding::Stored;
use crate::finding::known::Classification;
use crate::finding::signature::Signature;
use crate::model::Spec;
use crate::model::program::Program;
use crate::process::rr::recording::Recording;
use crate::trace::frame::{Growth, Hello};
use crate::trace::kept::Kept;

/// Time between two checks of the time limit, and between two reports of progress.
const TICK: Duration = Duration::from_millis(50);

/// Collects until all jobs have ended.
pub(super) struct Collector<'a> {
    options: &'a Options,
    observer: &'a mut dyn Observer,
    /// For reruns.
    scratch: &'a Path,
    /// Makes the jobs end.
    quit: &'a AtomicBool,
    started: Instant,
    ticked: Instant,
    counting: Counting,
    findings: Vec<Stored>,
    by_signature: HashMap<Signature, usize>,
    /// The number of findings that are neither known nor possibly known.
    new: usize,
    /// The data races among these.
    races: usize,
    hello: Option<(Box<Hello>, Spec)>,
    ending: Option<Ending>,
    is_growth_reported: bool,
    /// The atomic accesses that were made, if the plan asks for them.
    orders: BTreeSet<OrderedAccess>,
    /// Names of findings for which a warning said that they cannot be written.
    unwritten: HashSet<String>,
    /// Created when the target is loaded.
    kept: Option<Kept>,
}

impl<'a> Collector<'a> {
    pub fn new(
        options: &'a Options,
        observer: &'a mut dyn Observer,
        scratch: &'a Path,
        quit: &'a AtomicBool,
    ) -> Collector<'a> {
        let findings = options.regressions.to_vec();
        let signatures = findings.iter().map(|stored| stored.finding.signature.clone());
        let by_signature = signatures.zip(0..).collect();
        let is_known = |stored: &&Stored| stored.finding.known.is_some();
        let known = findings.iter().filter(is_known).count();
        let mut counting = Counting::default();
        (counting.statistics.findings, counting.statistics.known) = (findings.len(), known);
        Collector {
            options,
            observer,
            scratch,
            quit,
            started: Instant::now(),
            ticked: Instant::now(),
            counting,
            new: findings.len() - known,
            races: 0,
            findings,
            by_signature,
            hello: None,
            ending: None,
            is_growth_reported: false,
            orders: BTreeSet::new(),
            unwritten: HashSet::new(),
            kept: None,
        }
    }

    /// Receives messages until all jobs have ended.
    pub fn collect(mut self, messages: Receiver<Message>, mut jobs: u64) -> Result<Summary> {
        while jobs > 0 {
            match messages.recv_timeout(TICK) {
                Ok(Message::Ended(ended)) => {
                    self.end(ended)?;
                    jobs -= 1;
                }
                Ok(message) => self.take(message)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.end_if_over();
            if self.ticked.elapsed() >= TICK {
                self.tick();
                self.fail_if_unseen()?;
            }
        }
        self.finish()
    }

    /// A job has ended. After a finding, an error of rr or of the disk is only a warning, so that
    /// the finding is not lost.
    fn end(&mut self, ended: Result<()>) -> Result<()> {
        let found = self.ending.is_some() || !self.findings.is_empty();
        let is_rr = self.options.plan.engine == Engine::Rr;
        match ended {
            Err(error) if found && (is_rr || error.root_cause().is::<std::io::Error>()) => {
                self.warn(format!("{error:#}"));
                Ok(())
            }
            ended => ended,
        }
    }

    fn tick(&mut self) {
        self.ticked = Instant::now();
        self.counting.tick(self.started.elapsed());
        if self.hello.is_some() {
            self.observer.progressed(&self.counting.statistics);
        }
    }

    fn take(&mut self, message: Message) -> Result<()> {
        match message {
            Message::Hello(hello, model) => self.start(hello, model)?,
            Message::Counts(counts) => {
                self.counting.add(*counts);
                if self.counting.is_blind() {
                    self.fail_if_blind()?;
                }
            }
            Message::Round(round) => {
                if let Some(kept) = &mut self.kept {
                    kept.add(&round).with_context(|| not_kept(self.options))?;
                }
            }
            Message::Part(part) => {
                if let Some(kept) = &mut self.kept {
                    kept.add_part(&part).with_context(|| not_kept(self.options))?;
                }
            }
            Message::Judged(judged) => {
                if let Some(kept) = &mut self.kept {
                    kept.judged(&judged).with_context(|| not_kept(self.options))?;
                }
            }
            Message::Seen(sighting) => self.add_sighting(*sighting)?,
            Message::Growth(growth) => self.warn_of_growth(growth),
            Message::Orders(orders) => self.orders.extend(orders),
            Message::Warning(warning) => self.observer.warned(&warning),
            Message::Ended(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, hello: Box<Hello>, model: Spec) -> Result<()> {
        if self.hello.is_none() {
            if let Some(keep) = &self.options.keep {
                let kept = Kept::create(keep, &hello).with_context(|| not_kept(self.options))?;
                self.kept = Some(kept);
            }
            // Loading the target does not count: on a busy machine it can take a while.
            self.started = Instant::now();
            self.observer.started(&hello, &model);
            // Adapters of users are named by their paths.
            let is_bundled = !hello.plan.build.adapter.contains('/');
            let types = (!is_bundled).then(|| Types::load(&self.options.library));
            let of_adapter = adapter_lint::warnings(&hello.target.operations, types.as_ref())
                .with_context(|| format!("adapter {}", hello.plan.build.adapter))?;
            let of_model = self.fit(&hello, &model)?;
            let of_harness = hello.warnings.iter().cloned().map(Warning::Other);
            of_harness
                .chain(of_adapter)
                .chain(of_model)
                .for_each(|warning| self.observer.warned(&warning));
            self.hello = Some((hello, model));
        }
        Ok(())
    }

    /// What a specification says of the target's operations before they are called.
    fn fit(&self, hello: &Hello, model: &Spec) -> Result<Vec<Warning>> {
        let Some(running) = model.program.and_then(Program::running) else {
            return Ok(Vec::new());
        };
        let is_never = |op: &Op| {
            self.options.plan.weights.iter().any(|(name, weight)| name == op.name() && *weight == 0)
        };
        let operations = hello.target.operations.iter().copied().filter(|op| !is_never(op));
        let others = running.fit(&operations.collect::<Vec<_>>()).map_err(anyhow::Error::msg);
        let others = others.with_context(|| format!("adapter {}", hello.plan.build.adapter))?;
        Ok(others.into_iter().map(Warning::OtherType).collect())
    }

    /// Adds a new finding, or another sighting of one.
    fn add_sighting(&mut self, sighting: Sighting) -> Result<()> {
        if matches!(self.ending, Some(Ending::Findings | Ending::Wanted | Ending::NotSequential)) {
            return Ok(());
        }
        self.counting.add_sighting(sighting.policy.as_deref());
        self.counting.tick(self.started.elapsed());
        let signature = &sighting.finding.signature;
        if self.options.wanted.as_ref() == Some(signature) {
            self.ending = Some(Ending::Wanted);
        }
        let first = self.by_signature.get(signature).copied();
        let is_alone = sighting.sequential;
        let recording = sighting.recording.clone();
        let mut stored = sighting.stored(self.options);
        stored.finding.after_rounds = self.counting.statistics.rounds;
        stored.finding.after_seconds = self.counting.statistics.elapsed.as_secs_f64();
        if let Some(first) = first {
            self.end_if_sequential(is_alone && self.findings[first].finding.known.is_none());
            self.add_again(first, stored, recording.as_deref());
            return Ok(());
        }
        let mut seen = Vec::new();
        if self.options.known.may_lack_lines(&stored) {
            seen = self.confirm(&mut stored);
        }
        if !self.mark_known(&mut stored, is_alone) {
            return Ok(());
        }
        // The rest takes a while, so the other jobs may end now.
        self.end_if_over();
        seen.extend(self.confirm(&mut stored));
        self.add_races(&mut stored, seen)?;
        if !is_alone {
            self.explain(&mut stored);
        }
        self.save_with_recording(&mut stored, recording.as_deref());
        self.locate(&mut stored);
        self.observer.found(&stored);
        self.by_signature.insert(stored.finding.signature.clone(), self.findings.len());
        self.findings.push(stored);
        self.counting.statistics.findings = self.findings.len();
        Ok(())
    }

    /// Decides whether a finding is known. An unknown one of a sequential round ends the run,
    /// because later findings would say little. Returns whether it is to be kept: a target that has
    /// data races may have many, which count as one, and of which there is a limit, too.
    fn mark_known(&mut self, stored: &mut Stored, is_alone: bool) -> bool {
        let is_race = stored.finding.signature.is_data_race();
        match self.options.known.classify(stored) {
            Classification::Known(known) => {
                stored.finding.known = Some(known);
                self.counting.statistics.known += 1;
                return true;
            }
            _ if is_race && self.races >= self.options.findings_max => return false,
            Classification::New if is_race => {
                self.new += usize::from(self.races == 0);
                self.races += 1;
            }
            Classification::New => self.new += 1,
            Classification::Open => {}
        }
        self.end_if_sequential(is_alone);
        true
    }

    /// Adds the data races that were seen in the finding's round, as findings and to this one.
    fn add_races(&mut self, stored: &mut Stored, seen: Vec<Sighting>) -> Result<()> {
        let is_race = |sighting: &Sighting| sighting.finding.signature.is_data_race();
        if stored.finding.signature.is_data_race() {
            return Ok(());
        }
        for race in seen.into_iter().filter(is_race) {
            let signature = race.finding.signature.clone();
            self.add_sighting(race)?;
            let is_new = |at: &usize| self.findings[*at].finding.known.is_none();
            let races = &mut stored.finding.races;
            if self.by_signature.get(&signature).is_some_and(is_new) && !races.contains(&signature)
            {
                races.push(signature);
            }
        }
        Ok(())
    }

    fn end_if_sequential(&mut self, is_alone: bool) {
        if is_alone && self.ending != Some(Ending::Wanted) {
            self.ending = Some(Ending::NotSequential);
        }
    }

    /// Adds another sighting of a finding, which replaces the first one if it is shorter.
    fn add_again(&mut self, at: usize, mut stored: Stored, recording: Option<&Recording>) {
        let first = &mut self.findings[at];
        first.finding.sightings += 1;
        if stored.round.history.len() >= first.round.history.len() {
            return;
        }
        stored.finding.sightings = first.finding.sightings;
        stored.finding.known = first.finding.known.clone();
        stored.finding.races = first.finding.races.clone();
        stored.finding.regression = first.finding.regression.clone();
        stored.finding.after_rounds = first.finding.after_rounds;
        stored.finding.after_seconds = first.finding.after_seconds;
        self.explain(&mut stored);
        self.save_with_recording(&mut stored, recording);
        self.findings[at] = stored;
    }

    /// Saves a finding, and then its recording, which needs more room.
    fn save_with_recording(&mut self, stored: &mut Stored, recording: Option<&Recording>) {
        let Some(recording) = recording else { return self.save(stored) };
        let kept = self.observer.save(stored, self.options);
        match kept.and_then(|()| finding_recording::keep(stored, recording)) {
            Ok(trouble) => trouble.into_iter().for_each(|words| self.warn(words)),
            Err(error) => {
                recording.remove();
                self.warn_of_lost_recording(stored, &error);
            }
        }
        self.save(stored);
    }

    fn warn_of_lost_recording(&mut self, stored: &Stored, error: &anyhow::Error) {
        let name = &stored.finding.name;
        self.warn(format!(
            "{error:#}: the recording of {name} is removed, so that the finding itself has room"
        ));
    }

    /// Saves a finding, without its recording if there is no room for both. A failure is a warning:
    /// the finding is reported nevertheless.
    fn save(&mut self, stored: &mut Stored) {
        let Err(error) = self.observer.save(stored, self.options) else { return };
        if stored.finding.recorded.is_some() {
            finding_recording::remove(stored);
            self.warn_of_lost_recording(stored, &error);
            return self.save(stored);
        }
        let name = &stored.finding.name;
        if self.unwritten.insert(name.clone()) {
            self.warn(format!(
                "{error:#}: the finding {name} cannot be kept, and is only reported here; its \
                 command below can be run again with another --out"
            ));
        }
    }

    /// Adds what shows that the history has no order, and what would allow it.
    fn explain(&self, stored: &mut Stored) {
        let Some((_, model)) = &self.hello else { return };
        let history = &stored.round.history;
        let limits = Limits { deadline: self.options.time.end_of_grace(), ..Limits::default() };
        stored.finding.add_evidence(history, model, &limits);
    }

    /// Locates the operations of the finding in its recording.
    fn locate(&mut self, stored: &mut Stored) {
        if stored.finding.recorded.is_some() {
            finding_recording::locate(
                stored,
                self.options.trusted,
                &self.options.time,
                &self.options.stop,
            );
            self.save(stored);
        }
    }

    /// Reruns the finding's round in a fresh process, with the controlled engine, unless that was
    /// done. Returns what was seen, data races among it if these are looked for at all.
    fn confirm(&mut self, stored: &mut Stored) -> Vec<Sighting> {
        let pointless = stored.finding.confirmed.is_some()
            || self.options.plan.engine != Engine::Controlled
            || self.options.wanted.is_some()
            || self.options.time.is_grace_over()
            || self.options.stop.load(Ordering::Relaxed);
        if pointless {
            return Vec::new();
        }
        let mut options = self.options.clone();
        if options.plan.control.races == Races::Some {
            options.plan.control.races = Races::All;
        }
        match rerun::rerun_in(&options, stored.finding.round, self.scratch) {
            Ok(seen) => {
                let same = |s: &Sighting| s.finding.signature == stored.finding.signature;
                let is_same = seen.iter().any(same);
                // A rerun that was cut short says nothing.
                let is_whole = is_same || !self.options.time.is_grace_over();
                stored.finding.confirmed = is_whole.then_some(is_same);
                seen
            }
            Err(error) => {
                let round = stored.finding.round;
                self.warn(format!("round {round} could not be run again: {error:#}"));
                Vec::new()
            }
        }
    }

    /// Makes the jobs end if there is a reason to.
    fn end_if_over(&mut self) {
        let ending = if self.options.stop.load(Ordering::Relaxed) {
            Some(Ending::Stopped)
        } else if self.hello.is_none() {
            None
        } else if self.new >= self.options.findings_max {
            Some(Ending::Findings)
        } else if self.options.time.is_over() {
            Some(Ending::Time)
        } else {
            None
        };
        self.ending = self.ending.or(ending);
        if self.ending.is_some() {
            self.quit.store(true, Ordering::Relaxed);
        }
    }

    fn fail_if_blind(&self) -> Result<()> {
        match self.counts_all_that_is_shared() {
            true => bail!(Uncontrolled::Blind),
            false => Ok(()),
        }
    }

    /// Whether what is shared shows in the counts. A target may share memory by plain accesses
    /// alone, which are not counted, if these are scheduling points.
    fn counts_all_that_is_shared(&self) -> bool {
        self.options.plan.control.plain_points != PlainPoints::All
    }

    /// Ends the run with an error if the engine sees nothing that threads share, or almost no
    /// access of a target with prebuilt libraries: native threads may find more.
    fn fail_if_unseen(&self) -> Result<()> {
        let Some((hello, _)) = &self.hello else { return Ok(()) };
        let elapsed = self.started.elapsed();
        let is_time = self.options.leave_after.is_some_and(|after| elapsed >= after);
        if !is_time || self.ending.is_some() || !self.findings.is_empty() {
            return Ok(());
        }
        let statistics = &self.counting.statistics;
        if hello.unhooked.is_empty() {
            let is_so = self.counts_all_that_is_shared() && self.counting.shared_nothing();
            let rounds = statistics.rounds;
            return match is_so {
                true => bail!(Uncontrolled::NothingShared { rounds, elapsed }),
                false => Ok(()),
            };
        }
        if !self.counting.saw_few_pairs() {
            return Ok(());
        }
        let pairs = statistics.coverage.as_ref().map_or(0, |coverage| coverage.pairs.total);
        let (libraries, rounds) = (hello.unhooked.join(", "), statistics.rounds);
        bail!(Uncontrolled::Prebuilt { libraries, rounds, pairs, elapsed })
    }

    fn warn(&mut self, words: String) {
        self.observer.warned(&Warning::Other(words));
    }

    fn warn_of_growth(&mut self, growth: Growth) {
        if std::mem::replace(&mut self.is_growth_reported, true) {
            return;
        }
        self.observer.warned(&Warning::Growth(growth, self.options.plan.engine));
    }

    fn finish(mut self) -> Result<Summary> {
        // Even if the run was too short to be sure: it says nothing about the target.
        if self.findings.is_empty() && self.counting.saw_nothing() {
            self.fail_if_blind()?;
        }
        // Shorter sightings have replaced confirmed ones.
        for mut stored in std::mem::take(&mut self.findings) {
            // What was replayed before has a plan of its own, and is written.
            if stored.finding.plan != self.options.plan {
                self.findings.push(stored);
                continue;
            }
            self.confirm(&mut stored);
            self.save(&mut stored);
            if stored.finding.recorded.as_ref().is_some_and(|recorded| !recorded.is_located()) {
                self.locate(&mut stored);
            }
            self.findings.push(stored);
        }
        self.tick();
        self.kept.map_or(Ok(()), Kept::finish).with_context(|| not_kept(self.options))?;
        let (hello, model) = self.hello.context("stopped before the target was loaded")?;
        let ending = self.ending.unwrap_or(Ending::Rounds);
        let (mut statistics, pairs, curve) = self.counting.into_parts();
        if let Some(coverage) = &mut statistics.coverage {
            coverage.unhooked.extend(hello.unhooked.iter().cloned());
        }
        let (orders, findings) = (self.orders, self.findings);
        Ok(Summary { hello, model, statistics, pairs, orders, curve, findings, ending })
    }
}

fn not_kept(options: &Options) -> String {
    let Some(keep) = &options.keep else { return String::new() };
    let path = keep.path().display();
    if keep.is_store() {
        return format!("cannot keep the rounds in {path} (--store)");
    }
    format!("cannot write the trace of every round to {path} (--trace); its folder must exist")
}
