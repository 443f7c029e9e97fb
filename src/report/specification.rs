//! What judging exercised of a specification: its actions and their branches, and of those that no
//! step went through the conjunct that was never true.

use super::words::counted;
use crate::tla::covering::{Covered, Kind, Part};

/// Most parts that are listed.
const NEVER_MAX: usize = 20;

/// What was exercised, and what was not.
pub fn text(covered: &Covered) -> String {
    let of_kind = |is: &dyn Fn(Kind) -> bool| {
        let all = covered.parts.iter().filter(|part| is(part.kind));
        (all.clone().filter(|part| part.taken > 0).count(), all.count())
    };
    let (actions, all_actions) = of_kind(&|kind| kind == Kind::Action);
    let (branches, all_branches) = of_kind(&|kind| kind != Kind::Action && kind != Kind::Guard);
    let states = counted(covered.states.len() as u64, "state");
    let of_all = covered.reachable.as_ref().map_or(String::new(), |all| {
        let reached = all.intersection(&covered.states).count();
        format!(", {reached} of the {} that it can come to", all.len())
    });
    let mut text = format!(
        "specification: steps of {actions} of {all_actions} actions, through {branches} of \
         {all_branches} branches, to {states}{of_all}\n"
    );
    let never: Vec<String> = never(&covered.parts);
    if never.is_empty() {
        return text;
    }
    text += "never exercised:\n";
    never.iter().take(NEVER_MAX).for_each(|line| text += &format!("  {line}\n"));
    if let Some(more @ 1..) = never.len().checked_sub(NEVER_MAX) {
        text += &format!("  and {more} more, which the file of --coverage has\n");
    }
    text
}

/// The actions and branches that no step went through; none inside of others.
fn never(parts: &[Part]) -> Vec<String> {
    let (mut lines, mut inside) = (Vec::new(), None::<u32>);
    for (at, part) in parts.iter().enumerate() {
        inside = inside.filter(|depth| part.depth > *depth);
        if part.kind == Kind::Guard || part.taken > 0 || inside.is_some() {
            continue;
        }
        inside = Some(part.depth);
        let within = parts[at + 1..].iter().take_while(|other| other.depth > part.depth);
        let mut guards = within.filter(|other| other.kind == Kind::Guard && other.tried > 0);
        let why = match guards.find(|guard| guard.taken == 0) {
            Some(guard) => format!("line {} was never true: {}", guard.line, guard.text),
            None if part.kind == Kind::Action => "nothing called it".to_string(),
            None => "it was never come to".to_string(),
        };
        let Part { action, line, text, .. } = part;
        let place = match part.kind {
            Kind::Action => action.clone(),
            _ => format!("{action}, line {line} ({}: {text})", name(part.kind)),
        };
        lines.push(format!("{place}: {why}"));
    }
    lines
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Action => "action",
        Kind::Disjunct => "disjunct",
        Kind::Then => "THEN",
        Kind::Else => "ELSE",
        Kind::Arm => "arm of CASE",
        Kind::Guard => "conjunct",
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::*;

    #[test]
    fn what_no_step_went_through_is_named_with_what_was_never_true() {
        let part = |kind, depth, line, taken, tried| {
            let (action, text) = ("Dequeue".to_string(), format!("text {line}"));
            Part { action, kind, depth, line, text, taken, tried }
        };
        let parts = vec![
            part(Kind::Action, 0, 3, 7, 0),
            part(Kind::Guard, 1, 3, 9, 9),
            part(Kind::Disjunct, 1, 4, 7, 0),
            part(Kind::Disjunct, 1, 6, 0, 0),
            part(Kind::Guard, 2, 6, 5, 5),
            part(Kind::Guard, 2, 7, 0, 5),
            part(Kind::Then, 2, 8, 0, 0),
        ];
        let reachable = Some(FxHashSet::from_iter([1, 2, 3]));
        let covered = Covered { parts, states: FxHashSet::from_iter([1, 5]), reachable };
        assert_eq!(
            text(&covered),
            "specification: steps of 1 of 1 actions, through 1 of 3 branches, to 2 states, 1 of \
             the 3 that it can come to\nnever exercised:\n  Dequeue, line 6 (disjunct: text 6): \
             line 7 was never true: text 7\n"
        );
    }
}
