//! Where a call can be put into C or C++ code. A text and the number of a line come in; places go
//! out at which a statement, or an expression before a condition, can be inserted without changing
//! what the code does. Reads tokens, not C++: what it proposes is to be tried with a compiler.

use std::ops::Range;

/// A place for a call, and what has to be written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `call; ` before a statement that begins here.
    Statement(usize),
    /// `{ call; ` before a statement that is a body without braces, ` }` behind it.
    Body(usize, usize),
    /// `call, ` before an expression that begins here.
    Expression(usize),
    /// Around an argument, from here to there: behind what it reads, before it is passed on.
    Argument(usize, usize),
    /// Before an operand or an initializer that reaches from here to there.
    Operand(usize, usize),
    /// In the middle of a statement that reads and writes one variable, from here to there.
    Update(usize, usize),
}

impl Place {
    /// What is to be written into the text for the point of this name, and where.
    fn edits(self, name: &str, text: &str) -> Vec<(usize, String)> {
        let call = format!("REPRODUCER_POINT({name})");
        match self {
            Place::Update(at, end) => vec![(at, updated(&text[at..end], name).unwrap_or_default())],
            Place::Statement(at) => vec![(at, format!("{call}; "))],
            Place::Body(at, end) => vec![(at, format!("{{ {call}; ")), (end, " }".to_string())],
            Place::Expression(at) => vec![(at, format!("{call}, "))],
            Place::Argument(at, end) => {
                vec![(at, format!("REPRODUCER_AFTER({name}, ")), (end, ")".to_string())]
            }
            Place::Operand(at, end) => vec![(at, format!("({call}, ")), (end, ")".to_string())],
        }
    }

    /// Where it begins.
    pub fn at(self) -> usize {
        match self {
            Place::Statement(at) | Place::Expression(at) => at,
            Place::Body(at, _) | Place::Argument(at, _) => at,
            Place::Operand(at, _) | Place::Update(at, _) => at,
        }
    }
}

/// The text with points written into it, each with its name.
pub fn with_points(text: &str, points: &[(Place, String)]) -> String {
    let edits = points.iter().flat_map(|(place, name)| {
        let instead_of = match place {
            Place::Update(at, end) => end - at,
            _ => 0,
        };
        place.edits(name, text).into_iter().map(move |(at, words)| (at..at + instead_of, words))
    });
    let mut edits: Vec<(Range<usize>, String)> = edits.collect();
    edits.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
    let mut text = text.to_string();
    for (at, words) in edits {
        text.replace_range(at, &words);
    }
    text
}

/// `++x`, `x--` or `x += y` as a read and a write with a point between them; none for all else.
fn updated(statement: &str, name: &str) -> Option<String> {
    let statement = statement.trim();
    let (variable, operator, by) = [("++", '+'), ("--", '-')]
        .into_iter()
        .find_map(|(step, operator)| {
            let of = statement.strip_prefix(step).or_else(|| statement.strip_suffix(step))?;
            Some((of, operator, "1"))
        })
        .or_else(|| {
            let at = statement.find('=')?;
            let operator = statement[..at].chars().last().filter(|c| "+-|&^".contains(*c))?;
            Some((&statement[..at - 1], operator, statement[at + 1..].trim()))
        })?;
    let variable = variable.trim();
    // What it takes to name it may do something, too.
    let is_plain = |c: char| c.is_alphanumeric() || "_.->[]:* ".contains(c);
    let is_plain = !variable.is_empty() && variable.chars().all(is_plain) && !by.starts_with('=');
    let is_plain = is_plain && !variable.contains("--");
    is_plain.then(|| format!("{variable} = REPRODUCER_AFTER({name}, {variable}) {operator} ({by})"))
}

/// Code without what is no code, byte for byte.
pub struct Code {
    bytes: Vec<u8>,
    /// Parentheses and brackets open before each byte.
    depths: Vec<i32>,
}

