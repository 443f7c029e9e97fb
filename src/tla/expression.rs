//! Reads expressions: operators by their precedence, junction lists by their columns, and names.

use super::cursor::{Parser, Read};
use super::operators::{self, FIELD, Fixity, INDEX, Operator, Order, START};
use super::parse::SyntaxError;
use super::syntax::{Expr, Node, Place};
use super::token::{Kind, Token};

/// How tall the tree of an expression may be. Operators in a row make it taller, like `a + b + c`.
const HEIGHT: usize = 1024;

/// `name(args)` without a prefix of instances.
pub fn apply(name: &str, args: Vec<Node>) -> Expr {
    Expr::Apply { instances: Vec::new(), name: name.into(), args }
}

impl Parser {
    /// Reads an expression to its end.
    pub fn expression(&mut self) -> Read<Node> {
        self.operand(START)
    }

    /// Reads an expression that the operator on its left has as its operand.
    pub fn operand(&mut self, left: Operator) -> Read<Node> {
        let outer = std::mem::take(&mut self.tallest);
        let node = self.deeper(|parser| parser.operators(left))?;
        self.tallest = self.tallest.max(outer);
        Ok(node)
    }

    /// Reads what stands at the front, then each operator after it that binds tighter than the one
    /// on the left. Leaves the height of the expression in `tallest`.
    fn operators(&mut self, left: Operator) -> Read<Node> {
        let place = self.place();
        let mut node = self.front(left)?;
        let mut height = self.tallest + 1;
        let mut last = "";
        while let Some(operator) = self.next_operator(left)? {
            self.tallest = 0;
            let is_row = operator.symbol == last && ["/\\", "\\/", "\\X"].contains(&last);
            node = match operator.fixity {
                Fixity::Infix => self.infix(node, operator, is_row)?,
                _ => Node { place, of: self.postfix(node, operator)? },
            };
            height = height.max(self.tallest + usize::from(is_row)) + usize::from(!is_row);
            if height > HEIGHT {
                let message = format!("more than {HEIGHT} operators in a row");
                return Err(SyntaxError { place: node.place, message });
            }
            last = operator.symbol;
        }
        self.tallest = height;
        Ok(node)
    }

    /// The operator that comes next and has the operand that was just read.
    pub fn next_operator(&self, left: Operator) -> Read<Option<Operator>> {
        let Some(token) = self.peek().filter(|token| token.kind == Kind::Symbol) else {
            return Ok(None);
        };
        let found = match token.text.as_str() {
            "[" => Some(INDEX),
            "." => Some(FIELD),
            text => operators::find(text, Fixity::Infix)
                .or_else(|| operators::find(text, Fixity::Postfix)),
        };
        let Some(right) = found else { return Ok(None) };
        match operators::order(left, right) {
            Order::Left => Ok(None),
            Order::Right => Ok(Some(right)),
            Order::Unclear => unclear(left, right, token.place),
        }
    }

    /// Reads an infix operator and its right operand. In a row of conjuncts, disjuncts or factors,
    /// that is one more of them.
    fn infix(&mut self, mut left: Node, operator: Operator, is_row: bool) -> Read<Node> {
        let place = self.advance().place;
        let right = self.operand(operator)?;
        if is_row && let Expr::And(row) | Expr::Or(row) | Expr::Product(row) = &mut left.of {
            row.push(right);
            return Ok(left);
        }
        let operands = vec![left, right];
        let of = match operator.symbol {
            "/\\" => Expr::And(operands),
            "\\/" => Expr::Or(operands),
            "\\X" => Expr::Product(operands),
            symbol => apply(symbol, operands),
        };
        Ok(Node { place, of })
    }

    /// Reads a postfix operator, the argument of a function, or a field.
    fn postfix(&mut self, left: Node, operator: Operator) -> Read<Expr> {
        match operator.symbol {
            "[" => {
                let at = Box::new(self.index()?);
                Ok(Expr::Index { function: Box::new(left), at })
            }
            "." => {
                self.advance();
                Ok(Expr::Field { record: Box::new(left), name: self.field()? })
            }
            symbol => {
                self.advance();
                Ok(apply(symbol, vec![left]))
            }
        }
    }

