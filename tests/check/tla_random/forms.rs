//! The forms of expressions that have a type, and those that any type has.

use super::expressions::Type::{self, Bool, Function, Int, Pair, Record, Seq, Set, Text};
use super::expressions::{Generator, Made, closed, open, plain};

fn boxed(of: &Type) -> Box<Type> {
    Box::new(of.clone())
}

/// A set of these.
fn set(of: &Type) -> Type {
    Set(boxed(of))
}

fn seq(of: &Type) -> Type {
    Seq(boxed(of))
}

impl Generator {
    /// A form that only this type has.
    pub(super) fn typed(&mut self, of: &Type, depth: usize) -> Made {
        match of {
            Bool => self.boolean(depth),
            Int => self.number(depth),
            Text => self.any(of, depth),
            Set(of) => self.set(of, depth),
            Seq(of) => self.sequence(of, depth),
            Pair(one, other) if self.random.percent(60) => {
                closed(format!("<<{}, {}>>", self.text(one, depth), self.text(other, depth)))
            }
            Record(a, b) if self.random.percent(60) => self.record(a, b, depth),
            Function(from, to) if self.random.percent(70) => self.function(from, to, depth),
            Pair(..) | Record(..) | Function(..) => self.except(of, depth),
        }
    }

    /// A form that all types have.
    pub(super) fn any(&mut self, of: &Type, depth: usize) -> Made {
        match self.random.below(14) {
            0 => self.conditional(of, depth),
            1 => self.cases(of, depth),
            2 => self.constant(of, depth),
            3 => self.defined(of, depth),
            4 => self.recursive(of, depth),
            5 => self.recursive_function(of, depth),
            6 => self.applied(of, depth),
            7 => self.folded(of, depth),
            8 => self.chosen(of, depth),
            9 => self.at_an_argument(of, depth),
            10 => {
                let items = self.filled(of, depth);
                closed(format!("{}[{}]", self.tight(items), 1 + self.random.below(2)))
            }
            11 => {
                let other = self.kind(1);
                let (record, field) = match self.random.percent(50) {
                    true => (Record(boxed(of), boxed(&other)), "a"),
                    false => (Record(boxed(&other), boxed(of)), "b"),
                };
                let record = self.of(&record, depth);
                let record = self.tight(record);
                closed(format!("{record}.{field}"))
            }
            12 => {
                let other = self.kind(1);
                let pair = self.of(&Pair(boxed(of), boxed(&other)), depth);
                let pair = self.tight(pair);
                closed(format!("{pair}[1]"))
            }
            _ => closed(format!("Head({})", self.filled(of, depth).text)),
        }
    }

    /// A sequence, mostly one that has two elements.
    fn filled(&mut self, of: &Type, depth: usize) -> Made {
        match self.random.percent(90) {
            true => closed(format!("<<{}, {}>>", self.text(of, depth), self.text(of, depth))),
            false => self.of(&seq(of), depth),
        }
    }

    /// The value of a function, mostly at an argument that it has.
    fn at_an_argument(&mut self, of: &Type, depth: usize) -> Made {
        let (name, from) = (self.name(), self.kind(1));
        let at = plain(self.text(&from, depth.min(1)));
        let function = match self.random.percent(90) {
            true => {
                let body = self.with(&[(&name, &from)], of, depth);
                format!("[{name} \\in {{{at}, {}}} |-> {body}]", self.text(&from, 0))
            }
            false => {
                let function = self.of(&Function(boxed(&from), boxed(of)), depth);
                self.tight(function)
            }
        };
        closed(format!("{function}[{at}]"))
    }

    /// What stands before `[` or a dot.
    fn tight(&mut self, made: Made) -> String {
        let is_needed = !made.is_closed();
        self.wrapped(made, is_needed)
    }

    fn conditional(&mut self, of: &Type, depth: usize) -> Made {
        let when = self.text(&Bool, depth);
        let (then, other) = (self.text(of, depth), self.text(of, depth));
        open(format!("IF {when} THEN {then} ELSE {other}"))
    }

    fn cases(&mut self, of: &Type, depth: usize) -> Made {
        let mut text = String::from("CASE ");
        for _ in 0..=self.random.below(2) {
            let when = self.text(&Bool, depth);
            let then = self.of(of, depth);
            let is_open = then.is_open();
            let then = self.wrapped(then, is_open);
            text += &format!("{when} -> {then} [] ");
        }
        open(format!("{text}OTHER -> {}", self.text(of, depth)))
    }

