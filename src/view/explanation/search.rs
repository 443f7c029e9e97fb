//! Sentences about responses that no order explains.

use super::operations::Operations;
use crate::check::{OfSearch, States};
use crate::core::history::OperationId;
use crate::model::{Consistency, Expected};

impl Operations<'_> {
    pub fn search_reason(&self, reason: &OfSearch) -> String {
        match reason {
            OfSearch::Sequential { failed, expected } => format!(
                "With no other call under way, {} {}; it should have answered {}.",
                self.called(*failed),
                self.answered(*failed),
                self.expected(*failed, expected)
            ),
            OfSearch::NoOrder { failed, under_way, keys_min } => {
                let few = "Without those under way, as few as";
                let keys = keys_min.map(|n| format!(" {few} {n} keys were where it looked."));
                format!(
                    "No order of the operations called before its return explains {}{}.{}",
                    self.call(*failed),
                    self.still_under_way(under_way),
                    keys.unwrap_or_default()
                )
            }
            OfSearch::NoSuchOrder(consistency) => {
                let kept = kept_order(*consistency);
                format!("No order of the operations that keeps {kept} explains all answers.")
            }
            OfSearch::OfKey { failed, under_way, unwritten, expected } => {
                self.no_order_of_key(*failed, under_way, *unwritten, expected)
            }
            OfSearch::OfSet { failed, key, count, was_absent } => format!(
                "Key {} was {}. No order of these {count} operations on it explains their \
                 answers; the one that none can bring about is {}.",
                self.value(*key),
                match was_absent {
                    true => "absent at first",
                    false => "present or absent before, which makes no difference",
                },
                self.call(*failed)
            ),
            OfSearch::OfCounter { failed, least, under_way } => {
                let under_way = match under_way {
                    0 => "no addition was".to_string(),
                    1 => "one addition was".to_string(),
                    more => format!("{more} additions were"),
                };
                format!(
                    "No order of the calls explains {}. The counter can have been no less than \
                     {least} then, and {under_way} under way.",
                    self.call(*failed)
                )
            }
            OfSearch::OfValues { values, count, last } => format!(
                "No order of these {count} operations explains how {} were added and taken; the \
                 last to return is {}.",
                self.values(values),
                self.call(*last)
            ),
            OfSearch::OfModel { operation, client, under_way, states } => format!(
                "No order of the operations called before its return explains {operation} by \
                 client {client}{}. The state may have been {}.",
                match under_way {
                    0 => String::new(),
                    1 => "; the call still under way then does not change that".to_string(),
                    n => format!("; the {n} calls still under way then do not change that"),
                },
                described(states)
            ),
            OfSearch::ModelNotEmpty(states) => format!(
                "After every call had returned and the structure had been drained, something is \
                 left: {}.",
                described(states)
            ),
        }
    }

    fn no_order_of_key(
        &self,
        failed: OperationId,
        under_way: &[OperationId],
        unwritten: Option<i64>,
        expected: &[Expected],
    ) -> String {
        let unwritten = unwritten
            .map(|value| format!(" No call that had begun by then writes {}.", self.value(value)));
        let expected: Vec<String> =
            expected.iter().map(|answer| self.expected(failed, answer)).collect();
        let others = match under_way {
            [] => String::new(),
            [one] => format!(
                "; {} was still under way, and does not bring that answer about either",
                self.called(*one)
            ),
            _ => format!(
                "; the {} calls still under way do not bring that answer about either",
                under_way.len()
            ),
        };
        format!(
            "No order explains {}.{} In every order that explains the answers until then, it \
             should have answered {}{others}.",
            self.call(failed),
            unwritten.unwrap_or_default(),
            expected.join(" or ")
        )
    }
}

/// "1 or 2 or others".
fn described(states: &States) -> String {
    let more = if states.are_more { " or others" } else { "" };
    states.described.join(" or ") + more
}

/// What an order must keep.
fn kept_order(consistency: Consistency) -> String {
    let kept = match consistency {
        Consistency::Linearizable => "what returned before what was called",
        Consistency::Sequential => "the order of each thread's own",
        Consistency::Unordered => "nothing",
        Consistency::Quiescent => "those apart between which none was under way",
        Consistency::Quasi(factor) => {
            let place = if factor == 1 { "place" } else { "places" };
            return format!("each within {factor} {place} of where a linearization has it");
        }
    };
    kept.to_string()
}
