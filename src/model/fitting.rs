//! Whether the operations of a target can be calls of a specification, told before the first call:
//! each has an action, with as many parameters, of its types as far as they can be told.

use super::called::is_thread;
use super::specified::Specified;
use crate::core::method::Method;
use crate::core::operation::Op;
use crate::core::value;
use crate::tla::methods::{DONE, Type};

/// A method takes or returns values of another type than the specification has there.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherType {
    pub method: Method,
    /// The number of the argument, from 0. None: the result.
    pub argument: Option<usize>,
    pub action: String,
    pub parameter: String,
    /// What the specification has there.
    pub expected: Type,
}

impl Specified {
    /// Which of a target's methods have other types than the specification. Types are guessed, so
    /// that calls of these may be right. Of operations of families nothing is said before they are
    /// called: not all that are offered need be.
    ///
    /// # Errors
    /// If there is no action for a method, or one with other parameters.
    pub fn fit(&self, operations: &[Op]) -> Result<Vec<OtherType>, String> {
        let mut others = Vec::new();
        if self.validates_logs() {
            // Such a module is given whole records.
            return Ok(others);
        }
        for op in operations {
            let Op::Method(method) = *op else { continue };
            let (action, params) = self.actions_of(op.name())?.0;
            // One record may be all parameters by their names.
            if !matches!(method.arguments(), [value::Type::Record(_)]) {
                let params = own_params(method, &action, &params)?;
                others.extend(self.other_types(method, &action, &params));
            }
        }
        Ok(others)
    }

    fn other_types(&self, method: Method, action: &str, params: &[&String]) -> Vec<OtherType> {
        let whole = action.strip_suffix(DONE).unwrap_or(action);
        let guessed = self.guessed().into_iter().find(|of| of.action == whole);
        let expected = |param: &String| {
            let of = guessed.as_ref()?;
            // The answer is the one parameter that is not listed there.
            let listed = of.params.iter().find(|(name, _)| name == param).map(|(_, of)| of);
            listed.or(of.answer.as_ref())
        };
        let count = method.arguments().len();
        let types = method.arguments().iter().chain([method.result()]).enumerate();
        let other = |((at, of), param): ((usize, &value::Type), &&String)| {
            let expected = expected(param).filter(|expected| !may_be(of, expected))?;
            Some(OtherType {
                method,
                argument: (at < count).then_some(at),
                action: action.to_string(),
                parameter: param.to_string(),
                expected: expected.clone(),
            })
        };
        types.zip(params).filter_map(other).collect()
    }
}

/// The parameters that are the method's arguments, and the last its result, if there is one for
/// that. The number of the thread is none of these.
fn own_params<'p>(
    method: Method,
    action: &str,
    params: &'p [String],
) -> Result<Vec<&'p String>, String> {
    let count = method.arguments().len();
    let result = usize::from(*method.result() != value::Type::Void);
    let all: Vec<&String> = params.iter().collect();
    let others: Vec<&String> = params.iter().filter(|param| !is_thread(param)).collect();
    // Of what answers nothing, an action may say so.
    let fits = |found: &[&String]| found.len() == count + result || found.len() == count + 1;
    if fits(&others) {
        return Ok(others);
    }
    // What is named so is never the result.
    let answers_thread = all.len() > count && all.last().is_some_and(|last| is_thread(last));
    if fits(&all) && !answers_thread {
        return Ok(all);
    }
    let (names, text) = (params.join(", "), method.text());
    let answer = if result == 1 { ", and one, the last, for the result" } else { "" };
    Err(format!(
        "{text} is no call of {action}({names}): the action needs a parameter for each of the \
         {count} arguments{answer} (one named thread or self may stand for the thread)"
    ))
}

/// Whether a value of a method's type may be what a specification has. A constant may stand for an
/// optional without a value.
fn may_be(of: &value::Type, expected: &Type) -> bool {
    use value::Type as Own;
    match (of, expected) {
        (_, Type::Any) | (Own::Void, _) => true,
        (Own::Optional(of), expected) => may_be(of, expected),
        (of, Type::Optional(expected)) => may_be(of, expected),
        (Own::Variant(choices), expected) => choices.iter().any(|of| may_be(of, expected)),
        (Own::Bool, Type::Bool) | (Own::Int | Own::Uint, Type::Int) => true,
        (Own::String, Type::Text) => true,
        (Own::List(of), Type::List(expected)) | (Own::Set(of), Type::Set(expected)) => {
            may_be(of, expected)
        }
        // Sequences, records and maps are functions, and strings are sequences.
        (Own::Tuple(_) | Own::Map(..) | Own::Record(_) | Own::String, Type::List(_)) => true,
        _ => false,
    }
}
