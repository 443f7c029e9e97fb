//! Writes a first adapter for the structure that a specification in TLA+ is about: a class with a
//! method for each of its actions (`interlap new --spec`).

use std::path::{Path, PathBuf};

use super::compile::Language;
use super::scaffold::{self, ScaffoldError};
use crate::model::is_thread;
use crate::tla::methods::{Method, Type};

/// Writes `NAME.cpp` in `directory`. `methods`: those of the structure, with their names. Returns
/// its path.
///
/// # Errors
/// If the name is none, or the file is there already.
pub fn new_adapter(
    specification: &Path,
    methods: &[(String, Method)],
    name: &str,
    directory: &Path,
) -> Result<PathBuf, ScaffoldError> {
    let text = text(&specification.display().to_string(), methods);
    scaffold::write(&text, name, scaffold::extension(Language::Cpp), directory)
}

fn text(specification: &str, methods: &[(String, Method)]) -> String {
    let all: Vec<(String, &Method)> =
        methods.iter().map(|(name, of)| (usable(name, of), of)).collect();
    let each: String = all.iter().map(|(name, of)| method(name, of)).collect();
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join(", ");
    let set = if each.contains("std::set<") { "#include <set>\n" } else { "" };
    format!(
        "// NAME: a structure under test. (These first lines are shown by `interlap targets`;\n\
         // say what it is.)\n\
         //\n\
         //     interlap fuzz NAME.cpp --model {specification}\n\
         //\n\
         // (A line `interlap: action try_push = Push` in this comment says which action an\n\
         // operation is, and `interlap: constant Capacity = 4` what a constant is.)\n\
         #include <interlap_operations.hpp>\n{set}\n\
         // A method for each action of the specification. The types of parameters are guessed:\n\
         // change those that are others, and put calls of your structure in the place of what is\n\
         // here. An optional without a value is the constant None (or Null).\n\
         class NAME {{\n  public:\n{each}}};\n\n\
         INTERLAP_OPERATIONS(NAME, {names})\n"
    )
}

/// The name of a method: that of the action, where the other is a word of C++.
fn usable(name: &str, of: &Method) -> String {
    if scaffold::is_name(name) { name.to_string() } else { of.action.clone() }
}

fn method(name: &str, of: &Method) -> String {
    let given: Vec<&(String, Type)> =
        of.params.iter().filter(|(name, _)| !is_thread(name)).collect();
    let params = given.iter().map(|(name, of)| {
        let end = if scaffold::is_name(name) { "" } else { "_" };
        format!("{} {name}{end}", shown(of))
    });
    let params: Vec<String> = params.collect();
    let unused = given.iter().map(|(name, _)| format!("        (void){name};\n"));
    let unused: String = if given.is_empty() { String::new() } else { unused.collect() };
    let (answer, body) = match &of.answer {
        None => ("void".to_string(), unused),
        Some(of) => (shown(of), format!("{unused}        return {{}};\n")),
    };
    format!("    {answer} {name}({}) {{\n{body}    }}\n", params.join(", "))
}

fn shown(of: &Type) -> String {
    match of {
        Type::Bool => "bool".to_string(),
        Type::Int | Type::Any => "int".to_string(),
        Type::Text => "std::string".to_string(),
        Type::List(of) => format!("std::vector<{}>", shown(of)),
        Type::Set(of) => format!("std::set<{}>", shown(of)),
        Type::Optional(of) => format!("std::optional<{}>", shown(of)),
    }
}
