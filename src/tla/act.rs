//! Makes the steps of an action: finds the next states that it allows. The first conjunct that says
//! what a primed variable is gives it its value; one that comes later is a test. Conjuncts are
//! taken in the order in which they are written, as TLC takes them.

use super::covering::Kind;
use super::eval::Machine;
use super::ir::{Binding, Ir, Spot};
use super::problem::Result;
use super::value::{Value, equal};

/// Comparisons that are operators of their own.
const COMPARISONS: [&str; 4] = ["<", "<=", ">", ">="];
/// Longer values say no more to people than the line does.
const COMPARED_MAX: usize = 200;

/// A comparison of these values, if it is short.
fn compared(operator: &str, one: &Value, other: &Value) -> Option<String> {
    let text = format!("{one} {operator} {other}");
    (text.len() <= COMPARED_MAX).then_some(text)
}

/// What is done where an action is possible so far; whether to look for more ways.
pub type Then<'a, 's> = &'a mut dyn FnMut(&mut Machine<'s>) -> Result<bool>;

/// What has no value yet.
#[derive(Clone, Copy)]
enum Unsaid {
    Next(u32),
    /// The answer of the call.
    Free(u32),
}

impl<'s> Machine<'s> {
    /// Calls `then` for each way in which the action is possible, until that says no: gives that.
    pub fn act(&mut self, ir: &Ir, then: Then<'_, 's>) -> Result<bool> {
        match ir {
            Ir::And(all) => self.act_all(all, then),
            Ir::Or(all) => {
                for one in all {
                    if !self.branch(Kind::Disjunct, one, &mut *then)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Ir::Let { slots, body } => {
                self.forget(slots);
                self.act(body, then)
            }
            Ir::Shared { of, is_kept: false, .. } => self.act(of, then),
            Ir::Implies(two) => match self.bool(&two[0])? {
                true => self.act(&two[1], then),
                false => then(self),
            },
            Ir::If(three, _) => {
                let is = self.bool(&three[0])?;
                let (kind, arm) = if is { (Kind::Then, 1) } else { (Kind::Else, 2) };
                self.branch(kind, &three[arm], then)
            }
            Ir::Case { arms, other, spot } => {
                let case = self.case(arms, other.as_deref(), *spot)?;
                self.branch(Kind::Arm, case, then)
            }
            Ir::Quantified { is_forall: false, bounds, body, spot } => {
                self.each(bounds, *spot, &mut |machine| machine.act(body, &mut *then))
            }
            Ir::Quantified { is_forall: true, bounds, body, spot } if body.reads_next() => {
                self.act_forall((bounds, body), *spot, then)
            }
            Ir::Call { routine, args, spot, .. } => self.act_call((*routine, args), *spot, then),
            Ir::Equal(two, spot) => self.equal(two, *spot, then),
            Ir::In(two, spot) => match self.unsaid(&two[0]) {
                Some(what) => self.one_of(what, (&two[1], *spot), then),
                None => self.test(ir, then),
            },
            ir => self.test(ir, then),
        }
    }

    /// A part of the action that a step need not go through.
    fn branch(&mut self, kind: Kind, ir: &Ir, then: Then<'_, 's>) -> Result<bool> {
        let number = self.covering.and_then(|(covering, of)| covering.number(of, kind, ir));
        let Some(number) = number else { return self.act(ir, then) };
        self.path.push(number);
        let ended = self.act(ir, then);
        self.path.pop();
        ended
    }

    fn act_all(&mut self, all: &[Ir], then: Then<'_, 's>) -> Result<bool> {
        match all.split_first() {
            None => then(self),
            Some((last, [])) => self.act(last, then),
            Some((first, rest)) => {
                self.act(first, &mut |machine| machine.act_all(rest, &mut *then))
            }
        }
    }

    /// The body for all that is bound.
    fn act_forall(
        &mut self,
        (bounds, body): (&[Binding], &Ir),
        spot: Spot,
        then: Then<'_, 's>,
    ) -> Result<bool> {
        let slots: Vec<u32> = bounds.iter().flat_map(|of| of.slots.to_vec()).collect();
        let mut elements = Vec::new();
        self.each(bounds, spot, &mut |machine| {
            elements.push(machine.kept(&slots));
            Ok(true)
        })?;
        self.act_each((&slots, &elements), body, then)
    }

    /// A call of an operator that may call itself. What comes after it has the caller's frame.
    fn act_call(
        &mut self,
        (routine, args): (u32, &[Ir]),
        spot: Spot,
        then: Then<'_, 's>,
    ) -> Result<bool> {
        let (args, of) = (self.values(args)?, self.of);
        let routine = &of.routines[routine as usize];
        let mut before = self.enter(routine, &args, spot)?;
        let ended = self.act(&routine.body, &mut |machine| {
            std::mem::swap(&mut machine.frame, &mut before);
            machine.calls -= 1;
            let ended = then(machine);
            machine.calls += 1;
            std::mem::swap(&mut machine.frame, &mut before);
            ended
        });
        self.leave(before);
        ended
    }

    /// What is bound in these slots.
    fn kept(&self, slots: &[u32]) -> Vec<Option<Value>> {
        slots.iter().map(|slot| self.frame[*slot as usize].clone()).collect()
    }

    fn keep(&mut self, slots: &[u32], values: &[Option<Value>]) {
        for (slot, value) in slots.iter().zip(values) {
            self.frame[*slot as usize] = value.clone();
        }
    }

    /// The body once for each of the elements, which are bound in the slots.
    fn act_each(
        &mut self,
        (slots, elements): (&[u32], &[Vec<Option<Value>>]),
        body: &Ir,
        then: Then<'_, 's>,
    ) -> Result<bool> {
        let Some((first, rest)) = elements.split_first() else { return then(self) };
        self.keep(slots, first);
        self.act(body, &mut |machine| {
            let ended = machine.act_each((slots, rest), body, &mut *then);
            machine.keep(slots, first);
            ended
        })
    }

    fn equal(&mut self, two: &[Ir; 2], spot: Spot, then: Then<'_, 's>) -> Result<bool> {
        if let Some(what) = self.unsaid(&two[0]) {
            let mut value = self.value(&two[1])?;
            value.list()?;
            return self.say(what, value, then);
        }
        // The answer, on either side.
        if let Some(what @ Unsaid::Free(_)) = self.unsaid(&two[1]) {
            let mut value = self.value(&two[0])?;
            value.list()?;
            return self.say(what, value, then);
        }
        let explains = self.explains;
        let (is, compared) = self.two([&two[0], &two[1]], |one, other| {
            let is = equal(one, other);
            let explained = explains && is == Ok(false);
            (is, explained.then(|| compared("=", one, other)).flatten())
        })?;
        self.tested(is.map_err(self.located(spot))?, (spot, compared), then)
    }

    fn test(&mut self, ir: &Ir, then: Then<'_, 's>) -> Result<bool> {
        let is = self.bool(ir)?;
        let compared = if self.explains && !is { self.compared(ir) } else { None };
        self.tested(is, (ir.spot(), compared), then)
    }

    /// What a comparison compares.
    fn compared(&mut self, ir: &Ir) -> Option<String> {
        let (operator, one, other) = match ir {
            Ir::Native { of, args, .. } if COMPARISONS.contains(&of.name) => match &args[..] {
                [one, other] => (of.name, one, other),
                _ => return None,
            },
            Ir::In(two, _) => ("\\in", &two[0], &two[1]),
            Ir::Not(of, _) => match &**of {
                Ir::Equal(two, _) => ("#", &two[0], &two[1]),
                _ => return None,
            },
            _ => return None,
        };
        let (one, other) = (self.value(one).ok()?, self.value(other).ok()?);
        compared(operator, &one, &other)
    }

    fn tested(
        &mut self,
        is: bool,
        (spot, compared): (Spot, Option<String>),
        then: Then<'_, 's>,
    ) -> Result<bool> {
        if let Some((covering, of)) = self.covering {
            covering.tested(of, spot, is);
        }
        if is {
            return self.passing(then);
        }
        if self.blocked.is_none_or(|(passed, _)| passed <= self.passed) {
            (self.blocked, self.compared) = (Some((self.passed, spot)), compared);
        }
        Ok(true)
    }

    /// One more conjunct is true.
    fn passing(&mut self, then: Then<'_, 's>) -> Result<bool> {
        self.passed += 1;
        let ended = then(self);
        self.passed -= 1;
        ended
    }

    /// What the expression names, if it has no value yet.
    fn unsaid(&self, ir: &Ir) -> Option<Unsaid> {
        match ir {
            Ir::Next(variable) if self.next.get(*variable as usize) == Some(&None) => {
                Some(Unsaid::Next(*variable))
            }
            Ir::Shared { of, is_kept: false, .. } => self.unsaid(of),
            // Slots of other frames than the action's have the same numbers.
            Ir::Local(slot) if self.free == Some(*slot) && self.calls == 0 => {
                self.frame[*slot as usize].is_none().then_some(Unsaid::Free(*slot))
            }
            _ => None,
        }
    }

    /// It has one value after the other.
    fn one_of(
        &mut self,
        what: Unsaid,
        (set, spot): (&Ir, Spot),
        then: Then<'_, 's>,
    ) -> Result<bool> {
        let set = self.value(set)?;
        for element in &*set.elements().map_err(self.located(spot))? {
            if !self.say(what, element.clone(), &mut *then)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn say(&mut self, what: Unsaid, value: Value, then: Then<'_, 's>) -> Result<bool> {
        *self.place(what) = Some(value);
        let ended = self.passing(then);
        *self.place(what) = None;
        ended
    }

    fn place(&mut self, what: Unsaid) -> &mut Option<Value> {
        match what {
            Unsaid::Next(variable) => &mut self.next[variable as usize],
            Unsaid::Free(slot) => &mut self.frame[slot as usize],
        }
    }
}