impl Code {
    pub fn of(text: &str) -> Code {
        let bytes = blanked(text);
        let mut depth = 0;
        let mut depths = Vec::with_capacity(bytes.len() + 1);
        for byte in &bytes {
            depths.push(depth);
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                _ => {}
            }
        }
        depths.push(depth);
        Code { bytes, depths }
    }

    /// Places on a line, numbered from 1, the first one before all that the line does.
    pub fn on_line(&self, line: u32) -> Vec<Place> {
        let Some((from, to)) = self.line(line) else { return Vec::new() };
        let Some(first) = self.skip_space(from).filter(|at| *at < to) else { return Vec::new() };
        let mut places: Vec<Place> = self.start_of(first).into_iter().collect();
        for at in first..to {
            places.extend(self.inside(at, to));
        }
        places.sort_by_key(|place| place.at());
        places.dedup_by_key(|place| place.at());
        places
    }

    /// The place behind the statement that this line is part of: before the next one, or at the end
    /// of the block.
    pub fn after_line(&self, line: u32) -> Option<Place> {
        let (from, to) = self.line(line)?;
        let first = self.skip_space(from).filter(|at| *at < to)?;
        let end = self.end_of(first)?;
        let mut next = self.skip_space(end)?;
        if self.bytes[end - 1] == b'{' && self.bytes[next] == b'}' {
            // A loop that has all it does in its condition.
            next = self.skip_space(next + 1)?;
        }
        (!self.word_at(next, "else")).then_some(Place::Statement(next))
    }

    /// Statements on a line that read and write one variable.
    pub fn updates_on_line(&self, line: u32) -> Vec<Place> {
        let Some((from, to)) = self.line(line) else { return Vec::new() };
        let ends = (from..to).filter(|at| self.bytes[*at] == b';');
        let update = |end: usize| {
            let depth = self.depths[end];
            for before in (0..end).rev().filter(|at| self.depths[*at + 1] <= depth) {
                if !b";{})".contains(&self.bytes[before]) {
                    continue;
                }
                let start = self.skip_space(before + 1)?;
                let text = self.bytes.get(start..end).and_then(|b| std::str::from_utf8(b).ok());
                if text.is_some_and(|text| updated(text, "").is_some()) {
                    return Some(Place::Update(start, end));
                }
                // It may end the head of a condition, or be a part of the statement.
                if self.bytes[before] != b')' {
                    return None;
                }
            }
            None
        };
        ends.filter_map(update).collect()
    }

    fn line(&self, line: u32) -> Option<(usize, usize)> {
        let mut starts = vec![0];
        let ends = self.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        starts.extend(ends.map(|(at, _)| at + 1));
        let from = *starts.get((line as usize).checked_sub(1)?)?;
        let to = starts.get(line as usize).map_or(self.bytes.len(), |next| next - 1);
        Some((from, to))
    }

    /// Before the statement that `at` is part of: back to where the one before ends.
    fn start_of(&self, at: usize) -> Option<Place> {
        let depth = self.depths[at].min(self.depths[at + 1]);
        let mut start = at;
        for before in (0..at).rev() {
            match self.bytes[before] {
                b';' | b'{' | b'}' if self.depths[before] <= depth => break,
                byte if !byte.is_ascii_whitespace() => start = before,
                _ => {}
            }
        }
        self.statement(start)
    }

    /// Where a statement begins after a `;`, a brace, or the head of an `if` or a loop.
    fn statement(&self, start: usize) -> Option<Place> {
        let words = ["else", "case", "default", "public", "private", "protected", "catch"];
        if self.bytes[start] == b'}' || words.iter().any(|word| self.word_at(start, word)) {
            return None;
        }
        Some(Place::Statement(start))
    }

    /// What begins at `at` in the middle of a line.
    fn inside(&self, at: usize, to: usize) -> Option<Place> {
        let next = |from: usize| self.skip_space(from).filter(|next| *next < to);
        if matches!(self.bytes[at], b';' | b'{') && self.is_flat(at) {
            return self.statement(next(at + 1)?);
        }
        if self.begins_operand(at) {
            return self.operand(next(at + if self.bytes[at] == b'=' { 1 } else { 2 })?);
        }
        if self.word_at(at, "return") {
            let value = next(at + 6)?;
            let is_value = !matches!(self.bytes[value], b';' | b'{');
            return is_value.then_some(Place::Expression(value));
        }
        if self.word_at(at, "else") {
            let body = next(at + 4)?;
            let own = self.bytes[body] == b'{' || self.word_at(body, "if");
            return if own { None } else { self.body(body) };
        }
        let head = ["if", "while", "for"].into_iter().find(|word| self.word_at(at, word))?;
        let open = next(at + head.len()).filter(|open| self.bytes[*open] == b'(')?;
        let begin = if head == "for" { self.find(open + 1, b';')? + 1 } else { open + 1 };
        let condition = next(begin)?;
        (self.bytes[condition] != b';').then_some(Place::Expression(condition))
    }

    /// Whether the second operand of a condition follows, or the initializer of what is not the
    /// first to be declared here: code runs before each of them.
    fn begins_operand(&self, at: usize) -> bool {
        let rest = &self.bytes[at..];
        if rest.starts_with(b"&&") || rest.starts_with(b"||") {
            return true;
        }
        let is_operator = |byte: &u8| b"=!<>+-*/%&|^[".contains(byte);
        let assigns = rest.first() == Some(&b'=')
            && rest.get(1) != Some(&b'=')
            && !at.checked_sub(1).is_some_and(|before| is_operator(&self.bytes[before]));
        let depth = self.depths[at];
        let mut before = (0..at).rev().filter(|at| self.depths[*at] == depth);
        assigns
            && before
                .find(|at| b",;{}".contains(&self.bytes[*at]))
                .is_some_and(|at| self.bytes[at] == b',')
    }

    /// What reaches from here to the next operator of a condition, or to the end of what it is in.
    fn operand(&self, start: usize) -> Option<Place> {
        let depth = self.depths[start];
        let ends = |at: &usize| {
            let rest = &self.bytes[*at..];
            let joins = rest.starts_with(b"&&") || rest.starts_with(b"||");
            self.depths[*at] == depth && (joins || b",;)?]}".contains(&rest[0]))
        };
        let end = (start + 1..self.bytes.len()).find(ends)?;
        let spaces = self.bytes[start..end].iter().rev().take_while(|b| b.is_ascii_whitespace());
        Some(Place::Operand(start, end - spaces.count()))
    }

    /// The bodies without braces of conditions and loops on this line.
    pub fn bodies_on_line(&self, line: u32) -> Vec<Place> {
        let Some((from, to)) = self.line(line) else { return Vec::new() };
        let heads = (from..to)
            .filter(|at| ["if", "while", "for"].into_iter().any(|word| self.word_at(*at, word)));
        let body = |at: usize| {
            let open = (at..to).find(|at| self.bytes[*at] == b'(')?;
            let close = (open + 1..self.bytes.len())
                .find(|at| self.bytes[*at] == b')' && self.depths[*at] == self.depths[open] + 1)?;
            let body = self.skip_space(close + 1)?;
            if matches!(self.bytes[body], b'{' | b';') { None } else { self.body(body) }
        };
        heads.filter_map(body).collect()
    }

    /// The arguments of calls on this line that are more than a name.
    pub fn arguments_on_line(&self, line: u32) -> Vec<Place> {
        let Some((from, to)) = self.line(line) else { return Vec::new() };
        let calls = (from..to).filter(|at| self.bytes[*at] == b'(' && self.is_call(*at));
        let mut places = Vec::new();
        for open in calls {
            let depth = self.depths[open] + 1;
            let Some(close) = (open + 1..self.bytes.len())
                .find(|at| self.bytes[*at] == b')' && self.depths[*at] == depth)
            else {
                continue;
            };
            let is_comma = |at: &usize| self.bytes[*at] == b',' && self.depths[*at] == depth;
            let mut ends: Vec<usize> = (open + 1..close).filter(is_comma).collect();
            ends.push(close);
            let mut start = open + 1;
            for end in ends {
                places.extend(self.argument(start, end));
                start = end + 1;
            }
        }
        places
    }

    /// Behind the name of a function, which `if` and the like are none of.
    fn is_call(&self, open: usize) -> bool {
        let start = (0..open).rev().find(|at| !is_part(Some(&self.bytes[*at])));
        let name = &self.bytes[start.map_or(0, |at| at + 1)..open];
        let words: [&[u8]; 6] = [b"", b"if", b"while", b"for", b"switch", b"sizeof"];
        !words.contains(&name)
    }

    fn argument(&self, start: usize, end: usize) -> Option<Place> {
        let at = self.skip_space(start).filter(|at| *at < end)?;
        let is_name = self.bytes[at..end].iter().all(|byte| is_part(Some(byte)) || *byte == b' ');
        (!is_name).then_some(Place::Argument(at, end))
    }

    /// A simple statement that begins here.
    fn body(&self, at: usize) -> Option<Place> {
        let words = ["if", "while", "for", "do", "switch", "try"];
        if words.iter().any(|word| self.word_at(at, word)) {
            return None;
        }
        Some(Place::Body(at, self.find(at, b';')? + 1))
    }

    /// Not in the head of a `for` and the like.
    fn is_flat(&self, at: usize) -> bool {
        let open = (0..at).rev().find(|before| self.depths[*before] < self.depths[at]);
        // Inside of a lambda that is an argument, statements are in parentheses, too.
        let brace = (0..at).rev().find(|before| self.bytes[*before] == b'{');
        self.bytes[at] == b'{' || open.is_none_or(|open| brace.is_some_and(|brace| brace > open))
    }

    /// Just behind the statement that `at` is part of.
    fn end_of(&self, at: usize) -> Option<usize> {
        let depth = self.depths[at].min(self.depths[at + 1]);
        let ends = |at: &usize| matches!(self.bytes[*at], b';' | b'{') && self.depths[*at] <= depth;
        (at..self.bytes.len()).find(ends).map(|at| at + 1)
    }

    /// The next one of these, as deep in parentheses as `from`.
    fn find(&self, from: usize, byte: u8) -> Option<usize> {
        let depth = self.depths[from];
        (from..self.bytes.len()).find(|at| self.bytes[*at] == byte && self.depths[*at] == depth)
    }

    fn skip_space(&self, from: usize) -> Option<usize> {
        (from..self.bytes.len()).find(|at| !self.bytes[*at].is_ascii_whitespace())
    }

    fn word_at(&self, at: usize, word: &str) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.bytes.get(at));
        self.bytes[at..].starts_with(word.as_bytes())
            && !is_part(before)
            && !is_part(self.bytes.get(at + word.len()))
    }
}

