//! A finding: a violation or a fault, with everything that is needed to see it again. It is kept in
//! a directory of its own, named by its signature, so that the same bug found twice is one finding.
//! Does not know how it was found nor how it is shown.
//!
//! - `action`: What threads do, as types: calls, answers, and the actions of an interleaving with
//!   their memory and values.
//! - `cross_engine`: Where else a finding that rr recorded was looked for: with engines whose
//!   rounds cost little.
//! - `interleaving`: What the threads of a round did, step by step, as a table: part of a finding.
//! - `known/`: Known issues: a file that a person writes says which findings are known, by
//!   patterns.
//! - `signature`: The signature of a finding: equal for two sightings of one bug, as far as one can
//!   tell.
//! - `source_text`: The text of source lines that a finding names, as far as the files are there.
//! - `spots`: Where in the sources a finding happened.

pub mod action;
pub mod cross_engine;
pub mod interleaving;
pub mod known;
pub mod signature;
pub mod source_text;
pub mod spots;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::check::{Partials, Witness};
use crate::core::history::{History, NEVER, OperationId};
use crate::core::measured::Measured;
use crate::core::operation::{Op, Status};
use crate::core::plan::{Engine, Plan};
use crate::core::random::mix;
use crate::process::fault::{Fault, FaultKind, Hang};
use crate::process::rr::locate::{CallMoments, Moment, Timebox};
use crate::trace::area::Stage;
use crate::trace::frame::{Deed, Hello, Who};
use crate::trace::rounds::{self, Round};
use cross_engine::{Elsewhere, RecordedAs, SMALLER};
use interleaving::{Call, Interleaving, Memory, Place as Line};
use signature::Signature;
use spots::Happened;

/// Raised whenever what is stored changes.
const FINDING_VERSION: u32 = 2;
/// Says that a directory is a finding.
pub const JSON_FILE: &str = "finding.json";
const TRACE_FILE: &str = "trace.mpk";
const OUTPUT_FILE: &str = "output.txt";
const RECORDING: &str = "recording";
/// Commands for gdb.
pub const SCRIPT_FILE: &str = "debug.gdb";
/// The trace as it was found, of a finding that was shrunk.
pub const ORIGINAL_FILE: &str = "original.mpk";
/// Most operations that a report shows: there are as many letters.
pub const SHOWN_MAX: usize = 26;
/// Of a round with no more operations than this all are shown: each may have a part in it.
pub const SHOWN_WHOLE: usize = 12;
/// Operations of each thread shown of a round that ended in a fault: its last.
const LAST_OPERATIONS: usize = 3;
/// What its threads did.
const INTERLEAVING_FILE: &str = "interleaving.json";
/// The report in words, as it was printed.
pub const REPORT_FILE: &str = "report.txt";
/// The same as a page for a browser.
pub const PAGE_FILE: &str = "page.html";

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// No order of the operations explains the answers.
    Violation {
        rule: String,
        explanation: String,
        operations: Vec<OperationId>,
        /// How far the history can be explained; none where that is no matter of order.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partials: Option<Box<Partials>>,
    },
    /// The target ended its process, or hangs.
    Fault {
        kind: FaultKind,
        stage: Stage,
        /// The thread at fault, if it is known to be one thread's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<u32>,
        /// The number of the thread that drains.
        drain: u32,
        /// Of a crash, memory that could not be accessed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<u64>,
        /// Of a crash, where it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<Box<Line>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hang: Option<Hang>,
        /// Steps of the controlled engine until then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steps: Option<u64>,
        /// What happened where, the fault itself first; only of faults that the engine detected.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        places: Vec<FaultPlace>,
        /// What the target printed about it.
        message: Option<String>,
    },
}

/// Something that happened on the way to a fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultPlace {
    pub who: Who,
    pub deed: Deed,
    /// The call it was in, where it is certain which that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// The name of the memory that it is about, where that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Its source line, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Line>,
}

impl What {
    /// `lines`: the fault's sources, with their text.
    pub fn fault(fault: &Fault, lines: Vec<Option<Line>>) -> What {
        let mut lines = lines.into_iter();
        let line = lines.next().flatten().map(Box::new);
        let places = fault.places.iter().map(|place| FaultPlace {
            who: place.who,
            deed: place.deed,
            call: None,
            memory: None,
            line: lines.next().flatten(),
        });
        What::Fault {
            kind: fault.kind,
            stage: fault.stage,
            thread: fault.thread,
            drain: fault.threads,
            address: fault.address,
            line,
            hang: fault.hang,
            steps: fault.steps.as_ref().map(|steps| steps.steps),
            places: places.collect(),
            message: fault.message(),
        }
    }

