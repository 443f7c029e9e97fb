//! Chooses the checker for a history: one row for each kind of model.
//!
//! A row names the specialised checker, says which histories it decides, and what decides the
//! others. To add a kind of model, add a row.

use std::cell::OnceCell;
use std::fmt::Debug;

use super::consistency;
use super::data::own::{failure, judged, own};
use super::data::scope::{is_stream, refuse};
use super::data::values::{AddedTwice, Values};
use super::exact::removals::{Broken, any_bulk, any_open};
use super::exact::{
    counter, deque, fifo, fifo_bulk, lifo, log, per_producer, pool, priority, ranges, relaxed,
    removals, set, set_witness, sizes,
};
use super::explanation::{Explanation, OfSearch};
use super::itself;
use super::search::{history as search, journal, keyed};
use super::transactions;
use super::undecided::Undecided;
use super::verdict::{Explains, Limits, Verdict, Witness};
use crate::core::history::History;
use crate::core::journal::Journal;
use crate::core::operation::Status;
use crate::model::{Bulk, Empty, Kind, Model, Size, Spec};

/// How histories of one kind of model are decided.
enum Checker {
    /// Every history, without the general search over the whole of it.
    Decides(fn(&Case) -> Verdict),
    /// Those for which there is a verdict; the general search decides the others.
    DecidesSome(fn(&Case) -> Option<Verdict>),
    Container(Rules),
}

/// The rules of a container of distinct values.
struct Rules {
    /// The first rule that is broken, if any.
    judge: fn(&Case) -> Result<Result<(), Broken>, AddedTwice>,
    /// Whether a history that breaks no rule has an order.
    sufficient: fn(&Case) -> bool,
    /// Decides what the rules do not.
    search: fn(&Case) -> Verdict,
}

/// The row of a model.
fn checker(spec: &Spec) -> Checker {
    use Checker::{Container, Decides, DecidesSome};
    match spec.kind {
        Kind::Set => Decides(set_verdict),
        Kind::Map | Kind::Register | Kind::Kv => {
            Decides(|case| keyed::check(case.history, case.spec, case.limits))
        }
        Kind::RangeSet => DecidesSome(range_set_verdict),
        Kind::Own => DecidesSome(|case| judged(case.history, case.spec, case.limits)),
        Kind::Itself | Kind::Class => {
            Decides(|case| itself::check(case.history, case.spec, case.limits))
        }
        Kind::Snapshot | Kind::Serializable => {
            Decides(|case| transactions::check(case.history, case.spec, case.limits))
        }
        Kind::Counter => DecidesSome(|case| {
            let amount = counter::amount(case.history)?;
            Some(verdict(counter::judge(case.history, amount)))
        }),
        Kind::Log => DecidesSome(|case| {
            let is_exact = !is_stream(case.history, case.spec) && log::is_exact(case.history);
            is_exact.then(|| verdict(log::judge(case.history)))
        }),
        Kind::Fifo
        | Kind::FifoPerProducer
        | Kind::FifoRelaxed
        | Kind::Pool
        | Kind::Lifo
        | Kind::Deque
        | Kind::PriorityQueue => Container(rules(spec)),
    }
}

/// The rules of a container's model.
fn rules(spec: &Spec) -> Rules {
    match spec.kind {
        Kind::Fifo => Rules {
            judge: |case| Ok(fifo::judge(case.history, case.spec, case.values()?)),
            sufficient: |case| !any_bulk(case.history),
            search: |case| {
                let moved = |values| fifo_bulk::check(case.history, case.spec, values);
                case.values().ok().and_then(moved).unwrap_or_else(|| case.search())
            },
        },
        Kind::Pool => Rules {
            judge: |case| Ok(fifo::judge(case.history, case.spec, case.values()?)),
            sufficient: |_| true,
            search: |case| match case.values() {
                Ok(values) => verdict(pool::judge(case.history, case.spec, values)),
                Err(AddedTwice) => case.search(),
            },
        },
        Kind::FifoPerProducer => Rules {
            judge: |case| Ok(per_producer::judge(case.history, case.spec, case.values()?)),
            sufficient: rules_suffice_per_producer,
            search: |case| case.search(),
        },
        Kind::FifoRelaxed => Rules {
            judge: |case| Ok(relaxed::judge(case.history, case.spec, case.values()?)),
            sufficient: |_| false,
            search: |case| match relaxed_search(case) {
                Verdict::Inconclusive(why) => {
                    let (k, search) = (case.spec.k, Box::new(why));
                    Verdict::Inconclusive(Undecided::Relaxed { k, search })
                }
                verdict => verdict,
            },
        },
        Kind::Lifo | Kind::Deque | Kind::PriorityQueue if spec.is_relaxed() => RELAXED,
        Kind::Lifo => Rules {
            judge: |case| Ok(lifo::judge(case.history, case.spec, case.values()?)),
            sufficient: |_| true,
            search: |case| case.search(),
        },
        Kind::PriorityQueue => Rules {
            judge: |case| priority::judge(case.history, case.spec),
            sufficient: |_| true,
            search: |case| case.search(),
        },
        Kind::Deque => Rules {
            judge: |case| Ok(removals::judge(case.history, case.values()?)),
            sufficient: |_| false,
            search: |case| {
                let Case { history, spec, limits, .. } = *case;
                let owned = |values| deque::check(history, spec, values, limits);
                case.values().ok().and_then(owned).unwrap_or_else(|| case.search())
            },
        },
        kind => unreachable!("{} is no container", kind.name()),
    }
}

