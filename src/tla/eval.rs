//! Evaluates expressions in a state, or in a step from one state to the next.

use std::sync::Arc;

use smallvec::SmallVec;

use super::covering::Covering;
use super::ir::{Binding, Change, Ir, Routine, Spot};
use super::problem::{Problem, Result, fail};
use super::sets::Described;
use super::value::{Value, equal};

/// Calls of routines inside of each other.
const CALLS_MAX: u32 = 10_000;

pub type Values = SmallVec<[Value; 4]>;
/// What is bound in slots, or said of variables.
pub type Frame = Vec<Option<Value>>;

/// So many slots, or variables, of which none has a value.
fn nothing(count: usize) -> Frame {
    // It is faster than to clone None.
    std::iter::repeat_with(|| None).take(count).collect()
}

/// What all expressions of a specification share.
#[derive(Debug, Default)]
pub struct Compiled {
    pub modules: Vec<Arc<str>>,
    pub routines: Vec<Routine>,
}

/// A state, what is known of the next one, and what is bound.
pub struct Machine<'s> {
    pub of: &'s Compiled,
    pub now: &'s [Value],
    /// By variable; none where it is not said yet.
    pub next: Frame,
    pub frame: Frame,
    pub calls: u32,
    /// How many conjuncts of the action were true so far.
    pub passed: u32,
    /// The conjunct that was false after most others were true, and how many these were.
    pub blocked: Option<(u32, Spot)>,
    /// Whether it is said what that one compares, and that.
    pub explains: bool,
    pub compared: Option<String>,
    /// The slot of a parameter that is whatever makes the action possible.
    pub free: Option<u32>,
    /// The name of the action, where it is counted which parts of it steps go through.
    pub covering: Option<(&'s Covering, &'s str)>,
    /// The parts that this step goes through.
    pub path: SmallVec<[usize; 8]>,
}

/// The value of an expression that is the same everywhere, if it has one.
pub fn constant(ir: &Ir, slots: u32) -> Option<Value> {
    let none = Compiled::default();
    let mut machine = Machine::new(&none, &[], slots);
    machine.value(ir).ok()
}

