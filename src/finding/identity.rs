//! Decides whether two findings are the same one, of which the later may be smaller.

use std::collections::BTreeSet;

use super::Finding;
use super::signature::Signature::{self, Violation};
use crate::core::history::History;
use crate::core::operation::Op;

/// What a finding must have in common with the original to be the same: the signature; for
/// violations, the rule, and no operation in the witness that the original witness lacks. The
/// witness of a long history may contain operations that are not needed, and that of a short one
/// has fewer. With fewer transactions, an anomaly may look like a special case of the original one
/// (see [`is_special_case`]). A shrunk finding has the signature of its own witness.
pub struct Identity {
    signature: Signature,
    /// Of a hang that another engine shows, the operations that do not return.
    waiting: Option<Vec<Op>>,
}

impl Identity {
    pub fn new(finding: &Finding) -> Identity {
        Identity { signature: finding.signature.clone(), waiting: None }
    }

    /// The same for a finding of another engine. What hung may be a deadlock or a livelock there,
    /// and rr records no stacks of it: the same operations do not return.
    pub fn of_any_engine(finding: &Finding, history: &History) -> Identity {
        let waiting = finding.signature.is_hang().then(|| waiting(history));
        Identity { waiting: waiting.filter(|all| !all.is_empty()), ..Identity::new(finding) }
    }

    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Whether the finding, which this history shows, is the same.
    pub fn matches(&self, finding: &Finding, history: &History) -> bool {
        let other = &finding.signature;
        if let Some(expected) = &self.waiting
            && other.is_about_waiting()
            && other.stage() == self.signature.stage()
        {
            return waiting(history) == *expected;
        }
        match (&self.signature, other) {
            (Violation { rule, operations }, Violation { rule: other, operations: others }) => {
                let names_some = others.is_empty() == operations.is_empty();
                let known = names_some && others.iter().all(|op| operations.contains(op));
                known && is_special_case(rule, other)
            }
            (one, other) => one == other,
        }
    }
}

/// The operations that did not return, each once.
fn waiting(history: &History) -> Vec<Op> {
    let open = history.ids().filter(|id| history.operation(*id).status.is_open());
    let all: BTreeSet<Op> = open.map(|id| history.operation(id).op).collect();
    all.into_iter().collect()
}

/// Whether the other rule is the same one, or a special case of it that a smaller history may
/// break. A history may have no snapshot because a part of a commit was read, and the smallest such
/// history reads one key twice. What no order of a set explains may in a smaller history be
/// impossible on one key alone.
fn is_special_case(rule: &str, other: &str) -> bool {
    const NO_SNAPSHOT: [&str; 4] =
        ["not-a-snapshot", "stale-read", "fractured-read", "non-repeatable-read"];
    let place = |rule: &str| NO_SNAPSHOT.iter().position(|name| *name == rule);
    let is_narrower = match (place(rule), place(other)) {
        (Some(general), Some(special)) => general < special && rule != "stale-read",
        _ => false,
    };
    let is_of_key = (rule, other) == ("set-answer-in-order", "set-answer");
    rule == other || is_narrower || is_of_key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_impossible_may_become_a_special_case() {
        assert!(is_special_case("lost", "lost") && !is_special_case("lost", "taken-twice"));
        assert!(is_special_case("set-answer-in-order", "set-answer"));
        assert!(!is_special_case("set-answer", "set-answer-in-order"));
        assert!(is_special_case("not-a-snapshot", "stale-read"));
        assert!(is_special_case("not-a-snapshot", "non-repeatable-read"));
        assert!(is_special_case("fractured-read", "non-repeatable-read"));
        assert!(!is_special_case("non-repeatable-read", "not-a-snapshot"));
        assert!(!is_special_case("stale-read", "fractured-read"));
        assert!(!is_special_case("lost-update", "stale-read"));
    }
}
