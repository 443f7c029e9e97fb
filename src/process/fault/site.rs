//! Where a fault is, without what differs between two sightings of it: a part of its signature.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Fault, FaultKind, FaultPlace};
use crate::binary::symbols::Source;
use crate::trace::frame::{Deed, DetectedKind};

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

impl FaultPlace {
    /// Its place in the target, as every sighting knows it: never a function of the C++ library or
    /// of interlap, which many bugs share.
    fn site(&self) -> Option<&Source> {
        let is_past = matches!(self.deed, Deed::HadFreed { .. } | Deed::HadAllocated { .. });
        let own = self.location.as_ref().filter(|location| location.is_own);
        own.or(self.caller.as_ref().filter(|_| !is_past))
    }
}

impl Fault {
    /// Where the fault is, without what differs between two sightings of it: the source lines, or
    /// the functions of threads that were stopped at arbitrary places: if some are in a loop, those
    /// alone. None of a hang of native threads: which of them wait behind those at fault, and
    /// in which functions, is by chance.
    pub fn site(&self) -> Option<Site> {
        let detected = self.kind.detected();
        if self.kind == FaultKind::Hang {
            return None;
        }
        let some_loop = self.places.iter().any(|place| place.loops);
        let mut sites: Vec<SiteLine> = Vec::new();
        for place in self.places.iter().filter(|place| place.loops || !some_loop) {
            let Some(location) = place.site() else { continue };
            let anywhere = matches!(detected, Some(DetectedKind::Livelock | DetectedKind::Hang));
            let file = location.file.file_name().unwrap_or_default().to_string_lossy();
            let line = (!anywhere).then(|| (file.to_string(), location.line));
            sites.push(SiteLine { function: location.function.clone(), line });
        }
        if detected == Some(DetectedKind::Hang) {
            // Only the first thread hangs; the places of the others are arbitrary.
            sites.truncate(1);
        }
        if matches!(detected, Some(DetectedKind::Deadlock | DetectedKind::Livelock)) {
            sites.sort_by_key(ToString::to_string);
        }
        sites.dedup();
        (!sites.is_empty()).then_some(Site::Lines(sites))
    }
}
