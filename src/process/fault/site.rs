//! Where a fault is, without what differs between two sightings of it: a part of its signature.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Exception, Fault, FaultKind, FaultPlace};
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
    /// An exception, its text without numbers, and the function that threw it.
    Exception { exception: Exception, function: Option<String> },
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
            Site::Exception { exception: Exception { of, text }, function } => {
                f.write_str(of)?;
                if !text.is_empty() {
                    write!(f, " \"{text}\"")?;
                }
                function.iter().try_for_each(|function| write!(f, " thrown in {function}"))
            }
        }
    }
}

/// The text with each number replaced by `#`: addresses and numbers differ between runs.
fn without_numbers(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let address = number
            .strip_prefix("0x")
            .map(|digits| digits.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
        rest = address.unwrap_or_else(|| number.trim_start_matches(|c: char| c.is_ascii_digit()));
        plain += before;
        if !plain.ends_with('#') {
            plain.push('#');
        }
    }
    plain + rest
}

impl FaultPlace {
    /// Its place in the target, as every sighting knows it: never a function of the C++ library or
    /// of interlap, which many bugs share. What called past events is not known to all.
    fn site(&self, is_past: bool) -> Option<&Source> {
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
        match self.kind {
            FaultKind::Hang => None,
            _ => self.places().or_else(|| self.end()),
        }
    }

    /// Where the target ended its process, and what was said then.
    fn end(&self) -> Option<Site> {
        let said = self.message().map(|said| without_numbers(&said));
        if let Some(exception) = &self.exception {
            let text = said.unwrap_or_default();
            let exception = Exception { text, ..exception.clone() };
            let function = self.location.as_ref().map(|location| location.function.clone());
            return Some(Site::Exception { exception, function });
        }
        match (&self.location, said) {
            (Some(location), Some(said)) if self.kind == FaultKind::Signal(libc::SIGABRT) => {
                Some(Site::Text(format!("{}: {said}", location.function)))
            }
            (Some(location), _) => Some(Site::Text(without_numbers(&location.to_string()))),
            (None, said) => said.map(Site::Text),
        }
    }

    fn places(&self) -> Option<Site> {
        let detected = self.kind.detected();
        let some_loop = self.places.iter().any(|place| place.loops);
        let mut sites: Vec<SiteLine> = Vec::new();
        for (at, place) in self.places.iter().enumerate() {
            let is_earlier = matches!(place.deed, Deed::Raced { .. }) && at > 0;
            let had = matches!(place.deed, Deed::HadFreed { .. } | Deed::HadAllocated { .. });
            let site = place.site(is_earlier || had).filter(|_| place.loops || !some_loop);
            let Some(location) = site else { continue };
            let anywhere = matches!(detected, Some(DetectedKind::Livelock | DetectedKind::Hang));
            let file = location.file.file_name().unwrap_or_default().to_string_lossy();
            let line = (!anywhere).then(|| (file.to_string(), location.line));
            sites.push(SiteLine { function: location.function.clone(), line });
        }
        if detected == Some(DetectedKind::Hang) {
            // Only the first thread hangs; the places of the others are arbitrary.
            sites.truncate(1);
        }
        // Which of these comes first is by chance.
        use DetectedKind::{DataRace, Deadlock, Livelock};
        if matches!(detected, Some(Deadlock | Livelock | DataRace)) {
            sites.sort_by_key(ToString::to_string);
        }
        sites.dedup();
        (!sites.is_empty()).then_some(Site::Lines(sites))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_messages_that_differ_in_numbers_are_one() {
        for (text, plain) in [("a 12 b", "a # b"), ("at 0x7ffab3: 3", "at #: #"), ("x", "x")] {
            assert_eq!(without_numbers(text), plain);
        }
    }
}
