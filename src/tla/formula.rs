//! Reads the formula of a specification (`Init /\ [][Next]_vars /\ WF_vars(Next)`): how it begins,
//! and which action all steps are. What else it says of behaviours is left out.

use super::ir::Ir;
use super::lower::Lowering;
use super::problem::Result;
use super::scope::{Named, Names, find};
use super::syntax::{Definition, Expr, Node};

/// Adds what a formula says of the first state: all its conjuncts that are not about behaviours.
pub fn begins<'a>(
    lowering: &mut Lowering<'a>,
    node: &'a Node,
    scope: &Names<'a>,
    first: &mut Vec<Ir>,
) -> Result<()> {
    match &node.of {
        Expr::And(all) => {
            return all.iter().try_for_each(|one| begins(lowering, one, scope, first));
        }
        Expr::Labelled { body, .. } => return begins(lowering, body, scope, first),
        Expr::Apply { instances, name, args } if instances.is_empty() && args.is_empty() => {
            if let Some((of, Named::Definition { of: definition, .. })) = find(scope, name)
                && is_temporal(&definition.body, &of, 0)
            {
                return begins(lowering, &definition.body, &of, first);
            }
        }
        _ => {}
    }
    if !is_temporal(node, scope, 0) {
        first.push(lowering.node(node, scope, true)?);
    }
    Ok(())
}

/// The definition that a name stands for at a place, with the names that it is written in.
pub type Definitions<'f, 'a, S> = dyn Fn(&S, &str) -> Option<(&'a Definition, S)> + 'f;

/// The action of which a formula says that all steps are its own (`[][Next]_vars`), with the names
/// that it is written in.
pub fn every_step<'a, S: Clone>(
    node: &'a Node,
    scope: &S,
    named: &Definitions<'_, 'a, S>,
) -> Option<(&'a Node, S)> {
    match &node.of {
        Expr::And(all) => all.iter().find_map(|one| every_step(one, scope, named)),
        Expr::Labelled { body, .. } => every_step(body, scope, named),
        Expr::Apply { instances, name, args } if instances.is_empty() => match &args[..] {
            [] => {
                let (of, inside) = named(scope, name)?;
                every_step(&of.body, &inside, named)
            }
            [Node { of: Expr::Action { or_same: true, action, .. }, .. }] if name == "[]" => {
                Some((action, scope.clone()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether a formula, or what it names, is about behaviours.
fn is_temporal(node: &Node, scope: &Names, depth: u32) -> bool {
    let mut is = false;
    node.each(&mut |part| {
        is |= match &part.of {
            Expr::Fairness { .. } | Expr::Action { .. } => true,
            Expr::Apply { name, .. } if ["[]", "<>", "~>", "-+->"].contains(&&**name) => true,
            Expr::Apply { instances, name, .. } if instances.is_empty() && depth < 16 => {
                match find(scope, name) {
                    Some((of, Named::Definition { of: definition, is_recursive: false })) => {
                        is_temporal(&definition.body, &of, depth + 1)
                    }
                    _ => false,
                }
            }
            _ => false,
        };
    });
    is
}
