//! What is said of a specification beside it: its configuration, the actions of operations, values
//! of constants. An adapter says it in lines `// interlap: action enqueue = Enq`, a model behind
//! `with=`, where `;` stands between.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

/// The words with which a line begins that is about a specification.
pub const CONFIGURATION: &str = "cfg";
const ACTION: &str = "action";
const CONSTANT: &str = "constant";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// In place of the one beside the specification.
    pub configuration: Option<PathBuf>,
    /// The names of actions, by operation.
    pub actions: BTreeMap<String, String>,
    /// Further lines of the configuration.
    pub constants: String,
}

/// Whether a line of an adapter is about a specification.
pub fn is_setting(line: &str) -> bool {
    line.split_once(' ').is_some_and(|(word, _)| word == ACTION || word == CONSTANT)
}

/// Settings of which those of `over` count where both say something.
pub fn joined(under: &str, over: &str) -> String {
    let both = [under, over].into_iter().filter(|text| !text.is_empty());
    both.collect::<Vec<_>>().join(";")
}

impl FromStr for Settings {
    type Err = String;

    fn from_str(text: &str) -> Result<Settings, String> {
        let mut settings = Settings::default();
        for item in text.split(';').map(str::trim).filter(|item| !item.is_empty()) {
            let (word, rest) = item.split_once(' ').unwrap_or((item, ""));
            match (word, rest.split_once('=')) {
                (CONFIGURATION, _) => settings.configuration = Some(rest.trim().into()),
                (ACTION, Some((operation, action))) => {
                    let (operation, action) = (operation.trim(), action.trim());
                    settings.actions.insert(operation.to_string(), action.to_string());
                }
                (CONSTANT, Some(_)) => settings.constants += &format!("CONSTANT {rest}\n"),
                _ => {
                    return Err(format!(
                        "{item} says nothing of a specification; expected {CONFIGURATION} FILE, \
                         {ACTION} OPERATION = ACTION, or {CONSTANT} NAME = VALUE"
                    ));
                }
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_read() {
        let under = "action enqueue = Enq;constant N = {1, 2}";
        let text = joined(under, "cfg Small.cfg; action enqueue = Put");
        let settings: Settings = text.parse().expect("it is about a specification");
        assert_eq!(settings.configuration, Some("Small.cfg".into()));
        assert_eq!(settings.actions["enqueue"], "Put");
        assert_eq!(settings.constants, "CONSTANT N = {1, 2}\n");
        let error = "actions a = b".parse::<Settings>().expect_err("no such word");
        assert!(error.contains("action OPERATION = ACTION"), "{error}");
        assert!(is_setting("constant N = 3") && !is_setting("-lcds") && !is_setting("action"));
    }
}
