//! What a report says of a recording by rr: where it lies, when in it each operation of the report
//! begins, the lines that stop a debugger there, and what other engines made of it. A stored
//! finding comes in, lines of the ruled block go out.

use crate::core::plan::{Engine, quoted};
use crate::finding::cross_engine::{Elsewhere, RecordedAs, words};
use crate::finding::{Recorded, SCRIPT_FILE, Stored};
use crate::process::rr::locate::Moment;
use crate::process::rr::replay;
use crate::process::rr::replay::StopAt;
use crate::process::rr::{Rr, script, shell_line};

/// Where it lies, and what lies where in it.
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
        lines.push(format!("{letter}  begins {}", told(place.begin)));
    }
    if let Some(last) = recorded.last {
        lines.push(format!("   ends   {}", told(Some(last))));
    }
    lines
}

/// How to stop a debugger, at the operation with that letter: with interlap, in gdb with the
/// finding's commands, and exactly at its stamp with one line and no file.
pub fn breaking(stored: &Stored, letter: Option<char>) -> Vec<String> {
    let directory = quoted(&stored.directory.display().to_string());
    let Some(letter) = letter else { return vec![format!("interlap replay {directory} --gdb")] };
    let at = usize::from(letter as u8 - b'A');
    let places = stored.finding.recorded.as_ref().map(|recorded| &recorded.places[..]);
    let begin = places.and_then(|places| places.get(at)?.begin);
    let event = begin.map(|moment| script::event_before(moment.event));
    let (rr, recording) = (Rr::new(&stored.finding.plan.recorder), stored.recording());
    let commands = stored.directory.join(SCRIPT_FILE);
    let with_commands = shell_line(&rr.replay_words(event, Some(&commands), &recording));
    let stop = StopAt { call: &stored.boxes()[at], reverse: false };
    let mut exactly = rr.replay_words(None, None, &recording);
    exactly.push("--".into());
    exactly.extend(replay::stop_arguments(&stop).expect("it has a beginning"));
    vec![
        format!("interlap replay {directory} --op {letter}"),
        format!("{with_commands}  # then: interlap-op {letter}"),
        shell_line(&exactly),
    ]
}

/// What other engines made of its calls.
pub fn elsewhere(stored: &Stored, elsewhere: &Elsewhere) -> Vec<String> {
    let directory = quoted(&stored.smaller().display().to_string());
    let Some(smaller) = &elsewhere.smaller else {
        let each = elsewhere.tried.iter().enumerate();
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
        format!("shown by {}, {often}", words(smaller.engine)),
    ];
    if smaller.signature != stored.finding.signature {
        lines.push(format!("as {}", smaller.signature));
    }
    lines
}

/// The recorded finding, of which another is the smaller one.
pub fn recorded_as(stored: &Stored, recorded: &RecordedAs) -> String {
    let above = stored.directory.parent().map(|above| quoted(&above.display().to_string()));
    let RecordedAs { name, signature } = recorded;
    format!("{}  # {name} ({signature}), as it was found", above.unwrap_or_default())
}

fn told(moment: Option<Moment>) -> String {
    match moment {
        Some(Moment { event, tick, tid }) => format!("event {event}, tick {tick}, thread {tid}"),
        None => "at a moment that was not found".to_string(),
    }
}
