//! Which operations are called of a target that lists its methods: the methods, or the operations
//! of a family that they are, where the model has these.

use std::fmt;

use super::{Empty, Spec};
use crate::core::method::Method;
use crate::core::operation::{Family, Op};

/// An operation that a target offers.
#[derive(Clone, Debug)]
pub struct Offered {
    pub op: Op,
    /// The name of the listed method that does it, where it is of a family.
    pub by: Option<String>,
}

/// The method that does an operation, if there is one that is listed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Called {
    /// Its number among those that are offered.
    pub offered: usize,
    pub method: Option<Method>,
}

/// A listed method cannot be called under the model.
#[derive(Clone, Debug, PartialEq)]
pub enum Unfit {
    /// The model has no operation of its name and types; it has these.
    NoOperation { method: Method, model: Spec, has: Vec<&'static str> },
    /// The model does not allow the answer that the method may give at any time.
    AnyTime { method: Method, model: Spec },
}

/// The operations that are called under a model. `None`: a model that is not known.
///
/// # Errors
/// If the target lists a method that the model does not have.
pub fn called(model: Option<&Spec>, offered: &[Offered]) -> Result<Vec<Called>, Unfit> {
    let method = |at: usize| match offered[at].op {
        Op::Method(method) => Some(method),
        _ => None,
    };
    let listed: Vec<usize> = (0..offered.len()).filter(|at| method(*at).is_some()).collect();
    let all = |these: &[usize]| {
        these.iter().map(|at| Called { offered: *at, method: method(*at) }).collect()
    };
    let Some(model) = model.filter(|_| !listed.is_empty()) else {
        return Ok(all(&(0..offered.len()).collect::<Vec<_>>()));
    };
    if model.kind.family() == Family::Custom {
        return Ok(all(&listed));
    }
    let methods: Vec<Method> = listed.iter().filter_map(|at| method(*at)).collect();
    let families = model.kind.families();
    let found = families.iter().map(|family| of_family(model, *family, &methods, offered));
    // Push and pop of a pool are rather those of a stack.
    let renamed = |of: &Called| Some(offered[of.offered].op.name()) != of.method.map(Method::name);
    let rank = |found: &Vec<Called>| {
        let renamed = found.iter().filter(|of| renamed(of)).count();
        (missing(&methods, found).count(), renamed)
    };
    let best = found.min_by_key(rank).unwrap_or_default();
    let unfit = missing(&methods, &best).next();
    match unfit {
        None => allowed(model, offered, best),
        Some(method) => Err(Unfit::NoOperation { method, model: *model, has: names(model) }),
    }
}

/// The methods that are none of these operations.
fn missing<'a>(methods: &'a [Method], found: &'a [Called]) -> impl Iterator<Item = Method> + 'a {
    methods.iter().copied().filter(|method| found.iter().all(|of| of.method != Some(*method)))
}

/// The operations of the family that these methods do.
fn of_family(model: &Spec, family: Family, methods: &[Method], offered: &[Offered]) -> Vec<Called> {
    let wanted = |of: &Offered| of.op.family() == family && model.accepts(of.op);
    let done = offered.iter().enumerate().filter(|(_, of)| wanted(of)).filter_map(|(at, of)| {
        let method = methods.iter().find(|method| Some(method.name()) == of.by.as_deref())?;
        Some(Called { offered: at, method: Some(*method) })
    });
    done.collect()
}

/// These, if the model allows what their methods may answer at any time: that nothing is inside, or
/// that there is no room.
fn allowed(model: &Spec, offered: &[Offered], found: Vec<Called>) -> Result<Vec<Called>, Unfit> {
    let allows = |op: Op| op.adds() || op.removes() && model.empty == Empty::None;
    let refused = found.iter().find_map(|of| {
        of.method.filter(|method| method.spurious().is_some() && !allows(offered[of.offered].op))
    });
    match refused {
        Some(method) => Err(Unfit::AnyTime { method, model: *model }),
        None => Ok(found),
    }
}

/// The operations that the model has for a target, as they are called.
fn names(model: &Spec) -> Vec<&'static str> {
    let has =
        |op: &&Op| model.accepts(**op) && op.family() == model.kind.family() && !op.is_foreign();
    Op::ALL.iter().filter(has).map(|op| op.name()).collect()
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Unfit::NoOperation { method, model, has } => write!(
                f,
                "lists its method {}, which is by its name or its types no operation of model \
                 {model} (those are {}): do not list it, or use model self",
                method.text(),
                has.join(", ")
            ),
            Unfit::AnyTime { method, model } => write!(
                f,
                "says of its method {} that an answer may be given at any time, which model \
                 {model} does not allow",
                method.text()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(methods: &[&str], operations: &[(Op, &str)]) -> Vec<Offered> {
        let operations =
            operations.iter().map(|(op, by)| Offered { op: *op, by: Some(by.to_string()) });
        let methods = methods.iter().map(|text| Offered {
            op: Op::Method(Method::new(text).expect("a signature")),
            by: None,
        });
        operations.chain(methods).collect()
    }

    /// What a class with push and pop offers, as interlap_operations.hpp has it.
    fn stack(pop: &str) -> Vec<Offered> {
        let operations = [
            (Op::Enqueue, "push"),
            (Op::Dequeue, "pop"),
            (Op::Push, "push"),
            (Op::Pop, "pop"),
            (Op::StackSize, "size"),
            (Op::PriorityInsert, "push"),
            (Op::PriorityPoll, "pop"),
        ];
        offered(&["push(int) -> void", pop], &operations)
    }

    const POP: &str = "pop() -> optional<int>";

    fn ops(model: &str, offered: &[Offered]) -> Result<Vec<Op>, Unfit> {
        let model = model.parse().expect("a model");
        let called = called(Some(&model), offered)?;
        Ok(called.iter().map(|of| offered[of.offered].op).collect())
    }

    #[test]
    fn listed_methods_are_the_operations_of_the_model() {
        let stack = stack(POP);
        assert_eq!(ops("lifo", &stack), Ok(vec![Op::Push, Op::Pop]));
        assert_eq!(ops("pool", &stack), Ok(vec![Op::Push, Op::Pop]));
        assert_eq!(ops("fifo", &stack), Ok(vec![Op::Enqueue, Op::Dequeue]));
        assert_eq!(ops("priority-queue", &stack), Ok(vec![Op::PriorityInsert, Op::PriorityPoll]));
        let methods: Vec<Op> = stack[7..].iter().map(|of| of.op).collect();
        assert_eq!(ops("self", &stack), Ok(methods.clone()));
        assert_eq!(ops("class", &stack), Ok(methods));
        // A target that lists none offers what it offers.
        assert_eq!(ops("fifo", &stack[2..4]), Ok(vec![Op::Push, Op::Pop]));
    }

    #[test]
    fn a_method_that_the_model_lacks_is_named() {
        let mut all = stack(POP);
        let refused = ops("deque", &all).expect_err("no deque").to_string();
        assert!(refused.contains("push(int) -> void") && refused.contains("steal"), "{refused}");
        all.extend(offered(&["peek() -> optional<int>"], &[]));
        let refused = ops("lifo", &all).expect_err("no peek").to_string();
        assert!(refused.contains("peek() -> optional<int>"), "{refused}");
    }

    #[test]
    fn an_answer_at_any_time_must_be_one_of_the_model() {
        let all = stack("pop() -> optional<int> or none");
        assert!(ops("lifo:empty=none", &all).is_ok());
        let refused = ops("lifo", &all).expect_err("it promises more").to_string();
        assert!(refused.contains("pop()") && refused.contains("any time"), "{refused}");
    }
}