    /// The source lines of a fault as far as they are known, its own first.
    pub fn lines(&self) -> Vec<(Happened<'_>, &Line)> {
        let What::Fault { kind, line, places, .. } = self else { return Vec::new() };
        let crash = line.iter().map(|line| (Happened::Crashed, &**line));
        let at = |place| Happened::Place(place, *kind);
        let places = places.iter().filter_map(|place| Some((at(place), place.line.as_ref()?)));
        crash.chain(places).collect()
    }
}

/// A known issue that a finding was taken for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownAs {
    pub name: String,
    /// Where it is told of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
}

/// "lost value (https://example.org/1)".
impl fmt::Display for KnownAs {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let issue = self.issue.as_ref().map_or(String::new(), |issue| format!(" ({issue})"));
        write!(f, "{}{issue}", self.name)
    }
}

/// Its recording by rr.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Most ticks of a time slice; 0: rr's own limit.
    pub ticks: u64,
    /// Where in it the operations that the report shows lie, in its order.
    pub places: Vec<CallMoments>,
    /// Its last moment, which is that of a fault.
    pub last: Option<Moment>,
    /// Why that is not known.
    pub trouble: Option<String>,
}

impl Recorded {
    /// Whether the recording was looked through.
    pub fn is_located(&self) -> bool {
        !self.places.is_empty() || self.last.is_some()
    }
}

/// What is stored as `finding.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub version: u32,
    /// Name of its directory: target and hash of the signature.
    pub name: String,
    /// Equal for two sightings of one bug, as far as one can tell.
    #[serde(flatten, with = "signature::with_text")]
    pub signature: Signature,
    pub what: What,
    pub model: String,
    /// All that determines the run, and the round of it.
    pub plan: Plan,
    pub round: u64,
    /// How much was done before it was seen first, and how often it was seen in that run.
    pub after_rounds: u64,
    pub after_seconds: f64,
    pub sightings: u64,
    /// Whether its round, run alone in a fresh process, showed it again; none where it was not
    /// tried, as with native threads (see [`Shrunk::measured`]).
    #[serde(default)]
    pub confirmed: Option<bool>,
    /// The known issue that it shows, where a file of them was given and has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<KnownAs>,
    /// Of the rr engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// Of the rr engine: what other engines made of its calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Elsewhere>,
    /// The finding that rr recorded, of which this is the smaller one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_as: Option<RecordedAs>,
    /// What it was, where it was shrunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<Box<Shrunk>>,
}

/// What is made smaller in shrinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Calls of the threads, without the drain's.
    pub calls: usize,
    pub threads: usize,
    /// How often the schedule takes the turn from a thread that could go on; none where it was not
    /// recorded.
    pub preemptions: Option<u64>,
}

impl Size {
    /// How much there is to follow: each call, thread and preemption is one thing more.
    pub fn weight(&self) -> u64 {
        let things = (self.calls + self.threads) as u64;
        self.preemptions.map_or(u64::MAX, |preemptions| things + preemptions)
    }
}

/// "4 calls of 2 threads, 1 preemption".
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let plural = |n: u64| if n == 1 { "" } else { "s" };
        let (calls, threads) = (self.calls, self.threads);
        let (s, ts) = (plural(calls as u64), plural(threads as u64));
        write!(f, "{calls} call{s} of {threads} thread{ts}")?;
        match self.preemptions {
            Some(n) => write!(f, ", {n} preemption{}", plural(n)),
            None => Ok(()),
        }
    }
}

/// How a finding was shrunk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shrunk {
    pub before: Size,
    pub size: Size,
    /// How often rounds of its calls show it, of native threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
    /// The signature, plan and round of the finding as it was found.
    #[serde(flatten, with = "signature::with_text")]
    pub signature: Signature,
    pub plan: Plan,
    pub round: u64,
}

impl Finding {
    pub fn violation(witness: &Witness, history: &History, plan: &Plan, model: &str) -> Finding {
        let operations = witness.operations.iter().map(|id| history.operation(*id).op);
        let signature = Signature::violation(witness.rule, operations);
        let what = What::Violation {
            rule: witness.rule.to_string(),
            explanation: witness.explanation.clone(),
            operations: witness.operations.clone(),
            partials: None,
        };
        Finding::new(what, signature, plan, model)
    }

    /// Adds how far the history can be explained, to be found out by `partials` if it is of use.
    pub fn explain(&mut self, partials: impl FnOnce(&Witness) -> Option<Partials>) {
        if let What::Violation { explanation, operations, partials: known, .. } = &mut self.what {
            let (explanation, operations) = (explanation.clone(), operations.clone());
            let witness = Witness { rule: "", explanation, operations };
            *known = partials(&witness).map(Box::new);
        }
    }

