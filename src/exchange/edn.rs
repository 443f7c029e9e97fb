//! A reader of EDN, the notation in which Clojure prints values.
//! The notation: <https://github.com/edn-format/edn>.

/// A value. Tags and metadata are dropped; a set, list or vector is a list.
#[derive(Clone, Debug, PartialEq)]
pub enum Edn {
    Integer(i64),
    Text(String),
    /// Keywords (`:ok`), symbols (`nil`, `true`), characters and broken numbers, as written.
    Word(String),
    List(Vec<Edn>),
    Map(Vec<(Edn, Edn)>),
}

/// Deeper nesting is refused.
const DEPTH_MAX: usize = 64;

/// Reads values from the front of a text, one by one.
pub struct Reader<'a> {
    text: &'a str,
    pub line: usize,
    depth: usize,
}

impl Edn {
    pub fn word(&self) -> Option<&str> {
        match self {
            Edn::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The value of a keyword in a map.
    pub fn get(&self, key: &str) -> Option<&Edn> {
        match self {
            Edn::Map(pairs) => pairs.iter().find(|(k, _)| k.word() == Some(key)).map(|(_, v)| v),
            _ => None,
        }
    }
}

impl<'a> Reader<'a> {
    /// `line` is the number of the text's first line.
    pub fn new(text: &'a str, line: usize) -> Reader<'a> {
        Reader { text, line, depth: 0 }
    }

    fn peek(&self) -> Option<char> {
        self.text.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.text = &self.text[c.len_utf8()..];
        self.line += usize::from(c == '\n');
        Some(c)
    }

    /// Skips white space, commas and comments. Returns the character that follows.
    pub fn next_char(&mut self) -> Option<char> {
        loop {
            match self.peek()? {
                ';' => while self.bump().is_some_and(|c| c != '\n') {},
                c if c.is_whitespace() || c == ',' => {
                    self.bump();
                }
                c => return Some(c),
            }
        }
    }

    /// Skips the next character if it is one of these. Returns whether it did.
    pub fn pass(&mut self, one_of: &[char]) -> bool {
        let passes = self.next_char().is_some_and(|c| one_of.contains(&c));
        if passes {
            self.bump();
        }
        passes
    }

    /// The next value; none at the end of the text.
    pub fn value(&mut self) -> Result<Option<Edn>, String> {
        let Some(c) = self.next_char() else { return Ok(None) };
        if self.depth == DEPTH_MAX {
            return Err(format!("values nested more than {DEPTH_MAX} deep"));
        }
        self.depth += 1;
        let value = match c {
            '{' => self.map(),
            '[' | '(' => {
                self.bump();
                self.list(if c == '[' { ']' } else { ')' }).map(Edn::List)
            }
            '"' => self.text(),
            '#' => self.dispatch(),
            '^' => {
                self.bump();
                self.needed("metadata")?;
                self.needed("a value after metadata")
            }
            '}' | ']' | ')' => Err(format!("'{c}' closes nothing")),
            _ => self.atom(),
        };
        self.depth -= 1;
        value.map(Some)
    }

    fn needed(&mut self, what: &str) -> Result<Edn, String> {
        self.value()?.ok_or_else(|| format!("the text ends; expected {what}"))
    }

    fn list(&mut self, close: char) -> Result<Vec<Edn>, String> {
        let mut values = Vec::new();
        while !self.pass(&[close]) {
            if self.discarded()? {
                continue;
            }
            values.push(self.needed(&format!("'{close}'"))?);
        }
        Ok(values)
    }

    fn map(&mut self) -> Result<Edn, String> {
        self.bump();
        let values = self.list('}')?;
        if values.len() % 2 == 1 {
            return Err("a map with a key that has no value".to_string());
        }
        let mut pairs = Vec::with_capacity(values.len() / 2);
        let mut values = values.into_iter();
        while let (Some(key), Some(value)) = (values.next(), values.next()) {
            pairs.push((key, value));
        }
        Ok(Edn::Map(pairs))
    }

    /// Skips `#_` and the value after it. Returns whether it did.
    pub fn discarded(&mut self) -> Result<bool, String> {
        self.next_char();
        let Some(rest) = self.text.strip_prefix("#_") else { return Ok(false) };
        self.text = rest;
        self.needed("a value after #_")?;
        Ok(true)
    }

    /// A set, or a value with a tag: the value alone.
    fn dispatch(&mut self) -> Result<Edn, String> {
        if self.discarded()? {
            return self.needed("a value");
        }
        self.bump();
        if self.pass(&['{']) {
            return self.list('}').map(Edn::List);
        }
        self.atom()?;
        self.needed("a value after a tag")
    }

    fn text(&mut self) -> Result<Edn, String> {
        let first = self.line;
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                Some('"') => return Ok(Edn::Text(text)),
                Some('\\') => text.push(self.escaped()?),
                Some(c) => text.push(c),
                None => return Err(format!("the string that begins on line {first} has no end")),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, String> {
        match self.bump() {
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some('r') => Ok('\r'),
            Some(c @ ('\\' | '"')) => Ok(c),
            Some('u') => {
                let digits = self.text.get(..4).unwrap_or_default();
                let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                let code = code.ok_or("\\u; expected four hexadecimal digits after it")?;
                self.text = &self.text[4..];
                Ok(code)
            }
            other => Err(format!("'\\{}' in a string", other.unwrap_or(' '))),
        }
    }

    fn atom(&mut self) -> Result<Edn, String> {
        let delimits = |c: char| c.is_whitespace() || ",;\"()[]{}".contains(c);
        // Any character may follow the backslash, even a bracket.
        let skip = if self.text.starts_with('\\') {
            self.text.chars().take(2).map(char::len_utf8).sum()
        } else {
            0
        };
        let end = self.text[skip..].find(delimits).map_or(self.text.len(), |at| skip + at);
        let (word, rest) = self.text.split_at(end);
        self.text = rest;
        let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
        if digits.starts_with(|c: char| c.is_ascii_digit()) {
            let digits = word.strip_suffix('N').unwrap_or(word);
            if digits.chars().skip(1).all(|c| c.is_ascii_digit()) {
                let value = digits.parse();
                return value.map(Edn::Integer).map_err(|_| format!("{word} is beyond 64 bits"));
            }
        }
        match word {
            "" => Err(format!("'{}'; expected a value", self.peek().unwrap_or(' '))),
            word => Ok(Edn::Word(word.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Edn>, String> {
        let mut reader = Reader::new(text, 1);
        let mut values = Vec::new();
        while let Some(value) = reader.value().map_err(|e| format!("{}: {e}", reader.line))? {
            values.push(value);
        }
        Ok(values)
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let text = "; a comment\n#jepsen.history.Op{:f :cas, :value [3 -4N], :s \"a\\\"\\u00e9\"}\n\
                    #{1 nil} #_ignored 1.5 \\] #inst \"2020\" ^{:m 1} (true)";
        let values = read(text).expect("good");
        let word = |w: &str| Edn::Word(w.into());
        let op = &values[0];
        assert_eq!(op.get(":f"), Some(&word(":cas")));
        let pair = vec![Edn::Integer(3), Edn::Integer(-4)];
        assert_eq!(op.get(":value"), Some(&Edn::List(pair)));
        assert_eq!(op.get(":s"), Some(&Edn::Text("a\"é".into())));
        assert_eq!(values[1], Edn::List(vec![Edn::Integer(1), word("nil")]));
        let rest =
            [word("1.5"), word("\\]"), Edn::Text("2020".into()), Edn::List(vec![word("true")])];
        assert_eq!(values[2..], rest);
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| read(text).expect_err(text);
        assert!(error("\n{:a}").starts_with("2: a map with a key that has no value"));
        assert!(error("{:a 1\n").starts_with("2: the text ends; expected '}'"));
        assert!(error("\"ab").contains("begins on line 1 has no end"));
        assert!(error(")").contains("closes nothing"));
        assert!(error("99999999999999999999").contains("beyond 64 bits"));
        assert!(error(&"[".repeat(1000)).contains("nested"));
    }
}