impl<'s> Machine<'s> {
    pub fn new(of: &'s Compiled, now: &'s [Value], slots: u32) -> Machine<'s> {
        Machine {
            of,
            now,
            next: nothing(now.len()),
            frame: nothing(slots as usize),
            calls: 0,
            passed: 0,
            blocked: None,
            explains: false,
            compared: None,
            free: None,
            covering: None,
            path: SmallVec::new(),
        }
    }

    /// Says where a problem is.
    pub fn located(&self, spot: Spot) -> impl Fn(Problem) -> Problem + use<'s> {
        let of = self.of;
        move |problem| match of.modules.get(spot.module as usize) {
            Some(module) if spot != Spot::default() => problem.at(module, spot.place),
            _ => problem,
        }
    }

    fn failed<T>(&self, message: impl Into<String>, spot: Spot) -> Result<T> {
        Err(self.located(spot)(Problem::new(message)))
    }

    #[inline]
    pub fn bool(&mut self, ir: &Ir) -> Result<bool> {
        self.truth(ir, ir)
    }

    /// The same, of an expression that must be true or false for another one.
    fn truth(&mut self, ir: &Ir, wanted_by: &Ir) -> Result<bool> {
        match self.is_true(ir)? {
            Some(is) => Ok(is),
            None => self.one(ir, Value::bool)?.map_err(self.located(wanted_by.spot())),
        }
    }

    #[inline]
    pub fn value(&mut self, ir: &Ir) -> Result<Value> {
        match self.named(ir) {
            Some(value) => Ok(value.clone()),
            None => self.evaluated(ir),
        }
    }

    /// The value of what no name stands for.
    fn evaluated(&mut self, ir: &Ir) -> Result<Value> {
        Ok(match ir {
            Ir::Shared { slot, of, is_kept } => return self.shared(*slot, of, *is_kept),
            Ir::Let { slots, body } => {
                self.forget(slots);
                return self.value(body);
            }
            Ir::Native { of, args, spot } => {
                let found = match &**args {
                    [one] => self.one(one, |one| (of.run)(&[one])),
                    [one, other] => self.two([one, other], |one, other| (of.run)(&[one, other])),
                    all => self.many(all, of.run),
                };
                return found?.map_err(self.located(*spot));
            }
            Ir::If(three, _) => {
                let is = self.bool(&three[0])?;
                return self.value(&three[if is { 1 } else { 2 }]);
            }
            Ir::Case { arms, other, spot } => {
                let case = self.case(arms, other.as_deref(), *spot)?;
                return self.value(case);
            }
            Ir::Choose { .. } | Ir::Filter { .. } | Ir::Map { .. } | Ir::Function { .. } => {
                return self.comprehension(ir);
            }
            Ir::Except { .. } => return self.excepted(ir),
            Ir::Index { function, at, spot } => {
                let found = self.two([function, at], |function, at| match function.get(at)? {
                    Some(value) => Ok(value.clone()),
                    None => fail(format!("{at} is not in the domain of {function}")),
                })?;
                return found.map_err(self.located(*spot));
            }
            _ => match self.is_true(ir)? {
                Some(is) => Value::Bool(is),
                None => return self.made(ir),
            },
        })
    }

    /// The value of what is less frequent.
    fn made(&mut self, ir: &Ir) -> Result<Value> {
        match ir {
            Ir::Set(all, spot) => match &**all {
                [one] => {
                    let mut one = self.value(one)?;
                    one.list()?;
                    Ok(Value::Set(Arc::new([one])))
                }
                all => Value::set(self.values(all)?.into_vec()).map_err(self.located(*spot)),
            },
            Ir::Tuple(all) => Value::seq(self.values(all)?.into_vec()),
            Ir::Record(fields) => Value::function(self.fields(fields)?),
            Ir::Records(fields) => self.records(fields),
            Ir::Taking { of, operator, args, spot } => {
                let (args, located) = (self.values(args)?, self.located(*spot));
                let mut apply = |given: &[Value]| {
                    for (slot, value) in operator.slots.iter().zip(given) {
                        self.frame[*slot as usize] = Some(value.clone());
                    }
                    self.value(&operator.body)
                };
                (of.run)(&mut apply, &args).map_err(located)
            }
            Ir::Call { routine, args, spot, .. } => {
                let (args, of) = (self.values(args)?, self.of);
                let Some(routine) = of.routines.get(*routine as usize) else {
                    return self.failed("this is not known yet", *spot);
                };
                let before = self.enter(routine, &args, *spot)?;
                let found = self.value(&routine.body);
                self.leave(before);
                found
            }
            Ir::Fail(message, spot) => self.failed(message.clone(), *spot),
            Ir::Now(_) => fail("a variable is read where there is no state"),
            Ir::Next(_) => fail("a primed variable is read before the action says its value"),
            Ir::Local(_) => {
                fail("an answer that is not known is asked for before anything says it")
            }
            _ => unreachable!("it is evaluated elsewhere"),
        }
    }

    /// The value of what is true or false by its form; none of other expressions.
    fn is_true(&mut self, ir: &Ir) -> Result<Option<bool>> {
        Ok(Some(match ir {
            Ir::And(all) => self.all(all, true)?,
            Ir::Or(all) => !self.all(all, false)?,
            Ir::Implies(two) => !self.bool(&two[0])? || self.bool(&two[1])?,
            Ir::Not(of, _) => !self.truth(of, ir)?,
            Ir::Equal(two, spot) => {
                self.two([&two[0], &two[1]], equal)?.map_err(self.located(*spot))?
            }
            Ir::In(two, spot) => {
                let element = self.value(&two[0])?;
                self.has(&two[1], &element, *spot)?
            }
            Ir::Quantified { is_forall, bounds, body, spot } => {
                let mut decides = false;
                self.each(bounds, *spot, &mut |machine| {
                    decides = machine.bool(body)? != *is_forall;
                    Ok(!decides)
                })?;
                *is_forall != decides
            }
            Ir::Enabled(action) => self.is_enabled(action)?,
            _ => return Ok(None),
        }))
    }

    pub fn values(&mut self, all: &[Ir]) -> Result<Values> {
        let mut values = Values::with_capacity(all.len());
        for one in all {
            values.push(self.value(one)?);
        }
        Ok(values)
    }

    /// What a value is, which is not copied if a name stands for it.
    fn one<T>(&mut self, ir: &Ir, look: impl FnOnce(&Value) -> T) -> Result<T> {
        match self.named(ir) {
            Some(value) => Ok(look(value)),
            None => Ok(look(&self.evaluated(ir)?)),
        }
    }

    /// What two values are together. Neither is copied if a name stands for it.
    pub fn two<T>(
        &mut self,
        [one, other]: [&Ir; 2],
        look: impl FnOnce(&Value, &Value) -> T,
    ) -> Result<T> {
        const NAMED: &str = "a name stands for it";
        match (self.named(one), self.named(other)) {
            (Some(one), Some(other)) => Ok(look(one, other)),
            (Some(_), None) => {
                let other = self.evaluated(other)?;
                Ok(look(self.named(one).expect(NAMED), &other))
            }
            (None, _) => {
                let one = self.evaluated(one)?;
                self.one(other, |other| look(&one, other))
            }
        }
    }

    /// What other numbers of values are together.
    fn many<T>(&mut self, all: &[Ir], look: impl FnOnce(&[&Value]) -> T) -> Result<T> {
        let all = self.values(all)?;
        Ok(look(&all.iter().collect::<SmallVec<[_; 4]>>()))
    }

    /// The value that a name stands for already, or a part of it.
    #[inline(always)]
    fn named<'m>(&'m self, ir: &'m Ir) -> Option<&'m Value> {
        match ir {
            Ir::Value(value) => Some(value),
            Ir::Local(slot) => self.frame[*slot as usize].as_ref(),
            Ir::Now(variable) => self.now.get(*variable as usize),
            Ir::Next(variable) => self.next.get(*variable as usize)?.as_ref(),
            Ir::Shared { slot, is_kept: true, .. } if self.free.is_none() => {
                self.frame[*slot as usize].as_ref()
            }
            Ir::Index { function, at, .. } => self.part(function, at),
            _ => None,
        }
    }

    #[inline(never)]
    fn part<'m>(&'m self, function: &'m Ir, at: &'m Ir) -> Option<&'m Value> {
        self.named(function)?.get(self.named(at)?).ok()?
    }

    /// Whether the set has the element. A set that is made of others need not be listed for that:
    /// one of these may be without an end, or large.
    fn has(&mut self, set: &Ir, element: &Value, spot: Spot) -> Result<bool> {
        match set {
            Ir::Native { of, args, spot } if of.name == "\\cup" => {
                for set in args {
                    if self.has(set, element, *spot)? {
                        return Ok(true);
                    }
                }
                return Ok(false);
            }
            Ir::Native { of, args, spot } if of.name == "\\cap" => {
                return Ok(
                    self.has(&args[0], element, *spot)? && self.has(&args[1], element, *spot)?
                );
            }
            Ir::Native { of, args, spot } if of.name == "\\" => {
                return Ok(
                    self.has(&args[0], element, *spot)? && !self.has(&args[1], element, *spot)?
                );
            }
            Ir::Filter { bound, body, spot } => {
                if !self.has(&bound.set, element, *spot)? {
                    return Ok(false);
                }
                self.bind(bound, element).map_err(self.located(*spot))?;
                return self.bool(body);
            }
            Ir::Let { slots, body } => {
                self.forget(slots);
                return self.has(body, element, spot);
            }
            _ => {}
        }
        let found = match self.named(set) {
            Some(set) => set.contains(element),
            None => self.value(set)?.contains(element),
        };
        found.map_err(self.located(spot))
    }

    /// Whether all of these are so, as far as must be looked.
    fn all(&mut self, all: &[Ir], wanted: bool) -> Result<bool> {
        for one in all {
            if self.bool(one)? != wanted {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The arm that holds.
    pub fn case<'i>(
        &mut self,
        arms: &'i [[Ir; 2]],
        other: Option<&'i Ir>,
        spot: Spot,
    ) -> Result<&'i Ir> {
        for [when, then] in arms {
            if self.bool(when)? {
                return Ok(then);
            }
        }
        other.map_or_else(|| self.failed("no case of CASE is true", spot), Ok)
    }

    fn fields(&mut self, fields: &[(Value, Ir)]) -> Result<Vec<(Value, Value)>> {
        fields.iter().map(|(name, ir)| Ok((name.clone(), self.value(ir)?))).collect()
    }

    /// A set of records, or of tuples.
    fn records(&mut self, fields: &[(Value, Ir)]) -> Result<Value> {
        let fields = self.fields(fields)?;
        if let Some((_, other)) = fields.iter().find(|(_, set)| !set.is_set()) {
            return other.no("a set");
        }
        let is_product = fields.iter().all(|(name, _)| matches!(name, Value::Int(_)));
        Ok(Value::Described(Arc::new(match is_product {
            true => Described::Product(fields.into_iter().map(|(_, set)| set).collect()),
            false => Described::Records(fields),
        })))
    }

    fn shared(&mut self, slot: u32, of: &Ir, is_kept: bool) -> Result<Value> {
        // What depends on an answer that is still to be found changes on the way.
        if !is_kept || self.free.is_some() {
            return self.value(of);
        }
        if let Some(value) = &self.frame[slot as usize] {
            return Ok(value.clone());
        }
        let value = self.value(of)?;
        self.frame[slot as usize] = Some(value.clone());
        Ok(value)
    }

    pub fn forget(&mut self, slots: &[u32]) {
        for slot in slots {
            self.frame[*slot as usize] = None;
        }
    }

    /// Begins a call of a routine: gives the frame to go back to.
    pub fn enter(&mut self, routine: &Routine, args: &[Value], spot: Spot) -> Result<Frame> {
        if self.calls == CALLS_MAX {
            let message = format!("{} calls itself more than {CALLS_MAX} times", routine.name);
            return self.failed(message, spot);
        }
        self.calls += 1;
        let (mut frame, first) = (nothing(routine.size as usize), routine.first as usize);
        frame[..first].clone_from_slice(&self.frame[..first]);
        for (slot, value) in frame[first..].iter_mut().zip(args) {
            *slot = Some(value.clone());
        }
        Ok(std::mem::replace(&mut self.frame, frame))
    }

    pub fn leave(&mut self, frame: Frame) {
        self.frame = frame;
        self.calls -= 1;
    }

    /// Binds each element, or each combination, and calls `look`, until that says no.
    pub fn each(
        &mut self,
        bounds: &[Binding],
        spot: Spot,
        look: &mut dyn FnMut(&mut Machine<'s>) -> Result<bool>,
    ) -> Result<bool> {
        // No set depends on what is bound beside it.
        let mut sets = Values::new();
        for bound in bounds {
            sets.push(self.value(&bound.set)?);
        }
        self.each_of(bounds, &sets, spot, look)
    }

    fn each_of(
        &mut self,
        bounds: &[Binding],
        sets: &[Value],
        spot: Spot,
        look: &mut dyn FnMut(&mut Machine<'s>) -> Result<bool>,
    ) -> Result<bool> {
        let (Some((first, rest)), Some((set, sets))) = (bounds.split_first(), sets.split_first())
        else {
            return look(self);
        };
        let mut one = |machine: &mut Machine<'s>, element: &Value| {
            machine.bind(first, element).map_err(machine.located(spot))?;
            if rest.is_empty() { look(machine) } else { machine.each_of(rest, sets, spot, look) }
        };
        if let Value::Range(from, to) = set {
            for number in *from..=*to {
                if !one(self, &Value::Int(number))? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        for element in &*set.elements().map_err(self.located(spot))? {
            if !one(self, element)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn bind(&mut self, to: &Binding, element: &Value) -> Result<()> {
        if !to.is_tuple {
            self.frame[to.slots[0] as usize] = Some(element.clone());
            return Ok(());
        }
        let items = element.items()?;
        if items.len() != to.slots.len() {
            return fail(format!("{element} has not {} elements", to.slots.len()));
        }
        for (slot, item) in to.slots.iter().zip(items) {
            self.frame[*slot as usize] = Some(item.clone());
        }
        Ok(())
    }

    /// What is bound, as one value: of several sets, or of a function's arguments.
    fn bound(&self, bounds: &[Binding]) -> Result<Value> {
        let of = |slot: &u32| self.frame[*slot as usize].clone().expect("it was bound");
        let one = |bound: &Binding| match bound.is_tuple {
            true => Value::seq(bound.slots.iter().map(of).collect()),
            false => Ok(of(&bound.slots[0])),
        };
        match bounds {
            [bound] => one(bound),
            bounds => Value::seq(bounds.iter().map(one).collect::<Result<_>>()?),
        }
    }

    fn comprehension(&mut self, ir: &Ir) -> Result<Value> {
        let (mut kept, mut pairs, located) = (Vec::new(), Vec::new(), self.located(ir.spot()));
        match ir {
            Ir::Choose { bound, body, spot } => {
                let bounds = std::slice::from_ref(&**bound);
                self.each(bounds, *spot, &mut |machine| {
                    if !machine.bool(body)? {
                        return Ok(true);
                    }
                    kept.push(machine.bound(bounds)?);
                    Ok(false)
                })?;
                kept.pop().ok_or_else(|| located(Problem::new("CHOOSE: no element is so")))
            }
            Ir::Filter { bound, body, spot } => {
                let bounds = std::slice::from_ref(&**bound);
                self.each(bounds, *spot, &mut |machine| {
                    if machine.bool(body)? {
                        kept.push(machine.bound(bounds)?);
                    }
                    Ok(true)
                })?;
                Value::set(kept)
            }
            Ir::Map { bounds, body, spot } => {
                self.each(bounds, *spot, &mut |machine| {
                    kept.push(machine.value(body)?);
                    Ok(true)
                })?;
                Value::set(kept).map_err(located)
            }
            Ir::Function { bounds, body, spot } => {
                self.each(bounds, *spot, &mut |machine| {
                    let argument = machine.bound(bounds)?;
                    pairs.push((argument, machine.value(body)?));
                    Ok(true)
                })?;
                Value::function(pairs).map_err(located)
            }
            _ => unreachable!("it binds names to elements"),
        }
    }

    fn excepted(&mut self, ir: &Ir) -> Result<Value> {
        let Ir::Except { function, changes, slot, spot } = ir else {
            unreachable!("it is EXCEPT");
        };
        let mut value = self.value(function)?;
        for change in changes {
            let path = self.values(&change.path)?;
            value = self.changed(value, &path, change, *slot).map_err(self.located(*spot))?;
        }
        Ok(value)
    }

    /// The function with another value at the end of the path; the same where the path leads
    /// nowhere.
    fn changed(
        &mut self,
        mut of: Value,
        path: &[Value],
        change: &Change,
        slot: u32,
    ) -> Result<Value> {
        let Some((at, rest)) = path.split_first() else {
            self.frame[slot as usize] = Some(of);
            let mut to = self.value(&change.to)?;
            to.list()?;
            return Ok(to);
        };
        let Some(place) = of.place(at)? else { return Ok(of) };
        let value = match &mut of {
            Value::Seq(items) => &mut Arc::make_mut(items)[place],
            Value::Function(pairs) => &mut Arc::make_mut(pairs)[place].1,
            _ => unreachable!("only functions have values"),
        };
        // It is taken out, so that what has no other owner is changed in place.
        let old = std::mem::replace(value, Value::Bool(false));
        *value = self.changed(old, rest, change, slot)?;
        Ok(of)
    }

    fn is_enabled(&mut self, action: &Ir) -> Result<bool> {
        let before = std::mem::replace(&mut self.next, nothing(self.now.len()));
        let mut found = false;
        let ended = self.act(action, &mut |_| {
            found = true;
            Ok(false)
        });
        self.next = before;
        ended.map(|_| found)
    }
}
