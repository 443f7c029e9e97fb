//! An exception that ended a process.

use serde::{Deserialize, Serialize};

use crate::binary::symbols::type_name;

/// What was thrown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Exception {
    /// "std::runtime_error".
    #[serde(rename = "type")]
    pub of: String,
    /// What its `what()` says, or the string itself that was thrown; "" of other types.
    pub text: String,
}

impl Exception {
    pub(super) fn new(mangled: &str, text: &str) -> Exception {
        Exception { of: type_name(mangled), text: text.to_string() }
    }

    /// As the C++ library prints it, where no code of interlap.hpp could tell of it.
    pub(super) fn from_output(output: &str) -> Option<Exception> {
        let (_, rest) = output.rsplit_once("terminate called after throwing an instance of '")?;
        let (of, rest) = rest.split_once("'\n")?;
        let text = rest.strip_prefix("  what():  ").and_then(|text| text.lines().next());
        Some(Exception { of: of.to_string(), text: text.unwrap_or_default().to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_is_read_as_it_is_printed() {
        let of = |of: &str, text: &str| Exception { of: of.to_string(), text: text.to_string() };
        let printed = "terminate called after throwing an instance of 'std::logic_error'\n  \
                       what():  two at once\n";
        let read = Exception::from_output(printed);
        assert_eq!(read, Some(of("std::logic_error", "two at once")));
        let printed = "x\nterminate called after throwing an instance of 'int'\nAborted\n";
        assert_eq!(Exception::from_output(printed), Some(of("int", "")));
        assert_eq!(Exception::from_output("terminate called without an active exception\n"), None);
        assert_eq!(Exception::new("St13runtime_error", "x"), of("std::runtime_error", "x"));
        assert_eq!(Exception::new("i", ""), of("int", ""));
    }
}
