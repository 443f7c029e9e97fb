//! Reads modules: their declarations, definitions and instances.

use super::cursor::{Parser, Read};
use super::operators::{self, Fixity};
use super::syntax::{Definition, Instance, Module, Node, Param, Place, Unit};
use super::token::{self, Kind};

/// Why a text could not be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pub place: Place,
    pub message: String,
}

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "line {}, column {}: {}", self.place.line, self.place.column, self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// Reads the module that a text holds. What comes before it and after it does not count.
pub fn module(text: &str) -> Result<Module, SyntaxError> {
    Parser::new(token::of_module(text)?).module()
}

/// Reads a text that is one expression.
pub fn expression(text: &str) -> Result<Node, SyntaxError> {
    let mut parser = Parser::new(token::of_expression(text)?);
    let node = parser.expression()?;
    match parser.is_kind(0, Kind::End) {
        true => Ok(node),
        false => parser.fail("an operator or the end of the expression"),
    }
}

impl Parser {
    /// Reads from the first line of a module to its last.
    fn module(&mut self) -> Read<Module> {
        self.line()?;
        self.expect("MODULE")?;
        let (name, _) = self.name("the name of the module")?;
        self.line()?;
        let extends = match self.accept("EXTENDS") {
            true => self.list(|parser| parser.name("the name of a module"))?,
            false => Vec::new(),
        };
        let mut units = Vec::new();
        while !self.is_kind(0, Kind::Close) {
            units.extend(self.unit()?);
        }
        self.advance();
        Ok(Module { name, extends, units })
    }

    fn line(&mut self) -> Read<()> {
        if !self.is_kind(0, Kind::Line) {
            return self.fail("a line of four `-` or more");
        }
        self.advance();
        Ok(())
    }

    /// Reads one thing that a module is made of. None for what is not kept: theorems, and lines.
    fn unit(&mut self) -> Read<Option<Unit>> {
        let token = self.ahead(0);
        if token.kind == Kind::Line {
            if self.is_ahead(1, "MODULE") {
                return self.deeper(Parser::module).map(|module| Some(Unit::Module(module)));
            }
            self.advance();
            return Ok(None);
        }
        let word = if token.kind == Kind::Word { token.text.clone() } else { String::new() };
        match word.as_str() {
            "CONSTANT" | "CONSTANTS" => {
                self.advance();
                Ok(Some(Unit::Constants(self.list(Parser::param)?)))
            }
            "VARIABLE" | "VARIABLES" => {
                self.advance();
                let names = self.list(|parser| parser.name("the name of a variable"))?;
                Ok(Some(Unit::Variables(names)))
            }
            "ASSUME" | "ASSUMPTION" | "AXIOM" => self.assume().map(Some),
            "THEOREM" | "LEMMA" | "COROLLARY" | "PROPOSITION" => self.theorem().map(|()| None),
            "USE" | "HIDE" => self.use_or_hide().map(|()| None),
            _ => self.local_unit().map(Some),
        }
    }

    /// Reads ASSUME, with or without a name.
    fn assume(&mut self) -> Read<Unit> {
        self.advance();
        if self.is_kind(0, Kind::Name) && self.is_ahead(1, "==") {
            self.advance();
            self.advance();
        }
        Ok(Unit::Assume(self.expression()?))
    }

    /// Reads what may stand in LET, too: a definition, an instance, or RECURSIVE.
    pub fn local_unit(&mut self) -> Read<Unit> {
        let place = self.place();
        if self.accept("RECURSIVE") {
            return Ok(Unit::Recursive(self.list(Parser::param)?));
        }
        let is_local = self.accept("LOCAL");
        if self.is("INSTANCE") {
            let head = Head { name: None, params: Vec::new(), place };
            return Ok(Unit::Instance(self.instance(head, is_local)?));
        }
        let (name, name_place) = match self.peek().map(|token| token.kind.clone()) {
            Some(Kind::Name) => self.name("a definition")?,
            Some(Kind::Symbol | Kind::Word) => return self.prefix_definition(is_local),
            _ => return self.fail("a definition"),
        };
        if self.is("[") {
            return self.function(name, is_local, name_place);
        }
        let head = self.head(name, name_place)?;
        self.body(head, is_local)
    }

