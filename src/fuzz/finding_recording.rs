//! Stores a finding's recording beside it and locates the finding's operations in it.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;

use crate::core::time_limit::TimeLimit;
use crate::finding::trust::Trusted;
use crate::finding::{Failure, Recorded, SCRIPT_FILE, Stored};
use crate::process::rr;
use crate::process::rr::Rr;
use crate::process::rr::locate as pass;
use crate::process::rr::locate::Wanted;
use crate::process::rr::recording::Recording;

/// A pass takes longer than the recording did, because gdb stops at every call before those that it
/// searches.
const PASS_TIMES: u32 = 20;
const PASS_MIN: Duration = Duration::from_secs(60);

/// Moves the recording into the finding's directory. Returns in words what may keep it from being
/// replayed elsewhere.
///
/// # Errors
/// If nothing is there now.
pub(super) fn keep(stored: &mut Stored, recording: &Recording) -> Result<Option<String>> {
    remove(stored);
    let trouble = recording.keep(&stored.recording())?.map(|error| format!("{error:#}"));
    stored.note_recording();
    let (ticks, recorded) = (recording.ticks, Recorded::default());
    stored.finding.recorded = Some(Recorded { ticks, trouble: trouble.clone(), ..recorded });
    Ok(trouble)
}

/// Removes the recording, as a finding needs its room, or another recording its place.
pub(super) fn remove(stored: &mut Stored) {
    // One that cannot be removed is not named any more.
    let _ = std::fs::remove_dir_all(stored.recording());
    let _ = std::fs::remove_file(stored.directory.join(SCRIPT_FILE));
    stored.finding.recorded = None;
    stored.note_recording();
}

/// Replays the finding's recording to locate the invocations and responses of its operations. A
/// failure is stored in the finding, also that the time was over.
pub fn locate(stored: &mut Stored, _: Trusted, time: &TimeLimit, stop: &AtomicBool) {
    let recorder = &stored.finding.plan.recorder;
    let time_max = (Duration::from_millis(recorder.milliseconds) * PASS_TIMES).max(PASS_MIN);
    let time_max = time.remaining_with_grace().map_or(time_max, |left| left.min(time_max));
    let (rr, recording) = (Rr::new(recorder), stored.recording());
    let last = matches!(stored.finding.what, Failure::Fault { .. });
    let is_hang = stored.finding.signature.is_hang();
    let wanted = Wanted { round: stored.finding.round, calls: &stored.boxes(), last };
    let found = pass::locate(&rr, &recording, &wanted, time_max, stop);
    let recorded = stored.finding.recorded.get_or_insert_default();
    match found {
        Ok(found) => {
            (recorded.places, recorded.last) = (found.places, found.last);
            recorded.trouble = None;
            recorded.before_end = found.last.filter(|_| is_hang).map(|last| {
                let exits = pass::before_exits(&rr, &recording, last.event, time_max, stop);
                exits.unwrap_or(rr::script::event_before(last.event))
            });
        }
        Err(error) => recorded.trouble = Some(format!("{error:#}")),
    }
}
