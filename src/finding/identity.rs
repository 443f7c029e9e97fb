//! Decides whether two findings are the same one, of which the later may be smaller.

use super::Finding;
use super::signature::Signature::{self, Violation};

/// What a finding must have in common with the original to be the same: the signature; for
/// violations, the rule, and no operation in the witness that the original witness lacks. The
/// witness of a long history may contain operations that are not needed, and that of a short one
/// has fewer. With fewer transactions, an anomaly may look like a special case of the original one
/// (see [`is_special_case`]). A shrunk finding has the signature of its own witness.
pub struct Identity(Signature);

impl Identity {
    pub fn new(finding: &Finding) -> Identity {
        Identity(finding.signature.clone())
    }

    pub fn signature(&self) -> &Signature {
        &self.0
    }

    pub fn matches(&self, finding: &Finding) -> bool {
        let Identity(signature) = self;
        match (signature, &finding.signature) {
            (Violation { rule, operations }, Violation { rule: other, operations: others }) => {
                let names_some = others.is_empty() == operations.is_empty();
                let known = names_some && others.iter().all(|op| operations.contains(op));
                known && is_special_case(rule, other)
            }
            (one, other) => one == other,
        }
    }
}

/// Whether the other rule is the same one, or a special case of it that a smaller history may
/// break. A history may have no snapshot because a part of a commit was read, and the smallest such
/// history reads one key twice.
fn is_special_case(rule: &str, other: &str) -> bool {
    const NO_SNAPSHOT: [&str; 4] =
        ["not-a-snapshot", "stale-read", "fractured-read", "non-repeatable-read"];
    let place = |rule: &str| NO_SNAPSHOT.iter().position(|name| *name == rule);
    let is_narrower = match (place(rule), place(other)) {
        (Some(general), Some(special)) => general < special && rule != "stale-read",
        _ => false,
    };
    rule == other || is_narrower
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_history_without_snapshot_may_become_a_special_case() {
        assert!(is_special_case("lost", "lost") && !is_special_case("lost", "taken-twice"));
        assert!(is_special_case("not-a-snapshot", "stale-read"));
        assert!(is_special_case("not-a-snapshot", "non-repeatable-read"));
        assert!(is_special_case("fractured-read", "non-repeatable-read"));
        assert!(!is_special_case("non-repeatable-read", "not-a-snapshot"));
        assert!(!is_special_case("stale-read", "fractured-read"));
        assert!(!is_special_case("lost-update", "stale-read"));
    }
}