    /// `lines`: the fault's sources, with their text.
    pub fn fault(fault: &Fault, lines: Vec<Option<Line>>, plan: &Plan, model: &str) -> Finding {
        Finding::new(What::fault(fault, lines), Signature::fault(fault), plan, model)
    }

    /// The signature it was found with: that of two sightings of one bug, shrunk or not.
    pub fn first_signature(&self) -> &Signature {
        self.shrunk.as_ref().map_or(&self.signature, |shrunk| &shrunk.signature)
    }

    fn new(what: What, signature: Signature, plan: &Plan, model: &str) -> Finding {
        let name = format!("{}-{:04x}", plan.target_name(), hash(&signature.to_string()) & 0xffff);
        Finding {
            version: FINDING_VERSION,
            name,
            signature,
            what,
            model: model.to_string(),
            plan: plan.clone(),
            round: 0,
            after_rounds: 0,
            after_seconds: 0.0,
            sightings: 1,
            confirmed: None,
            known: None,
            recorded: None,
            elsewhere: None,
            recorded_as: None,
            shrunk: None,
        }
    }
}

fn last_operations(history: &History) -> Vec<OperationId> {
    let each = history.threads.iter().enumerate().flat_map(|(thread, t)| {
        let len = t.operations().len();
        (len.saturating_sub(LAST_OPERATIONS)..len)
            .map(move |index| OperationId { thread: thread as u32, index: index as u32 })
    });
    each.collect()
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)))
}

/// What files of every version have.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// A finding with what was recorded of it.
pub struct Stored {
    pub finding: Finding,
    pub hello: Box<Hello>,
    pub round: Round,
    /// The last of what the target printed.
    pub output: String,
    pub directory: PathBuf,
    /// What its threads did, where that was looked into.
    pub interleaving: Option<Interleaving>,
}

impl Stored {
    /// Where its recording lies, if it has one.
    pub fn recording(&self) -> PathBuf {
        self.directory.join(RECORDING)
    }

    /// Where that lies which another engine showed of it, if one did.
    pub fn smaller(&self) -> PathBuf {
        self.directory.join(SMALLER)
    }

    /// The operations that its report shows, in the order in which they are numbered, from 1, or
    /// lettered: those that cannot be explained, or the last ones of a round that ended in a fault;
    /// all of a small round, or the calls before where there was but one at a time; but of a
    /// recording those that cannot be explained, for its places are those of the first.
    pub fn shown(&self) -> Vec<OperationId> {
        let history = &self.round.history;
        match self.finding.plan.engine {
            Engine::Rr => self.told(),
            _ if history.len() <= SHOWN_WHOLE => {
                let says = |id: &OperationId| !self.says_nothing(*id);
                self.in_order(history.ids().filter(says).collect())
            }
            _ if self.is_violated_alone() => self.until_told(),
            _ => self.with_what_came_before(),
        }
    }

    /// Whether it is the drain's answer that nothing is under a key of which no thread made use.
    pub fn says_nothing(&self, id: OperationId) -> bool {
        let (history, operation) = (&self.round.history, self.round.history.operation(id));
        let is_read = matches!(operation.op, Op::MapGet | Op::SetContains | Op::KvGet);
        let is_empty = match operation.op {
            Op::KvGet => operation.status == Status::Ok && history.results(id).is_empty(),
            _ => operation.status == Status::Failed,
        };
        let of_drain = |id: OperationId| {
            history.threads[id.thread as usize].client >= self.round.start.threads
        };
        let key = history.args(id).first();
        let is_used = || history.ids().any(|of| !of_drain(of) && history.args(of).first() == key);
        let is_idle = is_read && is_empty && of_drain(id);
        is_idle && !self.told().contains(&id) && !is_used()
    }

    /// What it is about; of one operation alone, which looks like any other, with those that made
    /// its answer wrong, if they are few.
    fn with_what_came_before(&self) -> Vec<OperationId> {
        let told = self.told();
        let What::Violation { partials: Some(partials), .. } = &self.finding.what else {
            return told;
        };
        let longest = partials.partials.first().filter(|_| told.len() == 1);
        let steps = longest.iter().flat_map(|longest| longest.steps.iter());
        let all: Vec<_> = steps.map(|step| step.operation).chain(told.iter().copied()).collect();
        if all.len() <= SHOWN_WHOLE { self.in_order(all) } else { told }
    }

    /// Whether it is a violation of one call at a time.
    fn is_violated_alone(&self) -> bool {
        self.round.start.sequential && matches!(self.finding.what, What::Violation { .. })
    }

