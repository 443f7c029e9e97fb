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

use serde::Serialize;

use crate::adapter::compile::Toolchain;
use crate::core::columns;
use crate::process::rr::Rr;

/// Whether the machine has what the topic is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Availability {
    Yes,
    No,
    /// Neither good nor bad.
    Note,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
    pub topic: &'static str,
    pub ok: Availability,
    pub says: String,
    /// What to do, or the consequence.
    pub advice: Option<String>,
}

impl Fact {
    fn new(topic: &'static str, ok: Availability, says: impl Into<String>) -> Fact {
        Fact { topic, ok, says: says.into(), advice: None }
    }

    fn advise(self, advice: impl Into<String>) -> Fact {
        Fact { advice: Some(advice.into()), ..self }
    }
}

/// `yes  topic  what was found`, and the advice below.
pub fn table(facts: &[Fact]) -> String {
    let rows = facts.iter().flat_map(|fact| {
        let ok = match fact.ok {
            Availability::Yes => "yes",
            Availability::No => "no",
            Availability::Note => "-",
        };
        let first = [ok.to_string(), fact.topic.to_string(), fact.says.clone()];
        let advice = fact.advice.iter().map(|text| [String::new(), String::new(), text.clone()]);
        [first].into_iter().chain(advice)
    });
    columns::table(&rows.collect::<Vec<_>>(), 0..0, "")
}

/// All facts about this machine.
pub fn examine(toolchain: &Toolchain, rr: &Rr) -> Vec<Fact> {
    let recorder = programs::recorder(rr);
    let mut facts = processor::facts(recorder.ok == Availability::Yes);
    facts.extend(programs::facts(toolchain));
    facts.push(recorder);
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
        assert_eq!(compiler.ok, Availability::Yes, "{compiler:?}");
    }

    #[test]
    fn a_fact_is_a_line_and_its_advice_another() {
        let fact = Fact::new("gdb", Availability::No, "not found").advise("apt-get install gdb");
        let expected = "no  gdb  not found\n         apt-get install gdb\n";
        assert_eq!(table(std::slice::from_ref(&fact)), expected);
        let json = serde_json::to_value(&fact).expect("serialise");
        assert_eq!(json["ok"], "no");
        assert_eq!(json["advice"], "apt-get install gdb");
    }
}
