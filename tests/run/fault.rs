//! Asserts what a finding knows about a fault: its kind, its places, who did what there.

use interlap::finding::interleaving::Place;
use interlap::finding::{Failure, FaultPlace, Stored};
use interlap::process::fault::FaultKind;
use interlap::trace::frame::DetectedKind;

/// The fault of a finding, for assertions.
pub struct FoundFault {
    kind: FaultKind,
    /// The source line of a crash.
    pub line: String,
    places: Vec<FaultPlace>,
    message: String,
}

impl FoundFault {
    #[track_caller]
    pub fn of(stored: &Stored) -> FoundFault {
        let Failure::Fault { kind, line, places, message, .. } = stored.finding.what.clone() else {
            panic!("no fault: {}", stored.finding.signature)
        };
        let line = line.map(|line| source(&line)).unwrap_or_default();
        FoundFault { kind, line, places, message: message.unwrap_or_default() }
    }

    /// Asserts that the engine detected this kind.
    #[track_caller]
    pub fn is(self, kind: DetectedKind) -> FoundFault {
        assert_eq!(self.kind, FaultKind::Detected(kind));
        self
    }

    /// Asserts that this signal ended the process, after a message with these words.
    #[track_caller]
    pub fn crashed(self, signal: i32, said: &str) -> FoundFault {
        self.ended(FaultKind::Signal(signal), said)
    }

    /// Asserts that the process ended like this, after a message with these words.
    #[track_caller]
    pub fn ended(self, kind: FaultKind, said: &str) -> FoundFault {
        assert_eq!(self.kind, kind);
        assert!(self.message.contains(said), "no {said:?} in {:?}", self.message);
        self
    }

    /// Asserts that such a thing happened at a source line whose name begins like this.
    #[track_caller]
    pub fn has(self, line: &str, is_such: impl Fn(&FaultPlace) -> bool) -> FoundFault {
        let is_there = |place: &FaultPlace| {
            place.line.as_ref().is_some_and(|at| source(at).starts_with(line)) && is_such(place)
        };
        assert!(self.places.iter().any(is_there), "no {line} in {:#?}", self.places);
        self
    }
}

/// "Stack::pop at stack.hpp:31".
fn source(place: &Place) -> String {
    let file = place.file.file_name().unwrap_or_default().display();
    format!("{} at {file}:{}", place.function, place.line)
}
