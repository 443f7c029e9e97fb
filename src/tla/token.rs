//! Takes the text of a module apart: words, numbers, strings and symbols, each with its place.

use std::collections::HashSet;

use super::operators;
use super::parse::SyntaxError;
use super::syntax::Place;

/// How conditions of fairness begin.
const FAIRNESS: [&str; 2] = ["WF_", "SF_"];

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Name,
    /// A reserved word, or the beginning WF_ or SF_ of a fairness condition.
    Word,
    /// An operator or a bracket, in its one spelling.
    Symbol,
    Number(i64),
    /// A string: its characters, without the quotes.
    Text,
    /// The name of a proof step, as in `<1>2.`.
    Step,
    /// A line of four or more `-`.
    Line,
    /// A line of four or more `=`, which closes a module.
    Close,
    /// The end of the text.
    End,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub kind: Kind,
    pub text: String,
    pub place: Place,
}

/// The words that cannot be names.
const WORDS: &str = " ACTION ASSUME ASSUMPTION AXIOM BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY \
    DEF DEFINE DEFS DOMAIN ELSE ENABLED EXCEPT EXTENDS HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET \
    LOCAL MODULE NEW OBVIOUS OMITTED ONLY OTHER PICK PROOF PROPOSITION PROVE QED RECURSIVE STATE \
    SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM UNCHANGED UNION USE VARIABLE VARIABLES WITH \
    WITNESS ";

/// The symbols that are no operators.
const MARKS: &[&str] = &[
    "(", ")", "[", "]", "]_", "{", "}", "<<", ">>", ">>_", ",", ":", "::", "==", "|->", "->", "<-",
    "!", "@", "_", ".", "\\A", "\\E", "\\AA", "\\EE",
];

/// The tokens of an expression, with an End after the last.
pub fn of_expression(text: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut lexer = Lexer::new(text);
    while lexer.next()? {}
    Ok(lexer.finish())
}

/// The tokens of a module: what comes before its first line and after its last does not count.
pub fn of_module(text: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut lexer = Lexer::new(text);
    let Some(start) = header(&lexer.chars) else {
        let message = "expected a module, but there is no line as `---- MODULE Name ----`".into();
        return Err(SyntaxError { place: lexer.place, message });
    };
    lexer.skip(start);
    let mut open = 0;
    while lexer.next()? {
        match lexer.tokens.as_slice() {
            [.., line, word] if word.text == "MODULE" && line.kind == Kind::Line => open += 1,
            [.., last] if last.kind == Kind::Close => open -= 1,
            _ => continue,
        }
        if open <= 0 {
            break;
        }
    }
    Ok(lexer.finish())
}

/// Where the line begins that opens the first module.
fn header(chars: &[char]) -> Option<usize> {
    let word: Vec<char> = "MODULE".chars().collect();
    let mut at = 0;
    while at < chars.len() {
        let dashes = chars[at..].iter().take_while(|c| **c == '-').count();
        if dashes >= 4 {
            let rest = &chars[at + dashes..];
            let blanks = rest.iter().take_while(|c| c.is_whitespace()).count();
            if rest[blanks..].starts_with(&word) {
                return Some(at);
            }
        }
        at += dashes.max(1);
    }
    None
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    place: Place,
    tokens: Vec<Token>,
    symbols: HashSet<&'static str>,
}

impl Lexer {
    fn new(text: &str) -> Lexer {
        Lexer {
            chars: text.chars().collect(),
            at: 0,
            place: Place { line: 1, column: 1 },
            tokens: Vec::new(),
            symbols: operators::symbols().chain(MARKS.iter().copied()).collect(),
        }
    }

    fn finish(mut self) -> Vec<Token> {
        self.tokens.push(Token { kind: Kind::End, text: String::new(), place: self.place });
        self.tokens
    }

    fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or('\0')
    }

    /// Goes past so many characters.
    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            match self.peek(0) {
                '\n' => self.place = Place { line: self.place.line + 1, column: 1 },
                '\t' => self.place.column = (self.place.column - 1) / 8 * 8 + 9,
                '\r' => {}
                _ => self.place.column += 1,
            }
            self.at += 1;
        }
    }

    /// So many characters from here.
    fn take(&mut self, count: usize) -> String {
        let text = self.chars[self.at..self.at + count].iter().collect();
        self.skip(count);
        text
    }

    /// How many characters in a row, `from` here, are such ones.
    fn count(&self, from: usize, is_such: impl Fn(char) -> bool) -> usize {
        self.chars.iter().skip(self.at + from).take_while(|c| is_such(**c)).count()
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError { place: self.place, message: message.into() })
    }

    fn push(&mut self, kind: Kind, length: usize) {
        let place = self.place;
        let text = self.take(length);
        self.tokens.push(Token { kind, text, place });
    }

    /// Reads one token. False at the end of the text.
    fn next(&mut self) -> Result<bool, SyntaxError> {
        self.blanks()?;
        if self.at >= self.chars.len() {
            return Ok(false);
        }
        let step = self.step();
        match self.peek(0) {
            '"' => self.string()?,
            '-' if self.count(0, |c| c == '-') >= 4 => {
                self.push(Kind::Line, self.count(0, |c| c == '-'));
            }
            '=' if self.count(0, |c| c == '=') >= 4 => {
                self.push(Kind::Close, self.count(0, |c| c == '='));
            }
            '<' if step > 0 => self.push(Kind::Step, step),
            '\\' if self.based()? => {}
            c if is_of_word(c) => self.word()?,
            _ => self.symbol()?,
        }
        Ok(true)
    }

    /// Goes past spaces and comments.
    fn blanks(&mut self) -> Result<(), SyntaxError> {
        loop {
            match (self.peek(0), self.peek(1)) {
                ('\\', '*') => self.skip(self.count(0, |c| c != '\n')),
                ('(', '*') => self.comment()?,
                (c, _) if c.is_whitespace() => self.skip(1),
                _ => return Ok(()),
            }
        }
    }

    fn comment(&mut self) -> Result<(), SyntaxError> {
        let (start, mut open) = (self.place, 0);
        loop {
            match (self.peek(0), self.peek(1)) {
                ('(', '*') => open += 1,
                ('*', ')') => open -= 1,
                _ if self.at >= self.chars.len() => {
                    let message = "this comment has no end: expected `*)`".into();
                    return Err(SyntaxError { place: start, message });
                }
                _ => {
                    self.skip(1);
                    continue;
                }
            }
            self.skip(2);
            if open == 0 {
                return Ok(());
            }
        }
    }

    fn string(&mut self) -> Result<(), SyntaxError> {
        let (place, mut text) = (self.place, String::new());
        self.skip(1);
        loop {
            let next = self.peek(0);
            match next {
                '"' => break,
                '\n' | '\0' => {
                    let message = "this string has no end: expected `\"` in its line".into();
                    return Err(SyntaxError { place, message });
                }
                '\\' => {
                    text.push(match self.peek(1) {
                        't' => '\t',
                        'n' => '\n',
                        'r' => '\r',
                        'f' => '\u{c}',
                        c @ ('"' | '\\') => c,
                        c => return self.error(format!("a string cannot have `\\{c}`")),
                    });
                    self.skip(1);
                }
                c => text.push(c),
            }
            self.skip(1);
        }
        self.skip(1);
        self.tokens.push(Token { kind: Kind::Text, text, place });
        Ok(())
    }

    /// The length of the name of a proof step, 0 if there is none here: `<1>`, `<1>2.`, `<*>a`.
    fn step(&self) -> usize {
        let level = match self.peek(1) {
            '*' | '+' => 1,
            _ => self.count(1, |c| c.is_ascii_digit()),
        };
        if self.peek(0) != '<' || level == 0 || self.peek(1 + level) != '>' {
            return 0;
        }
        let name = self.count(level + 2, is_of_word);
        level + 2 + name + self.count(level + 2 + name, |c| c == '.')
    }

    /// Reads `\b101`, `\o17` or `\hFF`. False if there is none here.
    fn based(&mut self) -> Result<bool, SyntaxError> {
        let base = match self.peek(1) {
            'b' | 'B' => 2,
            'o' | 'O' => 8,
            'h' | 'H' => 16,
            _ => return Ok(false),
        };
        let count = self.count(2, |c| c.is_digit(base));
        if count == 0 {
            return Ok(false);
        }
        let digits: String = self.chars[self.at + 2..self.at + 2 + count].iter().collect();
        let Ok(number) = i64::from_str_radix(&digits, base) else {
            return self.error("this number is too large");
        };
        self.push(Kind::Number(number), count + 2);
        Ok(true)
    }

    /// Reads a name, a reserved word, or a number.
    fn word(&mut self) -> Result<(), SyntaxError> {
        let length = self.count(0, is_of_word);
        let text: String = self.chars[self.at..self.at + length].iter().collect();
        if FAIRNESS.iter().any(|begins| text.starts_with(begins)) {
            self.push(Kind::Word, FAIRNESS[0].len());
        } else if text.contains(|c: char| c.is_ascii_alphabetic()) {
            let is_word = WORDS.contains(&format!(" {text} "));
            self.push(if is_word { Kind::Word } else { Kind::Name }, length);
        } else if text.starts_with('_') {
            self.push(Kind::Symbol, 1);
        } else {
            let digits = self.count(0, |c| c.is_ascii_digit());
            let Ok(number) = text[..digits].parse() else {
                return self.error("this number is too large");
            };
            if self.peek(digits) == '.' && self.peek(digits + 1).is_ascii_digit() {
                return self.error("numbers with a decimal point are not supported");
            }
            self.push(Kind::Number(number), digits);
        }
        Ok(())
    }

    /// Reads the longest symbol that there is here.
    fn symbol(&mut self) -> Result<(), SyntaxError> {
        let text: String = self.chars.iter().skip(self.at).take(12).collect();
        let starts = text.char_indices().skip(1).map(|(at, _)| at).chain([text.len()]);
        let ends: Vec<usize> = starts.collect();
        let longest = ends.into_iter().rev().find(|end| self.symbols.contains(&text[..*end]));
        let Some(end) = longest else {
            return self.error(format!("`{}` has no meaning here", self.peek(0)));
        };
        let spelled = operators::spelling(&text[..end]).to_string();
        let place = self.place;
        self.skip(end);
        self.tokens.push(Token { kind: Kind::Symbol, text: spelled, place });
        Ok(())
    }
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> String {
        let tokens = of_expression(text).unwrap();
        tokens.iter().map(|t| t.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_longest_symbol_counts() {
        let cases = [
            ("a<=b=>c<=>d", "a <= b => c <=> d "),
            ("1..3 \\leq x'", "1 .. 3 <= x ' "),
            ("<<a>>_b [A]_c", "<< a >>_ b [ A ]_ c "),
            ("S\\T \\union U\\X V", "S \\ T \\cup U \\X V "),
            ("WF_vars(A) _x F(_,_)", "WF_ vars ( A ) _x F ( _ , _ ) "),
            ("a (+) b \\oplus (*c (* d *) e*) f \\* g", "a (+) b (+) f "),
            ("[]<>P ~>Q -+-> --> ---", "[] <> P ~> Q -+-> -- > -- - "),
            ("<1>2. x <<1>> 2pc a_1", "<1>2. x << 1 >> 2pc a_1 "),
            ("---- ==== == =", "---- ==== == = "),
        ];
        for (text, expected) in cases {
            assert_eq!(texts(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_and_strings_have_their_value() {
        let tokens = of_expression("12 \\b1010 \\o17 \\hFf \"a\\\"\\\\\\n\"").unwrap();
        let numbers: Vec<_> = tokens.iter().map(|t| t.kind.clone()).collect();
        let expected = [12, 10, 15, 255].map(Kind::Number);
        assert_eq!(numbers[..4], expected);
        assert_eq!(tokens[4].text, "a\"\\\n");
        for text in ["\"a", "(* a", "9223372036854775808", "1.5", "\"\\q\"", "a ; b"] {
            assert!(of_expression(text).is_err(), "{text}");
        }
    }

    #[test]
    fn places_count_from_one_and_tabs_to_the_next_eighth() {
        let tokens = of_expression("a\tb\n  c\t\td").unwrap();
        let places: Vec<_> = tokens.iter().map(|t| (t.place.line, t.place.column)).collect();
        assert_eq!(places, [(1, 1), (1, 9), (2, 3), (2, 17), (2, 18)]);
    }

    #[test]
    fn only_what_is_inside_of_the_module_counts() {
        let text = "a ; b ---- c\n---- MODULE M ----\n---- MODULE N ----\n====\nx\n====\n;;";
        let tokens = of_module(text).unwrap();
        assert_eq!(tokens.len(), 12);
        assert_eq!(tokens[0].place, Place { line: 2, column: 1 });
        assert!(of_module("a == b").is_err());
    }
}
