//! Makes sentences of the reasons why no order explains a history.
//!
//! - `operations`: Puts operations of a history into words, as sentences name them.
//! - `order`: Sentences about values that left a structure in the wrong order.
//! - `partials`: Describes the longest partial linearizations in words, a step a line, and as JSON.
//! - `search`: Sentences about responses that no order explains.
//! - `transactions`: Sentences about transactions that no order explains.
//! - `undecided`: Sentences about what was not decided, and about evidence that is not shown.
//! - `weaker`: Asks whether a violation is meant that a weaker promise allows.

mod operations;
mod order;
pub mod partials;
mod search;
mod transactions;
pub mod undecided;
pub mod weaker;

use crate::check::{Explanation, OfRecords, OfValues};
use crate::core::history::{History, OperationId};
use crate::core::interner::Interner;
use crate::core::operation::Family;
use operations::Operations;

pub use operations::expected_answer;

/// What is wrong, in a line.
pub const UNEXPLAINED: &str = "No order of the calls explains the answers";

/// The reason in a few sentences; values are shown as `strings` has them.
pub fn sentences(explanation: &Explanation, history: &History, strings: &Interner) -> String {
    let operations = Operations { history, strings };
    match explanation {
        Explanation::Values(reason) => operations.values_reason(reason),
        Explanation::Order(reason) => operations.order_reason(reason),
        Explanation::Records(reason) => operations.records_reason(reason),
        Explanation::Search(reason) => operations.search_reason(reason),
        Explanation::Transactions(reason) => operations.transactions_reason(reason),
    }
}

impl Operations<'_> {
    fn values_reason(&self, reason: &OfValues) -> String {
        match reason {
            OfValues::FromNowhere { value, found, addition } => {
                self.nowhere(*value, *found, *addition)
            }
            OfValues::TakenTwice { value, removals } => {
                let [first, second] =
                    removals.map(|id| format!("{} by {}", self.verb(id), self.thread(id)));
                let value = self.value(*value);
                format!("{value} was added once, yet both {first} and {second} returned it.")
            }
            OfValues::Lost { value, addition } => format!(
                "{} was added by {} ({} answered ok) and never taken out, although the structure \
                 answered empty after every call had returned.",
                self.value(*value),
                self.thread(*addition),
                self.verb(*addition)
            ),
            OfValues::AllLost(values) => {
                let values: Vec<String> = values.iter().map(|v| self.value(*v)).collect();
                format!(
                    "The structure answered empty after every call had returned, yet no order of \
                     the operations takes out all that was added; never taken were: {}.",
                    values.join(", ")
                )
            }
            OfValues::EmptyWhileFull { removal, inside, addition } => {
                let answered =
                    format!("{} by {} answered empty", self.verb(*removal), self.thread(*removal));
                match &inside[..] {
                    [value] => format!(
                        "{answered}, but {} was inside during the whole call: its {} had returned \
                         before, and its removal was not called until after.",
                        self.value(*value),
                        self.verb(*addition)
                    ),
                    _ => format!(
                        "{answered}, but at every instant of the call one of {} was inside.",
                        self.values(inside)
                    ),
                }
            }
            OfValues::Miscounted { answer, least, most, lone } => {
                let answered = format!("{} {}", self.called(*answer), self.answered(*answer));
                let inside = match (least, most) {
                    (1, 1) => "one value was".to_string(),
                    (least, most) if least == most => format!("{least} values were"),
                    (least, most) => format!("at least {least} and at most {most} values were"),
                };
                match lone {
                    true => format!(
                        "{answered}, but {inside} inside, and nothing was added or removed \
                         meanwhile."
                    ),
                    false => format!("{answered}, but {inside} inside during the call."),
                }
            }
            OfValues::EmptyWhileOutnumbered { removal, addition } => format!(
                "{} by {} answered empty, but at every instant of the call {} had completed more \
                 enqueues than there were successful dequeues of its values, finished or under \
                 way.",
                self.verb(*removal),
                self.thread(*removal),
                self.thread(*addition)
            ),
        }
    }

    fn nowhere(&self, value: i64, found: OperationId, addition: Option<OperationId>) -> String {
        let (value, call) = (self.value(value), self.call(found));
        let (verb, thread) = (self.verb(found), self.thread(found));
        match (addition, self.history.operation(found).op.family()) {
            (Some(addition), _) => format!(
                "{verb} of {value} by {thread} had returned before {} of {value} was called.",
                self.verb(addition)
            ),
            (None, Family::Log) => format!("{call}: {value} was never appended."),
            (None, Family::Kv) => format!(
                "{} {}: no call that had begun by then writes {value}.",
                self.called(found),
                self.answered(found)
            ),
            (None, Family::Store) => {
                format!("{call}: no other transaction wrote {value} there.")
            }
            (None, _) => format!("{verb} by {thread} returned {value}, which was never added."),
        }
    }

    fn records_reason(&self, reason: &OfRecords) -> String {
        let both = |ids: &[OperationId; 2]| ids.map(|id| self.call(id)).join(" and ");
        let got = |get: &OperationId| format!("{} {}", self.called(*get), self.answered(*get));
        match reason {
            OfRecords::CountedTwice(additions) => format!(
                "{}: both found {}, and the counter never goes back to it.",
                both(additions),
                self.values(self.history.results(additions[0]))
            ),
            OfRecords::NoSuchPosition(id) => format!(
                "{} tells of more records than there were appends, or of fewer than none.",
                self.call(*id)
            ),
            OfRecords::OnePosition(appends) => {
                format!("{} would both stand at one position.", both(appends))
            }
            OfRecords::TwoPositions { append, positions: [one, other] } => format!(
                "What {} appended stands at position {one} and at position {other}.",
                self.call(*append)
            ),
            OfRecords::AgainstPositions([before, after]) => format!(
                "By the positions they tell, {} comes before {}, yet was called only after that \
                 had returned.",
                self.call(*before),
                self.call(*after)
            ),
            OfRecords::NeverFilled { operation, position } => format!(
                "{} tells that position {position} was filled, but every append stands elsewhere.",
                self.call(*operation)
            ),
            OfRecords::WrittenTwice { get, value, write } => format!(
                "{}: {} is there twice, and only {} wrote it.",
                got(get),
                self.value(*value),
                self.called(*write)
            ),
            OfRecords::NotWritten { get, write } => format!(
                "{}: {} had returned before, what it wrote is not there, and no put can have come \
                 in between.",
                got(get),
                self.called(*write)
            ),
            OfRecords::Misplaced { get, writes: [early, late] } => format!(
                "{}: {} had returned before {} was called, and stands behind it.",
                got(get),
                self.called(*early),
                self.called(*late)
            ),
        }
    }
}
