//! Makes tables and sections of HTML. Text is escaped here.

use crate::report::page::escaped;

/// A cell of a table.
pub enum Cell {
    Text(String),
    Code(String),
    /// A link: where to, and its text.
    Link(String, String),
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

    fn html(&self) -> String {
        match self {
            Cell::Text(text) => format!("<td>{}</td>", escaped(text)),
            Cell::Code(text) if text.is_empty() => "<td></td>".to_string(),
            Cell::Code(text) => format!("<td><code>{}</code></td>", escaped(text)),
            Cell::Link(to, text) => {
                format!("<td><a href=\"{}\">{}</a></td>", escaped(to), escaped(text))
            }
            Cell::Count(count) => format!("<td class=\"number\">{}</td>", grouped(*count)),
            Cell::Share(share) => {
                let (width, text) = (100.0 * share, percent(*share));
                format!("<td class=\"share\" style=\"--share:{width:.1}%\">{text}</td>")
            }
            Cell::Heat(count, deep, below) => {
                let below = match below.as_str() {
                    "" => String::new(),
                    below => format!("<small>{}</small>", escaped(below)),
                };
                let (deep, count) = (100.0 * deep, grouped(*count));
                format!("<td class=\"heat\" style=\"--share:{deep:.1}%\">{count}{below}</td>")
            }
            Cell::Never => "<td class=\"never\">✕ never</td>".to_string(),
            Cell::Impossible(why) => format!("<td class=\"muted\">{}</td>", escaped(why)),
        }
    }
}

/// Heads of columns, for [`table`].
pub fn heads(heads: &[&str]) -> Vec<String> {
    heads.iter().map(|head| head.to_string()).collect()
}

/// A table; the first of each row is its header. `class`: "" or "grid".
pub fn table(class: &str, caption: &str, heads: &[String], rows: &[(String, Vec<Cell>)]) -> String {
    let numbers = |at: usize| {
        at > 0 && rows.iter().any(|(_, cells)| cells.get(at - 1).is_some_and(Cell::is_number))
    };
    let head = |(at, text): (usize, &String)| {
        let class = if numbers(at) { " class=\"number\"" } else { "" };
        format!("<th scope=\"col\"{class}>{}</th>", escaped(text))
    };
    let heads: String = heads.iter().enumerate().map(head).collect();
    let row = |(head, cells): &(String, Vec<Cell>)| {
        let cells: String = cells.iter().map(Cell::html).collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escaped(head))
    };
    let body: String = rows.iter().map(row).collect();
    let caption = escaped(caption);
    // A wide table scrolls, also with keys.
    format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"{caption}\">\
         <table class=\"{class}\"><caption>{caption}</caption>\n\
         <thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )
}

/// Names and values.
pub fn facts(facts: &[(&str, String)]) -> String {
    let pair = |(name, value): &(&str, String)| {
        format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value))
    };
    format!("<dl class=\"facts\">\n{}</dl>\n", facts.iter().map(pair).collect::<String>())
}

pub fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escaped(text))
}

/// A part that is folded until it is opened.
pub fn folded(summary: &str, html: &str) -> String {
    format!("<details><summary>{}</summary>\n{html}</details>\n", escaped(summary))
}

/// A part of the page that the navigation leads to.
pub struct Section {
    pub id: &'static str,
    pub title: &'static str,
    pub html: String,
}

impl Section {
    pub fn render(&self) -> String {
        let Section { id, title, html } = self;
        format!(
            "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\" tabindex=\"-1\">{title}</h2>\n\
             {html}</section>\n"
        )
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

    #[test]
    fn text_is_escaped() {
        let evil = "<b>&\"".to_string();
        let cells = || vec![Cell::Text(evil.clone()), Cell::Link(evil.clone(), evil.clone())];
        let html = table("", &evil, std::slice::from_ref(&evil), &[(evil.clone(), cells())]);
        assert!(!html.contains("<b>"), "{html}");
        assert!(!(paragraph(&evil) + &facts(&[("a", evil.clone())])).contains("<b>"));
        assert!(html.contains("href=\"&lt;b&gt;&amp;&quot;\""), "{html}");
    }
}