    /// Reads `[a]`, or `[a, b]`, which is the tuple of both.
    pub fn index(&mut self) -> Read<Node> {
        let place = self.expect("[")?;
        let mut items = self.list(Parser::expression)?;
        self.expect("]")?;
        match items.pop() {
            Some(only) if items.is_empty() => Ok(only),
            last => Ok(Node { place, of: Expr::Tuple(items.into_iter().chain(last).collect()) }),
        }
    }

    /// Reads the front of an expression: all but what follows the first operand.
    fn front(&mut self, left: Operator) -> Read<Node> {
        let place = self.place();
        let of = match self.peek().map(|token| &token.kind) {
            Some(Kind::Name) => self.named(left)?,
            Some(Kind::Step) if self.is_proof => self.named(left)?,
            Some(Kind::Symbol) if self.is("(") => return self.parenthesised(),
            Some(Kind::Symbol | Kind::Word) => self.symbolic(left)?,
            _ => self.literal()?,
        };
        Ok(Node { place, of })
    }

    fn literal(&mut self) -> Read<Expr> {
        let of = match self.peek().cloned() {
            Some(Token { kind: Kind::Number(number), .. }) => Expr::Number(number),
            Some(Token { kind: Kind::Text, text, .. }) => Expr::String(text),
            _ => return self.fail("an expression"),
        };
        self.advance();
        Ok(of)
    }

    /// Reads an expression that begins with a symbol or a reserved word.
    fn symbolic(&mut self, left: Operator) -> Read<Expr> {
        let text = self.ahead(0).text.clone();
        let prefix = operators::find(&text, Fixity::Prefix).filter(|_| text != "-.");
        if let Some(operator) = prefix {
            return self.prefix(left, operator);
        }
        let is_bullet = text == "/\\" || text == "\\/";
        if !is_bullet && self.is_ahead(1, "(") && operators::any(&text).is_some() {
            return self.applied();
        }
        self.form(&text)
    }

    /// Reads a symbol that stands before its operands, as names do: `+(a, b)`.
    fn applied(&mut self) -> Read<Expr> {
        let name = self.advance().text;
        let args = self.arguments()?;
        Ok(if name == "\\X" { Expr::Product(args) } else { apply(&name, args) })
    }

    fn parenthesised(&mut self) -> Read<Node> {
        self.advance();
        let node = self.expression()?;
        self.expect(")")?;
        Ok(node)
    }

    fn prefix(&mut self, left: Operator, operator: Operator) -> Read<Expr> {
        let token = self.advance();
        if operator.symbol == "-." && left.low > operator.high {
            return unclear(left, operator, token.place);
        }
        Ok(apply(operator.symbol, vec![self.operand(operator)?]))
    }

    /// Reads a list of conjuncts, or of disjuncts, whose bullets stand in one column.
    pub fn junction(&mut self) -> Read<Expr> {
        let bullet = self.ahead(0).clone();
        let column = bullet.place.column;
        let mut items = Vec::new();
        while self.is(&bullet.text) && self.place().column == column {
            self.advance();
            items.push(self.inside(column, Parser::expression)?);
        }
        Ok(if bullet.text == "/\\" { Expr::And(items) } else { Expr::Or(items) })
    }
}

fn unclear<T>(left: Operator, right: Operator, place: Place) -> Read<T> {
    let name = |operator: Operator| if operator.symbol == "-." { "-" } else { operator.symbol };
    let (left, right) = (name(left), name(right));
    let message = if left == right {
        format!("ambiguous: put parentheses around one `{left}` and its operands")
    } else {
        format!("ambiguous: put parentheses around `{left}`, or `{right}`, and its operands")
    };
    Err(SyntaxError { place, message })
}

#[cfg(test)]
pub mod tests {
    use super::super::parse::expression;
    use super::*;

