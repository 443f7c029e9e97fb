//! Locates calls in a recording, by a replay that stops at the markers of their stamps.
//! The number of rr's event is not exact enough: a thread's whole time slice may be in one event.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::script::{self, Ask, LOG};
use super::{Rr, probe, replay};

/// The message of a gdb without Python for rr's commands.
const NO_COMMANDS: &str = "Undefined command: \"when\"";

/// More events than the threads of a process can take to end: 64 callers and a few others.
const EXITS_MAX: u64 = 400;
/// So many events before the first exit a replay may stop, the last first: rr stops before the
/// event after the one it is told, but not at every event.
const BEFORE_EXIT: [u64; 6] = [2, 3, 4, 6, 10, 20];
/// Events between two exits of threads that were killed together.
const BETWEEN_EXITS_MAX: usize = 2;

/// The timebox of a call to be located.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timebox {
    pub start: u64,
    /// None: the call never returned.
    pub end: Option<u64>,
}

/// A moment of a recording, in rr's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// The last completed event.
    pub event: u64,
    /// Conditional branches of the thread so far.
    pub tick: u64,
    /// The kernel's number of the thread.
    pub tid: u32,
}

/// The invocation and the response of a call in a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallMoments {
    pub begin: Option<Moment>,
    pub end: Option<Moment>,
}

/// The result of a pass: the moments of each call, and the recording's last moment if wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Located {
    pub places: Vec<CallMoments>,
    pub last: Option<Moment>,
}

/// The calls to locate in a pass.
pub struct Wanted<'a> {
    pub round: u64,
    /// Calls of the round.
    pub calls: &'a [Timebox],
    /// Also locate the recording's last moment.
    pub last: bool,
}

/// Replays the recording, for at most `time_max` and until `stop`.
pub fn locate(
    rr: &Rr,
    recording: &Path,
    wanted: &Wanted,
    time_max: Duration,
    stop: &AtomicBool,
) -> Result<Located> {
    let pass = |ask| {
        pass(
            rr,
            recording,
            &script::pass(wanted.round, wanted.calls, wanted.last, ask),
            time_max,
            stop,
        )
    };
    let (mut text, mut status) = pass(Ask::Commands)?;
    if text.contains(NO_COMMANDS) {
        (text, status) = pass(Ask::Packets)?;
    }
    let located = parse(&text, wanted.calls.len());
    if located.places.iter().all(|place| place.begin.is_none()) && located.last.is_none() {
        bail!(failure_reason(&text, status));
    }
    Ok(located)
}

/// The latest event at which a replay stops before the threads of a process that was killed ended,
/// one after the other. It is read from rr's list of the recording's last events, up to `last`, and
/// tried; none if there is none.
pub fn before_exits(
    rr: &Rr,
    recording: &Path,
    last: u64,
    time_max: Duration,
    stop: &AtomicBool,
) -> Option<u64> {
    let scratch = crate::core::files::scratch().ok()?;
    let listed = scratch.path().join("events");
    let mut command = rr.command("dump");
    command.arg(recording).arg(format!("{}-{}", last.saturating_sub(EXITS_MAX), last + 1));
    command.stdout(File::create(&listed).ok()?).stderr(std::process::Stdio::null());
    replay::run_limited(&mut command, time_max, stop).ok()?;
    let text = String::from_utf8_lossy(&std::fs::read(&listed).ok()?).into_owned();
    let exit = first_exit(&text)?;
    let stops_early = |event: &u64| {
        let replayed = replayed(rr, recording, Some(*event), &[], time_max, stop);
        let reached = replayed.ok().and_then(|(text, _)| reached(&text));
        reached.is_some_and(|reached| reached < exit)
    };
    BEFORE_EXIT.into_iter().filter_map(|back| exit.checked_sub(back)).find(stops_early)
}

/// The event at which rr says that it stopped.
fn reached(text: &str) -> Option<u64> {
    let said = text.lines().find(|line| line.contains("Reached target process"))?;
    said.trim().trim_end_matches('.').rsplit(' ').next()?.parse().ok()
}

