//! Where arguments of methods are drawn from: words behind the types in a signature that an adapter
//! gives, as in `resize(int 1..64)`. No file holds them.

use super::value::TypeParser;

/// Where the numbers of an argument come from, and how long its strings are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Source {
    /// A few small numbers, and half of the time what the thread was answered.
    #[default]
    Mixed,
    /// `few`: a few small numbers.
    Few,
    /// `answered`: what the thread was answered; a small number before the first.
    Answered,
    /// `distinct`: what no other call of the round has.
    Distinct,
    /// `1..64`: from the first to the last; often one at an end, or beside a power of two. Of a
    /// string its length.
    Between(i64, i64),
}

impl Source {
    /// Reads the word behind a type, if there is one. None where it is not known.
    pub fn read(parser: &mut TypeParser) -> Option<Source> {
        if let Some(first) = parser.number() {
            let last = if parser.take("..") { parser.number()? } else { return None };
            return (first <= last).then_some(Source::Between(first, last));
        }
        Some(match parser.name() {
            None => Source::Mixed,
            Some("few") => Source::Few,
            Some("answered") => Source::Answered,
            Some("distinct") => Source::Distinct,
            Some(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read() {
        let read = |text: &str| {
            let mut parser = TypeParser::new(text);
            Source::read(&mut parser).filter(|_| parser.is_at_end())
        };
        assert_eq!(read(""), Some(Source::Mixed));
        assert_eq!(read(" distinct "), Some(Source::Distinct));
        assert_eq!(read("-1 .. 64"), Some(Source::Between(-1, 64)));
        for text in ["some", "1", "2..1", "1..", "few few", "1..2..3"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
