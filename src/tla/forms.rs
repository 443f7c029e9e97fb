//! Reads the expressions that a bracket, a word or a quantifier begins.

use super::cursor::{Parser, Read};
use super::syntax::{Bound, Change, Expr, Node, Step};
use super::token::Kind;

impl Parser {
    /// Reads the expression that begins with this symbol or word.
    pub fn form(&mut self, text: &str) -> Read<Expr> {
        match text {
            "/\\" | "\\/" => self.junction(),
            "{" => self.set(),
            "[" => self.bracket(),
            "<<" => self.tuple(),
            "\\A" | "\\E" | "\\AA" | "\\EE" => self.quantified(text),
            "CHOOSE" => self.choose(),
            "IF" => self.conditional(),
            "CASE" => self.case(),
            "LET" => self.local(),
            "WF_" | "SF_" => self.fairness(),
            "@" => {
                self.advance();
                Ok(Expr::At)
            }
            "LAMBDA" => self.fail("an expression (LAMBDA can only be the argument of an operator)"),
            _ => self.fail("an expression"),
        }
    }

    fn boxed(&mut self) -> Read<Box<Node>> {
        Ok(Box::new(self.expression()?))
    }

    /// Reads `{}`, `{a, b}`, `{x \in S : p}` or `{e : x \in S}`.
    fn set(&mut self) -> Read<Expr> {
        self.advance();
        if self.accept("}") {
            return Ok(Expr::Set(Vec::new()));
        }
        let is_open = self.is("(");
        let first = self.expression()?;
        let of = if self.accept(":") {
            match if is_open { Err(first) } else { as_bound(first) } {
                Ok(bound) => Expr::Filter { bound: Box::new(bound), body: self.boxed()? },
                Err(body) => Expr::Map { body: Box::new(body), bounds: self.bounds()? },
            }
        } else {
            let mut items = vec![first];
            while self.accept(",") {
                items.push(self.expression()?);
            }
            Expr::Set(items)
        };
        self.expect("}")?;
        Ok(of)
    }

    /// Reads a tuple, or `<<A>>_v`.
    fn tuple(&mut self) -> Read<Expr> {
        self.advance();
        if self.accept(">>") {
            return Ok(Expr::Tuple(Vec::new()));
        }
        let mut items = self.list(Parser::expression)?;
        if items.len() == 1 && self.accept(">>_") {
            let action = Box::new(items.remove(0));
            return Ok(Expr::Action {
                or_same: false,
                action,
                of: Box::new(self.subscript(true)?),
            });
        }
        self.expect(">>")?;
        Ok(Expr::Tuple(items))
    }

    /// Reads what begins with `[`: functions, records, sets of them, EXCEPT, and `[A]_v`.
    fn bracket(&mut self) -> Read<Expr> {
        self.advance();
        let is_name = matches!(self.ahead(0).kind, Kind::Name | Kind::Word);
        if is_name && self.is_ahead(1, "|->") {
            let fields = self.list(|parser| parser.pair("|->"))?;
            self.expect("]")?;
            return Ok(Expr::Record(fields));
        }
        if is_name && self.is_ahead(1, ":") {
            let fields = self.list(|parser| parser.pair(":"))?;
            self.expect("]")?;
            return Ok(Expr::Records(fields));
        }
        if self.is_function() {
            let bounds = self.bounds()?;
            self.expect("|->")?;
            let body = self.boxed()?;
            self.expect("]")?;
            return Ok(Expr::Function { bounds, body });
        }
        let first = self.boxed()?;
        self.bracket_after(first)
    }

    /// Reads the rest of what begins with `[` and an expression.
    fn bracket_after(&mut self, first: Box<Node>) -> Read<Expr> {
        if self.accept("]_") {
            return Ok(Expr::Action {
                or_same: true,
                action: first,
                of: Box::new(self.subscript(true)?),
            });
        }
        let of = if self.accept("->") {
            Expr::Functions { domain: first, range: self.boxed()? }
        } else if self.accept("EXCEPT") {
            Expr::Except { function: first, changes: self.list(Parser::change)? }
        } else {
            return self.fail("`->`, EXCEPT, `]_` or `|->`");
        };
        self.expect("]")?;
        Ok(of)
    }