/// Of a relaxed stack, deque or priority queue: all rules of a pool, of distinct values.
const RELAXED: Rules = Rules {
    judge: |case| match case.values() {
        Ok(values) => Ok(fifo::judge(case.history, case.spec, values)),
        Err(_) if case.spec.kind == Kind::PriorityQueue => Ok(Ok(())),
        Err(AddedTwice) => Err(AddedTwice),
    },
    sufficient: |_| false,
    search: relaxed_search,
};

/// Whether the rules of a queue per producer decide the history.
fn rules_suffice_per_producer(case: &Case) -> bool {
    let is_atomic = case.spec.bulk == Bulk::Atomic && any_bulk(case.history);
    // The rule of counts needs whole producers.
    let is_split = case.spec.empty == Empty::Count && case.history.has_blocks();
    !is_atomic && !is_split
}

/// A history and what it is checked against.
struct Case<'a> {
    history: &'a History,
    spec: &'a Spec,
    limits: &'a Limits,
    /// Numbered when they are first asked for.
    values: OnceCell<Result<Values, AddedTwice>>,
}

impl Case<'_> {
    fn values(&self) -> Result<&Values, AddedTwice> {
        self.values
            .get_or_init(|| Values::from_history(self.history))
            .as_ref()
            .map_err(|_| AddedTwice)
    }

    /// The general search, of a container.
    fn search(&self) -> Verdict {
        search::check(self.history, self.spec, self.values().ok(), self.limits)
    }

    /// Whether a history that breaks no rule has an order.
    fn is_sufficient(&self, rules: &Rules) -> bool {
        (rules.sufficient)(self) && !sizes::any_claim(self.history, self.spec)
    }

    /// The pool by which calls that share timeboxes are judged where the rules do not suffice: a
    /// search would not come to an end where so many overlap. What a pool does not allow, the model
    /// does not allow.
    fn pool(&self) -> Option<Spec> {
        let is_wanted = self.spec.kind != Kind::Pool && self.history.has_blocks();
        let is_pool = |spec: &Spec| spec.kind == Kind::Pool && spec.size == Size::None;
        is_wanted.then(|| self.spec.weaker().into_iter().find(is_pool)).flatten()
    }

    fn decide(&self) -> Verdict {
        match checker(self.spec) {
            Checker::Decides(check) => check(self),
            Checker::DecidesSome(check) => check(self)
                .unwrap_or_else(|| search::check(self.history, self.spec, None, self.limits)),
            Checker::Container(rules) => match self.decide_by(&rules) {
                Verdict::Violation(witness) => Verdict::Violation(search::shorter(
                    self.history,
                    self.spec,
                    witness,
                    self.limits,
                )),
                verdict => verdict,
            },
        }
    }

    fn decide_by(&self, rules: &Rules) -> Verdict {
        let holds = match (rules.judge)(self) {
            // A call that may never have happened is no excuse where none is needed to explain the
            // rest: an explanation without it is an explanation.
            Ok(Err(Broken { witness, excusable })) if !excusable || !any_open(self.history) => {
                return Verdict::Violation(witness);
            }
            Ok(judged) => Ok(judged.is_ok()),
            Err(AddedTwice) => Err(AddedTwice),
        };
        if let Some(witness) = sizes::judge(self.history, self.spec) {
            return Verdict::Violation(witness);
        }
        match holds {
            Ok(true) if self.is_sufficient(rules) => Verdict::Consistent,
            _ if let Some(pool) = &self.pool() => {
                Case { spec: pool, values: OnceCell::new(), ..*self }.decide()
            }
            Ok(_) if !sizes::any_claim(self.history, self.spec) => (rules.search)(self),
            _ => self.search(),
        }
    }
}

