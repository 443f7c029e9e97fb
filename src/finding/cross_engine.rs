//! Where else a finding that rr recorded was looked for: with engines whose rounds cost little. As
//! the finding stores it, what was tried and what was shown; as what was shown stores it, of which
//! recording it is. Does not know how it is looked for.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Size;
use super::signature::{self, Signature};
use crate::core::measured::Measured;
use crate::core::plan::Engine;

/// What another engine showed lies in this directory, in that of the recorded finding, so that it
/// is a part of it and not one more bug.
pub const SMALLER: &str = "smaller";

/// What other engines made of the calls of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Elsewhere {
    /// In this order, until one showed it.
    pub tried: Vec<Tried>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smaller: Option<Smaller>,
}

/// What one engine ran in vain, or until it showed the finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    pub engine: Engine,
    /// Those of shrinking, too.
    pub rounds: u64,
    pub seconds: f64,
    /// Why it could not be tried, or not to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// What was shown: the same finding, in a smaller round of another engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Smaller {
    pub engine: Engine,
    /// Of its finding, which is its directory below that of the run.
    pub name: String,
    #[serde(flatten, with = "signature::with_text")]
    pub signature: Signature,
    pub size: Size,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
}

/// The finding that rr recorded, of which another is the smaller one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedAs {
    pub name: String,
    #[serde(flatten, with = "signature::with_text")]
    pub signature: Signature,
}

/// "20,300 rounds of the controlled engine in 4.0 s".
impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (rounds, words) = (self.rounds, words(self.engine));
        let s = if rounds == 1 { "" } else { "s" };
        write!(f, "{rounds} round{s} of {words} in {:.1} s", self.seconds)?;
        match &self.trouble {
            Some(trouble) => write!(f, " ({trouble})"),
            None => Ok(()),
        }
    }
}

/// The engine, in a sentence.
pub fn words(engine: Engine) -> &'static str {
    match engine {
        Engine::Controlled => "the controlled engine",
        Engine::Native => "native threads",
        Engine::Rr => "rr",
    }
}
