//! Draws the arguments of methods by their types, and from where the adapter says. Otherwise
//! numbers are few, so that calls meet, and often those that the thread was answered: what one
//! method gives another may want.

use interlap::core::method::Method;
use interlap::core::random::Random;
use interlap::core::source::Source;
use interlap::core::value::{Type, string_words};

/// Answered numbers that a thread remembers: the latest.
const KNOWN_MAX: usize = 8;
/// Elements of a container at most.
const ELEMENTS_MAX: u64 = 3;

/// Strings are no longer than this, whatever an adapter asks for: their words fit a call.
const LENGTH_MAX: i64 = 256;

/// What one thread was answered, and will give.
#[derive(Default)]
pub struct Values {
    known: Vec<i64>,
    /// The next number that no other call has.
    next: i64,
}

/// How the values of an argument are drawn.
struct Draw<'a> {
    random: &'a mut Random,
    keys: u64,
    source: Source,
}

impl Values {
    /// Of a thread whose distinct numbers begin at `first`.
    pub fn new(first: i64) -> Values {
        Values { known: Vec::new(), next: first }
    }

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

    /// Appends the arguments of a call. Numbers and strings are drawn from so many `keys`, where
    /// the adapter does not say otherwise.
    pub fn draw(&mut self, method: Method, random: &mut Random, keys: u64, args: &mut Vec<i64>) {
        for (at, of) in method.arguments().iter().enumerate() {
            let mut draw = Draw { random: &mut *random, keys, source: method.source(at) };
            self.value(of, &mut draw, args);
        }
    }

    fn value(&mut self, of: &Type, draw: &mut Draw, words: &mut Vec<i64>) {
        match of {
            Type::Void => {}
            Type::Bool => words.push(draw.random.below(2) as i64),
            Type::Int | Type::Uint => words.push(self.number(draw)),
            Type::String => string_words(&self.string(draw), words),
            Type::Optional(inner) => {
                let is_there = !draw.random.one_in(4);
                words.push(is_there.into());
                if is_there {
                    self.value(inner, draw, words);
                }
            }
            Type::List(element) => self.elements(&[element], draw, words),
            Type::Set(element) => self.elements(&[element], draw, words),
            Type::Map(key, value) => self.elements(&[key, value], draw, words),
            Type::Tuple(types) => types.iter().for_each(|of| self.value(of, draw, words)),
            Type::Record(members) => {
                members.iter().for_each(|(_, of)| self.value(of, draw, words));
            }
            Type::Variant(types) => {
                let at = draw.random.below(types.len() as u64);
                words.push(at as i64);
                self.value(&types[at as usize], draw, words);
            }
        }
    }

    fn elements(&mut self, of: &[&Type], draw: &mut Draw, words: &mut Vec<i64>) {
        let count = draw.random.below(ELEMENTS_MAX + 1);
        words.push(count as i64);
        for _ in 0..count {
            of.iter().for_each(|of| self.value(of, draw, words));
        }
    }

    fn number(&mut self, draw: &mut Draw) -> i64 {
        let (is_few, random) = (self.known.is_empty(), &mut *draw.random);
        match draw.source {
            Source::Between(first, last) => between(first, last, random),
            Source::Distinct => self.distinct(),
            Source::Answered if !is_few => *random.pick(&self.known),
            Source::Mixed if !is_few && random.one_in(2) => *random.pick(&self.known),
            Source::Mixed | Source::Few | Source::Answered => random.below(draw.keys) as i64,
        }
    }

    /// The empty string, or one of as many others as there are keys.
    fn string(&mut self, draw: &mut Draw) -> String {
        match draw.source {
            Source::Between(first, last) => {
                let [first, last] = [first, last].map(|length| length.clamp(0, LENGTH_MAX));
                "s".repeat(between(first, last, draw.random) as usize)
            }
            Source::Distinct => format!("s{}", self.distinct()),
            _ => match draw.random.below(draw.keys + 1) {
                0 => String::new(),
                number => format!("s{number}"),
            },
        }
    }

    fn distinct(&mut self) -> i64 {
        self.next += 1;
        self.next - 1
    }
}

/// A number from the first to the last: half of the time one at an end, or beside a power of two.
fn between(first: i64, last: i64, random: &mut Random) -> i64 {
    let count = last.abs_diff(first);
    let any = |random: &mut Random| match count.checked_add(1) {
        Some(count) => first.wrapping_add(random.below(count) as i64),
        None => random.bits() as i64,
    };
    if random.one_in(2) {
        return any(random);
    }
    let power = 1i64 << random.below(63);
    let ends = [first, last, first.saturating_add(1), last.saturating_sub(1)];
    let beside = [power - 1, power, power + 1].map(|near| near.clamp(first, last));
    let drawn = if random.one_in(2) { *random.pick(&ends) } else { *random.pick(&beside) };
    drawn.clamp(first, last)
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
        let (method, mut values) = (method.expect("a signature"), Values::new(0));
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

    #[test]
    fn arguments_come_from_where_the_adapter_says() {
        let text = "g(int -2..3, int distinct, int answered, int few, string 2..4) -> int";
        let method = Method::new(text).expect("a signature");
        let (mut random, mut values) = (Random::new(7), Values::new(1000));
        values.observe(method, &[55]);
        let mut met = std::collections::BTreeSet::new();
        for call in 0..200 {
            let mut args = Vec::new();
            values.draw(method, &mut random, 4, &mut args);
            assert!((-2..=3).contains(&args[0]) && (0..4).contains(&args[3]), "{args:?}");
            assert_eq!((args[1], args[2]), (1000 + call, 55));
            assert!((2..=4).contains(&args[4]), "the length of a string");
            met.insert(args[0]);
        }
        assert_eq!(met.len(), 6);
        for (first, last) in [(i64::MIN, i64::MAX), (5, 5), (i64::MAX - 1, i64::MAX)] {
            assert!((first..=last).contains(&between(first, last, &mut random)));
        }
    }
}
