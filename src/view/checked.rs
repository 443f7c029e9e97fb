//! A history with its verdict, shown as text and as a page.

use crate::check::{self, Limits, NotShown, Partials, Verdict, Witness};
use crate::core::annotations::Annotation;
use crate::core::columns;
use crate::core::history::{History, NEVER, OperationId, Unit};
use crate::core::interner::Interner;
use crate::model::Spec;
use crate::view::explanation::{self, partials, undecided, weaker};
use crate::view::page::{self, Conclusion};
use crate::view::timeline::{self, SHOWN_MAX, SHOWN_WHOLE, witness_note};
use crate::view::versions;

/// Annotations that are printed.
const ANNOTATIONS_MAX: usize = 12;

/// A history with what is needed to show it.
#[derive(Clone, Copy)]
pub struct Named<'a> {
    /// The file, or whatever else it is of.
    pub name: &'a str,
    pub history: &'a History,
    /// The texts that its integers stand for.
    pub strings: &'a Interner,
    pub unit: Unit,
}

/// A history with its verdict, and what shows that it is right.
pub struct Checked<'a> {
    pub of: Named<'a>,
    pub model: Spec,
    pub verdict: Verdict,
    /// Of a violation, or why there are none.
    pub partials: Result<Partials, NotShown>,
    /// Of a violation: the models that promise less, and allow the history.
    pub weaker: Vec<Spec>,
    limits: Limits,
}

impl<'a> Checked<'a> {
    /// Finds what shows that the verdict is right. That ends where `limits` do.
    pub fn new(of: Named<'a>, model: Spec, verdict: Verdict, limits: &Limits) -> Checked<'a> {
        let (partials, weaker) = match &verdict {
            Verdict::Violation(witness) => (
                check::partials(of.history, &model, &witness.operations, limits),
                check::weaker(of.history, &model, limits),
            ),
            _ => (Err(NotShown::NoFailure), Vec::new()),
        };
        Checked { of, model, verdict, partials, weaker, limits: limits.clone() }
    }

    /// Which of several histories a page shows: a violation rather than one that is not decided.
    pub fn rank(&self) -> u8 {
        match self.verdict {
            Verdict::Violation(_) => 2,
            Verdict::Inconclusive(_) => 1,
            Verdict::Consistent => 0,
        }
    }

    /// The model as people read it.
    fn model_name(&self) -> String {
        match &self.of.history.own {
            Some(own) if self.model.is_linearizable() => own.name.to_string(),
            Some(own) => format!("{} with {:?} consistency", own.name, self.model.consistency),
            None => self.model.to_string(),
        }
    }

    /// Why no order explains it, in sentences with its own values.
    pub fn sentences(&self, witness: &Witness) -> String {
        explanation::sentences(&witness.explanation, self.of.history, self.of.strings)
    }

    /// The verdict in a line; of a violation also why, a picture, and how far it can have gone.
    pub fn text(&self) -> String {
        let Named { name, history, strings, .. } = self.of;
        let witness = match &self.verdict {
            Verdict::Consistent => {
                let count = history.len();
                return format!(
                    "{name}: consistent with {} ({count} operations)\n",
                    self.model_name()
                );
            }
            Verdict::Inconclusive(why) => {
                return format!("{name}: not decided: {}\n", undecided::reason(why));
            }
            Verdict::Violation(witness) => witness,
        };
        let mut text = format!("{name}: violates {} ({})\n", self.model_name(), witness.rule);
        text += &format!("{}\n", self.sentences(witness));
        if let Some(question) = weaker::question(&self.weaker) {
            text += &format!("{question}\n");
        }
        text += &format!("\n{}\n", self.picture(witness));
        let versions = versions::table(history, &witness.operations, strings);
        if !versions.is_empty() {
            text += &format!("Versions:\n{versions}\n");
        }
        let annotations = self.annotations().into_iter().map(|(time, text)| [text, time]);
        let annotations = columns::table(&annotations.collect::<Vec<_>>(), 0..0, "  ");
        if !annotations.is_empty() {
            text += &format!("Notes:\n{annotations}\n");
        }
        if let Ok(partials) = &self.partials {
            text += &format!("{}\n", partials::text(partials, history, strings));
        }
        text
    }

    /// The timeline of the witness, or of a short history as a whole.
    fn picture(&self, witness: &Witness) -> String {
        let (history, operations) = (self.of.history, &witness.operations);
        let missing = witness.explanation.missing(history);
        let drawn = |ids: &[OperationId]| {
            timeline::draw(history, ids, missing.as_ref(), self.of.unit, self.of.strings)
        };
        if history.len() > SHOWN_WHOLE {
            return drawn(operations);
        }
        let all = in_order(history, history.ids().collect());
        match witness_note(&all, operations) {
            Some(about) => format!("{}\n  {about}\n", drawn(&all)),
            None => drawn(&all),
        }
    }

    /// What was said besides the operations, the last of it: times and texts.
    fn annotations(&self) -> Vec<(String, String)> {
        let all =
            self.of.history.annotations.as_ref().map_or(&[][..], |annotations| &annotations.all);
        let line = |annotation: &Annotation| {
            let end = match annotation.end {
                NEVER => ", …".to_string(),
                end if end == annotation.start => String::new(),
                end => format!(", {end}"),
            };
            (format!("[{}{end}]", annotation.start), annotation.text.clone())
        };
        let shown = &all[all.len().saturating_sub(ANNOTATIONS_MAX)..];
        shown.iter().map(line).collect()
    }

    /// The page, as HTML that needs no network.
    pub fn page(&self) -> String {
        let Named { name, history, strings, unit } = self.of;
        let (count, mut lettered) = (history.len(), Vec::<OperationId>::new());
        let conclusion = match &self.verdict {
            Verdict::Consistent => Conclusion::Consistent,
            Verdict::Inconclusive(reason) => Conclusion::Inconclusive(undecided::reason(reason)),
            Verdict::Violation(witness) => {
                // As in the timeline in text.
                lettered = in_order(history, witness.operations.clone());
                lettered = lettered.split_off(lettered.len().saturating_sub(SHOWN_MAX));
                Conclusion::Violation {
                    rule: witness.rule,
                    explanation: self.sentences(witness),
                    operations: &witness.operations,
                    partials: self.partials.as_ref().map_err(Clone::clone),
                }
            }
        };
        page::render(&page::Subject {
            title: name.to_string(),
            about: format!("{count} operations, checked against model {}", self.model_name()),
            history,
            model: Some(self.model),
            conclusion,
            lettered,
            unit,
            facts: self
                .annotations()
                .into_iter()
                .map(|(time, text)| (format!("Note {time}"), text))
                .collect(),
            strings,
            interleaving: None,
            limits: self.limits.clone(),
        })
    }
}

/// The operations by their starts, each once.
fn in_order(history: &History, mut ids: Vec<OperationId>) -> Vec<OperationId> {
    ids.sort_by_key(|id| (history.operation(*id).start, *id));
    ids.dedup();
    ids
}
