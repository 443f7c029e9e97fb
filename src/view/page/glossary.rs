//! The glossary of the book (`docs/glossary.md`) as a part of a page, which explains its terms
//! without network.

use maud::{Markup, html};

const GLOSSARY: &str = include_str!("../../../docs/glossary.md");

/// A folded list of the terms.
pub fn glossary() -> Markup {
    let entries = GLOSSARY.split("\n### ").skip(1).filter_map(|entry| entry.split_once('\n'));
    html! {
        details #glossary {
            summary { "Glossary" }
            dl {
                @for (term, text) in entries {
                    dt id={ "term-" (term.replace(' ', "-")) } { (term) }
                    dd { (inline(text.trim()).unwrap_or_else(|| html! { (text) })) }
                }
            }
        }
    }
}

/// Code, emphasis and links of Markdown; none if a sign has no end. Of a link to another chapter
/// only its text is left.
fn inline(text: &str) -> Option<Markup> {
    let Some(at) = text.find(['`', '*', '[']) else { return Some(html! { (text) }) };
    let (before, sign, rest) = (&text[..at], text.as_bytes()[at], &text[at + 1..]);
    let (inner, rest) = rest.split_once(if sign == b'[' { ']' } else { sign as char })?;
    let (markup, rest) = match sign {
        b'`' => (html! { code { (inner) } }, rest),
        b'*' => (html! { em { (inner) } }, rest),
        _ => {
            let (to, rest) = rest.strip_prefix('(')?.split_once(')')?;
            let term = to.strip_prefix('#');
            let link = term.map(|term| html! { a href={ "#term-" (term) } { (inner) } });
            (link.unwrap_or_else(|| html! { (inner) }), rest)
        }
    };
    let rest = inline(rest)?;
    Some(html! { (before) (markup) (rest) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_markdown_become_markup() {
        let text = "A *b* of `c<d>`: see [e](#e-f), [g.md](g.md).";
        let expected = "A <em>b</em> of <code>c&lt;d&gt;</code>: see <a href=\"#term-e-f\">e</a>, \
                        g.md.";
        assert_eq!(inline(text).map(|markup| markup.0).as_deref(), Some(expected));
        assert!(inline("a `b").is_none() && inline("[a] b").is_none());
    }

    #[test]
    fn every_term_is_there_and_every_link_leads_to_one() {
        let html = glossary().0;
        assert_eq!(html.matches("<dt ").count(), GLOSSARY.matches("\n### ").count());
        for link in html.split("href=\"#").skip(1) {
            let (id, _) = link.split_once('"').expect("its end");
            assert!(html.contains(&format!("<dt id=\"{id}\">")), "{id}");
        }
        assert!(!html.contains(['`', '*', '[']), "{html}");
    }
}
