//! Renders the page of a run: one HTML file that shows what was exercised and what was not.
//! It needs no network, and its script only switches colours.
//!
//! - `chart`: Draws the curves of a count as SVG, with a caption that says the same in words.
//! - `exercised`: Sections of a run's page about what it exercised: operations and answers, which
//!   of them overlapped, arguments.
//! - `html`: Makes tables and sections of HTML.
//! - `orders`: The page of `interlap orders`: which memory orders a target's calls need.
//! - `runs`: Sections of a run's page: findings, figures, growth, policies, and the circumstances
//!   of each run.

mod chart;
mod exercised;
mod html;
pub mod orders;
mod runs;

use maud::{Markup, PreEscaped, html};

use super::progress::summary_line;
use super::warnings;
use super::words::{self, NOTHING_FOUND};
use crate::campaign::ledger::Ledger;
use crate::fuzz::exercise::{self, ANALYSED_CALLS, Gap, Offer};
use crate::trace::judged::{SAMPLED_FIRST, SAMPLED_ONE_IN};
use crate::view::page;
use html::{Section, grouped};

const TEMPLATE: &str = include_str!("assets/run.html");
const STYLE: &str = include_str!("assets/run.css");

/// A row of the page's table of findings.
pub struct Found {
    pub name: String,
    pub signature: String,
    pub sightings: u64,
    pub after_seconds: f64,
    pub confirmed: Option<bool>,
    /// The link to its own page.
    pub link: String,
}

/// What the ledger's runs could have exercised; none if they did not record it.
pub fn offer(ledger: &Ledger) -> Option<Offer> {
    let known = ledger.parts.iter().find_map(|part| part.circumstances.as_ref())?;
    let plans = ledger.parts.iter().map(|part| &part.plan);
    Some(Offer::new(&known.target.operations, known.target.capacity.into(), plans))
}

/// What the ledger's runs never exercised, the widest gaps first.
pub fn gaps(ledger: &Ledger) -> Vec<Gap> {
    let exercised = ledger.statistics.exercise.as_ref().zip(offer(ledger));
    exercised.map_or(Vec::new(), |(exercise, offer)| exercise::gaps(exercise, &offer))
}

/// What a page of this kind has.
struct Page {
    title: Markup,
    /// A line below it.
    about: String,
    /// The class of the result.
    kind: &'static str,
    /// The result, and more about it.
    heading: String,
    sentences: Markup,
    sections: Vec<Section>,
    help: Markup,
}

impl Page {
    fn render(&self) -> String {
        page::fill(TEMPLATE, |name| match name {
            "title" => self.title.clone(),
            "about" => html! { (self.about) },
            "kind" => html! { (self.kind) },
            "heading" => html! { (self.heading) },
            "sentences" => self.sentences.clone(),
            "nav" => html! {
                @for Section { id, title, .. } in &self.sections { a href={ "#" (id) } { (title) } }
                a href="#help" { "How to read" }
            },
            "sections" => html! { @for section in &self.sections { (section) } },
            "help" => self.help.clone(),
            "glossary" => page::glossary(),
            "style" => PreEscaped([page::BASE_STYLE, STYLE].concat()),
            "script" => PreEscaped([page::DOM, page::THEME].concat()),
            _ => unreachable!("the template has no {name}"),
        })
    }
}

/// The page.
pub fn render(ledger: &Ledger, found: &[Found]) -> String {
    let about = format!("{}, {} {}", ledger.library, words::CHECKED_AGAINST, ledger.model);
    let (kind, heading) = heading(ledger, found);
    Page {
        title: html! {
            @match ledger.parts.len() { 0 | 1 => "A run of ", runs => { (runs) " runs of " } }
            (ledger.target)
        },
        about: about.trim_start_matches(", ").to_string(),
        kind,
        heading,
        sentences: html! { p { (summary_line(&ledger.statistics)) "." } },
        sections: sections(ledger, found),
        help: help(),
    }
    .render()
}

fn help() -> Markup {
    html! {
        p {
            "Two calls " em { "overlap" } " if neither had returned before the other began: then a "
            "mistake in the structure can show that no single thread would see. What never "
            "overlapped was not tested at once, however many calls there were."
        }
        p {
            "Answers are counted in all rounds; arguments and overlaps are counted in the first "
            (grouped(SAMPLED_FIRST)) " rounds and in one of " (SAMPLED_ONE_IN) " after those, "
            "chosen by the round’s number alone, and of each in its first "
            (grouped(ANALYSED_CALLS as u64)) " calls (of a long round, of each part). The calls of "
            "the drain, which empties the structure after each round, do not count, nor do the "
            "first rounds, in which only one call happens at a time."
        }
        p {
            "A curve that has become flat says that more of the same will hardly find more: change "
            "the plan (the options under " q { "Never exercised" } ", other threads, keys or "
            "weights). One that still rises says that a longer run may."
        }
    }
}

/// The result in a line, and its class.
fn heading(ledger: &Ledger, found: &[Found]) -> (&'static str, String) {
    match found.len() {
        1 => ("violation", "One finding".to_string()),
        2.. => ("violation", format!("{} findings", found.len())),
        0 => match ledger.statistics.untested() {
            Some(why) => ("inconclusive", warnings::untested(why)),
            None => ("consistent", NOTHING_FOUND.to_string()),
        },
    }
}

fn sections(ledger: &Ledger, found: &[Found]) -> Vec<Section> {
    let mut sections: Vec<Section> = runs::findings(found).into_iter().collect();
    if let Some((exercise, offer)) = ledger.statistics.exercise.as_ref().zip(offer(ledger)) {
        sections.push(exercised::never(exercise, &exercise::gaps(exercise, &offer)));
        sections.push(exercised::operations(exercise, &offer));
        sections.push(exercised::at_once(exercise, &offer));
        sections.extend(exercised::arguments(exercise, &offer));
    }
    sections.extend(runs::growth(ledger));
    sections.extend(ledger.statistics.coverage.as_ref().map(runs::policies));
    sections.push(runs::figures(&ledger.statistics));
    sections.push(runs::circumstances(ledger));
    sections
}
