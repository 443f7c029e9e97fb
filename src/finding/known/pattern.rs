//! The patterns of an entry of known issues, and whether they fit a finding.

use std::collections::BTreeSet;

use wildmatch::WildMatch;

use crate::core::operation::Op;
use crate::finding::interleaving::Place;
use crate::finding::locations;
use crate::finding::{Failure, Finding, Stored};

/// A pattern for a whole text: `*` stands for any characters, `?` for one.
#[derive(Clone, Debug, PartialEq)]
pub struct Glob(WildMatch);

/// A file, by the end of its path, and a range of its lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    file: Glob,
    /// The first and the last; none: all.
    range: Option<(u32, u32)>,
}

/// The patterns of an entry. At least one is given, and all given ones must fit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patterns {
    pub target: Option<Glob>,
    pub model: Option<Glob>,
    /// Of a violation: the rule.
    pub rule: Option<Glob>,
    /// Of a violation: each of its operations must match one of these.
    pub operations: Vec<Glob>,
    /// Of a fault: its name.
    pub fault: Option<Glob>,
    /// Of a fault: the line of output that explains it.
    pub message: Option<Glob>,
    /// The finding's signature, or the one before it was shrunk.
    pub signature: Option<Glob>,
    /// Each must match the function of one of the finding's source lines.
    pub functions: Vec<Glob>,
    /// Each must contain one of the finding's source lines.
    pub lines: Vec<Lines>,
}

/// Whether patterns fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    No,
    Yes,
    /// All do but those on source lines, which the finding does not have yet.
    LinesUnknown,
}

/// The properties of a finding that patterns look at.
pub struct Traits<'a> {
    finding: &'a Finding,
    /// Names of the operations of a violation.
    operations: BTreeSet<&'static str>,
    places: Vec<&'a Place>,
}

impl Traits<'_> {
    pub fn from_finding(stored: &Stored) -> Traits<'_> {
        let operations = match &stored.finding.what {
            Failure::Violation { operations, .. } => {
                let name = |id| stored.round.history.operation(id).op.name();
                operations.iter().copied().map(name).collect()
            }
            Failure::Fault { .. } => BTreeSet::new(),
        };
        let locations = locations::rank(stored);
        let both = |place| std::iter::successors(Some(place), |place: &&Place| place.within());
        let places = locations.iter().flat_map(|location| both(location.place)).collect();
        Traits { finding: &stored.finding, operations, places }
    }

    /// Whether source lines are missing that shrinking will find.
    fn may_get_lines(&self) -> bool {
        self.places.is_empty() && matches!(self.finding.what, Failure::Violation { .. })
    }
}

impl Patterns {
    pub fn fit(&self, traits: &Traits) -> Fit {
        let finding = traits.finding;
        let is = |glob: &Option<Glob>, text: &str| glob.as_ref().is_none_or(|glob| glob.fits(text));
        let signed = [&finding.signature, finding.first_signature()];
        let signed = signed.iter().any(|signed| is(&self.signature, &signed.to_string()));
        let named = is(&self.target, finding.plan.target_name()) && is(&self.model, &finding.model);
        if !signed || !named || !self.fits_kind(&finding.what, traits) {
            return Fit::No;
        }
        let all = |fits: &dyn Fn(&Place) -> bool| traits.places.iter().any(|place| fits(place));
        let functions = self.functions.iter().all(|name| all(&|at| name.fits(&at.function)));
        let lines = self.lines.iter().all(|lines| all(&|at| lines.fit(at)));
        match (functions && lines, traits.may_get_lines()) {
            (true, _) => Fit::Yes,
            (false, true) => Fit::LinesUnknown,
            (false, false) => Fit::No,
        }
    }

    /// Matches the patterns that only violations have, or only faults.
    fn fits_kind(&self, what: &Failure, traits: &Traits) -> bool {
        let is = |glob: &Option<Glob>, text: &str| glob.as_ref().is_none_or(|glob| glob.fits(text));
        match what {
            Failure::Violation { rule, .. } => {
                let listed = |name: &&str| self.operations.iter().any(|glob| glob.fits(name));
                let named = !traits.operations.is_empty() && traits.operations.iter().all(listed);
                let all = self.operations.is_empty() || named;
                is(&self.rule, rule) && all && self.fault.is_none() && self.message.is_none()
            }
            Failure::Fault { kind, message, .. } => {
                let (kind, message) = (kind.name(), message.as_deref().unwrap_or_default());
                let is_fault = is(&self.fault, &kind) && is(&self.message, message);
                is_fault && self.rule.is_none() && self.operations.is_empty()
            }
        }
    }

