//! How other engines reproduced a finding that rr recorded.
//! The recorded finding names the smaller one that they showed, and the smaller one the recorded
//! one. `crate::shrink` runs the engines.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Size;
use super::signature::{self, Signature};
use crate::core::measured::Measured;
use crate::core::plan::Engine;

/// The directory of the smaller finding, inside the recorded finding's: it is a part of that
/// finding, not one more bug.
pub const SMALLER: &str = "smaller";

/// What other engines showed with the calls of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CrossEngine {
    /// In order; the last one may have shown the finding.
    pub tried: Vec<Attempt>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smaller: Option<Smaller>,
}

/// The rounds of one engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    pub engine: Engine,
    /// With those of shrinking.
    pub rounds: u64,
    pub seconds: f64,
    /// Why the engine could not run, or stopped early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// The same finding in a smaller round of another engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Smaller {
    pub engine: Engine,
    /// The name of its finding.
    pub name: String,
    #[serde(flatten, with = "signature::with_text")]
    pub signature: Signature,
    pub size: Size,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
}

/// The recorded finding that a smaller one reproduces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedAs {
    pub name: String,
    #[serde(flatten, with = "signature::with_text")]
    pub signature: Signature,
}

/// "20,300 rounds of the controlled engine in 4.0 s".
impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (rounds, engine) = (self.rounds, engine_words(self.engine));
        let s = if rounds == 1 { "" } else { "s" };
        write!(f, "{rounds} round{s} of {engine} in {:.1} s", self.seconds)?;
        match &self.trouble {
            Some(trouble) => write!(f, " ({trouble})"),
            None => Ok(()),
        }
    }
}

/// An engine, as a sentence names it.
pub fn engine_words(engine: Engine) -> &'static str {
    match engine {
        Engine::Controlled => "the controlled engine",
        Engine::Native => "native threads",
        Engine::Rr => "rr",
    }
}
