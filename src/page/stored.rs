//! The page of a finding. A stored finding comes in, the page's text goes out.

use super::{Judgement, Subject, Unit, render};
use crate::exchange::strings::Strings;
use crate::finding::{Stored, What};
use crate::report::text;

/// The page's text.
pub fn of_finding(stored: &Stored) -> String {
    let finding = &stored.finding;
    let judgement = match &finding.what {
        What::Violation { rule, explanation, operations, partials } => Judgement::Violation {
            rule,
            explanation: explanation.clone(),
            operations,
            partials: partials.as_deref(),
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
