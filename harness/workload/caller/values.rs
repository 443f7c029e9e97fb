//! Draws the arguments of methods by their types. Numbers are few, so that calls meet, and often
//! those that the thread was answered: what one method gives another may want.

use interlap::core::method::Method;
use interlap::core::random::Random;
use interlap::core::value::{Type, string_words};

/// Answered numbers that a thread remembers: the latest.
const KNOWN_MAX: usize = 8;
/// Elements of a container at most.
const ELEMENTS_MAX: u64 = 3;

/// What one thread was answered.
#[derive(Default)]
pub struct Values {
    known: Vec<i64>,
}

impl Values {
    /// Remembers the numbers in the result of a call.
    pub fn observe(&mut self, method: Method, results: &[i64]) {
        let mut add = |number| {
            if self.known.len() == KNOWN_MAX {
                self.known.remove(0);
            }
            self.known.push(number);
        };
        // The record of the call is read by the same types, and refused where they do not fit.
        let _ = method.result().numbers(&mut &results[..], &mut add);
    }

    /// Appends the arguments of a call. Numbers and strings are drawn from so many `keys`.
    pub fn draw(&self, method: Method, random: &mut Random, keys: u64, args: &mut Vec<i64>) {
        for of in method.arguments() {
            self.value(of, random, keys, args);
        }
    }

    fn value(&self, of: &Type, random: &mut Random, keys: u64, words: &mut Vec<i64>) {
        match of {
            Type::Void => {}
            Type::Bool => words.push(random.below(2) as i64),
            Type::Int | Type::Uint => words.push(match self.known.is_empty() || random.one_in(2) {
                true => random.below(keys) as i64,
                false => *random.pick(&self.known),
            }),
            Type::String => string_words(&string(random.below(keys + 1)), words),
            Type::Optional(inner) => {
                let is_there = !random.one_in(4);
                words.push(is_there.into());
                if is_there {
                    self.value(inner, random, keys, words);
                }
            }
            Type::List(element) => self.elements(&[element], random, keys, words),
            Type::Set(element) => self.elements(&[element], random, keys, words),
            Type::Map(key, value) => self.elements(&[key, value], random, keys, words),
            Type::Tuple(types) => {
                types.iter().for_each(|of| self.value(of, random, keys, words));
            }
            Type::Record(members) => {
                members.iter().for_each(|(_, of)| self.value(of, random, keys, words));
            }
            Type::Variant(types) => {
                let at = random.below(types.len() as u64);
                words.push(at as i64);
                self.value(&types[at as usize], random, keys, words);
            }
        }
    }

    fn elements(&self, of: &[&Type], random: &mut Random, keys: u64, words: &mut Vec<i64>) {
        let count = random.below(ELEMENTS_MAX + 1);
        words.push(count as i64);
        for _ in 0..count {
            of.iter().for_each(|of| self.value(of, random, keys, words));
        }
    }
}

/// The empty string, or one of as many others as there are keys.
fn string(number: u64) -> String {
    if number == 0 { String::new() } else { format!("s{number}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_of_its_type_and_comes_from_what_was_answered() {
        let method = Method::new(
            "f(bool, int, string, optional<int>, map<int, set<string>>, variant<int, tuple<>>, \
             record<a: list<bool>>) -> tuple<int, bool>",
        );
        let (method, mut values) = (method.expect("a signature"), Values::default());
        values.observe(method, &[1_000_000, 1]);
        let (mut random, mut is_known) = (Random::new(7), false);
        for _ in 0..200 {
            let mut args = Vec::new();
            values.draw(method, &mut random, 4, &mut args);
            let shown = method.shown_arguments(&args).expect("of its types");
            is_known |= shown.contains("1000000");
        }
        assert!(is_known);
    }
}
