//! Resolves the names of parts of definitions: `Inv!2!1`, the first operand of the second one,
//! `Inv!(a)`, the body of a quantifier with a value for what it binds, and `Inv!label(a)`.

use super::ir::Ir;
use super::lower::{Lowering, with_slots};
use super::problem::Result;
use super::scope::{Arg, Named, Names, Path, Scope};
use super::syntax::{Bound, Definition, Expr, Node, Place, Unit, sets};

/// What a name leads to.
#[derive(Clone, Copy)]
enum Piece<'a> {
    Node(&'a Node),
    /// `f[x \in S] == e`.
    Function(&'a Definition),
    /// The first ones of conjuncts, or disjuncts, with infix operators in a row.
    Row(&'a Node, &'a [Node]),
    /// `p -> e` of CASE; OTHER has no condition.
    Arm(Option<&'a Node>, &'a Node),
}

/// That, and the names and slots that are bound on the way.
struct Part<'a> {
    piece: Piece<'a>,
    scope: Names<'a>,
    slots: Vec<u32>,
    primed: bool,
    /// It is a definition or a label: the labels in it can be named.
    has_labels: bool,
}

/// What is bound on the way to a label.
enum Around<'a> {
    Bounds(&'a [Bound]),
    Let(&'a [Unit]),
}

impl<'a> Lowering<'a> {
    /// A part of what `named` stands for, which has these arguments and is so far in the path.
    pub fn part(
        &mut self,
        (path, at, args): (Path<'a>, usize, &'a [Node]),
        (of, named): (Names<'a>, Named<'a>),
        (last, scope, primed): (&[Arg<'a>], &Names<'a>, bool),
    ) -> Result<Ir> {
        let given = |args: &'a [Node]| -> Vec<Arg<'a>> {
            args.iter().map(|arg| Arg::Node(arg, scope.clone(), primed)).collect()
        };
        let mut part = self.whole(named, &given(args), (&of, scope), (primed, path.place))?;
        let steps = path.instances[at + 1..].iter().map(|(name, args)| (&**name, given(args)));
        for (name, args) in steps.chain([(path.name, last.to_vec())]) {
            // All of a definition, whose parts have names without it.
            let is_whole = name == ":" && at + 1 == path.instances.len() && args.is_empty();
            if !is_whole && !self.step(&mut part, name, &args, path.place)? {
                let whole = &path.instances[at].0;
                let step = if name.is_empty() { "(...)" } else { name };
                let message = format!("`!{step}` names no part here, of the definition of {whole}");
                return self.problem(scope, path.place, message);
            }
        }
        let Part { piece, scope: inside, slots, primed, .. } = part;
        let body = match piece {
            Piece::Node(node) => self.node(node, &inside, primed)?,
            Piece::Row(node, row) => match &node.of {
                Expr::And(_) => Ir::And(self.all(row, &inside, primed)?),
                _ => Ir::Or(self.all(row, &inside, primed)?),
            },
            Piece::Function(Definition { name, .. }) => {
                let message = format!("{name} itself is the whole of its definition");
                return self.problem(scope, path.place, message);
            }
            Piece::Arm(..) => {
                let message = "of a case of CASE, `!1` is the condition and `!2` the value";
                return self.problem(scope, path.place, message);
            }
        };
        Ok(with_slots(slots, Box::new(body)))
    }

    /// All of what a definition says.
    fn whole(
        &mut self,
        named: Named<'a>,
        args: &[Arg<'a>],
        (of, scope): (&Names<'a>, &Names<'a>),
        (primed, place): (bool, Place),
    ) -> Result<Part<'a>> {
        let (mut slots, has_labels) = (Vec::new(), true);
        let (piece, inside, primed) = match named {
            Named::Definition { of: definition, .. } => {
                self.has_enough(definition, args, (scope, place))?;
                let inside = Scope::inside(of, self.next);
                slots = self.bind(&definition.params, args, &inside, (scope, primed, place))?;
                let piece = match definition.domain.is_empty() {
                    true => Piece::Node(&definition.body),
                    false => Piece::Function(definition),
                };
                (piece, Scope::inside(&inside, self.next), primed)
            }
            Named::Delayed { of: Arg::Node(node, at, is_primed), .. } if args.is_empty() => {
                (Piece::Node(node), at, primed || is_primed)
            }
            _ => return self.problem(scope, place, "only definitions have parts with a name"),
        };
        Ok(Part { piece, scope: inside, slots, primed, has_labels })
    }

    /// Goes to a part of the part; false if it has no such one.
    fn step(
        &mut self,
        part: &mut Part<'a>,
        name: &'a str,
        args: &[Arg<'a>],
        place: Place,
    ) -> Result<bool> {
        let had_labels = std::mem::take(&mut part.has_labels);
        if name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return Ok(had_labels && self.label(part, name, args, place)?);
        }
        // Of what has a label, the label is no part.
        while let Piece::Node(Node { of: Expr::Labelled { body, .. }, .. }) = part.piece {
            part.piece = Piece::Node(body);
        }
        if name.is_empty() {
            let Some((bounds, body)) = part.piece.binder() else { return Ok(false) };
            let names: Vec<&str> = names(bounds).collect();
            if names.len() != args.len() {
                return Ok(false);
            }
            self.bind_names(part, names.into_iter().zip(args))?;
            part.piece = Piece::Node(body);
            return Ok(true);
        }
        let Some(piece) = part.piece.operand(name).filter(|_| args.is_empty()) else {
            return Ok(false);
        };
        if let (Piece::Node(Node { of: Expr::Let { units, .. }, .. }), primed) =
            (part.piece, part.primed)
        {
            part.scope = self.let_names(units, &mut part.slots, &part.scope, (primed, place))?;
        }
        part.piece = piece;
        Ok(true)
    }

    /// Goes to what has a label, with values for the names that are bound around it.
    fn label(
        &mut self,
        part: &mut Part<'a>,
        label: &str,
        args: &[Arg<'a>],
        place: Place,
    ) -> Result<bool> {
        let mut around = Vec::new();
        let body = match part.piece {
            Piece::Node(node) => node,
            Piece::Function(of) => {
                around.push(Around::Bounds(&of.domain));
                &of.body
            }
            _ => return Ok(false),
        };
        let Some((params, body)) = labelled(body, label, &mut around) else { return Ok(false) };
        if params.len() != args.len() {
            return Ok(false);
        }
        for around in around {
            match around {
                Around::Bounds(bounds) => {
                    let value = |name: &'a str| {
                        let at = params.iter().position(|param| param == name)?;
                        Some((name, &args[at]))
                    };
                    let Some(given) = names(bounds).map(value).collect::<Option<Vec<_>>>() else {
                        return Ok(false);
                    };
                    self.bind_names(part, given)?;
                }
                Around::Let(units) => {
                    let at = (part.primed, place);
                    part.scope = self.let_names(units, &mut part.slots, &part.scope, at)?;
                }
            }
        }
        (part.piece, part.has_labels) = (Piece::Node(body), true);
        Ok(true)
    }

    fn bind_names<'v>(
        &mut self,
        part: &mut Part<'a>,
        given: impl IntoIterator<Item = (&'a str, &'v Arg<'a>)>,
    ) -> Result<()>
    where
        'a: 'v,
    {
        let inside = Scope::inside(&part.scope, self.next);
        for (name, arg) in given {
            inside.bind(name, self.value(arg, &mut part.slots)?);
        }
        part.scope = Scope::inside(&inside, self.next);
        Ok(())
    }
}

impl<'a> Piece<'a> {
    fn binder(self) -> Option<(&'a [Bound], &'a Node)> {
        match self {
            Piece::Node(node) => node.binder(),
            Piece::Function(of) => Some((&of.domain, &of.body)),
            _ => None,
        }
    }

    /// The operand with this number; `<<` is the first one, and `>>` the other of two.
    fn operand(self, name: &str) -> Option<Piece<'a>> {
        if let Piece::Arm(when, then) = self {
            let part = if name == "1" { when } else { Some(then).filter(|_| name == "2") };
            return part.map(Piece::Node);
        }
        let all = self.operands();
        let number = match name {
            "<<" => 1,
            ">>" if all.len() == 2 => 2,
            number => number.parse().ok()?,
        };
        all.get(usize::checked_sub(number, 1)?).copied()
    }

    fn operands(self) -> Vec<Piece<'a>> {
        if let Some((bounds, _)) = self.binder() {
            return sets(bounds).map(Piece::Node).collect();
        }
        let node = match self {
            Piece::Node(node) => node,
            Piece::Row(node, row) => return of_row(node, row),
            Piece::Arm(..) | Piece::Function(_) => return Vec::new(),
        };
        match &node.of {
            Expr::And(all) | Expr::Or(all) if node.place > all[0].place => of_row(node, all),
            Expr::Case { arms, other } => {
                let arms = arms.iter().map(|(when, then)| Piece::Arm(Some(when), then));
                arms.chain(other.as_deref().map(|then| Piece::Arm(None, then))).collect()
            }
            Expr::Apply { args, .. } => args.iter().map(Piece::Node).collect(),
            Expr::Let { body, .. } => vec![Piece::Node(body)],
            Expr::Except { function, .. } => vec![Piece::Node(function)],
            Expr::Lambda { .. } => Vec::new(),
            _ => node.parts().into_iter().map(Piece::Node).collect(),
        }
    }
}