    /// Whether what follows a `[` is `x \in S |-> e`: looks for the `|->` before its end.
    fn is_function(&self) -> bool {
        let is_name = self.is_kind(0, Kind::Name);
        let is_bound = is_name && (self.is_ahead(1, ",") || self.is_ahead(1, "\\in"));
        if !is_bound && !self.is_ahead(0, "<<") {
            return false;
        }
        let (mut at, mut open) = (0, 0);
        while !matches!(self.ahead(at).kind, Kind::End | Kind::Close) {
            let token = self.ahead(at);
            match token.text.as_str() {
                _ if token.kind != Kind::Symbol => {}
                "(" | "[" | "{" | "<<" => open += 1,
                "|->" if open == 0 => return true,
                ")" | "]" | "]_" | "}" | ">>" | ">>_" if open == 0 => return false,
                ")" | "]" | "]_" | "}" | ">>" | ">>_" => open -= 1,
                _ => {}
            }
            at += 1;
        }
        false
    }

    /// Reads a field and what it has or is in.
    fn pair(&mut self, between: &str) -> Read<(String, Node)> {
        let name = self.field()?;
        self.expect(between)?;
        Ok((name, self.expression()?))
    }

    /// Reads the name of a field, which may be a reserved word.
    pub fn field(&mut self) -> Read<String> {
        if self.is_kind(0, Kind::Word) && !self.is_outside() {
            return Ok(self.advance().text);
        }
        Ok(self.name("the name of a field")?.0)
    }

    /// Reads `![a].b = e`.
    fn change(&mut self) -> Read<Change> {
        self.expect("!")?;
        let mut path = Vec::new();
        loop {
            if self.is("[") {
                path.push(Step::Index(self.index()?));
            } else if self.accept(".") {
                path.push(Step::Field(self.field()?));
            } else if path.is_empty() {
                return self.fail("`[` or `.` after the `!` of EXCEPT");
            } else {
                break;
            }
        }
        self.expect("=")?;
        Ok(Change { path, to: self.expression()? })
    }

    /// Reads the `v` of `[A]_v`, `<<A>>_v`: a name, or anything in brackets. In `WF_v(A)`, the name
    /// has no arguments.
    fn subscript(&mut self, has_args: bool) -> Read<Node> {
        let place = self.place();
        let of = match self.peek().map(|token| (&token.kind, token.text.as_str())) {
            Some((Kind::Name, _)) => self.reference(has_args)?,
            Some((Kind::Symbol, "<<" | "{" | "[")) => {
                let text = self.ahead(0).text.clone();
                self.form(&text)?
            }
            Some((Kind::Symbol, "(")) => {
                self.advance();
                let node = self.expression()?;
                self.expect(")")?;
                return Ok(node);
            }
            _ => return self.fail("a name, a tuple or parentheses after `_`"),
        };
        Ok(Node { place, of })
    }

    fn fairness(&mut self) -> Read<Expr> {
        self.advance();
        let of = Box::new(self.subscript(false)?);
        self.expect("(")?;
        let action = self.boxed()?;
        self.expect(")")?;
        Ok(Expr::Fairness { action, of })
    }

    fn quantified(&mut self, text: &str) -> Read<Expr> {
        self.advance();
        let is_forall = text.starts_with("\\A");
        let is_temporal = text == "\\AA" || text == "\\EE";
        let bounds = if is_temporal || self.has_no_set() {
            let names = self.names()?;
            vec![Bound { names, set: None, is_tuple: false }]
        } else {
            self.bounds()?
        };
        self.expect(":")?;
        Ok(Expr::Quantified { is_forall, bounds, body: self.boxed()? })
    }