    /// Reads the rest of what stands before the `==`, after its first name.
    fn head(&mut self, name: String, place: Place) -> Read<Head> {
        let mut params = Vec::new();
        if self.accept("(") {
            params = self.list(Parser::param)?;
            self.expect(")")?;
        } else if !self.is("==") {
            let first = Param { name, arity: 0, place };
            let declared = self.declared().filter(|operator| operator.symbol != "=");
            let Some(operator) = declared else { return self.fail("`==`") };
            self.advance();
            params.push(first);
            if operator.fixity == Fixity::Infix {
                params.push(self.value_name()?);
            }
            return Ok(Head { name: Some(operator.symbol.into()), params, place });
        }
        Ok(Head { name: Some(name), params, place })
    }

    /// The infix or postfix operator that comes next.
    fn declared(&self) -> Option<operators::Operator> {
        let token = self.peek().filter(|token| token.kind == Kind::Symbol)?;
        let infix = operators::find(&token.text, Fixity::Infix);
        infix.or_else(|| operators::find(&token.text, Fixity::Postfix))
    }

    /// Reads the definition of a prefix operator, as in `-. a == 0 - a`.
    fn prefix_definition(&mut self, is_local: bool) -> Read<Unit> {
        let place = self.place();
        let Some(operator) = operators::find(&self.ahead(0).text, Fixity::Prefix) else {
            return self.fail("a definition");
        };
        self.advance();
        let params = vec![self.value_name()?];
        self.body(Head { name: Some(operator.symbol.into()), params, place }, is_local)
    }

    /// Reads `==` and what is defined.
    fn body(&mut self, head: Head, is_local: bool) -> Read<Unit> {
        self.expect("==")?;
        if self.is("INSTANCE") {
            return Ok(Unit::Instance(self.instance(head, is_local)?));
        }
        let Head { name, params, place } = head;
        let (name, domain) = (name.unwrap_or_default(), Vec::new());
        let body = self.expression()?;
        Ok(Unit::Definition(Definition { name, params, domain, body, is_local, place }))
    }

    /// Reads the definition of a function, after its name.
    fn function(&mut self, name: String, is_local: bool, place: Place) -> Read<Unit> {
        self.expect("[")?;
        let domain = self.bounds()?;
        self.expect("]")?;
        self.expect("==")?;
        let (params, body) = (Vec::new(), self.expression()?);
        Ok(Unit::Definition(Definition { name, params, domain, body, is_local, place }))
    }

    /// Reads INSTANCE and what it says.
    fn instance(&mut self, head: Head, is_local: bool) -> Read<Instance> {
        self.expect("INSTANCE")?;
        let (module, _) = self.name("the name of a module")?;
        let with = match self.accept("WITH") {
            true => self.list(Parser::substitution)?,
            false => Vec::new(),
        };
        let Head { name, params, place } = head;
        Ok(Instance { name, params, module, with, is_local, place })
    }

    /// Reads `a <- e`, where either side may be the symbol of an operator.
    fn substitution(&mut self) -> Read<(String, Node)> {
        let name = if self.is_ahead(1, "<-") && self.is_kind(0, Kind::Symbol) {
            let Some(operator) = operators::any(&self.ahead(0).text) else {
                return self.fail("the name of a constant or variable");
            };
            self.advance();
            operator.symbol.into()
        } else {
            self.name("the name of a constant or variable")?.0
        };
        self.expect("<-")?;
        let is_infix = self.declared().is_some();
        let starts = ["-", "/\\", "\\/"].into_iter().any(|symbol| self.is(symbol));
        if is_infix && (!starts || self.is_ahead(1, ",")) {
            return self.symbol().map(|node| (name, node)).map_or_else(|| self.fail("a value"), Ok);
        }
        Ok((name, self.value()?))
    }

    /// Reads the name of a value that is a parameter.
    pub fn value_name(&mut self) -> Read<Param> {
        let (name, place) = self.name("the name of a parameter")?;
        Ok(Param { name, arity: 0, place })
    }

    /// Reads a parameter: `x`, `F(_, _)`, `_ + _`, `-. _` or `_ ^+`.
    pub fn param(&mut self) -> Read<Param> {
        let place = self.place();
        if self.accept("_") {
            let Some(operator) = self.declared() else { return self.fail("an operator after `_`") };
            self.advance();
            let is_infix = operator.fixity == Fixity::Infix;
            if is_infix {
                self.expect("_")?;
            }
            return Ok(Param {
                name: operator.symbol.into(),
                arity: 1 + usize::from(is_infix),
                place,
            });
        }
        if self.is_ahead(1, "_")
            && let Some(operator) = operators::find(&self.ahead(0).text, Fixity::Prefix)
        {
            self.advance();
            self.expect("_")?;
            return Ok(Param { name: operator.symbol.into(), arity: 1, place });
        }
        let mut param = self.value_name()?;
        if self.accept("(") {
            param.arity = self.list(|parser| parser.expect("_"))?.len();
            self.expect(")")?;
        }
        Ok(param)
    }
}