/// The last one, and all before it: with infix operators, conjuncts have two each.
fn of_row<'a>(node: &'a Node, row: &'a [Node]) -> Vec<Piece<'a>> {
    match row {
        [first, last] => vec![Piece::Node(first), Piece::Node(last)],
        [before @ .., last] => vec![Piece::Row(node, before), Piece::Node(last)],
        [] => Vec::new(),
    }
}

fn names(bounds: &[Bound]) -> impl Iterator<Item = &str> {
    bounds.iter().flat_map(|bound| &bound.names).map(String::as_str)
}

/// The parameters of a label and what has it. It may not be inside of another label, nor of what a
/// LET defines.
fn labelled<'a>(
    node: &'a Node,
    label: &str,
    around: &mut Vec<Around<'a>>,
) -> Option<(&'a [String], &'a Node)> {
    let parts = match &node.of {
        Expr::Labelled { label: own, params, body } => {
            return (own == label).then_some((params, &**body));
        }
        Expr::Let { body, .. } => vec![&**body],
        Expr::Lambda { .. } => Vec::new(),
        _ => node.parts(),
    };
    let count = around.len();
    for part in parts {
        match (&node.of, node.binder()) {
            (Expr::Let { units, .. }, _) => around.push(Around::Let(units)),
            (_, Some((bounds, body))) if std::ptr::eq(body, part) => {
                around.push(Around::Bounds(bounds));
            }
            _ => {}
        }
        if let Some(found) = labelled(part, label, around) {
            return Some(found);
        }
        around.truncate(count);
    }
    None
}
