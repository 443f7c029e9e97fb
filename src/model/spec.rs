//! A model as users name it, with its options: `fifo:empty=none`, `Queue.tla`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::program::{Program, SPECIFICATION, WIREDTIGER};
use super::settings::{Settings, joined};
use super::{Bulk, Consistency, Empty, Kind, Size};
use crate::core::operation::Op;

/// A model as users name it: `kind[:option=value[,option=value...]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Spec {
    pub kind: Kind,
    pub empty: Empty,
    pub bulk: Bulk,
    pub size: Size,
    pub consistency: Consistency,
    /// A removal takes one of this many values that come next: the oldest of a queue, the newest of
    /// a stack, those nearest to its end of a deque, the smallest of a priority queue (Henzinger et
    /// al., "Quantitative relaxation of concurrent data structures", POPL 2013).
    pub k: u32,
    /// For `crate`: the program that has the model.
    pub program: Option<&'static Program>,
}

/// Begins the path of a model's program.
const PATH: &str = "path=";

/// Begins what is said of a specification beside it ([`Settings`]).
const WITH: &str = "with=";

/// The `k` of `fifo-relaxed`, where none is given. Other models are not relaxed then.
const RELAXATION: u32 = 2;

pub const EMPTY: [(&str, Empty); 5] = [
    ("none", Empty::None),
    ("lone", Empty::Lone),
    ("count", Empty::Count),
    ("identity", Empty::Identity),
    ("strong", Empty::Strong),
];

pub const SIZE: [(&str, Size); 4] =
    [("none", Size::None), ("lone", Size::Lone), ("upper", Size::Upper), ("exact", Size::Exact)];

/// Most libraries promise no more of it.
const DEFAULT_SIZE: Size = Size::Lone;

const CONSISTENCY: [(&str, Consistency); 4] = [
    ("linearizable", Consistency::Linearizable),
    ("sequential", Consistency::Sequential),
    ("quiescent", Consistency::Quiescent),
    ("unordered", Consistency::Unordered),
];

/// [`Consistency::Quasi`], with its number in place of N.
const QUASI: &str = "quasi-N";

fn quasi(text: &str) -> Option<Consistency> {
    let factor = text.strip_prefix(QUASI.trim_end_matches('N'))?.parse().ok();
    factor.filter(|factor| *factor > 0).map(Consistency::Quasi)
}

pub const BULK: [(&str, Bulk); 3] =
    [("element", Bulk::Element), ("run", Bulk::Run), ("atomic", Bulk::Atomic)];

impl Spec {
    pub fn new(kind: Kind) -> Spec {
        Spec {
            kind,
            empty: kind.default_empty(),
            bulk: Bulk::Element,
            size: DEFAULT_SIZE,
            consistency: Consistency::Linearizable,
            k: if kind == Kind::FifoRelaxed { RELAXATION } else { 1 },
            program: None,
        }
    }

    /// The same, with these [`Settings`] where it is a specification that has none of its own.
    ///
    /// # Errors
    /// If they are none.
    pub fn under(self, settings: &str) -> Result<Spec, String> {
        let Some(program) = self.program.filter(|program| program.is_specification()) else {
            return Ok(self);
        };
        settings.parse::<Settings>()?;
        let settings = joined(settings, program.settings());
        Ok(Spec { program: Some(Program::with(program.path(), &settings)), ..self })
    }

    /// Whether a removal may take another value than the one that comes next.
    pub fn is_relaxed(&self) -> bool {
        self.k > 1
    }

    /// Whether the model has this operation.
    pub fn accepts(&self, op: Op) -> bool {
        let is_of_kind = self.kind.families().contains(&op.family());
        is_of_kind && (self.kind != Kind::Set || !op.reads_range())
    }

    pub fn is_linearizable(&self) -> bool {
        self.consistency == Consistency::Linearizable
    }