/// Of a name.
fn is_part(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// The text with these names written anew where they are names: not in comments and texts.
pub fn renamed(text: &str, names: &[&str], prefix: &str) -> String {
    let code = Code::of(text);
    let mut new = String::with_capacity(text.len());
    let mut at = 0;
    for (start, _) in text.char_indices() {
        let name = names.iter().find(|name| code.word_at(start, name));
        let is_member = text[..start].ends_with('.') || text[..start].ends_with("->");
        if name.is_some() && !is_member {
            new.push_str(&text[at..start]);
            new.push_str(prefix);
            at = start;
        }
    }
    new + &text[at..]
}

/// Whether the name stands in the code.
pub fn names(text: &str, name: &str) -> bool {
    let code = Code::of(text);
    text.match_indices(name).any(|(at, _)| code.word_at(at, name))
}

/// Comments, texts and lines for the preprocessor become spaces; lines stay lines.
fn blanked(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    let mut line_is_empty = true;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest[0] {
            b'/' if rest.starts_with(b"//") => line_end(rest),
            b'/' if rest.starts_with(b"/*") => past(rest, 2, b"*/"),
            b'#' if line_is_empty => line_end(rest),
            b'R' if rest.starts_with(b"R\"") => raw_string(rest),
            b'"' => literal(rest, b'"'),
            // In numbers it stands between digits.
            b'\'' if !at.checked_sub(1).is_some_and(|before| bytes[before].is_ascii_digit()) => {
                literal(rest, b'\'')
            }
            _ => 0,
        };
        match bytes[at] {
            b'\n' => line_is_empty = true,
            byte if !byte.is_ascii_whitespace() => line_is_empty = false,
            _ => {}
        }
        // A text is still something: what is around it must not seem to touch.
        let is_text = matches!(bytes[at], b'"' | b'\'' | b'R');
        for byte in &mut bytes[at..at + length] {
            if *byte != b'\n' {
                *byte = if is_text { b'x' } else { b' ' };
            }
        }
        at += length.max(1);
    }
    bytes
}