    /// An expression with each operator before its operands: `(+ a b)`.
    pub fn show(node: &Node) -> String {
        let all = |name: &str, nodes: &[Node]| {
            let shown: Vec<String> = nodes.iter().map(show).collect();
            if shown.is_empty() { name.into() } else { format!("({name} {})", shown.join(" ")) }
        };
        match &node.of {
            Expr::Number(number) => number.to_string(),
            Expr::Apply { instances, name, args } => {
                let prefix: String = instances.iter().map(|(n, a)| all(n, a) + "!").collect();
                all(&(prefix + name), args)
            }
            Expr::And(nodes) => all("/\\", nodes),
            Expr::Or(nodes) => all("\\/", nodes),
            Expr::Product(nodes) => all("\\X", nodes),
            Expr::Tuple(nodes) => format!("<<{}>>", all("", nodes)),
            Expr::Index { function, at } => format!("{}[{}]", show(function), show(at)),
            Expr::Field { record, name } => format!("{}.{name}", show(record)),
            Expr::If { condition, then, otherwise } => {
                format!("(if {} {} {})", show(condition), show(then), show(otherwise))
            }
            Expr::Quantified { body, .. } => format!("(all {})", show(body)),
            Expr::Let { body, .. } => format!("(let {})", show(body)),
            Expr::Labelled { label, body, .. } => format!("{label}:{}", show(body)),
            other => format!("{other:?}"),
        }
    }

    /// Each text is read as what stands beside it.
    pub fn check(cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            let node = expression(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(show(&node), *expected, "{text}");
        }
    }

    #[test]
    fn operators_bind_as_their_precedence_says() {
        check(&[
            ("7 % 3 * 2", "(% 7 (* 3 2))"),
            ("-7 \\div 2", "(-. (\\div 7 2))"),
            ("-2^2", "(-. (^ 2 2))"),
            ("-a + b", "(+ (-. a) b)"),
            ("a - -b", "(- a (-. b))"),
            ("a - b - c + d", "(+ (- (- a b) c) d)"),
            ("a + b - c", "(+ a (- b c))"),
            ("a*b + c..d", "(.. (+ (* a b) c) d)"),
            ("x' = y", "(= (' x) y)"),
            ("f[x]' = 1", "(= (' f[x]) 1)"),
            ("f'[x][y, z].a.b", "(' f)[x][<<( y z)>>].a.b"),
            ("~a = b", "(~ (= a b))"),
            ("~ ~a /\\ b", "(/\\ (~ (~ a)) b)"),
            ("a = ~b = c", "(= a (~ (= b c)))"),
            ("a \\in S /\\ b", "(/\\ (\\in a S) b)"),
            ("UNCHANGED x /\\ y", "(/\\ (UNCHANGED x) y)"),
            ("DOMAIN f \\cup S", "(\\cup (DOMAIN f) S)"),
            ("DOMAIN f[x].y", "(DOMAIN f[x].y)"),
            ("SUBSET SUBSET S", "(SUBSET (SUBSET S))"),
            ("[]<>a /\\ b ~> c", "(~> (/\\ ([] (<> a)) b) c)"),
            ("a => b /\\ c", "(=> a (/\\ b c))"),
            ("a \\X b \\times c", "(\\X a b c)"),
            ("(a \\X b) \\X c", "(\\X (\\X a b) c)"),
            ("a /\\ b /\\ c = d", "(/\\ a b (= c d))"),
            ("(a /\\ b) /\\ c", "(/\\ (/\\ a b) c)"),
            ("x :> y @@ z :> w @@ v", "(@@ (@@ (:> x y) (:> z w)) v)"),
            ("a^+^*'", "(' (^* (^+ a)))"),
            ("1 + IF a THEN b ELSE c + 2", "(+ 1 (if a b (+ c 2)))"),
            ("a = \\E x : b /\\ c", "(= a (all (/\\ b c)))"),
        ]);
    }

