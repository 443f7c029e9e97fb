//! The page of a finding. A stored finding comes in, the page's text goes out.

use super::{Judgement, Subject, Unit, render};
use crate::check::{Partials, Witness, partials};
use crate::exchange::strings::Strings;
use crate::finding::{Stored, What};
use crate::report::text;

/// The page's text.
pub fn of_finding(stored: &Stored) -> String {
    let finding = &stored.finding;
    let found = found_now(stored);
    let judgement = match &finding.what {
        What::Violation { rule, explanation, operations, partials } => Judgement::Violation {
            rule,
            explanation: explanation.clone(),
            operations,
            partials: partials.as_deref().or(found.as_ref()),
        },
        What::Fault { sentence, places, message, .. } => {
            let said = message.iter().map(|message| format!("It said: {message}"));
            let more = places.iter().cloned().chain(said).collect();
            Judgement::Fault { sentence: sentence.clone(), more }
        }
    };
    let (factor, name) = stored.hello.clock.shown();
    render(&Subject {
        title: finding.name.clone(),
        about: text::subject(&finding.plan, &stored.hello.target, &finding.model),
        history: &stored.round.history,
        model: finding.model.parse().ok(),
        judgement,
        lettered: stored.shown(),
        drain: stored.round.start.threads,
        unit: Unit { factor, name },
        facts: text::facts(stored),
        strings: &Strings::default(),
        interleaving: None,
    })
}

/// How far the history can be explained, where the finding does not say it: one that was shrunk.
fn found_now(stored: &Stored) -> Option<Partials> {
    let finding = &stored.finding;
    let What::Violation { explanation, operations, partials: None, .. } = &finding.what else {
        return None;
    };
    let witness =
        Witness { rule: "", explanation: explanation.clone(), operations: operations.clone() };
    partials(&stored.round.history, &finding.model.parse().ok()?, &witness).ok()
}
