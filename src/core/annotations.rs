//! What a test or a log says besides the operations: points and spans of time with a text, and
//! notes on operations. They are shown, and decide nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::history::{NEVER, OperationId};

/// A point or a span of time, with its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    pub text: String,
    pub start: u64,
    /// The start, of a point; [`NEVER`] where a span has not ended.
    pub end: u64,
}

/// All that is said besides the operations of a history, in the stamps of its timeboxes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotations {
    /// In the order of their starts.
    pub all: Vec<Annotation>,
    pub of_operations: BTreeMap<OperationId, Vec<String>>,
    /// Spans that have not ended, by their numbers: where they are in `all`.
    open: BTreeMap<u64, usize>,
}

/// A line of JSON Lines, between those of events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum AnnotationLine {
    /// A span begins, whose number is its own.
    Begin {
        note: String,
        span: u64,
    },
    /// A point.
    Point {
        note: String,
    },
    End {
        end_span: u64,
    },
}

impl AnnotationLine {
    /// The annotation of a line, if it is one.
    pub fn read(line: &str) -> Option<AnnotationLine> {
        let may_be = ["\"note\"", "\"end_span\""].iter().any(|field| line.contains(field));
        if may_be { serde_json::from_str(line).ok() } else { None }
    }
}

impl Annotations {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.of_operations.is_empty()
    }

    /// Adds what a line says, at this time.
    ///
    /// # Errors
    /// If a span ends that did not begin, or begins twice.
    pub fn add(&mut self, line: AnnotationLine, at: u64) -> Result<(), String> {
        let (text, span, end) = match line {
            AnnotationLine::Point { note } => (note, None, at),
            AnnotationLine::Begin { note, span } => (note, Some(span), NEVER),
            AnnotationLine::End { end_span } => {
                let place = self.open.remove(&end_span);
                let place = place
                    .ok_or_else(|| format!("the end of span {end_span}, which did not begin"))?;
                self.all[place].end = at;
                return Ok(());
            }
        };
        if let Some(span) = span {
            if self.open.contains_key(&span) {
                return Err(format!("span {span} begins twice"));
            }
            self.open.insert(span, self.all.len());
        }
        self.all.push(Annotation { text, start: at, end });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_that_is_nothing_else_is_a_annotation() {
        let note = "n2 leads".to_string();
        let read = AnnotationLine::read;
        assert_eq!(
            read("{\"note\": \"n2 leads\"}"),
            Some(AnnotationLine::Point { note: note.clone() })
        );
        let begin = AnnotationLine::Begin { note, span: 3 };
        assert_eq!(read("{\"note\": \"n2 leads\", \"span\": 3}"), Some(begin));
        assert_eq!(read("{\"end_span\": 3}"), Some(AnnotationLine::End { end_span: 3 }));
        let event = "{\"event\":{\"start\":1},\"client_id\":0,\"op_id\":4,\"note\":\"x\"}";
        assert_eq!(read(event), None);
        assert_eq!(read("{\"end_span\": 3, \"event\": \"unknown\"}"), None);
    }

    #[test]
    fn spans_begin_once_and_end_once() {
        let mut annotations = Annotations::default();
        let begin = || AnnotationLine::Begin { note: "cut off".to_string(), span: 3 };
        annotations.add(begin(), 5).expect("the first");
        assert!(annotations.add(begin(), 6).is_err());
        assert_eq!(annotations.all[0].end, NEVER);
        annotations.add(AnnotationLine::End { end_span: 3 }, 9).expect("it began");
        assert_eq!(
            annotations.all[0],
            Annotation { text: "cut off".to_string(), start: 5, end: 9 }
        );
        assert!(annotations.add(AnnotationLine::End { end_span: 3 }, 10).is_err());
    }
}