/// What stands before the `==` of a definition or an instance.
struct Head {
    name: Option<String>,
    params: Vec<Param>,
    place: Place,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The units of a module, each in a few words.
    fn units(text: &str) -> Vec<String> {
        let text = format!("---- MODULE M ----\n{text}\n====");
        let module = module(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        module.units.iter().map(show).collect()
    }

    fn show(unit: &Unit) -> String {
        let list = |params: &[Param]| {
            let shown: Vec<_> = params.iter().map(|p| format!("{}/{}", p.name, p.arity)).collect();
            shown.join(" ")
        };
        match unit {
            Unit::Constants(params) => format!("constants {}", list(params)),
            Unit::Variables(names) => format!("variables {}", names.len()),
            Unit::Recursive(params) => format!("recursive {}", list(params)),
            Unit::Assume(_) => "assume".into(),
            Unit::Module(module) => format!("module {} of {}", module.name, module.units.len()),
            Unit::Definition(def) => {
                let local = if def.is_local { "local " } else { "" };
                let domain = if def.domain.is_empty() { "" } else { " function" };
                format!("{local}{}({}){domain}", def.name, list(&def.params))
            }
            Unit::Instance(instance) => {
                let local = if instance.is_local { "local " } else { "" };
                let name = instance.name.as_deref().unwrap_or("-");
                let with: Vec<_> = instance.with.iter().map(|(name, _)| name.as_str()).collect();
                format!("{local}{name} is {} with {}", instance.module, with.join(" "))
            }
        }
    }

    #[test]
    fn each_unit_is_known() {
        let cases = [
            ("CONSTANTS a, F(_, _), _ + _, -. _, _ ^+", "constants a/0 F/2 +/2 -./1 ^+/1"),
            ("VARIABLES x, y", "variables 2"),
            ("RECURSIVE f, g(_, _)", "recursive f/0 g/2"),
            ("ASSUME a = b", "assume"),
            ("AXIOM Foo == a", "assume"),
            ("F(x, G(_), _ \\o _) == x", "F(x/0 G/1 \\o/2)"),
            ("LOCAL a \\oplus b == 1", "local (+)(a/0 b/0)"),
            ("a ^# == 1", "^#(a/0)"),
            ("-. a == 1", "-.(a/0)"),
            ("f[x, y \\in S, <<a, b>> \\in T] == x", "f() function"),
            ("INSTANCE N", "- is N with "),
            ("LOCAL INSTANCE N WITH a <- 1, b <- x + y", "local - is N with a b"),
            ("I(x) == INSTANCE N WITH + <- ++, - <- -, F <- LAMBDA x : x", "I is N with + - F"),
            ("---- MODULE N ----\nx == 1\n====", "module N of 1"),
        ];
        for (text, expected) in cases {
            let found = units(&format!("{text}\nz == 1\n-----"));
            assert_eq!(found, [expected, "z()"], "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let cases = [
            ("X = 1", 2, 3, "expected `==`, but found `=`"),
            ("X == 1 2", 2, 8, "expected a definition, but found the number 2"),
            ("X == (1", 3, 1, "expected `)`, but found the end of the module, `====`"),
            ("X == 1\nEXTENDS A", 3, 1, "expected a definition, but found `EXTENDS`"),
            ("F() == 1", 2, 3, "expected the name of a parameter, but found `)`"),
        ];
        for (text, line, column, expected) in cases {
            let text = format!("---- MODULE M ----\n{text}\n====");
            let error = module(&text).unwrap_err();
            assert_eq!(error.place, Place { line, column }, "{text}");
            assert_eq!(error.message, expected, "{text}");
        }
        let error = module("---- MODULE M ----\nX == 1\n").unwrap_err();
        assert_eq!(error.message, "expected a definition, but found the end of the text");
    }

    #[test]
    fn extends_and_what_is_outside_of_the_module() {
        let text = "words ;\n---- MODULE M ----\nEXTENDS A, B\n(* c *) X == 1 \\* d\n====\n;;";
        let module = module(text).unwrap();
        assert_eq!(module.name, "M");
        assert_eq!(module.extends[1], ("B".into(), Place { line: 3, column: 12 }));
        assert_eq!(module.units.len(), 1);
    }
}