    /// Whether names follow that have no set: `x, y :`.
    fn has_no_set(&self) -> bool {
        let mut at = 0;
        while self.is_kind(at, Kind::Name) && self.is_ahead(at + 1, ",") {
            at += 2;
        }
        self.is_kind(at, Kind::Name) && self.is_ahead(at + 1, ":")
    }

    fn names(&mut self) -> Read<Vec<String>> {
        self.list(|parser| Ok(parser.name("the name of a variable")?.0))
    }

    /// Reads `x, y \in S, <<z, w>> \in T`.
    pub fn bounds(&mut self) -> Read<Vec<Bound>> {
        self.list(|parser| {
            let is_tuple = parser.is("<<");
            let names = if is_tuple { parser.tuple_of_names()? } else { parser.names()? };
            if !parser.accept("\\in") {
                return parser.fail("`\\in`");
            }
            Ok(Bound { names, set: Some(parser.expression()?), is_tuple })
        })
    }

    fn tuple_of_names(&mut self) -> Read<Vec<String>> {
        self.expect("<<")?;
        let names = self.names()?;
        self.expect(">>")?;
        Ok(names)
    }

    fn choose(&mut self) -> Read<Expr> {
        self.advance();
        let is_tuple = self.is("<<");
        let names = match is_tuple {
            true => self.tuple_of_names()?,
            false => vec![self.name("the name of a variable")?.0],
        };
        let set = if self.accept("\\in") { Some(self.expression()?) } else { None };
        self.expect(":")?;
        let bound = Box::new(Bound { names, set, is_tuple });
        Ok(Expr::Choose { bound, body: self.boxed()? })
    }

    fn conditional(&mut self) -> Read<Expr> {
        self.advance();
        let condition = self.boxed()?;
        self.expect("THEN")?;
        let then = self.boxed()?;
        self.expect("ELSE")?;
        Ok(Expr::If { condition, then, otherwise: self.boxed()? })
    }

    fn case(&mut self) -> Read<Expr> {
        self.advance();
        let (mut arms, mut other) = (Vec::new(), None);
        loop {
            if !arms.is_empty() && self.accept("OTHER") {
                self.expect("->")?;
                other = Some(self.boxed()?);
                break;
            }
            let condition = self.expression()?;
            self.expect("->")?;
            arms.push((condition, self.expression()?));
            if !self.accept("[]") {
                break;
            }
        }
        Ok(Expr::Case { arms, other })
    }

    fn local(&mut self) -> Read<Expr> {
        self.advance();
        let mut units = Vec::new();
        while units.is_empty() || !self.accept("IN") {
            if self.is("INSTANCE") {
                return self.fail("a definition (an INSTANCE inside of LET needs a name)");
            }
            units.push(self.local_unit()?);
        }
        Ok(Expr::Let { units, body: self.boxed()? })
    }
}

/// `x \in S` and `<<x, y>> \in S`, as what they mean before the `:` in a set.
fn as_bound(node: Node) -> Result<Bound, Node> {
    let Expr::Apply { name, args, .. } = &node.of else { return Err(node) };
    let ([left, set], "\\in") = (args.as_slice(), name.as_str()) else { return Err(node) };
    let (names, is_tuple) = match &left.of {
        Expr::Tuple(items) => (items.iter().map(Node::plain).collect::<Option<Vec<_>>>(), true),
        _ => (left.plain().map(|name| vec![name]), false),
    };
    match names {
        Some(names) if !names.is_empty() => Ok(Bound { names, set: Some(set.clone()), is_tuple }),
        _ => Err(node),
    }
}

#[cfg(test)]
mod tests {
    use super::super::expression::tests::show;
    use super::super::parse::expression;
    use super::*;