    #[test]
    fn operators_whose_precedence_meets_need_parentheses() {
        let cases = [
            "a /\\ b \\/ c",
            "a => b => c",
            "a <=> b <=> c",
            "a * b \\div c",
            "a / b / c",
            "a = b = c",
            "a % b + c",
            "x \\cup y \\cap z",
            "S \\ T \\cup U",
            "a^b^c",
            "a * -b",
            "UNCHANGED x'",
            "SUBSET S \\X T",
            "-a % b + c",
            "a /\\ l:: b /\\ c",
        ];
        for text in cases {
            let error = expression(text).unwrap_err();
            assert!(error.message.starts_with("ambiguous: put parentheses"), "{text}: {error}");
        }
        let error = expression("a /\\\n b \\/ c").unwrap_err();
        assert_eq!(error.place, Place { line: 2, column: 4 });
    }

    #[test]
    fn junction_lists_go_by_their_columns() {
        check(&[
            ("/\\ a", "(/\\ a)"),
            ("/\\ a\n/\\ b", "(/\\ a b)"),
            ("/\\ a /\\ b\n/\\ c", "(/\\ (/\\ a b) c)"),
            ("/\\ a\n /\\ b\n/\\ c", "(/\\ (/\\ a b) c)"),
            ("/\\ a\n/\\ \\/ b\n   \\/ c\n/\\ d", "(/\\ a (\\/ b c) d)"),
            ("/\\ a\n\\/ b", "(\\/ (/\\ a) b)"),
            ("x = /\\ a\n    /\\ b", "(= x (/\\ a b))"),
            ("/\\ a\n/\\ b\n=> c", "(=> (/\\ a b) c)"),
            ("/\\ a\n/\\ b\n   => c", "(/\\ a (=> b c))"),
            ("~ /\\ a\n  /\\ b\n=> c", "(=> (~ (/\\ a b)) c)"),
            ("((/\\ a\n  /\\ b) \\/ c)", "(\\/ (/\\ a b) c)"),
            (
                "/\\ IF a\n    THEN /\\ b\n         /\\ c\n    ELSE d\n/\\ e",
                "(/\\ (if a (/\\ b c) d) e)",
            ),
            ("/\\ \\A x : /\\ a\n          /\\ b\n/\\ c", "(/\\ (all (/\\ a b)) c)"),
            (
                "/\\ LET a == 1\n       b == 2\n   IN  /\\ a\n       /\\ b\n/\\ c",
                "(/\\ (let (/\\ a b)) c)",
            ),
            ("/\\ f(a,\n  b)\n/\\ c", "(/\\ (f a b) c)"),
            ("\t/\\ a\n        /\\ b", "(/\\ a b)"),
        ]);
        for text in ["/\\ (a\n)", "/\\\na", "/\\ f(a,\nb)", "/\\ a\n/\\ IF b\nTHEN c ELSE d", "/\\"]
        {
            assert!(expression(text).is_err(), "{text}");
        }
    }

    /// With room for the large stack frames that a build without optimization has.
    #[test]
    fn too_much_is_refused_before_the_stack_ends() {
        let builder = std::thread::Builder::new().stack_size(8 << 20);
        builder.spawn(refuse_too_much).unwrap().join().unwrap();
    }

    fn refuse_too_much() {
        let count = 10_000;
        let opens = [
            "(",
            "~",
            "- ",
            "{",
            "<<",
            "IF ",
            "\\A x : ",
            "/\\ ",
            "f(",
            "LET a == ",
            "f[",
            "CASE ",
            "[f EXCEPT ![",
            "[a |-> ",
            "l::",
            "WF_(",
            "[x \\in ",
        ];
        for open in opens {
            let error = expression(&open.repeat(count)).unwrap_err();
            assert!(error.message.starts_with("more than 256"), "{open}: {error}");
        }
        for operator in [" + 1", "'", "[1]", ".a", " \\cup S"] {
            let text = format!("a{}", operator.repeat(count));
            let error = expression(&text).unwrap_err();
            assert!(error.message.contains("more than 1024"), "{operator}: {error}");
        }
        assert!(expression(&format!("a{}", " /\\ a".repeat(count))).is_ok());
        assert!(expression(&format!("a{}", " + 1".repeat(1000))).is_ok());
        assert!(expression(&format!("{}a{}", "(".repeat(200), ")".repeat(200))).is_ok());
    }
}
