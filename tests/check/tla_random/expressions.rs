//! Makes random constant expressions of TLA+. Each is of a type, so that most have a value; now and
//! then a part is of another type, has no value, or lacks its parentheses.

use crate::check::random::Random;

/// What the expressions use beside the standard modules.
pub const PRELUDE: &str = "\
Apply(F(_), x) == F(x)
Twice(F(_), x) == F(F(x))
Combine(F(_, _), x, y) == F(x, y)
Fold(F(_, _), base, s) ==
  LET r[i \\in 0..Len(s)] == IF i = 0 THEN base ELSE F(r[i - 1], s[i]) IN r[Len(s)]
";

/// The type of an expression.
#[derive(Clone, PartialEq)]
pub(super) enum Type {
    Bool,
    Int,
    Text,
    Set(Box<Type>),
    Seq(Box<Type>),
    /// A tuple of two.
    Pair(Box<Type>, Box<Type>),
    /// A record with the fields `a` and `b`.
    Record(Box<Type>, Box<Type>),
    Function(Box<Type>, Box<Type>),
}

use Type::{Bool, Function, Int, Pair, Record, Seq, Set, Text};

/// An operator, its range of precedence, and whether it groups to the left: the table of
/// "Specifying Systems", of those that are used here.
type Operator = (&'static str, u8, u8, bool);

/// Closed: needs no parentheses.
const CLOSED: Operator = ("", 20, 20, false);
/// Goes on to the right as far as it can.
const OPEN: Operator = ("", 0, 0, false);

const OPERATORS: [Operator; 35] = [
    ("=>", 1, 1, false),
    ("<=>", 2, 2, false),
    ("\\equiv", 2, 2, false),
    ("/\\", 3, 3, true),
    ("\\/", 3, 3, true),
    ("\\land", 3, 3, true),
    ("~", 4, 4, false),
    ("=", 5, 5, false),
    ("#", 5, 5, false),
    ("/=", 5, 5, false),
    ("<", 5, 5, false),
    ("<=", 5, 5, false),
    ("=<", 5, 5, false),
    (">", 5, 5, false),
    (">=", 5, 5, false),
    ("\\in", 5, 5, false),
    ("\\notin", 5, 5, false),
    ("\\subseteq", 5, 5, false),
    ("@@", 6, 6, true),
    (":>", 7, 7, false),
    ("\\", 8, 8, false),
    ("\\cap", 8, 8, true),
    ("\\cup", 8, 8, true),
    ("..", 9, 9, false),
    ("SUBSET", 10, 13, false),
    ("UNION", 10, 13, false),
    ("DOMAIN", 10, 13, false),
    ("+", 10, 10, true),
    ("%", 10, 11, false),
    ("\\X", 10, 13, false),
    ("-", 11, 11, true),
    ("*", 13, 13, true),
    ("\\o", 13, 13, true),
    ("\\div", 13, 13, false),
    ("^", 14, 14, false),
];

fn operator(symbol: &str) -> Operator {
    *OPERATORS.iter().find(|of| of.0 == symbol).unwrap_or_else(|| panic!("{symbol}"))
}

/// An expression, and the operator that binds least in it.
pub(super) struct Made {
    pub(super) text: String,
    of: Operator,
    /// Whether it ends with what goes on to the right as far as it can.
    is_open: bool,
}

impl Made {
    pub(super) fn is_closed(&self) -> bool {
        self.of == CLOSED
    }

    /// Whether it ends with what goes on to the right as far as it can.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }
}

pub(super) fn closed(text: impl Into<String>) -> Made {
    Made { text: text.into(), of: CLOSED, is_open: false }
}

pub(super) fn open(text: String) -> Made {
    Made { text, of: OPEN, is_open: true }
}

/// An expression that does not look like what a set's elements are bound to: TLC's parser expects
/// that where `\in` stands in a set.
pub(super) fn plain(text: String) -> String {
    if text.contains("\\in ") { format!("({text})") } else { text }
}

/// Makes expressions.
pub struct Generator {
    pub(super) random: Random,
    /// What can be used where an expression stands, and of which type it is.
    pub(super) scope: Vec<(String, Type)>,
    names: usize,
}

impl Generator {
    pub fn new(seed: u64) -> Generator {
        Generator { random: Random::new(seed), scope: Vec::new(), names: 0 }
    }

    /// The next expression.
    pub fn expression(&mut self) -> String {
        self.names = 0;
        let of = self.kind(2);
        self.of(&of, 4).text
    }

    /// A type, of types that are not deeper.
    pub(super) fn kind(&mut self, depth: usize) -> Type {
        let of = self.random.below(if depth == 0 { 5 } else { 11 });
        match of {
            0 | 1 => Int,
            2 | 3 => Bool,
            4 => Text,
            5 | 6 => Set(self.inner(depth)),
            7 => Seq(self.inner(depth)),
            8 => Pair(self.inner(depth), self.inner(depth)),
            9 => Record(self.inner(depth), self.inner(depth)),
            _ => Function(self.inner(depth), self.inner(depth)),
        }
    }

    fn inner(&mut self, depth: usize) -> Box<Type> {
        Box::new(self.kind(depth - 1))
    }

    pub(super) fn name(&mut self) -> String {
        self.names += 1;
        format!("x{}", self.names)
    }

    /// With parentheses, if these are needed, or at random; seldom without where they are needed.
    pub(super) fn wrapped(&mut self, operand: Made, is_needed: bool) -> String {
        let is_wanted = match is_needed {
            true => self.random.below(200) != 0,
            false => self.random.percent(10),
        };
        if is_wanted { format!("({})", operand.text) } else { operand.text }
    }

    pub(super) fn prefix(&mut self, symbol: &'static str, operand: Made) -> Made {
        let of = if symbol == "-" { ("-", 12, 12, false) } else { operator(symbol) };
        let is_open = operand.is_open;
        let is_needed = operand.of != OPEN && operand.of.1 <= of.2 && operand.of.0 != "-";
        let text = self.wrapped(operand, is_needed);
        Made { text: format!("{symbol} {text}"), of, is_open }
    }

    pub(super) fn infix(&mut self, left: Made, symbol: &'static str, right: Made) -> Made {
        let of = operator(symbol);
        let groups = of.3 && left.of == of;
        let is_needed = left.is_open || (left.of.1 <= of.2 && !groups);
        let left = self.wrapped(left, is_needed);
        let is_needed = match right.of == OPEN {
            true => self.random.percent(70),
            false => right.of.1 <= of.2,
        };
        let is_open = right.is_open;
        let right = self.wrapped(right, is_needed);
        let is_open = is_open && !right.ends_with(')');
        Made { text: format!("{left} {symbol} {right}"), of, is_open }
    }

    /// Of two of a type, with one of these operators between.
    pub(super) fn between(&mut self, symbols: &[&'static str], of: &Type, depth: usize) -> Made {
        let symbol = symbols[self.random.below(symbols.len())];
        let (left, right) = (self.of(of, depth), self.of(of, depth));
        self.infix(left, symbol, right)
    }

    pub(super) fn text(&mut self, of: &Type, depth: usize) -> String {
        self.of(of, depth).text
    }

    /// An expression in which more can be used.
    pub(super) fn with(&mut self, names: &[(&str, &Type)], of: &Type, depth: usize) -> String {
        let before = self.scope.len();
        let more = names.iter().map(|(name, of)| ((*name).to_owned(), (*of).clone()));
        self.scope.extend(more);
        let made = self.text(of, depth);
        self.scope.truncate(before);
        made
    }

    /// An expression of a type.
    pub(super) fn of(&mut self, of: &Type, depth: usize) -> Made {
        if self.random.below(500) == 0 {
            return self.wrong();
        }
        if depth == 0 {
            return self.least(of);
        }
        if self.random.percent(30) { self.any(of, depth - 1) } else { self.typed(of, depth - 1) }
    }

    /// What mostly has no value, or one of another type.
    fn wrong(&mut self) -> Made {
        const WRONG: [&str; 16] = [
            "Head(<<>>)",
            "Tail(<<>>)",
            "<<1, 2>>[3]",
            "[a |-> 1].b",
            "(CHOOSE x \\in {} : TRUE)",
            "(CHOOSE x \\in {1, 2} : x > 2)",
            "(1 \\div 0)",
            "(1 % 0)",
            "(0 ^ 0)",
            "(CASE FALSE -> 1)",
            "(1 = \"a\")",
            "(1 \\in {\"a\"})",
            "(2 \\in 3)",
            "SubSeq(<<1, 2>>, 1, 3)",
            "{1, \"a\"}",
            "{<<1>>, <<TRUE>>}",
        ];
        if self.random.percent(50) {
            return closed(WRONG[self.random.below(WRONG.len())]);
        }
        let of = self.kind(1);
        self.of(&of, 1)
    }

    /// A name of this type, or the simplest expression.
    pub(super) fn least(&mut self, of: &Type) -> Made {
        let known: Vec<usize> =
            (0..self.scope.len()).filter(|at| self.scope[*at].1 == *of).collect();
        if !known.is_empty() && self.random.percent(75) {
            return closed(&self.scope[known[self.random.below(known.len())]].0);
        }
        match of {
            Bool => closed(["TRUE", "FALSE"][self.random.below(2)]),
            Int if self.random.percent(15) => {
                let number = closed(self.random.below(4).to_string());
                self.prefix("-", number)
            }
            Int => closed(self.random.below(5).to_string()),
            Text => closed(["\"a\"", "\"b\"", "\"c\""][self.random.below(3)]),
            Set(of) => closed(format!("{{{}}}", self.several(of, 0, 3))),
            Seq(of) => closed(format!("<<{}>>", self.several(of, 0, 3))),
            Pair(one, other) => {
                closed(format!("<<{}, {}>>", self.text(one, 0), self.text(other, 0)))
            }
            Record(a, b) => self.record(a, b, 0),
            Function(from, to) => {
                let name = self.name();
                let (set, to) = (self.several(from, 0, 2), self.with(&[(&name, from)], to, 0));
                closed(format!("[{name} \\in {{{set}}} |-> {to}]"))
            }
        }
    }

    /// Up to so many expressions, with commas between.
    pub(super) fn several(&mut self, of: &Type, depth: usize, most: usize) -> String {
        let count = self.random.below(most + 1);
        let all: Vec<String> = (0..count).map(|_| plain(self.text(of, depth))).collect();
        all.join(", ")
    }

    pub(super) fn record(&mut self, a: &Type, b: &Type, depth: usize) -> Made {
        let (a, b) = (self.text(a, depth), self.text(b, depth));
        closed(match self.random.percent(50) {
            true => format!("[a |-> {a}, b |-> {b}]"),
            false => format!("[b |-> {b}, a |-> {a}]"),
        })
    }

    /// Binds a name, or a pair of names, to the elements of a set: what stands before the body, and
    /// the names.
    pub(super) fn bound(&mut self, depth: usize) -> (String, Vec<(String, Type)>) {
        let of = self.kind(1);
        let (name, set) = (self.name(), self.of(&Set(Box::new(of.clone())), depth));
        let set = self.wrapped(set, false);
        if let Pair(one, other) = &of
            && self.random.percent(70)
        {
            let second = self.name();
            let bound = format!("<<{name}, {second}>> \\in {set}");
            return (bound, vec![(name, (**one).clone()), (second, (**other).clone())]);
        }
        (format!("{name} \\in {set}"), vec![(name, of)])
    }
}
