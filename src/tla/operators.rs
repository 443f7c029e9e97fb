//! The operators of TLA+: where each one stands, how tightly it binds, and its one spelling.

/// Where an operator stands among its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixity {
    Prefix,
    Infix,
    Postfix,
}

/// An operator and its range of precedence: of two whose ranges do not meet, the higher one binds
/// tighter; two whose ranges meet cannot stand side by side, unless they are the same operator and
/// it groups to the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    pub symbol: &'static str,
    pub fixity: Fixity,
    pub low: u8,
    pub high: u8,
    pub is_left: bool,
}

/// What is to be done when one operator comes after another and its right operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The operand belongs to the operator on its left.
    Left,
    /// The operand belongs to the operator on its right.
    Right,
    /// It could belong to either: parentheses are wanted.
    Unclear,
}

/// Stands before an expression: binds less than any operator.
pub const START: Operator =
    Operator { symbol: "", fixity: Fixity::Prefix, low: 0, high: 0, is_left: false };

/// Function application, `f[x]`. Binds tighter than all but the `.` of fields.
pub const INDEX: Operator =
    Operator { symbol: "[", fixity: Fixity::Postfix, low: 16, high: 16, is_left: true };

/// The field of a record, `r.a`. Binds tightest of all.
pub const FIELD: Operator =
    Operator { symbol: ".", fixity: Fixity::Postfix, low: 17, high: 17, is_left: true };

/// Operators that have fixity, range of precedence and grouping in common.
type Row = (Fixity, u8, u8, bool, &'static [&'static str]);

use Fixity::{Infix, Postfix, Prefix};

const TABLE: &[Row] = &[
    (Prefix, 4, 4, true, &["~"]),
    (Prefix, 4, 15, false, &["[]", "<>", "ENABLED", "UNCHANGED"]),
    (Prefix, 10, 13, false, &["SUBSET", "UNION", "DOMAIN"]),
    (Prefix, 12, 12, false, &["-."]),
    (Postfix, 15, 15, false, &["'", "^+", "^*", "^#"]),
    (Infix, 1, 1, false, &["=>"]),
    (Infix, 2, 2, false, &["~>", "<=>", "-+->"]),
    (Infix, 3, 3, true, &["/\\", "\\/"]),
    (Infix, 5, 5, false, &["=", "#", "<", "<=", ">", ">=", "\\in", "\\notin", ":=", "::="]),
    (Infix, 5, 5, false, &["|-", "|=", "-|", "=|", "\\subseteq", "\\subset", "\\supset"]),
    (Infix, 5, 5, false, &["\\supseteq", "\\prec", "\\succ", "\\preceq", "\\succeq", "\\sim"]),
    (Infix, 5, 5, false, &["\\simeq", "\\ll", "\\gg", "\\asymp", "\\approx", "\\cong"]),
    (Infix, 5, 5, false, &["\\sqsubset", "\\sqsubseteq", "\\sqsupset", "\\sqsupseteq"]),
    (Infix, 5, 5, false, &["\\doteq", "\\propto"]),
    (Infix, 5, 14, true, &["\\cdot"]),
    (Infix, 6, 6, true, &["@@"]),
    (Infix, 7, 7, false, &["<:", ":>"]),
    (Infix, 8, 8, false, &["\\"]),
    (Infix, 8, 8, true, &["\\cap", "\\cup"]),
    (Infix, 9, 9, false, &["..", "..."]),
    (Infix, 9, 13, true, &["$", "$$", "??", "##", "\\uplus", "\\sqcap", "\\sqcup"]),
    (Infix, 9, 13, false, &["!!"]),
    (Infix, 9, 14, false, &["\\wr"]),
    (Infix, 10, 10, true, &["+", "++", "(+)"]),
    (Infix, 10, 11, true, &["|", "||", "%%"]),
    (Infix, 10, 11, false, &["%"]),
    (Infix, 10, 13, true, &["\\X"]),
    (Infix, 11, 11, true, &["-", "--", "(-)"]),
    (Infix, 13, 13, true, &["*", "**", "&", "&&", "(.)", "(\\X)", "\\star", "\\o"]),
    (Infix, 13, 13, true, &["\\bigcirc", "\\bullet"]),
    (Infix, 13, 13, false, &["/", "//", "\\div", "(/)"]),
    (Infix, 14, 14, false, &["^", "^^"]),
];

