//! The signature of a finding, which two sightings of one bug most likely share.
//! It is compared as a value; its `Display` names findings for people and scripts.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::core::operation::Op;
use crate::process::fault::{Fault, FaultKind, Site, SiteLine};
use crate::trace::area::Stage;
use crate::trace::frame::DetectedKind;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Signature {
    Violation {
        rule: String,
        /// Sorted by name, each once.
        operations: Vec<Op>,
    },
    Fault {
        /// `Hang` also for a hang that the engine detected.
        kind: FaultKind,
        stage: Stage,
        /// Its place, without details that differ between sightings.
        site: Option<Site>,
    },
}

impl Signature {
    pub fn violation(rule: &str, operations: impl IntoIterator<Item = Op>) -> Signature {
        let mut operations: Vec<Op> = operations.into_iter().collect();
        operations.sort_by_key(|op| op.name());
        operations.dedup_by_key(|op| op.name());
        Signature::Violation { rule: rule.to_string(), operations }
    }

    pub fn fault(fault: &Fault) -> Signature {
        let kind = match fault.kind {
            FaultKind::Detected(DetectedKind::Hang) => FaultKind::Hang,
            kind => kind,
        };
        Signature::Fault { kind, stage: fault.stage, site: fault.site() }
    }

    /// The operations of a violation; none of a fault.
    pub fn operations(&self) -> &[Op] {
        match self {
            Signature::Violation { operations, .. } => operations,
            Signature::Fault { .. } => &[],
        }
    }

    /// The kind of a fault.
    pub fn fault_kind(&self) -> Option<FaultKind> {
        match self {
            Signature::Fault { kind, .. } => Some(*kind),
            Signature::Violation { .. } => None,
        }
    }

    /// The source lines of a fault, if it is known by them.
    pub fn lines(&self) -> &[SiteLine] {
        match self {
            Signature::Fault { site: Some(Site::Lines(lines)), .. } => lines,
            _ => &[],
        }
    }

    /// What the target did at a fault.
    pub fn stage(&self) -> Option<Stage> {
        match self {
            Signature::Fault { stage, .. } => Some(*stage),
            Signature::Violation { .. } => None,
        }
    }

    pub fn is_data_race(&self) -> bool {
        self.fault_kind() == Some(FaultKind::Detected(DetectedKind::DataRace))
    }

    pub fn is_hang(&self) -> bool {
        self.fault_kind() == Some(FaultKind::Hang)
    }

    /// Whether the round took too many steps.
    pub fn is_livelock(&self) -> bool {
        self.fault_kind() == Some(FaultKind::Detected(DetectedKind::Livelock))
    }

    /// Whether calls do not return.
    pub fn is_about_waiting(&self) -> bool {
        let deadlock = Some(FaultKind::Detected(DetectedKind::Deadlock));
        self.is_hang() || self.is_livelock() || self.fault_kind() == deadlock
    }

    /// A fault without its place; a violation as it is.
    pub fn without_site(&self) -> Signature {
        match self {
            Signature::Fault { kind, stage, .. } => {
                Signature::Fault { kind: *kind, stage: *stage, site: None }
            }
            violation => violation.clone(),
        }
    }
}

/// "lost of pop+push", "use after free calling the structure: Stack::pop at stack.hpp:31".
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Signature::Violation { rule, operations } => {
                let names: Vec<&str> = operations.iter().map(|op| op.name()).collect();
                write!(f, "{rule} of {}", names.join("+"))
            }
            Signature::Fault { kind, stage, site } => {
                write!(f, "{} {}", kind.name(), stage.doing())?;
                site.iter().try_for_each(|site| write!(f, ": {site}"))
            }
        }
    }
}

/// In the order of their texts.
impl Ord for Signature {
    fn cmp(&self, other: &Signature) -> Ordering {
        self.to_string().cmp(&other.to_string())
    }
}

impl PartialOrd for Signature {
    fn partial_cmp(&self, other: &Signature) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Serializes a signature as two fields: `signature` is its text for people and scripts, and
/// `identity` the value that is read again.
pub mod with_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Signature;

    #[derive(Serialize)]
    struct Written<'a> {
        signature: String,
        identity: &'a Signature,
    }

    #[derive(Deserialize)]
    struct Read {
        identity: Signature,
    }

    pub fn serialize<S: Serializer>(signature: &Signature, to: S) -> Result<S::Ok, S::Error> {
        Written { signature: signature.to_string(), identity: signature }.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Signature, D::Error> {
        Ok(Read::deserialize(from)?.identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_text_and_reads_the_value() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Stored {
            name: String,
            #[serde(flatten, with = "with_text")]
            signature: Signature,
        }
        let violation = Signature::violation("lost", [Op::Push, Op::Pop, Op::Push]);
        let site = Some(Site::Text("f at x.h:#".to_string()));
        let fault = Signature::Fault { kind: FaultKind::Signal(11), stage: Stage::Calls, site };
        for (signature, text) in
            [(violation, "lost of pop+push"), (fault, "SIGSEGV calling the structure: f at x.h:#")]
        {
            let stored = Stored { name: "a".to_string(), signature };
            let json = serde_json::to_value(&stored).expect("JSON");
            assert_eq!(json["signature"], text);
            assert_eq!(serde_json::from_value::<Stored>(json).expect("the same"), stored);
        }
    }
}
