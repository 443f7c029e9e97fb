//! The order of the controlled engine's rooms (`harness/controlled`), and of the files that define
//! interposed functions: each names only those before it, so there is no cycle.

use std::path::Path;

/// A folder whose modules have an order.
struct Ordered {
    folder: &'static str,
    /// The folder's path as a module.
    module: &'static str,
    /// In their order, with spaces between.
    names: &'static str,
}

const ENGINE: Ordered = Ordered {
    folder: "harness/controlled",
    module: "crate::controlled",
    names: "core watch state accesses interpose job",
};

const ENVIRONMENT: Ordered = Ordered {
    folder: "harness/controlled/interpose/environment",
    module: "crate::controlled::interpose::environment",
    names: "real errno thread_ids loader lock_points time barrier mutex rwlock spin \
            semaphore condition once keys threads thread_exit forking c11 signal_handlers \
            signal_queue signals signal_waits random machine mappings process environ \
            time_stamp blocking_calls futex",
};

/// The components of a file's module path below the folder: none of `mod.rs`, ["core", "pace"] of
/// `core/pace.rs`.
fn module_of(folder: &str, path: &Path) -> Vec<String> {
    let below = path.strip_prefix(folder).expect("a file of the folder").with_extension("");
    let mut module: Vec<String> =
        below.iter().map(|part| part.to_str().expect("UTF-8").to_string()).collect();
    if module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    module
}

/// What follows a path in a text: the first names of a list in braces, or one name; "" where the
/// path ends and so means the folder as a whole.
fn names_after(rest: &str) -> Vec<String> {
    let is_part = |c: &char| c.is_alphanumeric() || *c == '_';
    let Some(rest) = rest.strip_prefix("::") else { return vec![String::new()] };
    let Some(list) = rest.strip_prefix('{') else {
        return vec![rest.chars().take_while(is_part).collect()];
    };
    let (mut depth, mut names) = (0, vec![String::new()]);
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(String::new()),
            c if depth == 0 => names.last_mut().expect("one at least").push(c),
            _ => {}
        }
    }
    let first = |name: String| name.trim().chars().take_while(is_part).collect::<String>();
    names.into_iter().map(first).filter(|name| !name.is_empty()).collect()
}

/// The names directly below the module `base` that a module in it names, unit tests aside.
fn names_below(base: &str, module: &[String], text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]").next().expect("a first part");
    let code: Vec<&str> =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    // As many steps up as lead to `base` itself.
    let upwards = "super::".repeat(module.len());
    let upwards = upwards.trim_end_matches("::");
    let mut names = Vec::new();
    for prefix in [base, upwards].into_iter().filter(|prefix| !prefix.is_empty()) {
        for (at, _) in code.match_indices(prefix) {
            let (before, after) = (&code[..at], &code[at + prefix.len()..]);
            let is_longer = before.ends_with("super::") || after.starts_with("::super");
            let is_path = !after.starts_with(|c: char| c.is_alphanumeric() || "_)".contains(c));
            if is_path && !is_longer {
                names.extend(names_after(after));
            }
        }
    }
    names
}

/// Names of modules that are not listed, or do not come before the module that names them.
fn wrong_names(ordered: &Ordered) -> Vec<String> {
    let names: Vec<&str> = ordered.names.split(' ').collect();
    let mut wrong = Vec::new();
    for (path, text) in super::sources(ordered.folder, &["rs"]) {
        let module = module_of(ordered.folder, &path);
        // The folder's own `mod.rs` may name all.
        let Some(first) = module.first() else { continue };
        let Some(own) = names.iter().position(|name| name == first) else {
            wrong.push(format!("{} is not listed", path.display()));
            continue;
        };
        for name in names_below(ordered.module, &module, &text) {
            if !names[..=own].contains(&name.as_str()) {
                wrong.push(format!("{} names {name:?}", path.display()));
            }
        }
    }
    wrong
}

#[test]
fn rooms_of_the_engine_name_only_those_before_them() {
    assert_eq!(wrong_names(&ENGINE), [""; 0]);
}

#[test]
fn interposed_functions_name_only_files_before_theirs() {
    assert_eq!(wrong_names(&ENVIRONMENT), [""; 0]);
}

#[test]
fn each_order_lists_the_modules_of_its_folder() {
    for Ordered { folder, names, .. } in [ENGINE, ENVIRONMENT] {
        let path = super::root().join(folder).join("mod.rs");
        let text = std::fs::read_to_string(path).expect("a file");
        let modules =
            text.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "));
        let mut modules: Vec<&str> = modules.map(|name| name.trim_end_matches(';')).collect();
        let mut names: Vec<&str> = names.split(' ').collect();
        modules.sort();
        names.sort();
        assert_eq!(modules, names);
    }
}

/// Whoever opens a folder reads in its `mod.rs` what is where.
#[test]
fn each_folder_of_the_engine_lists_its_files() {
    let files = super::sources(ENGINE.folder, &["rs", "c"]);
    let mut missing = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| path.ends_with("mod.rs")) {
        let folder = path.parent().expect("it is in one");
        let header: String = text.lines().take_while(|line| line.starts_with("//!")).collect();
        for (file, _) in files.iter().filter(|(file, _)| *file != *path) {
            let inside = file.strip_prefix(folder).ok().and_then(|inside| inside.iter().next());
            let Some(name) = inside.map(Path::new) else { continue };
            // A folder counts as one.
            let stem = name.file_stem().expect("a name").to_str().expect("UTF-8");
            if !header.contains(&format!("`{stem}`")) && !header.contains(&format!("{stem}.c")) {
                missing.push(format!("{} does not list {stem}", path.display()));
            }
        }
    }
    missing.dedup();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn names_of_other_rooms_are_found() {
    let names = |module: &[&str], text| {
        let module: Vec<_> = module.iter().map(|part| part.to_string()).collect();
        names_below(ENGINE.module, &module, text)
    };
    let pace = &["core", "pace"];
    assert_eq!(names(pace, "use crate::controlled::watch::trail;"), ["watch"]);
    assert_eq!(names(pace, "$crate::controlled::state::heap::x()"), ["state"]);
    let list = "use crate::controlled::{\n    state::{heap, leaks},\n    job,\n};";
    assert_eq!(names(pace, list), ["state", "job"]);
    assert_eq!(names(pace, "use crate::controlled;"), [""]);
    assert_eq!(names(pace, "use super::variables::ENGINE;"), [""; 0]);
    assert_eq!(names(pace, "use super::super::watch;"), ["watch"]);
    assert_eq!(names(&["core"], "super::watch::trail()"), ["watch"]);
    assert_eq!(names(pace, "// crate::controlled::watch"), [""; 0]);
    assert_eq!(names(pace, "crate::controlled_once::x()"), [""; 0]);
    assert_eq!(names(pace, "#[cfg(test)]\nuse crate::controlled::watch;"), [""; 0]);
}
