//! Goes through the tokens of a text, and says what was expected where something else was found.

use super::parse::SyntaxError;
use super::syntax::Place;
use super::token::{Kind, Token};

/// How many expressions may be open, each inside of the one before.
const DEPTH: usize = 256;

/// What comes of reading something.
pub type Read<T> = Result<T, SyntaxError>;

/// A place among the tokens, and what is open there.
pub struct Parser {
    tokens: Vec<Token>,
    at: usize,
    /// The column of the bullets of each junction list that is open.
    bullets: Vec<u32>,
    depth: usize,
    /// The height of the tallest expression that was read inside of the one that is open.
    pub(super) tallest: usize,
    /// Inside of a proof, names may have parts that are found nowhere else.
    pub(super) is_proof: bool,
}

impl Parser {
    /// `tokens` end with an End.
    pub fn new(tokens: Vec<Token>) -> Parser {
        let is_proof = false;
        Parser { tokens, at: 0, bullets: Vec::new(), depth: 0, tallest: 0, is_proof }
    }

    /// The token some way ahead, wherever it stands.
    pub fn ahead(&self, count: usize) -> &Token {
        &self.tokens[(self.at + count).min(self.tokens.len() - 1)]
    }

    /// Where the next token stands.
    pub fn place(&self) -> Place {
        self.ahead(0).place
    }

    /// Whether the next token lies outside of the junction list that is open, as it is not to the
    /// right of its bullets.
    pub fn is_outside(&self) -> bool {
        self.bullets.last().is_some_and(|column| self.place().column <= *column)
    }

    /// The next token, unless it lies outside of the junction list that is open.
    pub fn peek(&self) -> Option<&Token> {
        if self.is_outside() { None } else { Some(self.ahead(0)) }
    }

    /// Whether the next token is this symbol or word.
    pub fn is(&self, text: &str) -> bool {
        !self.is_outside() && self.is_ahead(0, text)
    }

    /// Whether the token some way ahead is this symbol or word, wherever it stands.
    pub fn is_ahead(&self, count: usize, text: &str) -> bool {
        let token = self.ahead(count);
        token.text == text && matches!(token.kind, Kind::Symbol | Kind::Word)
    }

    /// Whether the token some way ahead is of this kind, wherever it stands.
    pub fn is_kind(&self, count: usize, kind: Kind) -> bool {
        self.ahead(count).kind == kind
    }

    /// Goes past the next token.
    pub fn advance(&mut self) -> Token {
        let token = self.ahead(0).clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Goes past this symbol or word if it comes next.
    pub fn accept(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.advance();
        }
        found
    }

    pub fn expect(&mut self, text: &str) -> Read<Place> {
        let place = self.place();
        if self.accept(text) { Ok(place) } else { self.fail(&format!("`{text}`")) }
    }

    /// Reads a name. `what` says of what, as in "the name of a module".
    pub fn name(&mut self, what: &str) -> Read<(String, Place)> {
        if self.is_kind(0, Kind::Name) && !self.is_outside() {
            let token = self.advance();
            Ok((token.text, token.place))
        } else {
            self.fail(what)
        }
    }

    /// Reads one thing or more, with commas between.
    pub fn list<T>(&mut self, mut read: impl FnMut(&mut Parser) -> Read<T>) -> Read<Vec<T>> {
        let mut items = vec![read(self)?];
        while self.accept(",") {
            items.push(read(self)?);
        }
        Ok(items)
    }

    /// Says that something else was expected where the next token is.
    pub fn fail<T>(&self, expected: &str) -> Read<T> {
        let mut message = format!("expected {expected}, but found {}", describe(self.ahead(0)));
        if self.is_outside() && !self.is_kind(0, Kind::End) {
            message += ", which is not to the right of the bullets of the list that is open here";
        }
        Err(SyntaxError { place: self.place(), message })
    }

    /// Reads an item of a junction list whose bullets stand in this column.
    pub fn inside<T>(&mut self, column: u32, read: impl FnOnce(&mut Parser) -> Read<T>) -> Read<T> {
        self.bullets.push(column);
        let result = read(self);
        self.bullets.pop();
        result
    }

    /// Reads something that may hold others of its kind, unless too many are open.
    pub fn deeper<T>(&mut self, read: impl FnOnce(&mut Parser) -> Read<T>) -> Read<T> {
        if self.depth >= DEPTH {
            let message = format!("more than {DEPTH} expressions, each inside of the one before");
            return Err(SyntaxError { place: self.place(), message });
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}

/// A token in words.
fn describe(token: &Token) -> String {
    match &token.kind {
        Kind::Name => format!("the name `{}`", token.text),
        Kind::Word | Kind::Symbol => format!("`{}`", token.text),
        Kind::Number(number) => format!("the number {number}"),
        Kind::Text => format!("the string \"{}\"", token.text),
        Kind::Step => format!("the proof step `{}`", token.text),
        Kind::Line => "a line of `-`".into(),
        Kind::Close => "the end of the module, `====`".into(),
        Kind::End => "the end of the text".into(),
    }
}