    fn constant(&mut self, of: &Type, depth: usize) -> Made {
        let (name, with) = (self.name(), self.kind(1));
        let value = self.text(&with, depth);
        open(format!("LET {name} == {value} IN {}", self.with(&[(&name, &with)], of, depth)))
    }

    fn defined(&mut self, of: &Type, depth: usize) -> Made {
        let (name, first, second) = (self.name(), self.name(), self.name());
        let (a, b) = (self.kind(1), self.kind(1));
        let body = self.with(&[(&first, &a), (&second, &b)], of, depth);
        let call = format!("{name}({}, {})", self.text(&a, depth), self.text(&b, 0));
        let rest = self.with(&[(&call, of)], of, depth.min(2));
        open(format!("LET {name}({first}, {second}) == {body} IN {rest}"))
    }

    fn recursive(&mut self, of: &Type, depth: usize) -> Made {
        let (name, at, depth) = (self.name(), self.name(), depth.min(1));
        let (base, call) = (self.text(of, depth), format!("{name}({at} - 1)"));
        let step = self.with(&[(&call, of), (&at, &Int)], of, depth);
        open(format!(
            "LET RECURSIVE {name}(_) {name}({at}) == IF {at} <= 0 THEN {base} ELSE {step} IN \
             {name}({})",
            self.random.below(4)
        ))
    }

    fn recursive_function(&mut self, of: &Type, depth: usize) -> Made {
        let (name, at, depth) = (self.name(), self.name(), depth.min(1));
        let (base, before) = (self.text(of, depth), format!("{name}[{at} - 1]"));
        let step = self.with(&[(&before, of), (&at, &Int)], of, depth);
        open(format!(
            "LET {name}[{at} \\in 0..3] == IF {at} = 0 THEN {base} ELSE {step} IN {name}[{}]",
            self.random.below(4)
        ))
    }

    /// An operator that is an argument: a LAMBDA, or defined.
    fn applied(&mut self, of: &Type, depth: usize) -> Made {
        let (name, a, b) = (self.name(), self.name(), self.name());
        let with = self.kind(1);
        let value = self.text(&with, depth);
        let is_twice = with == *of && self.random.percent(70);
        let apply = if is_twice { "Twice" } else { "Apply" };
        match self.random.below(3) {
            0 => {
                let body = self.with(&[(&a, &with)], of, depth);
                closed(format!("{apply}(LAMBDA {a} : {body}, {value})"))
            }
            1 => {
                let body = self.with(&[(&a, &with)], of, depth);
                open(format!("LET {name}({a}) == {body} IN {apply}({name}, {value})"))
            }
            _ => {
                let other = self.kind(1);
                let body = self.with(&[(&a, &with), (&b, &other)], of, depth);
                let second = self.text(&other, depth);
                closed(format!("Combine(LAMBDA {a}, {b} : {body}, {value}, {second})"))
            }
        }
    }

    fn folded(&mut self, of: &Type, depth: usize) -> Made {
        let (sum, item, item_of) = (self.name(), self.name(), self.kind(1));
        let body = self.with(&[(&sum, of), (&item, &item_of)], of, depth.min(1));
        let (base, items) = (self.text(of, 0), self.text(&seq(&item_of), depth.min(1)));
        closed(format!("Fold(LAMBDA {sum}, {item} : {body}, {base}, {items})"))
    }

    fn chosen(&mut self, of: &Type, depth: usize) -> Made {
        let (name, is_any) = (self.name(), self.random.percent(70));
        let from = match is_any {
            true => format!("{{{}}}", [(); 2].map(|()| plain(self.text(of, depth))).join(", ")),
            false => self.text(&set(of), depth),
        };
        let condition = match is_any {
            true => format!("{name} = {name}"),
            false => self.with(&[(&name, of)], &Bool, depth),
        };
        open(format!("CHOOSE {name} \\in {from} : {condition}"))
    }

