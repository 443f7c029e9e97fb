//! How a finding was shrunk: its size before and after, and how it was found.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::signature::{self, Signature};
use crate::core::measured::Measured;
use crate::core::plan::Plan;

/// The size of a finding, which shrinking reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Calls of the threads, without the drain's.
    pub calls: usize,
    pub threads: usize,
    /// Preemptions of the schedule; none if the schedule was not recorded.
    pub preemptions: Option<u64>,
}

impl Size {
    /// How much a reader has to follow: each call, thread and preemption counts one.
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
    /// How often native threads show it in rounds of its calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
    /// The signature, plan and round with which it was found.
    #[serde(flatten, with = "signature::with_text")]
    pub signature: Signature,
    pub plan: Plan,
    pub round: u64,
}
