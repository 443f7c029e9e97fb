//! `interlap check --follow`: reads a history while it is written, and ends with the first response
//! that no order explains.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, stdin};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::source::RecordedHistory;
use crate::check::{Limits, Online, Verdict};
use crate::cli::arguments;
use crate::core::history::Unit;
use crate::exchange::Format;
use crate::exchange::jsonl::{Event, EventReader};
use crate::model::Kind;
use crate::report::output::note;

/// How often it is said how far it has come.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// How often it is looked whether the user wants to stop.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Lines that were read and not judged, at most: then whoever writes them waits.
const LINES_MAX: usize = 1 << 12;

/// What is known of the history when it ends, or violates the model, with the verdict.
pub fn read(
    source: &arguments::Source,
    limits: &Limits,
) -> Result<(RecordedHistory, Option<Verdict>)> {
    if source.format.is_some_and(|format| format != Format::Events) {
        bail!("only events can be followed: --format events");
    }
    let name = source.file.display().to_string();
    let lines = lines(&source.file)?;
    let model = source.model.named()?;
    if model.is_some_and(|model| model.kind == Kind::Own) {
        bail!("the model of a crate judges a history when it is whole: leave out --follow");
    }
    let mut reader = EventReader::new(model);
    let (mut online, mut told, mut time) = (None::<Online>, Instant::now(), 0);
    let located = |error: String| anyhow!("{name}: {error}");
    while let Some(line) = next_line(&lines, limits) {
        let Some(event) = reader.line(&line?).map_err(located)? else { continue };
        if online.is_none() {
            let model = reader.model().ok_or_else(|| located(NO_MODEL.to_string()))?;
            online = Some(Online::new(model, limits.clone()));
        }
        let online = online.as_mut().expect("set above");
        time += 1;
        let taken = match event {
            Event::Call { client, op, args } => {
                online.call(client, op, &args, time).map(|()| false)
            }
            Event::Return { client, status, results } => {
                online.answer(client, status, &results, time).map(|found| found.is_some())
            }
        };
        if taken.map_err(|error| located(reader.at(&error.to_string())))? {
            break;
        }
        if told.elapsed() > PROGRESS_EVERY {
            let (held, _) = online.held();
            note!("{name}: {} calls returned, {held} are held", online.returned());
            told = Instant::now();
        }
    }
    let online = online.ok_or_else(|| located("no event came".to_string()))?;
    let (returned, explained) = (online.returned(), online.explained());
    let model = reader.model();
    let (verdict, history) = online.finish(reader.drained());
    let notes = vec![format!(
        "{returned} calls returned, and {explained} were explained at the last look; few of those \
         are kept"
    )];
    let unit = Unit { factor: 1.0, name: "events", is_absolute: true };
    let strings = reader.into_interner();
    let recorded = RecordedHistory { name, round: None, history, model, strings, notes, unit };
    Ok((recorded, Some(verdict)))
}

const NO_MODEL: &str = "the events name no model; name one with --model";

/// The lines of a file, or of standard input (`-`), which another thread reads.
fn lines(path: &Path) -> Result<Receiver<std::io::Result<String>>> {
    let input: Box<dyn Read + Send> = match path.as_os_str() == "-" {
        true => Box::new(stdin()),
        false => {
            let file = File::open(path);
            Box::new(file.with_context(|| format!("cannot read {}", path.display()))?)
        }
    };
    let (to, lines) = sync_channel(LINES_MAX);
    std::thread::spawn(move || {
        // An error is that nobody wants more.
        let _ = BufReader::new(input).lines().try_for_each(|line| to.send(line));
    });
    Ok(lines)
}

/// The next line; none at the end, or when the user or a deadline ends it.
fn next_line(
    lines: &Receiver<std::io::Result<String>>,
    limits: &Limits,
) -> Option<std::io::Result<String>> {
    loop {
        let is_over = limits.deadline.is_some_and(|end| Instant::now() > end);
        let stops = limits.cancelled.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed));
        if is_over || stops {
            return None;
        }
        match lines.recv_timeout(LOOK_EVERY) {
            Ok(line) => return Some(line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}