/// The first of the exits at the end of a list of events. Others may lie between two of them.
fn first_exit(text: &str) -> Option<u64> {
    let events = text.lines().filter_map(|line| {
        let (_, rest) = line.split_once("global_time:")?;
        let (number, rest) = rest.split_once(", event:`")?;
        // Of a process that was killed, an older rr says UNSTABLE_EXIT.
        let (name, _) = rest.split_once('\'')?;
        Some((number.trim().parse::<u64>().ok()?, name == "EXIT" || name == "UNSTABLE_EXIT"))
    });
    let (mut first, mut others) = (None, 0);
    for (number, is_exit) in events.collect::<Vec<_>>().into_iter().rev() {
        others = if is_exit { 0 } else { others + 1 };
        first = if is_exit { Some(number) } else { first };
        if others > BETWEEN_EXITS_MAX {
            break;
        }
    }
    first
}

/// The output of rr and gdb for these commands.
fn pass(
    rr: &Rr,
    recording: &Path,
    commands: &str,
    time_max: Duration,
    stop: &AtomicBool,
) -> Result<(String, ExitStatus)> {
    let scratch = crate::core::files::scratch().context("cannot make a temporary directory")?;
    let script = scratch.path().join("pass.gdb");
    std::fs::write(&script, commands).context("cannot write the commands for gdb")?;
    let mut source = OsString::from("source ");
    source.push(&script);
    replayed(rr, recording, None, &["-ex".into(), source], time_max, stop)
}

/// The output of a replay from an event on, by a gdb with these arguments.
fn replayed(
    rr: &Rr,
    recording: &Path,
    event: Option<u64>,
    gdb: &[OsString],
    time_max: Duration,
    stop: &AtomicBool,
) -> Result<(String, ExitStatus)> {
    let scratch = crate::core::files::scratch().context("cannot make a temporary directory")?;
    let said = scratch.path().join("said");
    let words = rr.replay_words(event, None, recording);
    let mut command = Command::new(&words[0]);
    // rr connects gdb to the replay before the first -ex that may be a `continue`. An empty one is.
    command.args(&words[1..]).args(["--", "-nx", "-batch", "-ex", ""]).args(gdb);
    let output = File::create(&said).context("cannot make a temporary file")?;
    command.stderr(output.try_clone()?).stdout(output);
    let status = replay::run_limited(&mut command, time_max, stop)?;
    Ok((String::from_utf8_lossy(&std::fs::read(&said)?).into_owned(), status))
}

/// Reads the moments from the output of gdb and rr.
fn parse(text: &str, calls: usize) -> Located {
    let mut located = Located { places: vec![CallMoments::default(); calls], last: None };
    // Each part is the output from one moment to the next.
    for part in text.split(LOG).skip(1) {
        let (name, rest) = part.split_once('\n').unwrap_or((part, ""));
        let Some(moment) = moment(rest) else { continue };
        let mut words = name.split_whitespace();
        let (name, number) = (words.next(), words.next().and_then(|n| n.parse::<usize>().ok()));
        let place = number.and_then(|n| located.places.get_mut(n.checked_sub(1)?));
        match (name, place) {
            (Some("begin"), Some(place)) => place.begin = place.begin.or(Some(moment)),
            (Some("end"), Some(place)) => place.end = place.end.or(Some(moment)),
            (Some("last"), _) => located.last = Some(moment),
            _ => {}
        }
    }
    located
}

/// Reads rr's answer, which may have other output in between.
fn moment(text: &str) -> Option<Moment> {
    let (mut event, mut tick, mut tid) = (None, None, None);
    for line in text.lines() {
        let line = unpacked(line).unwrap_or_else(|| line.to_string());
        let after = |name: &str| line.split_once(name).map(|(_, rest)| rest.trim().to_string());
        let number = |name: &str| after(name).and_then(|rest| rest.parse::<u64>().ok());
        event = event.or(number("Completed event: "));
        tick = tick.or(number("Current tick: "));
        // "[Current thread is 2 (Thread 32052.32359)]", process and thread as recorded.
        let named = after("[Current thread is ").and_then(|rest| {
            let (_, id) = rest.split_once("Thread ")?;
            let id = id.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
            id.rsplit('.').next()?.parse::<u32>().ok()
        });
        tid = tid.or(named);
    }
    Some(Moment { event: event?, tick: tick?, tid: tid? })
}

