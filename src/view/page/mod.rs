//! Renders the page of a finding or a history: one HTML file that needs no network.
//! `assets` has the page, which is joined here; [`data`] is what its script reads.
//!
//! - `data`: The data of a page, as its script reads it (`assets/decode.js`): operations are packed
//!   and numbered by their start; the evidence near the failure is there in full.
//! - `evidence`: The evidence of a page: partial linearizations, the search near the failure, or an
//!   order of a good history, in the page's numbers.
//! - `glossary`: The glossary of the book (`docs/glossary.md`) as a part of a page, which explains
//!   its terms without network.
//! - `pack`: Packs integers into bytes (LEB128), and these into base64 for a page.

mod data;
mod evidence;
mod glossary;
mod pack;

use maud::{Markup, PreEscaped, html};

use crate::check::{Limits, NotShown, Partials};
use crate::core::history::{History, OperationId, Unit};
use crate::core::interner::Interner;
use crate::model::Spec;
use crate::view::explanation::UNEXPLAINED;
use crate::view::versions::{self, Version};

pub use glossary::glossary;

const TEMPLATE: &str = include_str!("assets/page.html");
/// What all pages have: the base of their style, and scripts that do not depend on a history.
pub const BASE_STYLE: &str = include_str!("assets/page.css");
pub const DOM: &str = include_str!("assets/dom.js");
pub const THEME: &str = include_str!("assets/theme.js");
const STYLE: [&str; 3] =
    [BASE_STYLE, include_str!("assets/timeline.css"), include_str!("assets/search.css")];
/// Shown by browsers in which the script fails.
const GUARD: &str = include_str!("assets/guard.js");
/// In this order: each uses what those before it define.
const SCRIPT: [&str; 13] = [
    include_str!("assets/decode.js"),
    include_str!("assets/states.js"),
    include_str!("assets/search.js"),
    include_str!("assets/scale.js"),
    DOM,
    THEME,
    include_str!("assets/draw.js"),
    include_str!("assets/timeline.js"),
    include_str!("assets/orders.js"),
    include_str!("assets/grid.js"),
    include_str!("assets/player.js"),
    include_str!("assets/tables.js"),
    include_str!("assets/main.js"),
];

/// What a page shows.
pub struct Subject<'a> {
    /// Of the finding or the file.
    pub title: String,
    /// The library and the model.
    pub about: String,
    pub history: &'a History,
    /// None if this program does not know it any more.
    pub model: Option<Spec>,
    pub conclusion: Conclusion<'a>,
    /// The operations with letters, in the order of these.
    pub lettered: Vec<OperationId>,
    pub unit: Unit,
    /// Names and values, which are mostly commands.
    pub facts: Vec<(String, String)>,
    /// The texts that integers of the history stand for.
    pub strings: &'a Interner,
    pub interleaving: Option<Interleaving>,
    /// What may be spent on evidence.
    pub limits: Limits,
}

/// The verdict on the history, or a fault.
pub enum Conclusion<'a> {
    Consistent,
    Inconclusive(String),
    Violation {
        rule: &'a str,
        /// In sentences.
        explanation: String,
        operations: &'a [OperationId],
        partials: Result<&'a Partials, NotShown>,
    },
    /// A sentence about a fault, and what else is known.
    Fault {
        sentence: String,
        more: Vec<String>,
    },
}

/// The steps of a round's threads, in order.
#[derive(Clone, Debug, Default)]
pub struct Interleaving {
    pub steps: Vec<Interleaved>,
    /// The number of steps that are left out because they do not matter.
    pub left_out: u64,
}

/// One step of a thread.
#[derive(Clone, Debug, Default)]
pub struct Interleaved {
    /// Its number, as in the stamps of the history.
    pub step: u64,
    /// The client's number in the history.
    pub thread: u32,
    pub operation: Option<OperationId>,
    /// "head = 7, was 0", "tail is #2, not #1: not changed", ...
    pub what: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    /// The line of the same file that calls it, if several lines call the helper.
    pub from: Option<u32>,
    /// That line's text.
    pub text: Option<String>,
    /// Whether a preemption came before it.
    pub is_switch: bool,
}

/// The page.
pub fn render(subject: &Subject) -> String {
    let data = data::Data::new(subject);
    let json = serde_json::to_string(&data).expect("it holds what JSON can hold");
    let (heading, sentences) = words(subject);
    fill(TEMPLATE, |name| match name {
        "title" => html! { (subject.title) },
        "about" => html! { (subject.about) },
        "heading" => html! { (heading) },
        "kind" => html! { (data.verdict) },
        "sentences" => html! { @for sentence in &sentences { p { (sentence) } } },
        "facts" => facts(&[&versions(subject)[..], &subject.facts].concat()),
        "glossary" => glossary(),
        "style" => PreEscaped(STYLE.concat()),
        "guard" => PreEscaped(GUARD.to_string()),
        "script" => PreEscaped(SCRIPT.concat()),
        // Only "<" can end a script element.
        "data" => PreEscaped(json.replace('<', "\\u003c")),
        _ => unreachable!("the template has no {name}"),
    })
}

/// The page's script without the page, for tests of its logic.
pub fn script() -> String {
    SCRIPT.concat()
}

/// The verdict in a line, and paragraphs that explain it.
fn words(subject: &Subject) -> (String, Vec<String>) {
    match &subject.conclusion {
        Conclusion::Consistent => {
            ("Consistent: some order of the calls explains every answer".to_string(), Vec::new())
        }
        Conclusion::Inconclusive(reason) => (
            "Not decided: whether some order explains the answers is unknown".to_string(),
            vec![reason.clone()],
        ),
        Conclusion::Violation { rule, explanation, .. } => {
            (format!("{UNEXPLAINED} ({rule})"), vec![explanation.clone()])
        }
        Conclusion::Fault { sentence, more } => (
            "The target failed".to_string(),
            [sentence.clone()].iter().chain(more).cloned().collect(),
        ),
    }
}

/// The versions that transactions contradict each other about.
fn versions(subject: &Subject) -> Vec<(String, String)> {
    let Conclusion::Violation { operations, .. } = &subject.conclusion else { return Vec::new() };
    let all = versions::versions(subject.history, operations, subject.strings);
    let fact = |Version { key, content, written, read }| {
        (format!("Versions of {key}"), format!("{content} {written}, {read}"))
    };
    all.into_iter().map(fact).collect()
}

/// Names and values as a list; nothing without any.
fn facts(facts: &[(String, String)]) -> Markup {
    html! {
        @if !facts.is_empty() {
            dl #facts .facts {
                @for (name, value) in facts { dt { (name) } dd { code { (value) } } }
            }
        }
    }
}

/// Replaces each `{{name}}` of the template. Values are not searched for names.
pub fn fill(template: &str, value: impl Fn(&str) -> Markup) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some(at) = rest.find("{{") {
        let end = at + rest[at..].find("}}").expect("a name ends");
        page += &rest[..at];
        page += &value(&rest[at + 2..end]).0;
        rest = &rest[end + 2..];
    }
    page + rest
}
