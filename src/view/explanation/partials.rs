//! Describes the longest partial linearizations in words, a step a line, and as JSON.

use serde_json::{Value, json};

use super::operations::Operations;
use crate::check::{Effect, Partial, Partials};
use crate::core::history::{History, OperationId};
use crate::core::interner::Interner;
use crate::core::words::brief;

/// Partial linearizations that are described, and steps of each: the last say what went wrong.
const DESCRIBED_MAX: usize = 3;
const STEPS_MAX: usize = 12;
/// Characters of a state or an answer.
const STATE_MAX: usize = 100;
/// Characters of a call up to which states stand below each other.
const CALL_MAX: usize = 48;

/// The longest, each with what could not follow and why; and how many others there are.
pub fn text(partials: &Partials, history: &History, strings: &Interner) -> String {
    let operations = Operations { history, strings };
    let all = partials.more.saturating_add(partials.partials.len());
    let on = partials.key.map(|key| format!(" on key {} alone", operations.value(key)));
    let ways = if all == 1 { String::new() } else { format!(" ({all} ways, the longest first)") };
    let mut text = format!("How far it can have gone{}{ways}:\n", on.unwrap_or_default());
    for (number, partial) in partials.partials.iter().take(DESCRIBED_MAX).enumerate() {
        text += &format!("  {}. {}", number + 1, operations.partial(partial));
    }
    match all.saturating_sub(DESCRIBED_MAX) {
        0 => text,
        more => text + &format!("  {more} more, none of them longer.\n"),
    }
}

/// All of them for other programs, with key, states and answers as people read them.
pub fn json(partials: &Partials, history: &History, strings: &Interner) -> Value {
    let operations = Operations { history, strings };
    let effect = |step: &Effect| {
        let state = strings.render(&step.state);
        json!({ "operation": step.operation, "state": state })
    };
    let partial = |partial: &Partial| {
        let steps: Vec<Value> = partial.steps.iter().map(effect).collect();
        json!({
            "before": strings.render(&partial.before),
            "done_before": partial.done_before,
            "steps": steps,
            "stuck": partial.stuck,
            "expected": operations.expected_of_stuck(partial),
        })
    };
    let all: Vec<Value> = partials.partials.iter().map(partial).collect();
    let mut json = json!({
        "failed": partials.failed,
        "last": partials.last,
        "near": partials.near,
        "partials": all,
        "more": partials.more,
    });
    if let Some(key) = partials.key {
        json["key"] = strings.shown(key).into();
    }
    json
}

impl Operations<'_> {
    fn partial(&self, partial: &Partial) -> String {
        let skipped = partial.steps.len().saturating_sub(STEPS_MAX);
        let shown = &partial.steps[skipped..];
        let all = shown.iter().map(|step| &step.operation).chain(&partial.stuck);
        let width = all.map(|id| self.short(*id).chars().count()).max().unwrap_or(0).min(CALL_MAX);
        let line = |id: OperationId, what: &str, state: String| {
            format!("       {:width$}  {what} {}\n", self.short(id), brief(state, STATE_MAX))
        };
        let state = |state: &str| self.strings.render(state);
        let mut text = format!("from {}\n", brief(state(&partial.before), STATE_MAX));
        if skipped > 0 {
            let s = if skipped == 1 { "" } else { "s" };
            text += &format!("       ({skipped} step{s} not shown)\n");
        }
        for step in shown {
            text += &line(step.operation, "leaves", state(&step.state));
        }
        text += "     and then none of these can be next:\n";
        for (id, expected) in partial.stuck.iter().zip(self.expected_of_stuck(partial)) {
            text += &line(*id, "should be", expected);
        }
        text
    }

    fn expected_of_stuck(&self, partial: &Partial) -> Vec<String> {
        let each = partial.stuck.iter().zip(&partial.expected);
        each.map(|(id, expected)| self.expected(*id, expected)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Limits, Verdict, check, partials};
    use crate::core::history::Entry;
    use crate::core::operation::{Op, Status};
    use crate::model::Spec;

    #[test]
    fn what_cannot_be_next_has_what_it_should_have_answered() {
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
        let partials = partials(&history, &spec, &witness.operations, &Limits::default())
            .expect("a matter of order");
        let expected = "How far it can have gone:
  1. from []
       enqueue(7) = ok by thread 0  leaves [7]
       enqueue(8) = ok by thread 0  leaves [7, 8]
     and then none of these can be next:
       dequeue() = 8 by thread 1    should be 7
";
        assert_eq!(text(&partials, &history, &Interner::default()), expected);
    }
}