/// The text of an answer in a packet: `received: "436f..."`.
fn unpacked(line: &str) -> Option<String> {
    let hex = line.trim().strip_prefix("received: \"")?.strip_suffix('"')?;
    let pairs = hex.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok()
}

/// The reason why a pass found nothing.
fn failure_reason(text: &str, status: ExitStatus) -> String {
    if text.contains(NO_COMMANDS) {
        return "this gdb has no Python, which this rr needs; install another gdb".to_string();
    }
    if !status.success() && text.contains("Failed to exec") {
        return "gdb cannot be started; install it (`apt-get install gdb`)".to_string();
    }
    let says = probe::message(text).unwrap_or_default();
    format!("rr replay ended with {status} {says}").trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    const PASS: &str = include_str!("../../../tests/data/rr/pass.txt");
    const PACKETS: &str = include_str!("../../../tests/data/rr/pass-packets.txt");
    const NO_PYTHON: &str = include_str!("../../../tests/data/rr/pass-no-python.txt");

    #[test]
    fn moments_are_read_from_what_gdb_and_rr_print() {
        let begin = Some(Moment { event: 2193, tick: 8870, tid: 16398 });
        let end = Some(Moment { event: 2193, tick: 8874, tid: 16398 });
        let expected = Located { places: vec![CallMoments { begin, end }], last: None };
        assert_eq!(parse(PASS, 1), expected, "by rr's commands");
        assert_eq!(parse(PACKETS, 1), expected, "by packets, of a gdb without Python");
        assert_eq!(
            parse(NO_PYTHON, 1),
            Located { places: vec![CallMoments::default()], last: None }
        );
    }

    #[test]
    fn unwanted_and_truncated_moments_are_left_out() {
        assert_eq!(parse(PASS, 0).places, []);
        let cut = PASS.split_once("Current tick: 8874").expect("there").0;
        let place = parse(cut, 1).places[0];
        assert!(place.begin.is_some() && place.end.is_none());
        let last = PASS.replace("interlap-moment end 1", "interlap-moment last 0");
        assert_eq!(parse(&last, 1).last, Some(Moment { event: 2193, tick: 8874, tid: 16398 }));
    }

    /// In the form of rr's src/TraceFrame.cc.
    #[test]
    fn the_exits_at_the_end_are_told_from_an_earlier_one() {
        let event = |number: u64, name: &str| {
            format!("{{\n  real_time:1.5 global_time:{number}, event:`{name}' tid:7, ticks:9\n}}\n")
        };
        let events = |names: &[&str]| {
            (100..).zip(names).map(|(number, name)| event(number, name)).collect::<String>()
        };
        let (futex, sched) = ("SYSCALL: futex", "SCHED");
        let text = events(&["EXIT", futex, sched, futex, "EXIT", sched, "UNSTABLE_EXIT", "EXIT"]);
        assert_eq!(first_exit(&text), Some(104));
        assert_eq!(first_exit(&events(&["EXIT", sched, futex, futex])), None);
        assert_eq!(first_exit(""), None);
    }

    #[test]
    fn the_event_that_a_replay_reached_is_read() {
        let said = "\n------\n ---> Reached target process 2724 at event 1497.\n------\n";
        assert_eq!((reached(said), reached("rr: no such event")), (Some(1497), None));
    }

    #[test]
    fn a_pass_that_failed_says_why() {
        let status = ExitStatus::from_raw(1 << 8);
        assert!(failure_reason(NO_PYTHON, status).contains("no Python"));
        let no_gdb = include_str!("../../../tests/data/rr/no-gdb.txt");
        assert!(failure_reason(no_gdb, status).contains("apt-get install gdb"));
        let cut = include_str!("../../../tests/data/rr/incomplete.txt");
        assert!(failure_reason(cut, status).contains("the trace is incomplete"));
        let none = include_str!("../../../tests/data/rr/no-counters.txt");
        assert!(failure_reason(none, status).contains("Unable to open performance counter"));
    }
}
