//! The page of `interlap orders`: which memory orders a target's calls need.

use maud::{Markup, html};

use super::Page;
use super::html::{Cell, Section, table};
use crate::campaign::orders::{Orders, Row};
use crate::report::orders::{HEADS, cells, command, finding, has_weaker, noticed, sentences};

/// The page. `link` is where the page of a finding is.
pub fn render(orders: &Orders, link: impl Fn(&str) -> String) -> String {
    let row = |row: &Row| {
        let [line, access, written, weakest] = cells(row);
        let shows =
            noticed(row).map(|(trial, found)| (link(&found.directory), finding(row, trial, found)));
        let text = [access, written, weakest].map(Cell::Text);
        (line, text.into_iter().chain([Cell::Links(shows.collect())]).collect())
    };
    let rows = orders.rows.iter().filter(|row| has_weaker(row));
    let rows: Vec<super::html::Row> = rows.map(row).collect();
    let caption = "Atomic accesses and fences, with the order as written and the weakest one with \
                   which nothing was found";
    let section =
        Section { id: "orders", title: "Memory orders", html: table("", caption, &HEADS, &rows) };
    let mut words = sentences(orders).into_iter();
    Page {
        title: html! { "Memory orders of " (orders.plan.target_name()) },
        about: command(&orders.plan, orders.rounds),
        kind: if orders.is_complete() { "consistent" } else { "inconclusive" },
        heading: words.next().unwrap_or_default(),
        sentences: html! { @for sentence in words { p { (sentence) } } },
        sections: vec![section],
        help: help(),
    }
    .render()
}

fn help() -> Markup {
    html! {
        p {
            "Each order is taken weaker by steps, without changing the code, and the same rounds "
            "are run again with the memory of C++20. If something is found, the weaker order is "
            "not enough, and the link shows why. If nothing is, it may be enough, or these rounds "
            "do not come to where it is not: other calls, keys or threads, or more rounds, may."
        }
        p {
            "The part of weaker orders that were noticed says how well these rounds test the "
            "orders of the target: a mistake in one would most likely be noticed as often."
        }
    }
}
