//! How far the history can be explained, for a page. A [`Subject`] comes in; partial
//! linearizations, the search near the failure and an order of a good history go out, in the
//! page's numbers. Does not know how they are shown.

use serde::Serialize;

use super::data::Numbers;
use super::pack::Packed;
use super::{Judgement, Subject};
use crate::check::{self, AttemptOutcome, Order, Partial, Partials, SearchTrace};

#[derive(Serialize)]
pub struct PartialsData {
    failed: Option<u32>,
    last: Option<u32>,
    near: Vec<u32>,
    more: usize,
    /// The key that all this is about, if not about all.
    key: Option<String>,
    orders: Vec<OrderData>,
}

#[derive(Serialize)]
pub struct OrderData {
    before: String,
    done: Vec<u32>,
    /// Operation, and the state it left.
    steps: Vec<(u32, String)>,
    stuck: Vec<u32>,
}

#[derive(Serialize)]
pub struct StoryData {
    /// Operation, part, parts, whether it must take effect, the steps that come before.
    steps: Vec<(u32, usize, usize, bool, Vec<usize>)>,
    states: Vec<String>,
    answers: Vec<String>,
    /// State, parent and its step (-1: a root), then step and outcome by turns: a configuration,
    /// or -1 less the place of the answer that refuses it.
    nodes: Vec<(usize, i64, i64, Vec<i64>)>,
    /// Configuration, and the steps done in it.
    roots: Vec<(usize, Vec<usize>)>,
    found: Option<usize>,
    cut: Option<String>,
}

#[derive(Serialize)]
pub struct Linearization {
    count: usize,
    /// For each: its number less the number after that of the one before.
    packed: String,
    /// What the first ones left.
    states: Vec<String>,
}

#[derive(Default)]
pub struct Explained {
    pub partials: Option<PartialsData>,
    pub story: Option<StoryData>,
    pub order: Option<Linearization>,
    pub missing: Vec<String>,
}

pub fn explained(subject: &Subject, numbers: &Numbers) -> Explained {
    let mut explained = Explained::default();
    let Some(model) = subject.model else { return explained };
    let mut known = None;
    match &subject.judgement {
        Judgement::Fault { .. } => return explained,
        Judgement::Consistent => match check::order(subject.history, &model) {
            Ok(order) => explained.order = linearization(subject, numbers, order),
            Err(why) => explained.missing.push(format!("No order is shown: {why}.")),
        },
        Judgement::Violation { partials, .. } => known = *partials,
        Judgement::Inconclusive(_) => {}
    }
    let is_bad = matches!(subject.judgement, Judgement::Violation { .. });
    match check::search_trace(subject.history, &model, known) {
        // What is wrong is elsewhere, or no matter of order.
        Ok(story) if is_bad && story.found.is_some() => {
            let why = "what is wrong is no matter of the order near one operation";
            explained.missing.push(format!("No search is shown: {why}."));
        }
        Ok(story) if story.steps.is_empty() => {}
        Ok(story) => explained.story = told(subject, numbers, story),
        Err(why) => explained.missing.push(format!("No search is shown: {why}.")),
    }
    explained.partials = known.map(|partials| partial_orders(subject, numbers, partials));
    explained
}

fn partial_orders(subject: &Subject, numbers: &Numbers, partials: &Partials) -> PartialsData {
    let order = |partial: &Partial| OrderData {
        before: subject.strings.render(&partial.before),
        done: numbers.all(&partial.done_before),
        steps: (partial.steps.iter())
            .filter_map(|step| {
                Some((numbers.of(step.operation)?, subject.strings.render(&step.state)))
            })
            .collect(),
        stuck: numbers.all(&partial.stuck),
    };
    PartialsData {
        failed: numbers.of(partials.failed),
        last: numbers.of(partials.last),
        near: numbers.all(&partials.near),
        more: partials.more,
        key: partials.key.as_ref().map(|key| subject.strings.render(key)),
        orders: partials.partials.iter().map(order).collect(),
    }
}

fn told(subject: &Subject, numbers: &Numbers, story: SearchTrace) -> Option<StoryData> {
    let steps = story.steps.into_iter().map(|step| {
        let operation = numbers.of(step.operation)?;
        Some((operation, step.part, step.parts, step.must, step.after))
    });
    let steps = steps.collect::<Option<Vec<_>>>()?;
    let rendered = |texts: Vec<String>| texts.iter().map(|t| subject.strings.render(t)).collect();
    let roots = story.roots.iter().map(|root| (*root, story.nodes[*root].done.clone())).collect();
    let nodes = story.nodes.into_iter().map(|node| {
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
    Some(StoryData {
        steps,
        states: rendered(story.states),
        answers: rendered(story.answers),
        nodes: nodes.collect(),
        roots,
        found: story.found,
        cut: story.cut,
    })
}

/// None where some operation is not in the page.
fn linearization(subject: &Subject, numbers: &Numbers, order: Order) -> Option<Linearization> {
    let (mut packed, mut before) = (Packed::default(), -1);
    for id in &order.operations {
        let number = i64::from(numbers.of(*id)?);
        packed.push_signed(number - before - 1);
        before = number;
    }
    Some(Linearization {
        count: order.operations.len(),
        packed: packed.base64(),
        states: order.states.iter().map(|state| subject.strings.render(state)).collect(),
    })
}
