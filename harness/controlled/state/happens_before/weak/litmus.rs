//! Litmus tests as text: `tests/data/litmus/shapes.txt`, which says how they are written.

use super::program::{Kind, Program, Step};

pub const SHAPES: &str = include_str!("../../../../../tests/data/litmus/shapes.txt");

/// What C++20 says of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allowed,
    Forbidden,
    /// Allowed, and out of reach.
    Unreached,
}

/// A program, and of one outcome whether C++ allows it.
pub struct Shape {
    pub name: &'static str,
    pub verdict: Verdict,
    pub program: Program,
    /// Reads by their place in the order of the program.
    reads: Vec<(usize, u64)>,
    last: Vec<(usize, u64)>,
}

impl Shape {
    pub fn is_shown_by(&self, (reads, last): &(Vec<u64>, Vec<u64>)) -> bool {
        let has = |(at, value): &(usize, u64), of: &[u64]| of[*at] == *value;
        self.reads.iter().all(|of| has(of, reads)) && self.last.iter().all(|of| has(of, last))
    }
}

pub fn shapes() -> impl Iterator<Item = Shape> {
    SHAPES.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(shape)
}

fn shape(line: &'static str) -> Shape {
    let (head, outcome) = line.split_once("=>").expect("an outcome");
    let mut parts = head.split('|').map(str::trim);
    let name = parts.next().expect("a name");
    let verdict = match parts.next() {
        Some("allowed") => Verdict::Allowed,
        Some("forbidden") => Verdict::Forbidden,
        Some("unreached") => Verdict::Unreached,
        other => panic!("{name}: {other:?}"),
    };
    let mut names = Vec::new();
    let mut thread =
        |text: &'static str| text.split(';').map(|of| step(of.trim(), &mut names)).collect();
    let program = Program { threads: parts.map(&mut thread).collect(), locations: 3 };
    let (mut reads, mut last) = (Vec::new(), Vec::new());
    for (of, value) in outcome.split_whitespace().filter_map(|of| of.split_once('=')) {
        let value = value.parse().expect("a number");
        match names.iter().position(|name| *name == of) {
            Some(at) => reads.push((at, value)),
            None => last.push((location(of), value)),
        }
    }
    Shape { name, verdict, program, reads, last }
}

fn location(name: &str) -> usize {
    ["x", "y", "z"].iter().position(|of| *of == name).expect("a location")
}

fn order(name: Option<&str>) -> u32 {
    let name = name.expect("an order");
    let all = ["rlx", "con", "acq", "rel", "acq_rel", "sc"];
    all.iter().position(|of| *of == name).expect("an order") as u32
}

fn step(text: &'static str, names: &mut Vec<&'static str>) -> Step {
    let mut words = text.split_whitespace();
    let what = words.next().expect("a step");
    let by = order(words.next());
    if what == "fence" {
        return Step { kind: Kind::Fence, location: 0, order: by, value: 0 };
    }
    let (left, right) = what.split_once('=').expect("an access");
    if let Ok(value) = right.parse() {
        return Step { kind: Kind::Store, location: location(left), order: by, value };
    }
    names.push(left);
    let (from, call) = right.split_once('.').unwrap_or((right, ""));
    let argument = call.trim_end_matches(')').split_once('(').map(|(_, value)| value);
    let kind = match call.split('(').next() {
        Some("swap") => Kind::Update,
        Some("cas") => Kind::Compare { weak: false, failed: order(words.next()) },
        _ => Kind::Load,
    };
    let value = argument.map_or(0, |value| value.parse().expect("a number"));
    Step { kind, location: location(from), order: by, value }
}
