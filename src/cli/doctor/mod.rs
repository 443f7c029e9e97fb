//! Examines this machine for `interlap doctor`: facts, with advice where something can be improved.
//! It reads files of the kernel, asks programs for `--version`, and records a program that does
//! nothing.
//!
//! - `processor`: Examines the processor: its model, its clock for stamps, thread-local storage for
//!   fibers, and performance counters for rr.
//! - `programs`: Finds the programs that interlap calls: compilers, debugger, recorder.
//! - `resources`: Examines memory, disks and address space randomization.

mod processor;
mod programs;
mod resources;

use std::fmt;

use serde::Serialize;

use crate::adapter::compile::Toolchain;
use crate::process::rr::Rr;

/// Whether the machine has what the topic is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Yes,
    No,
    /// Neither good nor bad.
    Note,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
    pub topic: &'static str,
    pub ok: Verdict,
    pub says: String,
    /// What to do, or the consequence.
    pub advice: Option<String>,
}

impl Fact {
    fn new(topic: &'static str, ok: Verdict, says: impl Into<String>) -> Fact {
        Fact { topic, ok, says: says.into(), advice: None }
    }

    fn advise(self, advice: impl Into<String>) -> Fact {
        Fact { advice: Some(advice.into()), ..self }
    }
}

/// `yes  topic       what was found`, and the advice below.
impl fmt::Display for Fact {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let ok = match self.ok {
            Verdict::Yes => "yes",
            Verdict::No => "no",
            Verdict::Note => "-",
        };
        write!(formatter, "{ok:<4} {:<12} {}", self.topic, self.says)?;
        match &self.advice {
            Some(advice) => write!(formatter, "\n{:18}{advice}", ""),
            None => Ok(()),
        }
    }
}

/// All facts about this machine.
pub fn examine(toolchain: &Toolchain, rr: &Rr) -> Vec<Fact> {
    let mut facts = processor::facts();
    facts.extend(programs::facts(toolchain));
    facts.push(programs::recorder(rr));
    facts.extend(resources::facts(toolchain.cache().root()));
    facts
}

/// A file of the kernel, without the newline at its end.
fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim_end().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::cache::Cache;
    use crate::adapter::sources::Sources;

    #[test]
    fn this_machine_is_described_on_every_topic() {
        let folder = tempfile::tempdir().expect("temp folder");
        let cache = Cache::at(folder.path()).expect("cache");
        let toolchain = Toolchain::new(cache, Sources::EMBEDDED).expect("toolchain");
        let facts = examine(&toolchain, &Rr::new(&crate::core::plan::Recorder::default()));
        let topics: Vec<&str> = facts.iter().map(|fact| fact.topic).collect();
        for topic in ["processor", "TSC", "FSGSBASE", "counters", "rr", "ASLR", "C++", "memory"] {
            assert!(topics.contains(&topic), "{topic} in {topics:?}");
        }
        let compiler = facts.iter().find(|fact| fact.topic == "C++").expect("a fact");
        assert_eq!(compiler.ok, Verdict::Yes, "{compiler}");
    }

    #[test]
    fn a_fact_is_a_line_and_its_advice_another() {
        let fact = Fact::new("gdb", Verdict::No, "not found").advise("apt-get install gdb");
        let expected = "no   gdb          not found\n                  apt-get install gdb";
        assert_eq!(fact.to_string(), expected);
        let json = serde_json::to_value(&fact).expect("serialise");
        assert_eq!(json["ok"], "no");
        assert_eq!(json["advice"], "apt-get install gdb");
    }
}