    /// Whether calls that share timeboxes are judged without a search, by rules of the model or
    /// else as those of a pool, and show something: wide timeboxes hide what keys do.
    pub fn judges_blocks(&self) -> bool {
        if !self.is_linearizable() {
            return false;
        }
        match self.kind {
            // No pool promises less.
            Kind::PriorityQueue if self.is_relaxed() => false,
            Kind::Pool | Kind::PriorityQueue => self.size < Size::Upper,
            kind => kind.is_container(),
        }
    }
}

/// The values of `empty` that a model accepts: for a single queue `count` and `identity` have no
/// meaning.
pub fn empty_choices(kind: Kind) -> Vec<&'static str> {
    let single = kind != Kind::FifoPerProducer;
    EMPTY
        .iter()
        .filter(|(_, e)| !single || !matches!(e, Empty::Count | Empty::Identity))
        .map(|(name, _)| *name)
        .collect()
}

/// The file of a specification that is named as a model, or the model that has a program, and the
/// options behind it.
fn program(text: &str) -> Option<(&str, &str)> {
    let end = match text.find(SPECIFICATION) {
        Some(at) => at + SPECIFICATION.len(),
        None => text.starts_with(WIREDTIGER).then_some(WIREDTIGER.len())?,
    };
    let (file, rest) = text.split_at(end);
    Some((file, if rest.is_empty() { "" } else { rest.strip_prefix(':')? }))
}

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Spec, String> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let (name, options, file) = match program(text) {
            Some((file, options)) => (Kind::Own.name(), options, Some(file)),
            None => (name, options, None),
        };
        let mut named = Kind::ALL.into_iter().chain([Kind::Own]);
        let Some(kind) = named.find(|kind| kind.name() == name) else {
            let known: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
            return Err(format!("unknown model '{name}'; choose one of {}", known.join(", ")));
        };
        let mut spec = Spec::new(kind);
        // A path may have commas, as settings may, so they come last.
        let last = if file.is_some() { WITH } else { PATH };
        let (options, last) = match options.split_once(last) {
            Some((options, last)) if kind == Kind::Own => (options, Some(last)),
            _ => (options, None),
        };
        spec.program = match file {
            Some(file) => {
                let settings = last.unwrap_or_default();
                settings.parse::<Settings>().map_err(|error| format!("model {file}: {error}"))?;
                Some(Program::with(file, settings))
            }
            None => last.map(Program::at),
        };
        for option in options.split(',').filter(|option| !option.is_empty()) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            if kind.has_k() && key == "k" {
                let k = value.parse().ok().filter(|k| *k >= 1);
                spec.k = k.ok_or(format!("model {name}: k={value} is not a number from 1 on"))?;
                continue;
            }
            let (choices, found) = match key {
                "empty" if kind.is_container() => {
                    let choices = empty_choices(kind);
                    let found = EMPTY.iter().find(|(n, _)| *n == value && choices.contains(n));
                    (choices, found.map(|(_, empty)| spec.empty = *empty))
                }
                "size" if kind.is_container() => {
                    let found = SIZE.iter().find(|(n, _)| *n == value);
                    (SIZE.map(|(n, _)| n).to_vec(), found.map(|(_, size)| spec.size = *size))
                }
                "bulk" if kind.has_bulk() => {
                    let found = BULK.iter().find(|(n, _)| *n == value);
                    (BULK.map(|(n, _)| n).to_vec(), found.map(|(_, bulk)| spec.bulk = *bulk))
                }
                "consistency" => {
                    let mut choices = CONSISTENCY.to_vec();
                    choices.retain(|(_, consistency)| kind.has_consistency(*consistency));
                    let named = choices.iter().find(|(n, _)| *n == value);
                    let found = named.map(|(_, consistency)| *consistency).or_else(|| quasi(value));
                    let found = found.filter(|consistency| kind.has_consistency(*consistency));
                    let mut choices: Vec<&str> = choices.iter().map(|(n, _)| *n).collect();
                    choices.extend(kind.has_consistency(Consistency::Quasi(1)).then_some(QUASI));
                    (choices, found.map(|consistency| spec.consistency = consistency))
                }
                _ => return Err(format!("model {name} has no option '{key}'")),
            };
            if found.is_none() {
                let choices = choices.join(", ");
                return Err(format!("model {name}: {key}={value} is not one of {choices}"));
            }
        }
        Ok(spec)
    }
}