    fn boolean(&mut self, depth: usize) -> Made {
        match self.random.below(12) {
            0..=2 => {
                let symbols = ["/\\", "\\/", "=>", "<=>", "\\land", "\\equiv"];
                self.between(&symbols, &Bool, depth)
            }
            3 => {
                let of = self.of(&Bool, depth);
                self.prefix("~", of)
            }
            4 => self.between(&["<", "<=", "=<", ">", ">="], &Int, depth),
            5 | 6 => {
                let of = self.kind(2);
                self.between(&["=", "#", "/="], &of, depth)
            }
            7 => {
                let of = self.kind(1);
                let (element, mut from) = (self.of(&of, depth), self.of(&set(&of), depth));
                // Here, the second operand is not looked at where the first says enough.
                if ["\\cup", "\\cap", "\\ "].iter().any(|symbol| from.text.contains(symbol)) {
                    from = closed(format!("TLCEval({})", from.text));
                }
                let symbol = ["\\in", "\\notin"][self.random.below(2)];
                self.infix(element, symbol, from)
            }
            8 => {
                let of = self.kind(1);
                self.between(&["\\subseteq"], &set(&of), depth)
            }
            9 => {
                let junction = ["/\\", "\\/"][self.random.below(2)];
                let (one, other) = (self.text(&Bool, depth), self.text(&Bool, depth));
                closed(format!("({junction} {one} {junction} {other})"))
            }
            _ => self.quantified(depth),
        }
    }

    fn quantified(&mut self, depth: usize) -> Made {
        let (mut bounds, mut names) = self.bound(depth);
        if self.random.percent(30) {
            let (more, others) = self.bound(0);
            bounds += &format!(", {more}");
            names.extend(others);
        }
        let names: Vec<(&str, &Type)> = names.iter().map(|(name, of)| (&name[..], of)).collect();
        let body = self.with(&names, &Bool, depth);
        open(format!("{} {bounds} : {body}", ["\\A", "\\E"][self.random.below(2)]))
    }

    fn number(&mut self, depth: usize) -> Made {
        match self.random.below(9) {
            0..=2 => self.between(&["+", "-", "*"], &Int, depth),
            3 if self.random.percent(90) => {
                let (left, right) = (self.of(&Int, depth), 1 + self.random.below(4));
                let symbol = ["\\div", "%"][self.random.below(2)];
                self.infix(left, symbol, closed(right.to_string()))
            }
            3 | 4 => self.between(&["\\div", "%"], &Int, depth),
            5 => {
                let (base, exponent) = (self.of(&Int, depth.min(1)), 1 + self.random.below(3));
                self.infix(base, "^", closed(exponent.to_string()))
            }
            6 => {
                let of = self.of(&Int, depth);
                self.prefix("-", of)
            }
            7 => {
                let of = self.kind(1);
                closed(format!("Len({})", self.text(&seq(&of), depth)))
            }
            _ => {
                let of = self.kind(1);
                closed(format!("Cardinality({})", self.text(&set(&of), depth)))
            }
        }
    }

    fn set(&mut self, of: &Type, depth: usize) -> Made {
        match self.random.below(10) {
            0 | 1 => closed(format!("{{{}}}", self.several(of, depth, 3))),
            2 => {
                let name = self.name();
                let from = self.text(&set(of), depth);
                let body = self.with(&[(&name, of)], &Bool, depth);
                closed(format!("{{{name} \\in {from} : {body}}}"))
            }
            3 | 4 => {
                let (bounds, names) = self.bound(depth);
                let names: Vec<_> = names.iter().map(|(name, of)| (&name[..], of)).collect();
                let body = plain(self.with(&names, of, depth));
                closed(format!("{{{body} : {bounds}}}"))
            }
            5 | 6 => self.between(&["\\cup", "\\cap", "\\"], &set(of), depth),
            7 => {
                let sets = self.of(&set(&set(of)), depth.min(1));
                self.prefix("UNION", sets)
            }
            _ => self.set_of_its_own(of, depth),
        }
    }