/// Whether the model is taken for a pool, which promises less, to decide this history: "consistent"
/// is then no verdict of the model itself.
pub(super) fn is_judged_as_pool(history: &History, spec: &Spec, limits: &Limits) -> bool {
    let case = Case { history, spec, limits, values: OnceCell::new() };
    match checker(spec) {
        Checker::Container(rules) => {
            case.pool().is_some() && (any_open(history) || !case.is_sufficient(&rules))
        }
        Checker::Decides(_) | Checker::DecidesSome(_) => false,
    }
}

/// Whether some operation does not say if it changed anything: then what changes a key need not
/// alternate.
fn any_unsaid(history: &History) -> bool {
    let operations = history.threads.iter().flat_map(|thread| thread.operations());
    operations.into_iter().any(|operation| operation.status == Status::Done)
}

fn range_set_verdict(case: &Case) -> Option<Verdict> {
    (!any_unsaid(case.history)).then(|| ranges::check(case.history, case.limits))
}

/// Of a set with void methods, each key for itself.
fn set_verdict(case: &Case) -> Verdict {
    if !any_unsaid(case.history) {
        return set::check(case.history);
    }
    let check = |history: &History| keyed::check(history, case.spec, case.limits);
    let is_bad = |history: &History| matches!(check(history), Verdict::Violation(_));
    match check(case.history) {
        Verdict::Violation(witness) => Verdict::Violation(match *witness.explanation {
            Explanation::Search(OfSearch::OfKey { failed, .. }) => {
                set_witness::contradiction(case.history, failed, &is_bad)
            }
            _ => witness,
        }),
        verdict => verdict,
    }
}

fn verdict(judged: Result<(), Witness>) -> Verdict {
    judged.map_or_else(Verdict::Violation, |()| Verdict::Consistent)
}

/// Most rounds of structures that need not be strict are: a fast checker then decides them.
fn relaxed_search(case: &Case) -> Verdict {
    let kind = if case.spec.kind == Kind::FifoRelaxed { Kind::Fifo } else { case.spec.kind };
    let strict = Spec { kind, k: 1, ..*case.spec };
    match (Case { spec: &strict, values: OnceCell::new(), ..*case }).decide() {
        Verdict::Consistent => Verdict::Consistent,
        _ => case.search(),
    }
}

impl Explains<History> for Spec {
    fn verdict(&self, history: &History, limits: &Limits) -> Verdict {
        let history = &*match own(history, self) {
            Ok(history) => history,
            Err(why) => return Verdict::Inconclusive(why),
        };
        let verdict = match refuse(history, self) {
            Some(refusal) => Verdict::Inconclusive(refusal),
            None if !self.is_linearizable() && !self.kind.is_run() => {
                consistency::check(history, self, limits)
            }
            None => Case { history, spec: self, limits, values: OnceCell::new() }.decide(),
        };
        failure(self).map_or(verdict, Verdict::Inconclusive)
    }
}

impl<O: Clone + Debug + Sync, M: Model<O> + Sync> Explains<Journal<O>> for M {
    fn verdict(&self, journal: &Journal<O>, limits: &Limits) -> Verdict {
        journal::check(journal, self, limits)
    }
}

/// Decides whether `model` explains `history`: a bundled model, named by a [`Spec`], a [`History`];
/// a [`Model`] of the user's a [`Journal`] of its operations.
pub fn check<H: ?Sized, E: Explains<H>>(history: &H, model: &E, limits: &Limits) -> Verdict {
    model.verdict(history, limits)
}

/// Decides any history by the general search alone, for comparison; [`check`] resorts to it where
/// it must. Of `empty=count` and `bulk=run`, which are not about orders, it sees only what they
/// imply, unless some value was added twice.
pub fn by_search(history: &History, spec: &Spec, limits: &Limits) -> Verdict {
    let history = &*match own(history, spec) {
        Ok(history) => history,
        Err(why) => return Verdict::Inconclusive(why),
    };
    match refuse(history, spec) {
        Some(refusal) => Verdict::Inconclusive(refusal),
        None if spec.kind.is_run() => itself::check(history, spec, limits),
        None if matches!(spec.kind, Kind::Snapshot | Kind::Serializable) => {
            transactions::check(history, spec, limits)
        }
        None => match sizes::judge(history, spec) {
            Some(witness) => Verdict::Violation(witness),
            None => {
                let values = Values::from_history(history).ok();
                search::check(history, spec, values.as_ref(), limits)
            }
        },
    }
}