/// Other ways to write a symbol, and the one that the syntax tree has.
const SPELLINGS: &[(&str, &str)] = &[
    ("/=", "#"),
    ("=<", "<="),
    ("\\leq", "<="),
    ("\\geq", ">="),
    ("\\land", "/\\"),
    ("\\lor", "\\/"),
    ("\\lnot", "~"),
    ("\\neg", "~"),
    ("\\equiv", "<=>"),
    ("\\union", "\\cup"),
    ("\\intersect", "\\cap"),
    ("\\times", "\\X"),
    ("\\circ", "\\o"),
    ("\\oplus", "(+)"),
    ("\\ominus", "(-)"),
    ("\\odot", "(.)"),
    ("\\oslash", "(/)"),
    ("\\otimes", "(\\X)"),
    ("\\forall", "\\A"),
    ("\\exists", "\\E"),
];

/// The one spelling of a symbol.
pub fn spelling(symbol: &str) -> &str {
    SPELLINGS.iter().find(|(other, _)| *other == symbol).map_or(symbol, |(_, one)| one)
}

/// The operator that is spelled so, where such a one stands.
pub fn find(symbol: &str, fixity: Fixity) -> Option<Operator> {
    let symbol = if symbol == "-" && fixity == Prefix { "-." } else { spelling(symbol) };
    TABLE.iter().filter(|row| row.0 == fixity).find_map(|&(_, low, high, is_left, symbols)| {
        let symbol = symbols.iter().find(|known| **known == symbol)?;
        Some(Operator { symbol, fixity, low, high, is_left })
    })
}

/// The operator that is spelled so, wherever it stands. `-` is minus between two operands.
pub fn any(symbol: &str) -> Option<Operator> {
    [Infix, Prefix, Postfix].into_iter().find_map(|fixity| find(symbol, fixity))
}

/// Every way to write an operator, words such as DOMAIN left out.
pub fn symbols() -> impl Iterator<Item = &'static str> {
    let table = TABLE.iter().flat_map(|row| row.4.iter().copied());
    let is_symbol = |text: &&str| !text.starts_with(|c: char| c.is_ascii_uppercase());
    table.filter(is_symbol).chain(SPELLINGS.iter().map(|(other, _)| *other))
}

/// Which of two operators has the operand between them.
pub fn order(left: Operator, right: Operator) -> Order {
    if left.low > right.high || (left == right && left.is_left) {
        Order::Left
    } else if left.high < right.low {
        Order::Right
    } else {
        Order::Unclear
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_symbol_stands_once_in_the_table() {
        let mut all: Vec<&str> = TABLE.iter().flat_map(|row| row.4.iter().copied()).collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
        for (other, one) in SPELLINGS {
            assert!(!all.contains(other), "{other}");
            assert!(all.contains(one) || ["\\A", "\\E"].contains(one), "{one}");
        }
    }

    #[test]
    fn the_operand_goes_to_the_tighter_one() {
        let infix = |symbol| find(symbol, Infix).unwrap();
        let cases = [
            ("+", "*", Order::Right),
            ("*", "+", Order::Left),
            ("+", "+", Order::Left),
            ("=", "=", Order::Unclear),
            ("%", "+", Order::Unclear),
            ("\\cup", "\\union", Order::Left),
            ("\\cup", "\\cap", Order::Unclear),
            ("/\\", "\\lor", Order::Unclear),
            ("\\leq", "\\land", Order::Left),
        ];
        for (left, right, expected) in cases {
            assert_eq!(order(infix(left), infix(right)), expected, "{left} {right}");
        }
        assert_eq!(find("-", Prefix).unwrap().symbol, "-.");
        assert_eq!(any("-").unwrap().fixity, Infix);
        assert_eq!(any("DOMAIN").unwrap().fixity, Prefix);
        assert_eq!(find("+", Postfix), None);
    }
}
