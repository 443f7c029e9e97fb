//! Sentences about what was not decided, and about evidence that is not shown.

use crate::check::{Exhausted, NotShown, Undecided};
use crate::core::history::OperationId;

/// Why nothing was decided, to follow a colon.
pub fn reason(undecided: &Undecided) -> String {
    match undecided {
        Undecided::Exhausted(exhausted) => gave_up(exhausted),
        Undecided::Relaxed { k, search } => format!(
            "no value overtook {k} others for certain, and no other rule is broken; whether some \
             order explains all answers only a search can tell, and {}",
            reason(search)
        ),
        Undecided::TooLong(most) => format!("more than {most} operations: check shorter rounds"),
        Undecided::Foreign(kind, op) => {
            format!("model {} does not explain the operation {}", kind.name(), op.name())
        }
        Undecided::NotOfStreams(op) => {
            format!("a log of batches has no operation {}", op.name())
        }
        Undecided::NotOfLists(op) => {
            format!("transactions with append or read_list have no operation {}", op.name())
        }
        Undecided::AppendedTwice(appends) => appended_twice(*appends),
        Undecided::NotRunAlone => {
            "the calls were not made one at a time, by which this model goes: `interlap fuzz` does \
             so with up to 1,024 calls (63: quiescent, quasi), and keeps it with violations"
                .to_string()
        }
        Undecided::OrdersNotRun => {
            "more orders may explain the answers than the structure was called in: use fewer \
             threads or fewer calls (--threads 3 --calls 4)"
                .to_string()
        }
        Undecided::OrderUnknown => {
            "calls share timeboxes, so the order of each thread's own is not known".to_string()
        }
        Undecided::ProducersUnknown => {
            "some value was added twice, and it is not known which thread added one that was taken"
                .to_string()
        }
        Undecided::PartsAndWhole => {
            "some operations concern a part of the object, and others all of it".to_string()
        }
        Undecided::NotOnline => {
            "only linearizability, of bundled models, is judged while it goes on: use --store"
                .to_string()
        }
        Undecided::SeveralThreads => {
            "the history has several threads, or its client went on after a call of unknown \
             outcome: check it as a concurrent history"
                .to_string()
        }
        Undecided::LacksTimestamp => {
            "a commit without an answer may have had any timestamp, and what it changed was there \
             for some readers and not for others"
                .to_string()
        }
        Undecided::OutsideTransaction { client, op, number } => format!(
            "thread {client} calls {} outside of a transaction (operation {number} of it)",
            op.name()
        ),
        Undecided::Pruned { read_at } => pruned(*read_at),
        Undecided::Held(bytes) => format!(
            "more than {} MiB of operations were held, none of which could be forgotten: check \
             shorter rounds",
            bytes >> 20
        ),
        Undecided::NoModelProgram => {
            "the program of its model does not run: name it with --model-crate".to_string()
        }
        Undecided::OfModelProgram(why) => why.clone(),
        Undecided::OutOfOrder(misfit) => misfit.clone(),
    }
}

fn appended_twice([first, second]: [OperationId; 2]) -> String {
    format!(
        "one value was appended twice to a list (operation {} of thread {} and operation {} of \
         thread {}), so reads do not show which came first",
        first.index, first.thread, second.index, second.thread
    )
}

fn pruned(read_at: i64) -> String {
    format!(
        "a transaction reads at the timestamp {read_at}, and of what was committed that early only \
         the last is still held: check the whole history when it is over"
    )
}

fn gave_up(exhausted: &Exhausted) -> String {
    let advice = "check a shorter history, or one of fewer threads or smaller bulk calls";
    match exhausted {
        Exhausted::Open(most) => format!(
            "more than {most} steps were open at once (an element of a bulk call counts as \
             one): use fewer threads or smaller bulk calls"
        ),
        Exhausted::Configurations(n) => {
            format!("the search would hold more than {n} configurations: {advice}")
        }
        Exhausted::Steps(n) => format!("the search took more than {n} steps: {advice}"),
        Exhausted::Memory(bytes) => {
            format!("the search would need more than {} MiB: {advice}", bytes >> 20)
        }
        Exhausted::Cancelled => "the check was cancelled".to_string(),
        Exhausted::Deadline => {
            "the time was over (--for): give it more, or fewer threads or calls".to_string()
        }
    }
}

/// Why evidence is not shown, to follow a colon.
pub fn not_shown(why: &NotShown) -> String {
    match why {
        NotShown::Earlier(_) => "no order explains what came before".to_string(),
        NotShown::Undecided(undecided) => reason(undecided),
        NotShown::Before(exhausted) => {
            format!("the states before could not be found: {}", gave_up(exhausted))
        }
        NotShown::Transactions => {
            "transactions are judged by their snapshots, not by one order".to_string()
        }
        NotShown::OtherOrders => "only orders of linearizability are shown".to_string(),
        NotShown::TooLong(most) => format!("an order is sought for at most {most} operations"),
        NotShown::AddedTwice => {
            "some value was added twice, so its steps cannot be told apart".to_string()
        }
        NotShown::OrderTooLate => {
            "the search for one took too long; that there is one is sure".to_string()
        }
        NotShown::OrderMissed => "the search for one found none, though there is one".to_string(),
        NotShown::NoMatterOfOrder => {
            "what is wrong is no matter of the order near one operation".to_string()
        }
        NotShown::TooManyOrders => {
            "there are too many orders of the operations near the failure".to_string()
        }
        NotShown::TooManySteps => "more than 64 steps overlap, too many to follow".to_string(),
        NotShown::NoFailure => "the failure is not among the operations".to_string(),
    }
}

/// That a search was not followed to its end, after so many configurations.
pub fn cut(count: usize) -> String {
    format!("the search was followed for {count} configurations; there are more")
}
