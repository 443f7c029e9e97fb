//! Where a fault is, without what differs between two sightings of it: a part of its signature.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Fault, FaultKind};
use crate::trace::frame::DetectedKind;

/// Where a fault is, without what differs between two sightings of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Site {
    /// The source lines, each once.
    Lines(Vec<SiteLine>),
    /// The line of a crash, or else what was printed, without numbers.
    Text(String),
}

/// A source line, or a function as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SiteLine {
    pub function: String,
    /// The file's name and the line; none for threads that were stopped at an arbitrary place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<(String, u32)>,
}

/// "Stack::pop at stack.hpp:31".
impl fmt::Display for SiteLine {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.line {
            Some((file, line)) => write!(f, "{} at {file}:{line}", self.function),
            None => f.write_str(&self.function),
        }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Site::Lines(lines) => {
                let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
                f.write_str(&lines.join(", "))
            }
            Site::Text(text) => f.write_str(text),
        }
    }
}

impl Fault {
    /// Where the fault is, without what differs between two sightings of it: the source lines, or
    /// the functions of threads that were stopped at arbitrary places. None of a hang of native
    /// threads: which of them wait behind those at fault, and in which functions, is by chance.
    pub fn site(&self) -> Option<Site> {
        if self.kind == FaultKind::Hang {
            return None;
        }
        let mut sites: Vec<SiteLine> = Vec::new();
        for location in self.places.iter().filter_map(|place| place.location.as_ref()) {
            let anywhere = matches!(
                self.kind,
                FaultKind::Detected(DetectedKind::Livelock | DetectedKind::Hang)
            );
            let file = location.file.file_name().unwrap_or_default().to_string_lossy();
            let line = (!anywhere).then(|| (file.to_string(), location.line));
            sites.push(SiteLine { function: location.function.clone(), line });
        }
        if self.kind == FaultKind::Detected(DetectedKind::Hang) {
            // Only the first thread hangs; the places of the others are arbitrary.
            sites.truncate(1);
        }
        if matches!(self.kind, FaultKind::Detected(DetectedKind::Deadlock | DetectedKind::Livelock))
        {
            sites.sort_by_key(ToString::to_string);
        }
        sites.dedup();
        (!sites.is_empty()).then_some(Site::Lines(sites))
    }
}
