//! The lines of a report about a recording by rr: where it lies, when each operation begins in it,
//! how to stop a debugger there, and what other engines showed.

use crate::core::plan::{Engine, quoted};
use crate::finding::cross_engine::{CrossEngine, RecordedAs, engine_words};
use crate::finding::{Failure, Recorded, SCRIPT_FILE, Stored};
use crate::process::rr::locate::Moment;
use crate::process::rr::replay;
use crate::process::rr::replay::StopAt;
use crate::process::rr::{Rr, script, shell_line};

/// Its directory, and the moments of the operations in it.
pub fn lines(stored: &Stored, recorded: &Recorded) -> Vec<String> {
    let directory = quoted(&stored.directory.display().to_string());
    let recording = quoted(&stored.recording().display().to_string());
    let ticks = match recorded.ticks {
        0 => "time slices of rr's own length".to_string(),
        ticks => format!("time slices of at most {ticks} ticks"),
    };
    let mut lines = vec![format!("{recording}  # {ticks}")];
    if let Some(trouble) = &recorded.trouble {
        lines.push(format!("The operations could not be found in it: {trouble}."));
        lines.push(format!("`interlap replay {directory}` looks for them again."));
    }
    for (letter, place) in ('A'..='Z').zip(&recorded.places) {
        lines.push(format!("{letter}  begins {}", moment_words(place.begin)));
    }
    if let Some(last) = recorded.last {
        lines.push(format!("   ends   {}", moment_words(Some(last))));
    }
    lines
}

/// Commands that stop a debugger at the fault, and at the operation with this letter: with
/// interlap, in gdb with the finding's commands, and exactly at its stamp with one line and no
/// file.
pub fn debugger_commands(stored: &Stored, letter: Option<char>) -> Vec<String> {
    let directory = quoted(&stored.directory.display().to_string());
    let is_fault = matches!(stored.finding.what, Failure::Fault { .. });
    let mut lines = Vec::new();
    if is_fault || letter.is_none() {
        lines.push(format!("interlap replay {directory} --gdb  # at the fault"));
    }
    let Some(letter) = letter else { return lines };
    let at = usize::from(letter as u8 - b'A');
    let places = stored.finding.recorded.as_ref().map(|recorded| &recorded.places[..]);
    let begin = places.and_then(|places| places.get(at)?.begin);
    let event = begin.map(|moment| script::event_before(moment.event));
    let (rr, recording) = (Rr::new(&stored.finding.plan.recorder), stored.recording());
    let commands = stored.directory.join(SCRIPT_FILE);
    let with_commands = shell_line(&rr.replay_words(event, Some(&commands), &recording));
    let stop = StopAt { call: &stored.boxes()[at], reverse: false };
    let mut exactly = rr.replay_words(event, None, &recording);
    exactly.push("--".into());
    exactly.extend(replay::stop_arguments(&stop).expect("it has a beginning"));
    lines.extend([
        format!("interlap replay {directory} --op {letter}"),
        format!("{with_commands}  # then: interlap-op {letter}"),
        shell_line(&exactly),
    ]);
    lines
}

/// What other engines showed with its calls.
pub fn cross_engine(stored: &Stored, engines: &CrossEngine) -> Vec<String> {
    let directory = quoted(&stored.smaller().display().to_string());
    let Some(smaller) = &engines.smaller else {
        let each = engines.tried.iter().enumerate();
        let tried =
            each.map(|(at, tried)| format!("{}in {tried}", if at == 0 { "not " } else { "nor " }));
        return tried.collect();
    };
    let often = match (smaller.engine, &smaller.measured) {
        (Engine::Native, Some(measured)) => measured.to_string(),
        _ => "the same each time".to_string(),
    };
    let mut lines = vec![
        format!("{directory}  # {}", smaller.size),
        format!("shown by {}, {often}", engine_words(smaller.engine)),
    ];
    if smaller.signature != stored.finding.signature {
        lines.push(format!("as {}", smaller.signature));
    }
    lines
}

/// The recorded finding that this smaller one reproduces.
pub fn recorded_as(stored: &Stored, recorded: &RecordedAs) -> String {
    let above = stored.directory.parent().map(|above| quoted(&above.display().to_string()));
    let RecordedAs { name, signature } = recorded;
    format!("{}  # {name} ({signature}), as it was found", above.unwrap_or_default())
}

fn moment_words(moment: Option<Moment>) -> String {
    match moment {
        Some(Moment { event, tick, tid }) => format!("event {event}, tick {tick}, thread {tid}"),
        None => "at a moment that was not found".to_string(),
    }
}