    /// What it is about, with those of the calls before that did something: one of them made the
    /// answer wrong.
    fn until_told(&self) -> Vec<OperationId> {
        let (history, told) = (&self.round.history, self.told());
        let start = |id: &OperationId| history.operation(*id).start;
        let last = told.iter().map(start).max().unwrap_or(0);
        let until = history.ids().filter(|id| start(id) <= last);
        let until = until.filter(|id| history.is_done(*id) || told.contains(id)).collect();
        let until = self.in_order(until);
        let shown = until.len().min(SHOWN_WHOLE.max(told.len()));
        until[until.len() - shown..].to_vec()
    }

    /// The operations that it is about: of those that are shown, without the others of a small
    /// round.
    pub fn told(&self) -> Vec<OperationId> {
        self.in_order(match &self.finding.what {
            What::Violation { operations, .. } => operations.clone(),
            What::Fault { .. } => last_operations(&self.round.history),
        })
    }

    fn in_order(&self, mut operations: Vec<OperationId>) -> Vec<OperationId> {
        operations.sort_by_key(|id| (self.round.history.operation(*id).start, *id));
        operations.dedup();
        operations.split_off(operations.len().saturating_sub(SHOWN_MAX))
    }

    /// The boxes of the operations that its report shows.
    pub fn boxes(&self) -> Vec<Timebox> {
        let history = &self.round.history;
        let boxed = |id: OperationId| {
            let operation = history.operation(id);
            let end = (operation.end != NEVER).then_some(operation.end);
            Timebox { start: operation.start, end }
        };
        self.shown().into_iter().map(boxed).collect()
    }

    /// Keeps the trace of a finding as it was found, before it is saved over by a shrunk one.
    pub fn keep_original(&self) -> Result<()> {
        if self.finding.shrunk.is_some() {
            return Ok(());
        }
        let path = self.directory.join(ORIGINAL_FILE);
        rounds::write(&path, &self.hello, &self.round)
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Writes the finding's directory, over an earlier sighting of the same one.
    pub fn save(&self) -> Result<()> {
        let dir = &self.directory;
        fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let write = |name: &str, bytes: &[u8]| {
            let path = dir.join(name);
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
        };
        rounds::write(&dir.join(TRACE_FILE), &self.hello, &self.round)
            .with_context(|| format!("cannot write the trace in {}", dir.display()))?;
        write(OUTPUT_FILE, self.output.as_bytes())?;
        match &self.interleaving {
            Some(table) => write(INTERLEAVING_FILE, &serde_json::to_vec(table)?)?,
            // That of an earlier sighting is another's.
            None => drop(fs::remove_file(dir.join(INTERLEAVING_FILE))),
        }
        if self.finding.elsewhere.as_ref().is_none_or(|elsewhere| elsewhere.smaller.is_none()) {
            drop(fs::remove_dir_all(self.smaller()));
        }
        write(JSON_FILE, &serde_json::to_vec_pretty(&self.finding)?)
    }

    /// Reads a finding's directory.
    pub fn load(directory: &Path) -> Result<Stored> {
        let path = directory.join(JSON_FILE);
        let bytes = fs::read(&path).with_context(|| {
            let path = path.display();
            format!("cannot read {path}; name a directory that `interlap fuzz` wrote")
        })?;
        let damaged = || format!("{} is damaged", path.display());
        let Version { version } = serde_json::from_slice(&bytes).with_context(damaged)?;
        if version != FINDING_VERSION {
            let path = path.display();
            bail!("{path} is of version {version}; this program reads version {FINDING_VERSION}");
        }
        let finding: Finding = serde_json::from_slice(&bytes).with_context(damaged)?;
        let path = directory.join(TRACE_FILE);
        let trace = rounds::read(&path).with_context(|| format!("in {}", path.display()))?;
        let cut = trace.truncated.unwrap_or_else(|| "it holds no round".to_string());
        let round = trace.rounds.into_iter().next();
        let round = round.with_context(|| format!("{}: {cut}", path.display()))?;
        let output = fs::read_to_string(directory.join(OUTPUT_FILE)).unwrap_or_default();
        let interleaving = fs::read(directory.join(INTERLEAVING_FILE)).ok();
        let interleaving = interleaving.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let directory = directory.to_path_buf();
        Ok(Stored { finding, hello: trace.hello, round, output, directory, interleaving })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sightings_of_one_crash_have_one_signature() {
        let fault = |output: &str| {
            let fault = Fault::new(FaultKind::Signal(libc::SIGABRT), output.to_string(), 3);
            Finding::fault(&fault, Vec::new(), &Plan::new("dir/queue.cpp", 1), "fifo")
        };
        let (one, two) =
            (fault("q: q.h:11: f: Assertion `a'"), fault("q: q.h:8: f: Assertion `a'"));
        assert_eq!(one.name, two.name);
        assert!(one.name.starts_with("queue-"));
        assert_ne!(one.name, fault("q: q.h:8: f: Assertion `b'").name);
    }
}