    /// What an expression begins with, as it is shown for debugging: its variant.
    fn variant(text: &str) -> String {
        let node = expression(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let shown = format!("{:?}", node.of);
        shown.split(['(', ' ']).next().unwrap_or_default().to_string()
    }

    #[test]
    fn brackets_are_told_apart() {
        let cases = [
            ("{} ", "Set"),
            ("{a, b}", "Set"),
            ("{x \\in S}", "Set"),
            ("{x \\in S : p}", "Filter"),
            ("{<<x, y>> \\in S : p}", "Filter"),
            ("{x : x \\in S, <<y, z>> \\in T}", "Map"),
            ("{(x \\in S) : x \\in T}", "Map"),
            ("[x \\in S |-> x]", "Function"),
            ("[x, y \\in S, <<z, w>> \\in T |-> [a |-> x]]", "Function"),
            ("[<<x, y>> \\in S |-> x]", "Function"),
            ("[S -> T]", "Functions"),
            ("[a |-> 1, DOMAIN |-> 2]", "Record"),
            ("[a : S, b : T]", "Records"),
            ("[f EXCEPT ![a, b].c = @ + 1, !.d = 2]", "Except"),
            ("[x' = x]_<<x, y>>", "Action"),
            ("<<A>>_(f[x])", "Action"),
            ("[A]_M!v", "Action"),
            ("<<>>", "Tuple"),
            ("WF_v(A)", "Fairness"),
            ("SF_<<x, y>>(A /\\ B)", "Fairness"),
            ("CHOOSE x : x \\notin S", "Choose"),
            ("CHOOSE <<x, y>> \\in S : p", "Choose"),
            ("\\AA x, y : p", "Quantified"),
            ("@", "At"),
            ("TRUE", "Boolean"),
            ("LET RECURSIVE f(_) f(n) == n g[x \\in S] == x a ++ b == a IN f(1)", "Let"),
            ("LET I(x) == INSTANCE M WITH a <- x IN I(1)!b", "Let"),
        ];
        for (text, expected) in cases {
            assert_eq!(variant(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_complete_is_refused() {
        let cases = [
            ("[a]", "expected `->`, EXCEPT, `]_` or `|->`, but found `]`"),
            ("[f EXCEPT !a = 1]", "expected `[` or `.` after the `!` of EXCEPT, but found"),
            ("{a, }", "expected an expression, but found `}`"),
            ("\\A x \\in S p", "expected `:`, but found the name `p`"),
            ("\\E x \\in S, y : p", "expected `\\in`, but found `:`"),
            ("CASE OTHER -> a", "expected an expression, but found `OTHER`"),
            ("LET IN a", "expected a definition, but found `IN`"),
            ("IF a THEN b", "expected `ELSE`, but found the end of the text"),
            ("F(LAMBDA x \\in S : x)", "expected `:`, but found `\\in`"),
            ("CHOOSE x, y : p", "expected `:`, but found `,`"),
        ];
        for (text, expected) in cases {
            let error = expression(text).unwrap_err();
            assert!(error.message.starts_with(expected), "{text}: {error}");
        }
    }

    #[test]
    fn parts_are_kept() {
        let text = "CASE a -> []b [] c -> <>d [] OTHER -> e";
        let Expr::Case { arms, other } = expression(text).unwrap().of else { panic!("no CASE") };
        let shown: Vec<_> = arms.iter().map(|(a, b)| (show(a), show(b))).collect();
        let arm = |a: &str, b: &str| (a.to_string(), b.to_string());
        assert_eq!(shown, [arm("a", "([] b)"), arm("c", "(<> d)")]);
        assert_eq!(show(&other.unwrap()), "e");
        let text = "\\E x, y \\in S, <<z, w>> \\in T : p /\\ q => r";
        let Expr::Quantified { is_forall, bounds, body } = expression(text).unwrap().of else {
            panic!("no quantifier")
        };
        assert!(!is_forall && bounds.len() == 2 && bounds[1].is_tuple);
        assert_eq!(bounds[0].names, ["x", "y"]);
        assert_eq!(show(&body), "(=> (/\\ p q) r)");
        let text = "[f EXCEPT ![a].b = 1]";
        let Expr::Except { changes, .. } = expression(text).unwrap().of else {
            panic!("no EXCEPT")
        };
        assert_eq!((changes.len(), changes[0].path.len()), (1, 2));
    }
}
