//! Sentences about values that left a structure in the wrong order.

use super::operations::Operations;
use crate::check::OfOrder;
use crate::core::history::OperationId;

impl Operations<'_> {
    pub fn order_reason(&self, reason: &OfOrder) -> String {
        match reason {
            OfOrder::Overtaken { values, additions, removal, later, per_producer } => {
                self.overtaken(*values, *additions, *removal, *later, *per_producer)
            }
            OfOrder::OvertookSeveral { value, removal, older, k } => {
                let value = self.value(*value);
                format!(
                    "dequeue of {value} by {} had returned before any of {} was dequeued, all \
                     enqueued before {value} was: it was not among the {k} oldest.",
                    self.thread(*removal),
                    self.values(older)
                )
            }
            OfOrder::NotSmallest { value, removal, smaller, since_insertion } => format!(
                "poll by {} returned {}, but {} {}{} was inside, which should have left first.",
                self.thread(*removal),
                self.value(*value),
                match since_insertion {
                    true => "from the call of its insert on",
                    false => "at every instant of the call",
                },
                if smaller.len() == 1 { "" } else { "one of " },
                self.values(smaller)
            ),
            OfOrder::PoppedBelow { values, pushes, pop, is_upper_popped } => {
                let ([lower, upper], [push, above]) =
                    (values.map(|value| self.value(value)), pushes.map(|id| self.thread(id)));
                let end = match is_upper_popped {
                    true => format!("had returned before pop of {upper} was called"),
                    false => format!("returned while {upper} was never popped"),
                };
                format!(
                    "{upper} was pushed by {above} after {lower} had been pushed by {push}, and \
                     lay above it; yet pop of {lower} by {} was called after that and {end}.",
                    self.thread(*pop)
                )
            }
            OfOrder::NotStacked(values) => format!(
                "No order within the timeboxes has the pushes and pops of {} last in, first out. \
                 Any one of these values left out, there is one for the rest.",
                self.values(values)
            ),
            OfOrder::BulkResult { removal, values, addition, is_gap } => {
                let ([a, b], producer) =
                    (values.map(|value| self.value(value)), self.thread(*addition));
                let why = match is_gap {
                    true => format!("{producer} enqueued other values between the two"),
                    false => {
                        format!("{b} was enqueued before {a} by the same producer, {producer}")
                    }
                };
                let by = self.thread(*removal);
                format!("dequeue_bulk by {by} returned {a} and next {b}, but {why}.")
            }
        }
    }

    fn overtaken(
        &self,
        values: [i64; 2],
        additions: [OperationId; 2],
        removal: OperationId,
        later: Option<OperationId>,
        per_producer: bool,
    ) -> String {
        let ([first, second], [adder, other]) =
            (values.map(|value| self.value(value)), additions.map(|id| self.thread(id)));
        if per_producer {
            let later = match later {
                Some(_) => format!("the dequeue of {first} was called"),
                None => format!("{first} was ever dequeued"),
            };
            return format!(
                "{first} was enqueued before {second} (same producer, {adder}), yet the dequeue of \
                 {second} had returned before {later}."
            );
        }
        let later = match later {
            Some(id) => format!("the dequeue of {first} by {} was called", self.thread(id)),
            None => format!("{first} was ever dequeued"),
        };
        format!(
            "{first} had been enqueued by {adder} before {other} called enqueue of {second}, yet \
             the dequeue of {second} by {} had returned before {later}.",
            self.thread(removal)
        )
    }
}
