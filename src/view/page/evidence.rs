//! The evidence of a page: partial linearizations, the search near the failure, or an order of a
//! good history, in the page's numbers. `crate::check` computes it.

use serde::Serialize;

use super::data::Numbers;
use super::pack::Packed;
use super::{Conclusion, Subject};
use crate::check::{self, AttemptOutcome, NotShown, Order, Partial, Partials, SearchTrace};
use crate::core::operation::Op;
use crate::core::words::brief;
use crate::model::Expected;
use crate::view::explanation::{self, undecided};

/// Characters of an answer.
const ANSWER_MAX: usize = 1_000;

#[derive(Serialize)]
pub struct PartialsData {
    failed: Option<u32>,
    last: Option<u32>,
    near: Vec<u32>,
    more: usize,
    /// The key, if only the operations on one key are explained.
    key: Option<String>,
    orders: Vec<OrderData>,
}

#[derive(Serialize)]
pub struct OrderData {
    before: String,
    done: Vec<u32>,
    /// Operation, and the state after it.
    steps: Vec<(u32, String)>,
    stuck: Vec<u32>,
}

#[derive(Serialize)]
pub struct SearchData {
    /// Operation, part, number of parts, whether it must take effect, the steps that come before.
    steps: Vec<(u32, usize, usize, bool, Vec<usize>)>,
    states: Vec<String>,
    answers: Vec<String>,
    /// State; parent and the step from it (-1: a root); then step and outcome in turn. An outcome
    /// is the number of a node, or -1 minus the index of the answer that refuses the step.
    nodes: Vec<(usize, i64, i64, Vec<i64>)>,
    /// The number of a node, and the steps done in it.
    roots: Vec<(usize, Vec<usize>)>,
    found: Option<usize>,
    cut: Option<String>,
}

#[derive(Serialize)]
pub struct Linearization {
    count: usize,
    /// For each operation: its number minus the previous one's, minus one.
    packed: String,
    /// The states after the first ones.
    states: Vec<String>,
}

#[derive(Default)]
pub struct Evidence {
    pub partials: Option<PartialsData>,
    pub search: Option<SearchData>,
    pub order: Option<Linearization>,
    /// Why there is no search or no order.
    pub missing: Vec<String>,
}

impl Evidence {
    pub fn new(subject: &Subject, numbers: &Numbers) -> Evidence {
        let mut evidence = Evidence::default();
        let Some(model) = subject.model else { return evidence };
        let mut known = None;
        match &subject.conclusion {
            Conclusion::Fault { .. } => return evidence,
            Conclusion::Consistent => {
                match check::order(subject.history, &model, &subject.limits) {
                    Ok(order) => evidence.order = linearization(subject, numbers, order),
                    Err(why) => {
                        let why = undecided::not_shown(&why);
                        evidence.missing.push(format!("No order is shown: {why}."));
                    }
                }
            }
            Conclusion::Violation { partials: Ok(partials), .. } => known = Some(*partials),
            Conclusion::Violation { partials: Err(why), .. } => {
                evidence.missing.push(no_search(why));
                return evidence;
            }
            Conclusion::Inconclusive(_) => {}
        }
        match check::search_trace(subject.history, &model, known, &subject.limits) {
            Ok(trace) if trace.steps.is_empty() => {}
            Ok(trace) => evidence.search = search_data(subject, numbers, trace),
            Err(why) => evidence.missing.push(no_search(&why)),
        }
        evidence.partials = known.map(|partials| partials_data(subject, numbers, partials));
        evidence
    }
}

fn no_search(why: &NotShown) -> String {
    format!("No search is shown: {}.", undecided::not_shown(why))
}

fn partials_data(subject: &Subject, numbers: &Numbers, partials: &Partials) -> PartialsData {
    let order = |partial: &Partial| OrderData {
        before: subject.strings.render(&partial.before),
        done: numbers.all(&partial.done_before),
        steps: (partial.steps.iter())
            .filter_map(|step| {
                Some((numbers.get(step.operation)?, subject.strings.render(&step.state)))
            })
            .collect(),
        stuck: numbers.all(&partial.stuck),
    };
    PartialsData {
        failed: numbers.get(partials.failed),
        last: numbers.get(partials.last),
        near: numbers.all(&partials.near),
        more: partials.more,
        key: partials.key.map(|key| subject.strings.shown(key)),
        orders: partials.partials.iter().map(order).collect(),
    }
}

fn search_data(subject: &Subject, numbers: &Numbers, trace: SearchTrace) -> Option<SearchData> {
    let steps = trace.steps.into_iter().map(|step| {
        let operation = numbers.get(step.operation)?;
        Some((operation, step.part, step.parts, step.must, step.after))
    });
    let steps = steps.collect::<Option<Vec<_>>>()?;
    let answer = |(op, expected): &(Op, Expected)| {
        brief(explanation::expected_answer(*op, expected, subject.strings), ANSWER_MAX)
    };
    let roots = trace.roots.iter().map(|root| (*root, trace.nodes[*root].done.clone())).collect();
    let cut = trace.is_cut.then(|| undecided::cut(trace.nodes.len()));
    let nodes = trace.nodes.into_iter().map(|node| {
        let (parent, by) = node.parent.map_or((-1, -1), |(p, by)| (p as i64, by as i64));
        let tries = node.tries.iter().flat_map(|tried| {
            let outcome = match tried.outcome {
                AttemptOutcome::Leads(to) => to as i64,
                AttemptOutcome::Refused(answer) => -1 - answer as i64,
            };
            [tried.step as i64, outcome]
        });
        (node.state, parent, by, tries.collect())
    });
    Some(SearchData {
        steps,
        states: trace.states.iter().map(|state| subject.strings.render(state)).collect(),
        answers: trace.answers.iter().map(answer).collect(),
        nodes: nodes.collect(),
        roots,
        found: trace.found,
        cut,
    })
}

/// None if an operation is not in the page.
fn linearization(subject: &Subject, numbers: &Numbers, order: Order) -> Option<Linearization> {
    let (mut packed, mut before) = (Packed::default(), -1);
    for id in &order.operations {
        let number = i64::from(numbers.get(*id)?);
        packed.push_signed(number - before - 1);
        before = number;
    }
    Some(Linearization {
        count: order.operations.len(),
        packed: packed.base64(),
        states: order.states.iter().map(|state| subject.strings.render(state)).collect(),
    })
}
