//! Describes the longest partial linearizations in words, a step a line.

use super::partials::{Effect, Partial, Partials};
use super::words::brief;
use crate::check::data::words;
use crate::core::history::{History, OperationId};

/// Partial linearizations that are described, and steps of each: the last say what went wrong.
const TOLD_MAX: usize = 3;
const STEPS_MAX: usize = 12;
/// Characters of a state.
const STATE_MAX: usize = 100;
/// Characters of a call up to which states stand below each other.
const CALL_MAX: usize = 48;

impl Partials {
    /// The longest, each with what could not follow and why; and how many others there are.
    pub fn sentences(&self, history: &History) -> String {
        let all = self.partials.len() + self.more;
        let on = self.key.as_ref().map_or(String::new(), |key| format!(" on key {key} alone"));
        let ways =
            if all == 1 { String::new() } else { format!(" ({all} ways, the longest first)") };
        let mut text = format!("How far it can have gone{on}{ways}:\n");
        for (number, partial) in self.partials.iter().take(TOLD_MAX).enumerate() {
            text += &format!("  {}. {}", number + 1, partial.describe(history));
        }
        match all.saturating_sub(TOLD_MAX) {
            0 => text,
            more => text + &format!("  {more} more, none of them longer.\n"),
        }
    }
}

impl Partial {
    fn describe(&self, history: &History) -> String {
        let short = |id: &OperationId| words::short(history, *id);
        let skipped = self.steps.len().saturating_sub(STEPS_MAX);
        let shown = &self.steps[skipped..];
        let all = shown.iter().map(|step| &step.operation).chain(&self.stuck);
        let width = all.map(|id| short(id).chars().count()).max().unwrap_or(0).min(CALL_MAX);
        let line = |id: &OperationId, what: &str, state: &str| {
            let (call, state) = (short(id), brief(state.to_string(), STATE_MAX));
            format!("       {call:width$}  {what} {state}\n")
        };
        let mut text = format!("from {}\n", brief(self.before.clone(), STATE_MAX));
        if skipped > 0 {
            let s = if skipped == 1 { "" } else { "s" };
            text += &format!("       ({skipped} step{s} not shown)\n");
        }
        for Effect { operation, state } in shown {
            text += &line(operation, "leaves", state);
        }
        text += "     and then none of these can be next:\n";
        for (at, id) in self.stuck.iter().enumerate() {
            // Findings that were stored before have no such answers.
            text += &match self.expected.get(at) {
                Some(expected) => line(id, "should be", expected),
                None => format!("       {}\n", short(id)),
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use crate::check::decide::check;
    use crate::check::partials;
    use crate::check::verdict::{Limits, Verdict};
    use crate::core::history::{Entry, History};
    use crate::core::operation::{Op, Status};
    use crate::model::Spec;

    #[test]
    fn what_cannot_be_next_is_told_with_what_it_should_have_answered() {
        let mut history = History::default();
        let calls = [
            (0, Op::Enqueue, &[7][..], Status::Ok, &[][..]),
            (0, Op::Enqueue, &[8], Status::Ok, &[]),
            (1, Op::Dequeue, &[], Status::Ok, &[8]),
        ];
        for (at, (client, op, args, status, results)) in (1..).zip(calls) {
            let entry = Entry { op, status, start: 2 * at, end: 2 * at + 1, args, results };
            history.push(client, entry).expect("well formed");
        }
        let spec: Spec = "fifo".parse().expect("a model");
        let Verdict::Violation(witness) = check(&history, &spec, &Limits::default()) else {
            panic!("8 overtook 7")
        };
        let partials = partials(&history, &spec, &witness).expect("a matter of order");
        let expected = "How far it can have gone:
  1. from []
       enqueue(7) = ok by thread 0  leaves [7]
       enqueue(8) = ok by thread 0  leaves [7, 8]
     and then none of these can be next:
       dequeue() = 8 by thread 1    should be 7
";
        assert_eq!(partials.sentences(&history), expected);
    }
}
