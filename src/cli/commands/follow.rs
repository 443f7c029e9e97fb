//! `interlap check --follow`: reads a history while it is written, and ends with the first response
//! that no order explains.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write, stdin};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use tempfile::NamedTempFile;

use super::source::{self, RecordedHistory};
use crate::check::{self, Limits, Online, Verdict};
use crate::cli::arguments;
use crate::core::history::Unit;
use crate::core::operation::Op;
use crate::exchange::Format;
use crate::exchange::jsonl::{Event, EventReader};
use crate::model::{Kind, Spec};
use crate::report::output::note;

/// How often it is said how far it has come.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// How often it is looked whether the user wants to stop.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// To judge all that came takes one part in so many of the time.
const SHARE: u32 = 6;

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
    let mut reader = EventReader::new(source.model.named()?);
    let (mut online, mut told, mut time) = (None::<Online>, Instant::now(), 0);
    // What came before it was known whether the operations can be judged one by one.
    let mut begun = Some(String::new());
    let located = |error: String| anyhow!("{name}: {error}");
    loop {
        let whole = reader.model().filter(is_judged_whole);
        if let (Some(model), Some(begun)) = (whole, &begun) {
            return read_whole(source, (begun, model.is_linearizable()), &lines, limits);
        }
        let Some(line) = next_line(&lines, limits) else { break };
        let line = line?;
        let event = reader.line(&line).map_err(located)?;
        if let Some(begun) = &mut begun {
            *begun += &format!("{line}\n");
        }
        let Some(event) = event else { continue };
        if let Event::Call { op, .. } = &event {
            match begun.take_if(|_| *op != Op::StoreBegin) {
                Some(begun) if op.is_of_lists() => {
                    return read_whole(source, (&begun, false), &lines, limits);
                }
                _ => {}
            }
        }
        if online.is_none() {
            let model = reader.model().ok_or_else(|| located(NO_MODEL.to_string()))?;
            online = Some(Online::new(model, limits.clone()));
        }
        let online = online.as_mut().expect("set above");
        time += 1;
        if take(online, event, time).map_err(|error| located(reader.at(&error)))? {
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
    let (verdict, history) = online.finish(reader.drained() && !is_stopped(limits));
    let notes = vec![format!(
        "{returned} calls returned, and {explained} were explained at the last look; few of those \
         are kept"
    )];
    let unit = Unit { factor: 1.0, name: "events", is_absolute: true };
    let strings = reader.into_interner();
    let recorded =
        RecordedHistory { name, round: None, history, model, strings, notes, unit, stored: None };
    Ok((recorded, Some(verdict)))
}

/// Whether a history is judged as a whole: its strings, or operations that only a program knows,
/// are told by all of it.
fn is_judged_whole(model: &Spec) -> bool {
    matches!(model.kind, Kind::Own | Kind::Kv)
}

/// Takes an event. Whether no order explains what came so far.
fn take(online: &mut Online, event: Event, time: u64) -> Result<bool, String> {
    let taken = match event {
        Event::Call { client, op, args } => online.call(client, op, &args, time).map(|()| false),
        Event::Return { client, status, results } => {
            online.answer(client, status, &results, time).map(|found| found.is_some())
        }
    };
    taken.map_err(|error| error.to_string())
}

const NO_MODEL: &str = "the events name no model; name one with --model";

/// The lines of a file, or of standard input (`-`), which another thread reads.
fn lines(path: &Path) -> Result<Lines> {
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

type Lines = Receiver<std::io::Result<String>>;

/// What came next.
enum Next {
    Line(std::io::Result<String>),
    /// Nothing for a while.
    Nothing,
    /// The end, or the user or a deadline ends it.
    End,
}

/// Whether the user or a deadline ends it: what was to come is not known then.
fn is_stopped(limits: &Limits) -> bool {
    let is_over = limits.deadline.is_some_and(|end| Instant::now() > end);
    is_over || limits.cancelled.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
}

fn next(lines: &Lines, limits: &Limits) -> Next {
    if is_stopped(limits) {
        return Next::End;
    }
    match lines.recv_timeout(LOOK_EVERY) {
        Ok(line) => Next::Line(line),
        Err(RecvTimeoutError::Timeout) => Next::Nothing,
        Err(RecvTimeoutError::Disconnected) => Next::End,
    }
}

/// The next line; none at the end.
fn next_line(lines: &Lines, limits: &Limits) -> Option<std::io::Result<String>> {
    loop {
        match next(lines, limits) {
            Next::Line(line) => return Some(line),
            Next::Nothing => {}
            Next::End => return None,
        }
    }
}

/// As [`read`], where all that came is judged again and again; where not `looks`, only in the end:
/// where what comes later may explain what came before.
fn read_whole(
    source: &arguments::Source,
    (begun, looks): (&str, bool),
    lines: &Lines,
    limits: &Limits,
) -> Result<(RecordedHistory, Option<Verdict>)> {
    let mut copy = NamedTempFile::new().context("cannot make a temporary file")?;
    copy.write_all(begun.as_bytes())?;
    let (mut is_new, mut looked, mut pause) = (false, Instant::now(), LOOK_EVERY);
    loop {
        match next(lines, limits) {
            Next::Line(line) => {
                writeln!(copy, "{}", line?)?;
                is_new = true;
            }
            Next::Nothing => {}
            Next::End => return judged(copy.path(), source, (limits, !is_stopped(limits))),
        }
        if is_new && looks && looked.elapsed() > pause {
            let started = Instant::now();
            let (recorded, verdict) = judged(copy.path(), source, (limits, false))?;
            if matches!(verdict, Some(Verdict::Violation(_))) {
                return Ok((recorded, verdict));
            }
            (is_new, looked) = (false, Instant::now());
            pause = LOOK_EVERY.max(started.elapsed() * (SHARE - 1));
        }
    }
}

fn judged(
    copy: &Path,
    source: &arguments::Source,
    (limits, is_over): (&Limits, bool),
) -> Result<(RecordedHistory, Option<Verdict>)> {
    let (mut histories, _) = source::read_copy(copy, source)?;
    let mut recorded = histories.pop().context("no event came")?;
    recorded.history.drained &= is_over;
    let model = recorded.known_model()?;
    recorded.notes.push(format!("all {} calls were judged together", recorded.history.len()));
    let verdict = check::check(&recorded.history, &model, limits);
    Ok((recorded, Some(verdict)))
}
