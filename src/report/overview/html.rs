//! Makes tables and sections of HTML. `maud` escapes all text.

use maud::{Markup, Render, html};

/// A cell of a table.
pub enum Cell {
    Text(String),
    Code(String),
    /// Links, one below the other: where to, and the text.
    Links(Vec<(String, String)>),
    Count(u64),
    /// A part of a whole, with a bar; between 0 and 1.
    Share(f64),
    /// A count on a coloured background: the depth of the colour, between 0 and 1, and small text
    /// below the count.
    Heat(u64, f64, String),
    /// Possible, but never happened.
    Never,
    /// Impossible, and why.
    Impossible(&'static str),
}

/// A row of a table: its header and its cells.
pub type Row = (String, Vec<Cell>);

/// A count with its digits in groups of three.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// "12 %", with a decimal where it is small.
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        0.0 => "0 %".to_string(),
        percent if percent < 0.1 => "< 0.1 %".to_string(),
        percent if percent < 10.0 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

impl Cell {
    fn is_number(&self) -> bool {
        matches!(self, Cell::Count(_) | Cell::Heat(..) | Cell::Never)
    }
}

impl Render for Cell {
    fn render(&self) -> Markup {
        let part = |share: &f64| format!("--share:{:.1}%", 100.0 * share);
        html! {
            @match self {
                Cell::Text(text) => td { (text) },
                Cell::Code(text) => td { @if !text.is_empty() { code { (text) } } },
                Cell::Links(links) => td { @for (at, (to, text)) in links.iter().enumerate() {
                    @if at > 0 { br; }
                    a href=(to) { (text) }
                } },
                Cell::Count(count) => td.number { (grouped(*count)) },
                Cell::Share(share) => td.share style=(part(share)) { (percent(*share)) },
                Cell::Heat(count, deep, below) => td.heat style=(part(deep)) {
                    (grouped(*count))
                    @if !below.is_empty() { small { (below) } }
                },
                Cell::Never => td.never { "✕ never" },
                Cell::Impossible(why) => td.muted { (why) },
            }
        }
    }
}

/// A table. `class`: "" or "grid".
pub fn table<Head: Render>(class: &str, caption: &str, heads: &[Head], rows: &[Row]) -> Markup {
    let is_number = |at: usize| {
        at > 0 && rows.iter().any(|(_, cells)| cells.get(at - 1).is_some_and(Cell::is_number))
    };
    // A wide table scrolls, also with keys.
    html! {
        div.wide tabindex="0" role="group" aria-label=(caption) {
            table class=(class) {
                caption { (caption) }
                thead { tr {
                    @for (at, head) in heads.iter().enumerate() {
                        th scope="col" class=[is_number(at).then_some("number")] { (head) }
                    }
                } }
                tbody { @for (head, cells) in rows {
                    tr { th scope="row" { (head) } @for cell in cells { (cell) } }
                } }
            }
        }
    }
}

/// Names and values.
pub fn facts(facts: &[(&str, String)]) -> Markup {
    html! { dl.facts { @for (name, value) in facts { dt { (name) } dd { (value) } } } }
}

/// A part of the page that the navigation leads to.
pub struct Section {
    pub id: &'static str,
    pub title: &'static str,
    pub html: Markup,
}

impl Render for Section {
    fn render(&self) -> Markup {
        let Section { id, title, html } = self;
        html! {
            section aria-labelledby=(id) { h2 id=(id) tabindex="-1" { (title) } (html) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_groups_and_shares_as_percents() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(grouped(123_456), "123\u{202f}456");
        assert_eq!([0.0, 0.0004, 0.0312, 0.5].map(percent), ["0 %", "< 0.1 %", "3.1 %", "50 %"]);
    }
}
