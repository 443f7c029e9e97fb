//! Asks whether what was found is meant: where a weaker promise allows it, or where calls wait for
//! values that nobody adds.

use crate::core::history::{History, OperationId};
use crate::finding::interleaving::Call;
use crate::finding::{Failure, FaultPlace, Stored};
use crate::model::{Kind, Spec, added};
use crate::process::fault::FaultKind;
use crate::report::words;
use crate::trace::frame::{Awaited, Deed, DetectedKind};
use crate::view::explanation::weaker::question;

/// What to ask about a finding, if anything.
pub fn of_finding(stored: &Stored) -> Option<String> {
    match &stored.finding.what {
        Failure::Violation { weaker, .. } => {
            question(weaker).or_else(|| of_model(&stored.finding.model))
        }
        Failure::Fault { kind, places, .. } => {
            let waits_for_lock = places.iter().any(is_waiting_for_lock);
            let model = stored.finding.model.parse().ok();
            of_waiting(*kind, model, &stored.round.history).filter(|_| !waits_for_lock)
        }
    }
}

/// What to ask where the structure is its own model.
fn of_model(model: &str) -> Option<String> {
    let is_itself = model.parse().is_ok_and(|spec: Spec| spec.kind == Kind::Itself);
    is_itself.then(|| {
        "Is this meant? Called one call at a time, the structure never gives these answers. If \
         they are right all the same, say so: with interlap::may_answer where a call may fail \
         spuriously, else in a class beside it, with INTERLAP_MODEL."
            .to_string()
    })
}

fn is_waiting_for_lock(place: &FaultPlace) -> bool {
    let Deed::Waits(wait) = place.deed else { return false };
    matches!(wait.on, Awaited::Mutex | Awaited::ReadLock | Awaited::WriteLock)
}

/// Calls that only wait for a value, of which none is left.
fn of_waiting(kind: FaultKind, model: Option<Spec>, history: &History) -> Option<String> {
    use DetectedKind::{Deadlock, Hang, Livelock};
    if !matches!(kind, FaultKind::Detected(Deadlock | Livelock | Hang) | FaultKind::Hang) {
        return None;
    }
    let operation = |id: OperationId| history.operation(id);
    let is_open = |id: &OperationId| operation(*id).status.is_open();
    let first = history.ids().find(is_open)?;
    let (op, args) = (operation(first).op, history.args(first).to_vec());
    let call = words::call(&Call { op, args });
    if let Some(model) = model.filter(|model| model.kind.is_run()) {
        let remedy = match model.kind {
            Kind::Class => "If it may wait, the class has to say so: interlap::wait().",
            _ => {
                "If it may wait all the same, say so in a class beside the structure: \
                 INTERLAP_MODEL."
            }
        };
        return Some(format!(
            "Made one at a time, in every order within their timeboxes, these calls do not end so: \
             either {call} returns, or a call that returned answers otherwise. {remedy}"
        ));
    }
    let only_removals = history.ids().filter(is_open).all(|id| operation(id).op.removes());
    let (mut inside, mut any) = (0, false);
    for id in history.ids().filter(|id| !is_open(id)) {
        let (operation, args, results) = (operation(id), history.args(id), history.results(id));
        let more = added(operation.op, operation.status, args, results).len();
        let less = if operation.op.removes() { results.len() } else { 0 };
        (inside, any) = (inside + more as i64 - less as i64, any || more > 0);
    }
    (only_removals && inside == 0).then(|| {
        format!(
            "Is this meant? All that was added has been removed, and each call that did not return \
             is a {call}, which waits for more. Let the adapter call one that answers \"empty\" \
             instead, or one that waits only so long."
        )
    })
}
