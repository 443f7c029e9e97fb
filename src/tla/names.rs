//! Reads names: of operators with their arguments, of instances before them, and of labels.

use super::cursor::{Parser, Read};
use super::expression::apply;
use super::operators::{self, Operator, START};
use super::parse::SyntaxError;
use super::syntax::{Expr, Node};
use super::token::Kind;

impl Parser {
    /// Reads `name`, `F(a)`, `A(b)!c`, or a label and what it stands before.
    pub fn named(&mut self, left: Operator) -> Read<Expr> {
        let of = self.reference(true)?;
        let Expr::Apply { instances, name, args } = &of else { return Ok(of) };
        if instances.is_empty() && self.is("::") {
            return self.labelled(left, name.clone(), args);
        }
        match name.as_str() {
            "TRUE" | "FALSE" if instances.is_empty() && args.is_empty() => {
                Ok(Expr::Boolean(name == "TRUE"))
            }
            _ => Ok(of),
        }
    }

    /// Reads what a label stands before. An operator on the left and one on the right would have
    /// different operands without the label, so there it needs parentheses.
    fn labelled(&mut self, left: Operator, label: String, args: &[Node]) -> Read<Expr> {
        let Some(params) = args.iter().map(Node::plain).collect() else {
            return self.fail("only names in parentheses before `::`");
        };
        let place = self.expect("::")?;
        let body = Box::new(self.operand(left)?);
        if self.next_operator(START)?.is_some() {
            let message = "ambiguous: put parentheses around the label and its expression".into();
            return Err(SyntaxError { place, message });
        }
        Ok(Expr::Labelled { label, params, body })
    }

    /// Reads a name, with the instances that it is of, and arguments if it may have any.
    pub fn reference(&mut self, has_args: bool) -> Read<Expr> {
        let mut instances = Vec::new();
        let mut name = match self.is_proof && self.is_kind(0, Kind::Step) {
            true => self.advance().text,
            false => self.name("a name")?.0,
        };
        loop {
            let has_args = has_args && self.is("(");
            let args = if has_args { self.arguments()? } else { Vec::new() };
            if !self.accept("!") {
                return Ok(Expr::Apply { instances, name, args });
            }
            instances.push((name, args));
            name = self.part()?;
        }
    }

    /// Reads what follows a `!`: the name or the symbol of a definition of the instance. Or what
    /// leads to a part of a definition, as in `Inv!2!(x)!:`; of the `(x)` that is "", with the
    /// argument.
    fn part(&mut self) -> Read<String> {
        let token = self.ahead(0);
        let is_part = match &token.kind {
            Kind::Symbol if token.text == "(" => return Ok(String::new()),
            Kind::Symbol if [":", "@", "<<", ">>"].contains(&&*token.text) => true,
            Kind::Symbol | Kind::Word => operators::any(&token.text).is_some(),
            kind => matches!(kind, Kind::Name | Kind::Number(_)),
        };
        if is_part && !self.is_outside() {
            Ok(self.advance().text)
        } else {
            self.fail("the name of a definition after `!`")
        }
    }

    /// Reads `(a, b)` after the name of an operator.
    pub fn arguments(&mut self) -> Read<Vec<Node>> {
        self.expect("(")?;
        let args = self.list(Parser::argument)?;
        self.expect(")")?;
        Ok(args)
    }

    /// Reads an argument: an expression, LAMBDA, or an operator by its symbol alone.
    fn argument(&mut self) -> Read<Node> {
        if (self.is_ahead(1, ",") || self.is_ahead(1, ")"))
            && let Some(node) = self.symbol()
        {
            return Ok(node);
        }
        self.value()
    }

    /// Reads the symbol of an operator, if that is what comes next.
    pub fn symbol(&mut self) -> Option<Node> {
        let token = self.peek()?;
        let is_known = matches!(token.kind, Kind::Symbol | Kind::Word);
        let operator = if is_known { operators::any(&token.text) } else { None }?;
        let place = self.advance().place;
        Some(Node { place, of: apply(operator.symbol, Vec::new()) })
    }

    /// Reads an expression, or LAMBDA, which can only stand where an operator is wanted.
    pub fn value(&mut self) -> Read<Node> {
        if !self.is("LAMBDA") {
            return self.expression();
        }
        let place = self.advance().place;
        let params = self.list(Parser::value_name)?;
        self.expect(":")?;
        let body = Box::new(self.expression()?);
        Ok(Node { place, of: Expr::Lambda { params, body } })
    }
}

#[cfg(test)]
mod tests {
    use super::super::expression::tests::check;
    use super::super::parse::expression;

    #[test]
    fn names_may_be_of_instances_and_arguments_may_be_operators() {
        check(&[
            ("A!B!C", "A!B!C"),
            ("A(1)!B(2) + c", "(+ ((A 1)!B 2) c)"),
            ("M!+(a, b)", "(M!+ a b)"),
            ("F(+, \\circ, -., a)", "(F + \\o -. a)"),
            ("F(+(1, 2), <(a, b)) * c", "(* (F (+ 1 2) (< a b)) c)"),
            ("F(-, -a)", "(F - (-. a))"),
            ("l:: a /\\ b", "l:(/\\ a b)"),
        ]);
        for text in ["F()", "F(a)(b)", "LAMBDA x : x", "A!", "a b", "-. a", "TRUE FALSE", "+ a"] {
            assert!(expression(text).is_err(), "{text}");
        }
    }
}