impl TryFrom<String> for Spec {
    type Error = String;

    fn try_from(text: String) -> Result<Spec, String> {
        text.parse()
    }
}

impl From<Spec> for String {
    fn from(spec: Spec) -> String {
        spec.to_string()
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let default = Spec::new(self.kind);
        let mut options = Vec::new();
        if self.empty != default.empty {
            let name = EMPTY.iter().find(|(_, empty)| *empty == self.empty).map(|(name, _)| *name);
            options.push(format!("empty={}", name.expect("EMPTY lists every strength")));
        }
        if self.bulk != default.bulk {
            let name = BULK.iter().find(|(_, bulk)| *bulk == self.bulk).map(|(name, _)| *name);
            options.push(format!("bulk={}", name.expect("BULK lists every mode")));
        }
        if self.size != default.size {
            let name = SIZE.iter().find(|(_, size)| *size == self.size).map(|(name, _)| *name);
            options.push(format!("size={}", name.expect("SIZE lists every strength")));
        }
        if let Some((name, _)) = CONSISTENCY[1..].iter().find(|(_, c)| *c == self.consistency) {
            options.push(format!("consistency={name}"));
        }
        if let Consistency::Quasi(factor) = self.consistency {
            options.push(format!("consistency={}", QUASI.replace('N', &factor.to_string())));
        }
        if self.k != default.k {
            options.push(format!("k={}", self.k));
        }
        let file = self.program.filter(|of| of.is_own());
        match (self.program, file) {
            (Some(program), None) => options.push(format!("{PATH}{}", program.path())),
            (_, Some(file)) if !file.settings().is_empty() => {
                options.push(format!("{WITH}{}", file.settings()));
            }
            _ => {}
        }
        let name = file.map_or(self.kind.name(), |file| file.path());
        let colon = if options.is_empty() { "" } else { ":" };
        write!(f, "{name}{colon}{}", options.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_round_trip() {
        for text in [
            "fifo",
            "fifo-per-producer:empty=count,bulk=run",
            "lifo:empty=none",
            "lifo:size=exact",
            "set",
            "set:consistency=quiescent",
            "self:consistency=sequential",
            "class:consistency=quiescent",
            "self:consistency=quasi-2",
            "serializable:consistency=unordered",
            "fifo-relaxed:k=7",
            "crate:consistency=sequential,path=/a,k=3:b",
            "/specs/Queue.tla",
            "Queue.tla:consistency=sequential",
            "wiredtiger:consistency=sequential",
            "Queue.tla:consistency=sequential,with=action put = Enqueue;constant N = {1, 2}",
            "lifo:k=2",
            "priority-queue:empty=lone,k=3",
        ] {
            let spec: Spec = text.parse().expect(text);
            assert_eq!(spec.to_string(), text);
        }
        assert_eq!(
            "fifo-per-producer:empty=lone".parse::<Spec>().expect("default").to_string(),
            "fifo-per-producer"
        );
    }

    #[test]
    fn errors_name_the_choices() {
        let error = |text: &str| text.parse::<Spec>().expect_err(text);
        assert!(error("heap").contains("fifo-per-producer"));
        assert!(error("fifo:empty=count").contains("none, lone, strong"));
        assert!(error("fifo-relaxed:k=0").contains("number from 1 on"));
        assert!(error("fifo:k=2").contains("no option 'k'"));
        assert!(error("set:empty=none").contains("no option 'empty'"));
        assert!(error("Queue.tla:with=N = 3").contains("constant NAME = VALUE"));
        assert!(error("pool:size=3").contains("none, lone, upper, exact"));
    }
}