/// To the end of the line, past lines that end in a backslash.
fn line_end(rest: &[u8]) -> usize {
    let end = (0..rest.len()).find(|at| rest[*at] == b'\n' && rest[at.saturating_sub(1)] != b'\\');
    end.unwrap_or(rest.len())
}

fn past(rest: &[u8], from: usize, end: &[u8]) -> usize {
    let found = rest[from..].windows(end.len()).position(|window| window == end);
    found.map_or(rest.len(), |at| from + at + end.len())
}

fn literal(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote && rest[at] != b'\n' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

fn raw_string(rest: &[u8]) -> usize {
    let Some(open) = rest.iter().position(|byte| *byte == b'(') else { return 2 };
    let end = [b")", &rest[2..open], b"\""].concat();
    past(rest, open, &end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with the call put into each place of the line, in turn.
    fn each(text: &str, line: u32) -> Vec<String> {
        let code = Code::of(text);
        let places = [code.on_line(line), code.bodies_on_line(line)].concat();
        places
            .into_iter()
            .map(|place| {
                with_points(text, &[(place, "P".to_string())]).replace("REPRODUCER_POINT(P)", "P()")
            })
            .collect()
    }

    #[test]
    fn before_a_statement() {
        assert_eq!(each("f() {\n    a = b;\n}", 2), ["f() {\n    P(); a = b;\n}"]);
        assert_eq!(each("{ x; // c;\n  a = b; }", 2), ["{ x; // c;\n  P(); a = b; }"]);
    }

    #[test]
    fn before_the_whole_of_a_statement_that_spans_lines() {
        assert_eq!(each("{\n  a = f(b,\n    c);\n}", 3), ["{\n  P(); a = f(b,\n    c);\n}"]);
    }

    #[test]
    fn before_conditions() {
        let found = each("{\nif (a) b();\n}", 2);
        let expected =
            ["{\nP(); if (a) b();\n}", "{\nif (P(), a) b();\n}", "{\nif (a) { P(); b(); }\n}"];
        assert_eq!(found, expected);
        assert_eq!(
            each("{ do {\nx;\n} while (!c(a,\n  b));\n}", 3)[0],
            "{ do {\nx;\n} while (P(), !c(a,\n  b));\n}"
        );
        assert_eq!(each("{\n} else if (a) {\n}", 2), ["{\n} else if (P(), a) {\n}"]);
        let found = each("{\nfor (int i = 0; i < n; i++) {\n}", 2);
        assert_eq!(found[1], "{\nfor (int i = 0; P(), i < n; i++) {\n}");
    }

    #[test]
    fn before_what_is_returned() {
        let found = each("{\nreturn a;\n}", 2);
        assert_eq!(found, ["{\nP(); return a;\n}", "{\nreturn P(), a;\n}"]);
        assert_eq!(each("{\nelse\n  return;\n}", 3), Vec::<String>::new());
    }

    #[test]
    fn before_operands_and_later_initializers() {
        let found = each("{\n  int a = f(), b = g(1, 2);\n}", 2);
        let expected =
            ["{\n  P(); int a = f(), b = g(1, 2);\n}", "{\n  int a = f(), b = (P(), g(1, 2));\n}"];
        assert_eq!(found, expected);
        let found = each("{\nif (!a || b(c) && d == e) return;\n}", 2);
        assert_eq!(found[2], "{\nif (!a || (P(), b(c)) && d == e) return;\n}");
        assert_eq!(found[3], "{\nif (!a || b(c) && (P(), d == e)) return;\n}");
    }

    #[test]
    fn around_arguments() {
        let text = "{ while (n && !top.swap(n, n->next, f())) {} }";
        let points = Code::of(text).arguments_on_line(1);
        let found = points.iter().map(|place| with_points(text, &[(*place, "P".to_string())]));
        let expected = ["n->next", "f()"]
            .map(|argument| text.replace(argument, &format!("REPRODUCER_AFTER(P, {argument})")));
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn names_are_written_anew() {
        let text = "call(\"call\", recall, a->call); // call\n";
        let expected = "my_call(\"call\", recall, a->call); // call\n";
        assert_eq!(renamed(text, &["call"], "my_"), expected);
        assert!(names(text, "recall") && !names("int x; // call", "call"));
    }

    #[test]
    fn behind_a_statement() {
        let text = "{\n  a.store(1); // what; is\n  b();\n}";
        let place = Code::of(text).after_line(2).expect("a place");
        assert_eq!(
            with_points(text, &[(place, "P".to_string())]).replace("REPRODUCER_POINT(P)", "P()"),
            "{\n  a.store(1); // what; is\n  P(); b();\n}"
        );
        let behind = |text: &str, line| {
            let place = Code::of(text).after_line(line).expect("a place");
            with_points(text, &[(place, "P".to_string())]).replace("REPRODUCER_POINT(P)", "P()")
        };
        assert_eq!(behind(text, 3), "{\n  a.store(1); // what; is\n  b();\nP(); }");
        assert_eq!(
            behind("{\n  while (a()) {}\n  b();\n}", 2),
            "{\n  while (a()) {}\n  P(); b();\n}"
        );
    }

    #[test]
    fn between_the_read_and_the_write_of_an_update() {
        let each = |text: &str| {
            let points = Code::of(text).updates_on_line(1).into_iter();
            let written = |place| with_points(text, &[(place, "P".to_string())]);
            points.map(|place| written(place).replace("REPRODUCER_AFTER", "A")).collect::<Vec<_>>()
        };
        assert_eq!(each("{ ++size_; }"), ["{ size_ = A(P, size_) + (1); }"]);
        assert_eq!(each("{ if (a) p->n[2]--; }"), ["{ if (a) p->n[2] = A(P, p->n[2]) - (1); }"]);
        assert_eq!(each("{ sum += f(x); }"), ["{ sum = A(P, sum) + (f(x)); }"]);
        for other in ["{ a = b; }", "{ a == b; }", "{ *next() += 1; }", "{ f(a++); }", "{ ; }"] {
            assert_eq!(each(other), Vec::<String>::new(), "{other}");
        }
    }

    #[test]
    fn what_is_no_code_is_not_looked_at() {
        let text = "{\n  f(\"a;b\", 'x', R\"(;)\", 1'000); /* ; */ g();\n#define X {;\n  h();\n}";
        assert_eq!(each(text, 4), [text.replace("h();", "P(); h();")]);
        assert_eq!(each(text, 2).len(), 2);
    }
}