    /// Checks that there is a pattern and that no two exclude each other.
    pub fn check(&self) -> Result<(), String> {
        if *self == Patterns::default() {
            return Err(
                "the entry has no pattern, so that it would fit every finding; add `rule`, \
                        `fault`, `operations`, `line`, `function`, `message` or `target`"
                    .to_string(),
            );
        }
        let of_violation = self.rule.is_some() || !self.operations.is_empty();
        if of_violation && (self.fault.is_some() || self.message.is_some()) {
            return Err("no finding has both: `rule` and `operations` are of violations, `fault` \
                        and `message` of faults; make two entries"
                .to_string());
        }
        Ok(())
    }
}

impl Glob {
    /// # Errors
    /// If it is empty.
    pub fn new(text: &str) -> Result<Glob, String> {
        match text.trim() {
            "" => Err("an empty pattern fits nothing; leave it out".to_string()),
            _ => Ok(Glob(WildMatch::new(text))),
        }
    }

    /// # Errors
    /// If no fault has such a name. Dashes may stand for spaces.
    pub fn fault_name(text: &str) -> Result<Glob, String> {
        let glob = Glob::new(&text.replace('-', " "))?;
        let names = crate::process::fault::names();
        if names.iter().any(|name| glob.fits(name)) || text.starts_with("exit(") {
            return Ok(glob);
        }
        Err(format!("no fault is called {text:?}; there are: {}", names.join(", ")))
    }

    /// # Errors
    /// If no operation has such a name.
    pub fn operation_name(text: &str) -> Result<Glob, String> {
        let glob = Glob::new(text)?;
        let mut names: Vec<&str> = Op::ALL.iter().map(|op| op.name()).collect();
        if names.iter().any(|name| glob.fits(name)) {
            return Ok(glob);
        }
        names.sort_by_key(|name| strsim::damerau_levenshtein(name, text));
        let close = names.first().copied().unwrap_or_default();
        Err(format!("no operation is called {text:?}; did you mean {close}?"))
    }

    pub fn fits(&self, text: &str) -> bool {
        self.0.matches(text)
    }
}

impl Lines {
    /// Reads `queue.hpp`, `queue.hpp:31` or `src/queue.hpp:31-40`.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn new(text: &str) -> Result<Lines, String> {
        let wrong = || {
            format!("expected FILE, FILE:LINE or FILE:FIRST-LAST, as in queue.hpp:31, not {text:?}")
        };
        let Some((file, range)) = text.rsplit_once(':') else {
            return Ok(Lines { file: Glob::new(text)?, range: None });
        };
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
        let (first, last) = (number(first)?, number(last)?);
        if first == 0 || last < first || file.is_empty() {
            return Err(wrong());
        }
        Ok(Lines { file: Glob::new(file)?, range: Some((first, last)) })
    }

    pub fn fit(&self, place: &Place) -> bool {
        let path = place.file.to_string_lossy();
        let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
        let is_file = ends.chain([&*path]).any(|end| self.file.fits(end));
        let contains = |(first, last)| (first..=last).contains(&place.line);
        is_file && self.range.is_none_or(contains)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(file: &str, line: u32) -> Place {
        let (function, text) = (String::new(), String::new());
        Place { function, file: file.into(), line, text, within: None, from: None }
    }

    #[test]
    fn lines_fit_the_end_of_a_path() {
        let fits = |pattern: &str, place: &Place| Lines::new(pattern).expect("right").fit(place);
        let place = at("/home/me/lib/src/queue.hpp", 31);
        for pattern in ["queue.hpp", "src/queue.hpp:31", "*.hpp:30-31", "queue.hpp:31-31"] {
            assert!(fits(pattern, &place), "{pattern}");
        }
        assert!(fits("/home/me/lib/src/queue.hpp:31", &place));
        assert!(fits("queue.hpp", &at("queue.hpp", 1)));
        for pattern in ["ueue.hpp", "queue.hpp:30", "queue.hpp:32-40", "other/queue.hpp"] {
            assert!(!fits(pattern, &place), "{pattern}");
        }
        for wrong in ["queue.hpp:", "queue.hpp:x", "queue.hpp:9-3", ":3", "", "queue.hpp:0"] {
            assert!(Lines::new(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn unknown_names_are_refused() {
        assert!(Glob::fault_name("use-after-free").is_ok_and(|glob| glob.fits("use after free")));
        assert!(Glob::fault_name("SIG*").is_ok_and(|glob| glob.fits("SIGBUS")));
        assert!(Glob::fault_name("exit(3)").is_ok_and(|glob| glob.fits("exit(3)")));
        assert!(Glob::fault_name("uaf").is_err_and(|why| why.contains("double free")));
        assert!(Glob::operation_name("enqueue*").is_ok_and(|glob| glob.fits("enqueue_bulk")));
        assert!(Glob::operation_name("enqeue").is_err_and(|why| why.contains("enqueue")));
    }
}
