//! Goes past theorems and their proofs, of which nothing is kept.

use super::cursor::{Parser, Read};
use super::operators;
use super::token::Kind;

impl Parser {
    /// Goes past a theorem and its proof.
    pub fn theorem(&mut self) -> Read<()> {
        self.advance();
        if self.is_kind(0, Kind::Name) && self.is_ahead(1, "==") {
            self.advance();
            self.advance();
        }
        self.in_proof(|parser| {
            parser.goal()?;
            parser.proof(0)
        })
    }

    /// Goes past USE and HIDE.
    pub fn use_or_hide(&mut self) -> Read<()> {
        self.in_proof(Parser::facts)
    }

    fn in_proof(&mut self, read: impl FnOnce(&mut Parser) -> Read<()>) -> Read<()> {
        self.is_proof = true;
        let result = read(self);
        self.is_proof = false;
        result
    }

    /// Goes past an expression, or ASSUME and PROVE.
    fn goal(&mut self) -> Read<()> {
        if self.is_kind(0, Kind::Name) && self.is_ahead(1, "::") {
            self.advance();
            self.advance();
        }
        if self.is("[]") && self.is_ahead(1, "ASSUME") {
            self.advance();
        }
        if !self.accept("ASSUME") {
            self.expression()?;
            return Ok(());
        }
        self.deeper(|parser| parser.list(Parser::assumption))?;
        if self.is("[]") && self.is_ahead(1, "PROVE") {
            self.advance();
        }
        self.expect("PROVE")?;
        self.expression()?;
        Ok(())
    }

    /// Goes past one thing that is assumed.
    fn assumption(&mut self) -> Read<()> {
        let is_new = self.accept("NEW");
        let levels = ["CONSTANT", "VARIABLE", "STATE", "ACTION", "TEMPORAL"];
        let is_level = levels.into_iter().any(|level| self.accept(level));
        if !is_new && !is_level {
            return self.goal();
        }
        self.param()?;
        if self.accept("\\in") {
            self.expression()?;
        }
        Ok(())
    }

    /// Goes past a proof, if there is one here of a deeper level than `level`.
    fn proof(&mut self, level: usize) -> Read<()> {
        let is_said = self.accept("PROOF");
        if self.is_kind(0, Kind::Step) {
            let inner = step_level(&self.ahead(0).text, level);
            return match inner > level {
                true => self.deeper(|parser| parser.steps(inner)),
                false => Ok(()),
            };
        }
        if self.is("BY") {
            return self.facts();
        }
        if !self.accept("OBVIOUS") && !self.accept("OMITTED") && is_said {
            return self.fail("a proof after PROOF");
        }
        Ok(())
    }

    /// Goes past the steps of a level, up to and with its QED and the proof of that.
    fn steps(&mut self, level: usize) -> Read<()> {
        let mut current = level - 1;
        loop {
            if self.is_kind(0, Kind::End) || self.is_kind(0, Kind::Close) {
                return self.fail("QED at the end of a proof");
            }
            let token = self.advance();
            if token.kind != Kind::Step {
                continue;
            }
            current = step_level(&token.text, current);
            if self.accept("QED") {
                if current <= level {
                    return self.proof(level);
                }
                current -= 1;
            }
        }
    }

    /// Goes past what BY, USE and HIDE say.
    fn facts(&mut self) -> Read<()> {
        self.advance();
        self.accept("ONLY");
        if !self.is_definitions() {
            self.list(|parser| {
                if parser.accept("MODULE") {
                    return parser.name("the name of a module").map(drop);
                }
                parser.expression().map(drop)
            })?;
        }
        if self.accept("DEF") || self.accept("DEFS") {
            self.list(|parser| {
                parser.accept("MODULE");
                let token = parser.ahead(0);
                match token.kind {
                    Kind::Name | Kind::Step => parser.reference(false).map(drop),
                    _ if operators::any(&token.text).is_some() => {
                        parser.advance();
                        Ok(())
                    }
                    _ => parser.fail("the name of a definition"),
                }
            })?;
        }
        Ok(())
    }

    fn is_definitions(&self) -> bool {
        self.is("DEF") || self.is("DEFS")
    }
}

/// The level that a step has: the number in `<3>a`. `<*>` is of the level that is open, `<+>` of
/// the next.
fn step_level(step: &str, current: usize) -> usize {
    let inner = step[1..].split('>').next().unwrap_or_default();
    match inner {
        "*" => current.max(1),
        "+" => current + 1,
        number => number.parse().unwrap_or(usize::MAX).saturating_add(1),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::module;

    #[test]
    fn theorems_end_where_the_next_unit_begins() {
        let cases = [
            "THEOREM X => Y",
            "THEOREM Foo == X => Y\nBY <1>2, MODULE N DEF X, Y, +, A!B",
            "LEMMA A PROOF OBVIOUS",
            "COROLLARY A OMITTED",
            "USE A, B DEF C, MODULE D\nHIDE DEF A",
            "THEOREM ASSUME NEW x, NEW y \\in S, P(x), CONSTANT C, ASSUME a PROVE b PROVE Q(x)
            <1>1. A = B BY X, <2>1 DEF Y
            <1>2. CASE a
              <2>1. SUFFICES ASSUME b PROVE c OBVIOUS
              <2> QED
            <1>a DEFINE foo == 1 bar == 2
            <1>. PICK x \\in S : p OMITTED
            <1>3. QED BY <1>1, <1>2",
            "LEMMA A PROOF <*>1. B <*> C <+> D <*> QED <*> QED PROOF BY B!2!(x)!: DEF B",
        ];
        for text in cases {
            let text = format!("---- MODULE M ----\n{text}\nZ(x) == 1\n====");
            let module = module(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(module.units.len(), 1, "{text}");
        }
    }

    #[test]
    fn proofs_must_end() {
        for text in ["THEOREM A PROOF\nZ == 1", "THEOREM A <1>1. B\nZ == 1", "THEOREM"] {
            let text = format!("---- MODULE M ----\n{text}\n====");
            assert!(module(&text).is_err(), "{text}");
        }
    }
}
