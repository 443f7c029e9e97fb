//! Sentences about transactions that no order explains.

use super::operations::Operations;
use crate::check::{
    Anomaly, ContradictedOrder, Cycle, Dependency, NoOrderOfTransactions, OfTransactions, Precedes,
};
use crate::core::history::OperationId;
use crate::core::operation::{Op, Status};

impl Operations<'_> {
    pub fn transactions_reason(&self, reason: &OfTransactions) -> String {
        match reason {
            OfTransactions::Torn([before, after]) => format!(
                "In one transaction, with no change of the key by itself in between: {}; then {}.",
                self.call(*before),
                self.call(*after)
            ),
            OfTransactions::NotCommitted { read, writer, is_replaced } => format!(
                "{}, which a transaction of {} wrote {}.",
                self.call(*read),
                self.thread(*writer),
                match (is_replaced, self.history.operation(*read).op) {
                    (true, Op::StoreReadList) => {
                        "and appended more to before it committed (an intermediate read, G1b)"
                    }
                    (true, _) => "and replaced before it committed (an intermediate read, G1b)",
                    (false, _) => "that did not commit (an aborted read, G1a)",
                }
            ),
            OfTransactions::FutureRead { read, read_at, value, writer, commit_at } => format!(
                "{}, at the read timestamp {read_at}; a transaction of {} wrote {} there and \
                 committed at the timestamp {commit_at}.",
                self.call(*read),
                self.thread(*writer),
                self.value(*value)
            ),
            OfTransactions::NoOrder(reason) => self.no_order(reason),
            OfTransactions::OutOfOrder { read, appends: [first, second] } => format!(
                "{}: the same transaction made {} first, then {}.",
                self.call(*read),
                self.called(*first),
                self.called(*second)
            ),
            OfTransactions::OtherOrder([one, other]) => format!(
                "{}; {}: neither list begins with the other, and nothing was ever taken out.",
                self.call(*one),
                self.call(*other)
            ),
            OfTransactions::Cycle(cycle) => self.cycle(cycle),
        }
    }

    fn cycle(&self, cycle: &[Dependency]) -> String {
        let because: Vec<String> =
            cycle.iter().map(|dependency| self.dependency(dependency)).collect();
        format!(
            "Each of these {} transactions comes before the next one, and the last before the \
             first ({}: {}): {}.",
            cycle.len(),
            Cycle::rule(cycle),
            gloss(Cycle::of(cycle)),
            because.join("; ")
        )
    }

    fn dependency(&self, dependency: &Dependency) -> String {
        let [first, second] = dependency.operations;
        let shown = match (dependency.why, dependency.shown) {
            (Precedes::Appended, Some(read)) => format!(", as {} shows", self.called(read)),
            _ => String::new(),
        };
        let [one, other] = [first, second].map(|id| self.called(id));
        match dependency.why {
            Precedes::Appended => format!("{one} was before {other}{shown}"),
            Precedes::Read => format!("{other} found what {one} added"),
            Precedes::Missed => format!("{one} did not find what {other} added"),
            Precedes::Over => format!("{one} returned before {other} was called"),
        }
    }

    fn no_order(&self, reason: &NoOrderOfTransactions) -> String {
        let NoOrderOfTransactions { is_serializable, count, begins, .. } = reason;
        let who = |begin: &OperationId| {
            let began = self.history.operation(*begin).start;
            format!("{} (begun at {began})", self.thread(*begin))
        };
        let who: Vec<String> = begins.iter().map(who).collect();
        let rest = if *count > begins.len() { "; the last are " } else { ": " };
        let promise = match is_serializable {
            true => "No order of whole transactions",
            false => "No choice of snapshots and commits",
        };
        let within = if reason.at_any_time { "" } else { " within their timeboxes" };
        let which = if reason.are_committed { "that they" } else { "which of them" };
        format!(
            "{promise}{within} explains what these {count} transactions read and \
             {which} committed{rest}{}.{}{}",
            who.join(", "),
            reason.anomaly.map_or("", meaning),
            self.contradicted(reason)
        )
    }

    /// " After thread 1 and then thread 0, read(7) by the drain should have answered 3."
    fn contradicted(&self, reason: &NoOrderOfTransactions) -> String {
        let each: Vec<String> =
            reason.orders.iter().map(|order| self.order(order, &reason.begins)).collect();
        let text = each.join("; ");
        let mut letters = text.chars();
        letters.next().map_or(String::new(), |first| {
            format!(" {}{}.", first.to_uppercase(), letters.as_str())
        })
    }

    fn order(&self, order: &ContradictedOrder, begins: &[OperationId]) -> String {
        let before: Vec<String> =
            order.before.iter().map(|begin| self.transaction(*begin, begins)).collect();
        let before = match before.is_empty() {
            true => "at first".to_string(),
            false => format!("after {}", before.join(" and then ")),
        };
        let should = match order.held {
            Some(value) if self.history.operation(order.read).op == Op::StoreRead => {
                self.value(value)
            }
            Some(_) => self.history.operation(order.read).op.answer_word(Status::Ok).to_string(),
            None => Op::StoreRead.answer_word(Status::Failed).to_string(),
        };
        format!("{before}, {} should have answered {should}", self.called(order.read))
    }

    /// By its thread, where that has only one.
    fn transaction(&self, begin: OperationId, begins: &[OperationId]) -> String {
        let name = self.thread(begin);
        match begins.iter().filter(|other| self.thread(**other) == name).count() {
            1 => name,
            _ => format!("{name}'s of {}", self.history.operation(begin).start),
        }
    }
}

/// What the transactions of such a cycle did.
fn gloss(cycle: Cycle) -> &'static str {
    match cycle {
        Cycle::G0 => "they appended in contradictory orders",
        Cycle::G1c => "each saw what another did, in a circle",
        Cycle::GSingle => "one missed what another did that it must come after",
        Cycle::G2Item => "several missed what others did, in a circle",
    }
}

fn meaning(anomaly: Anomaly) -> &'static str {
    match anomaly {
        Anomaly::WriteConflict => {
            " Both changed one key, and neither can have seen the other's change."
        }
        Anomaly::TimestampOrder => {
            " One was over before another began that has the earlier timestamp."
        }
        Anomaly::LostUpdate => " Two read one version of a key and both replaced it.",
        Anomaly::WriteSkew => " Each of two read what the other replaced.",
        Anomaly::FracturedRead => " One saw a part of what another committed at once.",
        Anomaly::StaleRead => " One read what had been replaced before it began.",
    }
}
