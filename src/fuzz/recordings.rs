//! The recordings of one job of the rr engine, one harness each; none of other engines. What the
//! plan says of them comes in; recordings go out to findings, the others are removed. Does not know
//! what is found, only what is known of it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::core::plan::{Engine, Plan, Recorder};
use crate::finding::signature::Signature;
use crate::process::rr::recording::Recording;
use crate::process::rr::{Rr, probe};

/// Recordings that rr may give up in a row without a round. A full disk does not get emptier, but
/// what some rr trips over, a signal at a bad moment say, may not be there the next time.
const FRUITLESS_MAX: u32 = 10;
/// Under rr one thread runs at a time, and a spinning one holds up the others for seconds.
const HANG_MIN: Duration = Duration::from_secs(60);

pub(super) struct Recordings {
    recorder: Option<Recorder>,
    begun: usize,
    current: Option<Arc<Recording>>,
    /// The current recording is a finding's: its harness has been ended.
    told: bool,
    /// It is the current sighting's, which is told next.
    wanted: bool,
    /// Operations of the shortest round told so far, by signature.
    known: HashMap<Signature, usize>,
    /// Recordings in a row that rr gave up before a round was over.
    fruitless: u32,
}

impl Recordings {
    pub fn of(plan: &Plan) -> Recordings {
        let recorder = (plan.engine == Engine::Rr).then(|| plan.recorder.clone());
        let (current, told, wanted, known) = (None, false, false, HashMap::new());
        Recordings { recorder, begun: 0, current, told, wanted, known, fruitless: 0 }
    }

    /// How long a harness goes on with new rounds.
    pub fn milliseconds_max(&self) -> Option<u64> {
        self.recorder.as_ref().map(|recorder| recorder.milliseconds)
    }

    /// How long a harness may do nothing.
    pub fn hang_max(&self, asked: Duration) -> Duration {
        if self.recorder.is_some() { asked.max(HANG_MIN) } else { asked }
    }

    /// Begins the next one; gives the words that come before the harness's, none where nothing is
    /// recorded.
    pub fn begin(&mut self, scratch: &Path) -> Vec<OsString> {
        self.end();
        let Some(recorder) = &self.recorder else { return Vec::new() };
        let ticks = recorder.ticks.get(self.begun % recorder.ticks.len().max(1));
        let directory = scratch.join(format!("recording-{}", self.begun));
        let recording = Recording::new(&Rr::of(recorder), directory, ticks.copied().unwrap_or(0));
        self.begun += 1;
        let words = recording.words();
        self.current = Some(Arc::new(recording));
        words
    }

    /// The current one is over; it is removed unless a finding has it.
    pub fn end(&mut self) {
        (self.current, self.told, self.wanted) = (None, false, false);
    }

    /// Whether a sighting is to have the current recording: there is one, and no sighting of the
    /// same in a round as short was told before. The harness then has to be ended.
    pub fn wants(&mut self, signature: &Signature, operations: usize) -> bool {
        let shortest = self.known.get(signature).copied();
        self.wanted = self.current.is_some() && shortest.is_none_or(|known| operations < known);
        if self.wanted {
            self.known.insert(signature.clone(), operations);
            self.told = true;
        }
        self.wanted
    }

    /// The recording for the sighting that was last asked about.
    pub fn take(&mut self) -> Option<Arc<Recording>> {
        self.current.clone().filter(|_| std::mem::take(&mut self.wanted))
    }

    /// Whether the current recording has ended with a sighting.
    pub fn is_told(&self) -> bool {
        self.told
    }

    /// Whether rr, not the target, brought the harness to its end: the recording has no end, or rr
    /// says so in the `output`, which it shares with the target.
    pub fn is_broken(&self, output: &str) -> bool {
        let broken = |recording: &Recording| !recording.is_complete() || probe::is_fatal(output);
        self.current.as_deref().is_some_and(broken)
    }

    /// What rr says about it; an error if it did not get through a single round, `any`, several
    /// times in a row.
    pub fn trouble(&mut self, output: &str, any: bool) -> Result<String> {
        self.fruitless = if any { 0 } else { self.fruitless + 1 };
        let fatal = probe::is_fatal(output).then(|| probe::message(output)).flatten();
        let says = fatal.unwrap_or_else(|| "it was killed, or ended without a word".to_string());
        let advice = probe::advice_for(&says);
        match self.fruitless < FRUITLESS_MAX {
            true => Ok(format!("rr gave a recording up, and another was begun: {says}")),
            false => bail!("rr cannot record this target: {says}\n{advice}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::operation::Op;

    #[test]
    fn time_slices_take_turns_and_only_rr_records() {
        let mut plan = Plan::new("x", 1);
        assert!(Recordings::of(&plan).begin(Path::new("/s")).is_empty());
        plan.engine = Engine::Rr;
        plan.recorder.ticks = vec![100, 0];
        let mut recordings = Recordings::of(&plan);
        let mut line = || crate::process::rr::shell_line(&recordings.begin(Path::new("/s")));
        assert_eq!(line(), "rr record --chaos -c 100 -o /s/recording-0 --");
        assert_eq!(line(), "rr record --chaos -o /s/recording-1 --");
        assert_eq!(line(), "rr record --chaos -c 100 -o /s/recording-2 --");
    }

    #[test]
    fn only_a_shorter_sighting_of_the_same_ends_another_recording() {
        let lost = Signature::violation("lost", [Op::Pop]);
        let mut recordings = Recordings::of(&Plan { engine: Engine::Rr, ..Plan::new("x", 1) });
        recordings.begin(Path::new("/s"));
        assert!(recordings.wants(&lost, 100) && recordings.take().is_some());
        assert!(recordings.take().is_none(), "it is another sighting's");
        recordings.begin(Path::new("/s"));
        assert!(!recordings.wants(&lost, 100) && recordings.take().is_none());
        assert!(!recordings.is_told());
        assert!(recordings.wants(&lost, 99) && recordings.is_told());
        let native = &mut Recordings::of(&Plan::new("x", 1));
        assert!(!native.wants(&lost, 1) && !native.is_broken("[FATAL x] "));
    }

    #[test]
    fn rr_giving_up_is_no_fault_of_the_target() {
        let mut recordings = Recordings::of(&Plan { engine: Engine::Rr, ..Plan::new("x", 1) });
        recordings.begin(Path::new("/nonexistent"));
        assert!(recordings.is_broken(""), "there is no recording");
        let output = "target: hello\n[FATAL src/T.cc:1:f() errno: ENOSPC] Can't write\n";
        let says = recordings.trouble(output, true).expect("some rounds were done");
        assert!(says.contains("Can't write") && !says.contains("hello"), "{says}");
        assert!((1..FRUITLESS_MAX).all(|_| recordings.trouble(output, false).is_ok()));
        let error = recordings.trouble(output, false).expect_err("no round, again and again");
        assert!(error.to_string().contains("space"), "{error}");
    }
}
