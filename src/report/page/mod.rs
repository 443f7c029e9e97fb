//! A page: one HTML file without network that shows a history and what was made of it. A
//! [`Subject`] comes in, the page's text goes out: [`data`] is what its script is given, `assets`
//! the page itself, written by hand and joined here. Decides nothing about the history.
//!
//! - `data`: What a page's script is given.
//! - `explained`: How far the history can be explained, for a page.
//! - `pack`: Numbers in little room.
//! - `stored`: The page of a finding.

mod data;
mod explained;
mod pack;
mod stored;

use crate::check::Partials;
use crate::core::history::{History, OperationId, Unit};
use crate::exchange::values::Interner;
use crate::model::Spec;

pub use stored::of_finding;

const TEMPLATE: &str = include_str!("assets/page.html");
/// What all pages have: the ground of their style, and scripts that know nothing of a history.
pub const GROUND: &str = include_str!("assets/page.css");
pub const DOM: &str = include_str!("assets/dom.js");
pub const THEME: &str = include_str!("assets/theme.js");
const STYLE: [&str; 3] =
    [GROUND, include_str!("assets/timeline.css"), include_str!("assets/search.css")];
/// For browsers in which the script fails.
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
    /// None where it is not known any more.
    pub model: Option<Spec>,
    pub judgement: Judgement<'a>,
    /// The operations that bear letters, in the order of their letters.
    pub lettered: Vec<OperationId>,
    pub unit: Unit,
    /// What else there is to know: names and values, the values mostly commands.
    pub facts: Vec<(String, String)>,
    /// What integers in the history stand for something else.
    pub strings: &'a Interner,
    /// What happened in the round, step by step, where that is known.
    pub interleaving: Option<Interleaving>,
}

/// What was made of the history.
pub enum Judgement<'a> {
    Consistent,
    Inconclusive(String),
    Violation {
        rule: &'a str,
        explanation: String,
        operations: &'a [OperationId],
        /// How far it can be explained.
        partials: Option<&'a Partials>,
    },
    /// The target ended its process, or hangs: a sentence, and what else is known.
    Fault {
        sentence: String,
        more: Vec<String>,
    },
}

/// A round step by step, as its threads took turns.
#[derive(Clone, Debug, Default)]
pub struct Interleaving {
    pub steps: Vec<Interleaved>,
    /// Steps that are left out, as nothing hangs on them.
    pub left_out: u64,
}

/// One step of a thread.
#[derive(Clone, Debug, Default)]
pub struct Interleaved {
    /// Its number, in the stamps of the history.
    pub step: u64,
    /// Number of the thread, as clients of the history have it.
    pub thread: u32,
    /// The operation that it belongs to.
    pub operation: Option<OperationId>,
    /// "store 7 to head", "compare-exchange of tail failed", ...
    pub what: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    /// The line of the same file that calls it, of a helper that is called from several.
    pub from: Option<u32>,
    /// That line's text.
    pub text: Option<String>,
    /// Whether the turn was taken from a thread that could have gone on.
    pub is_switch: bool,
}

/// The page.
pub fn render(subject: &Subject) -> String {
    let data = data::Data::of(subject);
    let json = serde_json::to_string(&data).expect("it holds what JSON can hold");
    let (heading, sentences) = words(subject);
    let paragraphs: String =
        sentences.iter().map(|sentence| format!("<p>{}</p>\n", escaped(sentence))).collect();
    fill(TEMPLATE, |name| match name {
        "title" => escaped(&subject.title),
        "about" => escaped(&subject.about),
        "heading" => escaped(&heading),
        "kind" => data.verdict.to_string(),
        "sentences" => paragraphs.clone(),
        "facts" => facts(&subject.facts),
        "style" => STYLE.concat(),
        "guard" => GUARD.to_string(),
        "script" => SCRIPT.concat(),
        // Within a script element nothing but "<" can end it.
        "data" => json.replace('<', "\\u003c"),
        _ => unreachable!("the template has no {name}"),
    })
}

/// The page's script without the page, for tests of its logic.
pub fn script() -> String {
    SCRIPT.concat()
}

/// The verdict in a line, and what explains it.
fn words(subject: &Subject) -> (String, Vec<String>) {
    let render = |text: &str| subject.strings.render(text);
    match &subject.judgement {
        Judgement::Consistent => {
            ("Consistent: some order of the calls explains every answer".to_string(), Vec::new())
        }
        Judgement::Inconclusive(reason) => (
            "Not decided: whether some order explains the answers is unknown".to_string(),
            vec![render(reason)],
        ),
        Judgement::Violation { rule, explanation, .. } => (
            format!("No order of the calls explains the answers ({rule})"),
            vec![render(explanation)],
        ),
        Judgement::Fault { sentence, more } => (
            "The target failed".to_string(),
            [sentence.clone()].iter().chain(more).cloned().collect(),
        ),
    }
}

/// Names and values as a list; nothing of no facts.
fn facts(facts: &[(String, String)]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let pair = |(name, value): &(String, String)| {
        format!("<dt>{}</dt>\n<dd><code>{}</code></dd>\n", escaped(name), escaped(value))
    };
    format!(
        "<dl id=\"facts\" class=\"facts\">\n{}</dl>",
        facts.iter().map(pair).collect::<String>()
    )
}

/// The template with what stands for each `{{name}}`; what is put in is not looked at again.
pub fn fill(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some(at) = rest.find("{{") {
        let end = at + rest[at..].find("}}").expect("a name ends");
        page += &rest[..at];
        page += &value(&rest[at + 2..end]);
        rest = &rest[end + 2..];
    }
    page + rest
}

/// Text as HTML.
pub fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html += "&amp;",
            '<' => html += "&lt;",
            '>' => html += "&gt;",
            '"' => html += "&quot;",
            c => html.push(c),
        }
    }
    html
}
