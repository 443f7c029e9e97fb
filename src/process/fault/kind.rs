//! How a process ended: the kinds of faults and their names.

use serde::{Deserialize, Serialize};

use crate::trace::area::{Ended, SIGNALS, signal_name};
use crate::trace::frame::DetectedKind;

/// How the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// A signal: its number.
    Signal(i32),
    /// An exception that nobody caught.
    Exception,
    /// The target ended the process with this status.
    Exit(i32),
    /// No call returned and no round ended within the time limit.
    Hang,
    /// Memory ran out.
    OutOfMemory,
    /// SIGKILL ended the process, and nothing of its own is known to have sent it.
    Killed,
    /// The target did to the harness what its own code must not.
    Harmed(Ended),
    /// The controlled engine detected it and ended the round.
    Detected(DetectedKind),
}

/// A hang that the supervisor noticed, because the process made no progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hang {
    pub seconds: u64,
    /// How many of its threads ran then, and how many waited.
    pub running: u32,
    pub waiting: u32,
}

impl FaultKind {
    pub fn from_status(signal: Option<i32>, code: Option<i32>) -> FaultKind {
        match (signal, code) {
            (Some(signal), _) => FaultKind::Signal(signal),
            (None, code) => FaultKind::Exit(code.unwrap_or(0)),
        }
    }

    /// The kind of a fault that the controlled engine detected.
    pub fn detected(&self) -> Option<DetectedKind> {
        match self {
            FaultKind::Detected(kind) => Some(*kind),
            _ => None,
        }
    }

    /// Short stable name, part of a finding's signature.
    pub fn name(&self) -> String {
        match self {
            FaultKind::Signal(signal) => signal_name(*signal).to_string(),
            FaultKind::Exception => "exception".to_string(),
            FaultKind::Exit(code) => format!("exit({code})"),
            FaultKind::Hang => "hang".to_string(),
            FaultKind::OutOfMemory => "out of memory".to_string(),
            FaultKind::Killed => "killed".to_string(),
            FaultKind::Harmed(Ended::Damaged) => "damaged memory".to_string(),
            FaultKind::Harmed(Ended::Closed) => "closed descriptors".to_string(),
            FaultKind::Harmed(Ended::ThreadExit) => "thread exit".to_string(),
            FaultKind::Harmed(Ended::Restricted) => "restricted process".to_string(),
            FaultKind::Detected(kind) => kind.name().to_string(),
        }
    }
}

/// Every name that a fault can have; `exit(1)` stands for each exit status.
pub fn names() -> Vec<String> {
    use DetectedKind::*;
    let detected =
        [Deadlock, Livelock, Hang, UseAfterFree, DoubleFree, BadFree, OutOfBounds, DataRace];
    let kinds = SIGNALS.iter().map(|(signal, _)| FaultKind::Signal(*signal));
    let kinds = kinds.chain(detected.map(FaultKind::Detected));
    kinds
        .chain([
            FaultKind::Exception,
            FaultKind::Exit(1),
            FaultKind::OutOfMemory,
            FaultKind::Killed,
        ])
        .chain(Ended::ALL.map(FaultKind::Harmed))
        .map(|kind| kind.name())
        .collect()
}
