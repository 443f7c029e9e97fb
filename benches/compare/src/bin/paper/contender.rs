//! The programs that are compared: how each is asked about a history, and what its answer means.

use std::fmt;
use std::path::{Path, PathBuf};

use interlap::core::history::History;
use interlap::core::interner::Interner;
use interlap::exchange::jsonl;
use serde_json::Value;

use crate::Setting;
use crate::meter::{Exceeded, Metered, metered};
use crate::tlc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contender {
    Bundled,
    Specification,
    Tlc,
    /// TLC with a stack in place of its queue.
    DepthFirst,
    Porcupine,
}

impl Contender {
    pub const ALL: [Contender; 4] =
        [Contender::Bundled, Contender::Specification, Contender::Tlc, Contender::Porcupine];

    fn is_tlc(self) -> bool {
        matches!(self, Contender::Tlc | Contender::DepthFirst)
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Contender::Bundled => "interlap, `range-set`",
            Contender::Specification => "interlap, TLA+",
            Contender::Tlc => "TLC",
            Contender::DepthFirst => "TLC, depth first",
            Contender::Porcupine => "porcupine-rs",
        })
    }
}

/// What came of asking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// It said whether an order explains the history, and rightly.
    Decided {
        cpu_seconds: f64,
        mebibytes: f64,
    },
    /// It said that it cannot tell.
    NotDecided {
        cpu_seconds: f64,
        mebibytes: f64,
    },
    Exceeded(Exceeded),
    /// It did not decide an easier one.
    NotAsked,
}

/// What histories are judged by.
pub struct Judges {
    /// The bundled model.
    pub model: &'static str,
    /// The file of the specification, with the options that interlap has for it.
    pub specification: String,
    /// The module by which TLC looks for an order.
    pub order: &'static str,
}

/// The files of one history, and what judges it.
pub struct Files {
    judges: Judges,
    history: PathBuf,
    tlc: PathBuf,
    folder: PathBuf,
}

impl Files {
    /// Those of a history of a set.
    pub fn write(history: &History, setting: &Setting) -> Files {
        let range_set = setting.specification("RangeSet.tla");
        let specification = range_set.to_str().expect("paths are UTF-8").to_string();
        let judges = Judges { model: "range-set", specification, order: "Order.tla" };
        let text = jsonl::write(history, judges.model, &Interner::default());
        Files::of(judges, &text, &tlc::modules(history, &range_set), setting)
    }

    /// `modules`: what TLC needs, by the names of the files.
    pub fn of(
        judges: Judges,
        history: &str,
        modules: &[(&str, String)],
        setting: &Setting,
    ) -> Files {
        let folder = setting.scratch.join("history");
        let (file, tlc) = (folder.join("history.jsonl"), folder.join("tlc"));
        let files = Files { judges, history: file, tlc, folder };
        files.remove();
        std::fs::create_dir_all(&files.tlc).expect("a folder can be made");
        std::fs::write(&files.history, history).expect("a file can be written");
        for (name, text) in modules {
            std::fs::write(files.tlc.join(name), text).expect("a file can be written");
        }
        files
    }

    pub fn remove(&self) {
        if self.folder.exists() {
            std::fs::remove_dir_all(&self.folder).expect("a folder of this program can be removed");
        }
    }
}

/// Asks whether an order explains the history. That a contender is wrong ends all.
pub fn ask(contender: Contender, files: &Files, good: bool, setting: &Setting) -> Outcome {
    let command = command(contender, files, setting);
    let output = files.folder.join("output.txt");
    let metered = metered(&command, &files.tlc, &output, setting.limits);
    let (cpu_seconds, mebibytes) = (metered.cpu_seconds, metered.mebibytes);
    if let Some(exceeded) = metered.exceeded {
        return Outcome::Exceeded(exceeded);
    }
    if contender.is_tlc() && metered.output.contains("OutOfMemoryError") {
        return Outcome::Exceeded(Exceeded::Memory);
    }
    match verdict(contender, &metered) {
        Some(said) => {
            assert_eq!(said, good, "{contender} is wrong: {}", metered.output);
            Outcome::Decided { cpu_seconds, mebibytes }
        }
        None => Outcome::NotDecided { cpu_seconds, mebibytes },
    }
}

fn command(contender: Contender, files: &Files, setting: &Setting) -> Vec<String> {
    let text = |path: &Path| path.to_str().expect("paths are UTF-8").to_string();
    let check = |model: &str| {
        let file = text(&files.history);
        vec![
            text(&setting.interlap),
            "check".into(),
            file,
            "--json".into(),
            "--model".into(),
            model.into(),
        ]
    };
    match contender {
        Contender::Bundled => check(files.judges.model),
        Contender::Specification => check(&files.judges.specification),
        Contender::Porcupine => {
            let own = std::env::current_exe().expect("a program has a path");
            vec![text(&own), "porcupine".into(), text(&files.history)]
        }
        Contender::Tlc | Contender::DepthFirst => {
            // The heap is what the limit leaves when the virtual machine itself has its part.
            let heap = format!("-Xmx{}m", setting.limits.mebibytes - 512);
            let options = ["-Xss512m", "-XX:+UseSerialGC", "-cp"].map(String::from);
            let mut all = vec!["java".to_string(), heap];
            all.extend(options);
            let jar = text(&setting.tla2tools);
            // What is found first counts.
            all.push(match contender {
                Contender::DepthFirst => format!("{}:{jar}", text(&setting.depth_first)),
                _ => jar,
            });
            let rest = "tlc2.TLC -deadlock -nowarning -workers 1 -metadir states";
            all.extend(rest.split(' ').chain([files.judges.order]).map(String::from));
            all
        }
    }
}

/// Whether an order explains the history, as the program says it.
fn verdict(contender: Contender, metered: &Metered) -> Option<bool> {
    let said = &metered.output;
    let unknown = || panic!("{contender} does not say what it found: {said}");
    match contender {
        Contender::Tlc | Contender::DepthFirst => {
            match (said.contains(tlc::FOUND), said.contains(tlc::COMPLETED)) {
                (true, _) => Some(true),
                (false, true) => Some(false),
                _ => unknown(),
            }
        }
        Contender::Porcupine => match said.trim() {
            "consistent" => Some(true),
            "violation" => Some(false),
            _ => unknown(),
        },
        Contender::Bundled | Contender::Specification => {
            // What is told besides comes before.
            let start = said.find('[').unwrap_or(0);
            let all: Value = serde_json::from_str(&said[start..]).unwrap_or_default();
            match all[0]["verdict"].as_str() {
                Some("consistent") => Some(true),
                Some("violation") => Some(false),
                Some("inconclusive") => None,
                _ => unknown(),
            }
        }
    }
}
