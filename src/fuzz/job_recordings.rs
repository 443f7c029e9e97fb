//! Manages the recordings of one job of the rr engine, one for each harness process.
//! Findings take the recordings that they need; the others are removed. Other engines have none.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};

use crate::core::plan::{Engine, Plan, Recorder};
use crate::finding::signature::Signature;
use crate::process::rr::recording::Recording;
use crate::process::rr::{Rr, probe};

/// Recordings that rr may abandon in a row without a round. Some failures are accidental, such as a
/// signal at a bad moment; others, such as a full disk, stay.
const FRUITLESS_MAX: u32 = 10;

pub(super) struct JobRecordings {
    recorder: Option<Recorder>,
    begun: usize,
    current: Option<Arc<Recording>>,
    /// The current recording belongs to a finding, and its harness has ended.
    claimed: bool,
    /// The current sighting gets the recording at the next [`JobRecordings::take`].
    wanted: bool,
    /// Operations of the shortest round with a recording so far, by signature.
    known: HashMap<Signature, usize>,
    /// Recordings in a row that rr abandoned before a round was over.
    fruitless: u32,
}

impl JobRecordings {
    pub fn for_plan(plan: &Plan) -> JobRecordings {
        let recorder = (plan.engine == Engine::Rr).then(|| plan.recorder.clone());
        let (current, claimed, wanted, known) = (None, false, false, HashMap::new());
        JobRecordings { recorder, begun: 0, current, claimed, wanted, known, fruitless: 0 }
    }

    /// Time after which a harness starts no new round.
    pub fn milliseconds_max(&self) -> Option<u64> {
        self.recorder.as_ref().map(|recorder| recorder.milliseconds)
    }

    /// Starts the next recording. Returns the words of the command line before those of the
    /// harness; none if nothing is recorded.
    pub fn begin(&mut self, scratch: &Path) -> Vec<OsString> {
        self.end();
        let Some(recorder) = &self.recorder else { return Vec::new() };
        let ticks = recorder.ticks.get(self.begun % recorder.ticks.len().max(1));
        let directory = scratch.join(format!("recording-{}", self.begun));
        let recording = Recording::new(&Rr::new(recorder), directory, ticks.copied().unwrap_or(0));
        self.begun += 1;
        let words = recording.words();
        self.current = Some(Arc::new(recording));
        words
    }

    /// Ends the current recording, which is removed unless a finding has taken it.
    pub fn end(&mut self) {
        (self.current, self.claimed, self.wanted) = (None, false, false);
    }

    /// Whether a sighting should get the current recording: there is one, and no sighting of the
    /// same signature in a round as short had one before. If so, the caller must end the harness.
    pub fn wants(&mut self, signature: &Signature, operations: usize) -> bool {
        let shortest = self.known.get(signature).copied();
        self.wanted = self.current.is_some() && shortest.is_none_or(|known| operations < known);
        if self.wanted {
            self.known.insert(signature.clone(), operations);
            self.claimed = true;
        }
        self.wanted
    }

    /// The recording for the sighting of the last [`JobRecordings::wants`].
    pub fn take(&mut self) -> Option<Arc<Recording>> {
        self.current.clone().filter(|_| std::mem::take(&mut self.wanted))
    }

    /// Whether the current recording has ended with a sighting.
    pub fn is_claimed(&self) -> bool {
        self.claimed
    }

    /// Whether rr, not the target, ended the harness: the recording is incomplete, or rr says so in
    /// the `output`, which it shares with the target.
    pub fn is_broken(&self, output: &str) -> bool {
        let broken = |recording: &Recording| !recording.is_complete() || probe::is_fatal(output);
        self.current.as_deref().is_some_and(broken)
    }

    /// A warning with rr's message. An error if rr has failed several times in a row without a
    /// round; `any`: the last recording had one.
    pub fn failure(&mut self, output: &str, any: bool) -> Result<String> {
        self.fruitless = if any { 0 } else { self.fruitless + 1 };
        let fatal = probe::is_fatal(output).then(|| probe::message(output)).flatten();
        let says = fatal.unwrap_or_else(|| "it was killed, or ended without a message".to_string());
        let advice = probe::advice_for(&says);
        match self.fruitless < FRUITLESS_MAX {
            true => Ok(format!("rr abandoned a recording, and another was started: {says}")),
            false => bail!("rr cannot record this target: {says}\n{advice}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::operation::Op;

    #[test]
    fn recordings_use_the_time_slices_in_turn_and_other_engines_have_none() {
        let mut plan = Plan::new("x", 1);
        assert!(JobRecordings::for_plan(&plan).begin(Path::new("/s")).is_empty());
        plan.engine = Engine::Rr;
        plan.recorder.ticks = vec![100, 0];
        let mut recordings = JobRecordings::for_plan(&plan);
        let mut line = || crate::process::rr::shell_line(&recordings.begin(Path::new("/s")));
        assert_eq!(line(), "rr record --chaos -c 100 -o /s/recording-0 --");
        assert_eq!(line(), "rr record --chaos -o /s/recording-1 --");
        assert_eq!(line(), "rr record --chaos -c 100 -o /s/recording-2 --");
    }

    #[test]
    fn only_a_shorter_sighting_of_a_signature_gets_another_recording() {
        let lost = Signature::violation("lost", [Op::Pop]);
        let mut recordings =
            JobRecordings::for_plan(&Plan { engine: Engine::Rr, ..Plan::new("x", 1) });
        recordings.begin(Path::new("/s"));
        assert!(recordings.wants(&lost, 100) && recordings.take().is_some());
        assert!(recordings.take().is_none(), "it is another sighting's");
        recordings.begin(Path::new("/s"));
        assert!(!recordings.wants(&lost, 100) && recordings.take().is_none());
        assert!(!recordings.is_claimed());
        assert!(recordings.wants(&lost, 99) && recordings.is_claimed());
        let native = &mut JobRecordings::for_plan(&Plan::new("x", 1));
        assert!(!native.wants(&lost, 1) && !native.is_broken("[FATAL x] "));
    }

    #[test]
    fn a_failure_of_rr_is_not_a_fault_of_the_target() {
        let mut recordings =
            JobRecordings::for_plan(&Plan { engine: Engine::Rr, ..Plan::new("x", 1) });
        recordings.begin(Path::new("/nonexistent"));
        assert!(recordings.is_broken(""), "there is no recording");
        let output = "target: hello\n[FATAL src/T.cc:1:f() errno: ENOSPC] Can't write\n";
        let says = recordings.failure(output, true).expect("some rounds were done");
        assert!(says.contains("Can't write") && !says.contains("hello"), "{says}");
        assert!((1..FRUITLESS_MAX).all(|_| recordings.failure(output, false).is_ok()));
        let error = recordings.failure(output, false).expect_err("no round, again and again");
        assert!(error.to_string().contains("space"), "{error}");
    }
}