    /// A set that only sets of these are, of small ones.
    fn set_of_its_own(&mut self, of: &Type, depth: usize) -> Made {
        match of {
            Bool => closed("BOOLEAN"),
            Int if self.random.percent(30) => {
                let of = self.kind(1);
                let items = self.of(&seq(&of), depth);
                self.prefix("DOMAIN", items)
            }
            Int => self.between(&[".."], &Int, depth.min(1)),
            Text => {
                let of = self.kind(1);
                let function = self.of(&Function(Box::new(Text), boxed(&of)), depth);
                self.prefix("DOMAIN", function)
            }
            Set(of) => {
                let from = self.least(&set(of));
                self.prefix("SUBSET", from)
            }
            Pair(one, other) => {
                let (one, other) = (self.of(&set(one), depth), self.of(&set(other), depth));
                self.infix(one, "\\X", other)
            }
            Record(a, b) => {
                let (a, b) = (self.text(&set(a), depth), self.text(&set(b), depth));
                closed(format!("[a : {a}, b : {b}]"))
            }
            Function(from, to) => {
                let (from, to) = (self.least(&set(from)).text, self.least(&set(to)).text);
                closed(format!("[{from} -> {to}]"))
            }
            Seq(of) => {
                let (last, from) = (self.random.below(3), self.least(&set(of)).text);
                closed(format!("[1..{last} -> {from}]"))
            }
        }
    }

    fn sequence(&mut self, of: &Type, depth: usize) -> Made {
        match self.random.below(9) {
            0 | 1 => closed(format!("<<{}>>", self.several(of, depth, 3))),
            2 => {
                let (items, last) = (self.text(&seq(of), depth), self.text(of, depth));
                closed(format!("Append({items}, {last})"))
            }
            3 => closed(format!("Tail({})", self.filled(of, depth).text)),
            4 => {
                let items = self.filled(of, depth).text;
                let (first, last) = (1 + self.random.below(2), self.random.below(3));
                closed(format!("SubSeq({items}, {first}, {last})"))
            }
            5 => self.between(&["\\o"], &seq(of), depth),
            6 => {
                let (name, items) = (self.name(), self.text(&seq(of), depth));
                let body = self.with(&[(&name, of)], &Bool, depth);
                closed(format!("SelectSeq({items}, LAMBDA {name} : {body})"))
            }
            7 => {
                let (name, last) = (self.name(), self.random.below(4));
                let body = self.with(&[(&name, &Int)], of, depth);
                closed(format!("[{name} \\in 1..{last} |-> {body}]"))
            }
            _ => self.except(&seq(of), depth),
        }
    }

    fn function(&mut self, from: &Type, to: &Type, depth: usize) -> Made {
        match self.random.below(5) {
            0 => {
                let (argument, value) = (self.of(from, depth), self.of(to, depth));
                self.infix(argument, ":>", value)
            }
            1 => self.between(&["@@"], &Function(boxed(from), boxed(to)), depth),
            2 => self.except(&Function(boxed(from), boxed(to)), depth),
            _ => {
                let (name, set) = (self.name(), self.text(&set(from), depth));
                let body = self.with(&[(&name, from)], to, depth);
                closed(format!("[{name} \\in {set} |-> {body}]"))
            }
        }
    }

    /// EXCEPT, of one or two paths.
    fn except(&mut self, of: &Type, depth: usize) -> Made {
        let function = self.text(of, depth);
        let outer: Vec<_> = self.scope.iter().filter(|known| known.0 != "@").cloned().collect();
        let scope = std::mem::replace(&mut self.scope, outer);
        let mut changes = Vec::new();
        for _ in 0..=self.random.below(2) {
            let (path, end) = self.path(of, depth);
            let to = self.with(&[("@", &end)], &end, depth);
            changes.push(format!("!{path} = {to}"));
        }
        self.scope = scope;
        closed(format!("[{function} EXCEPT {}]", changes.join(", ")))
    }

    /// A path into values of a type, and the type of what is there.
    fn path(&mut self, of: &Type, depth: usize) -> (String, Type) {
        let field = |name: &str, is_text| match is_text {
            true => format!("[\"{name}\"]"),
            false => format!(".{name}"),
        };
        let (step, end) = match of {
            Seq(of) => (format!("[{}]", 1 + self.random.below(2)), of),
            Pair(one, _) if self.random.percent(50) => ("[1]".to_owned(), one),
            Pair(_, other) => ("[2]".to_owned(), other),
            Record(a, _) if self.random.percent(50) => (field("a", self.random.percent(30)), a),
            Record(_, b) => (field("b", self.random.percent(30)), b),
            Function(from, to) => (format!("[{}]", self.text(from, depth)), to),
            _ => unreachable!("it has no parts"),
        };
        let has_parts = matches!(**end, Seq(_) | Pair(..) | Record(..) | Function(..));
        if has_parts && self.random.percent(60) {
            let (rest, end) = self.path(end, depth);
            return (step + &rest, end);
        }
        (step, (**end).clone())
    }
}
