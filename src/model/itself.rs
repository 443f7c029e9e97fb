//! The models self and class: what the structure itself, or a class beside it, answers when its
//! calls are made one at a time.
//! The state is a beginning of an order that was run (`core::sequential_runs`), so no two orders
//! lead to equal states. (The sequential specification of Lincheck, Koval et al., CAV 2023, is the
//! same object called by one thread.)

use super::{Call, Expect, Expected, Model};
use crate::core::history::History;
use crate::core::operation::Status;
use crate::core::sequential_runs::{Beginning, SequentialCall, SequentialRuns};
use crate::core::words::{self, number};

/// A structure as its own model, of the runs that a history brings along.
pub struct Itself<'a> {
    history: &'a History,
    runs: &'a SequentialRuns,
}

impl<'a> Itself<'a> {
    pub fn new(history: &'a History) -> Itself<'a> {
        static NONE: std::sync::LazyLock<SequentialRuns> =
            std::sync::LazyLock::new(SequentialRuns::default);
        Itself { history, runs: history.runs.as_deref().unwrap_or(&NONE) }
    }

    /// What the call answers next, if a run has it.
    fn after(&self, state: Beginning, call: &Call) -> Option<(Beginning, &SequentialCall)> {
        let client = self.history.threads[call.id.thread as usize].client;
        let next = self.runs.after(state, client, (call.op, call.args))?;
        Some((next, self.runs.call(next)?))
    }
}

impl<'a> Model<Call<'a>> for Itself<'_> {
    type State = Beginning;

    fn init(&self) -> Beginning {
        0
    }

    fn step(&self, state: &Beginning, call: &Call<'a>, next: &mut Vec<Beginning>) {
        if let Some((after, made)) = self.after(*state, call)
            && (made.status, &made.results[..]) == (call.status, call.results)
        {
            next.push(after);
        }
    }

    fn describe_state(&self, state: &Beginning) -> String {
        let calls = self.runs.calls(*state);
        let said = |call: &&SequentialCall| {
            let answer = words::answer(call.op, call.status, &call.results, &number);
            format!("{} -> {answer}", words::call(call.op, &call.args, &number))
        };
        match calls.is_empty() {
            true => "new".to_string(),
            false => format!("after {}", calls.iter().map(said).collect::<Vec<_>>().join(", ")),
        }
    }
}

impl<'a> Expect<Call<'a>> for Itself<'_> {
    fn expected(&self, state: &Beginning, call: &Call<'a>) -> Expected {
        match self.after(*state, call) {
            Some((_, made)) => Expected::Answer(made.status, made.results.clone()),
            None => Expected::Answer(Status::Pending, Vec::new()),
        }
    }
}
