//! The rooms of the controlled engine (`harness/controlled`): every file is in one, and each names
//! only those before it, so `core` names none and there is no cycle.

use std::path::Path;

/// In their order.
const ROOMS: [&str; 6] = ["core", "watch", "state", "accesses", "interpose", "job"];

const ENGINE: &str = "harness/controlled";

/// Where a path leads that begins with this.
const FROM_CRATE: &str = "crate::controlled";

/// The components of a file's module path below the engine: none of `mod.rs`, ["core", "pace"] of
/// `core/pace.rs`.
fn module_of(path: &Path) -> Vec<String> {
    let below = path.strip_prefix(ENGINE).expect("a file of the engine").with_extension("");
    let mut module: Vec<String> =
        below.iter().map(|part| part.to_str().expect("UTF-8").to_string()).collect();
    if module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    module
}

/// What follows a path in a text: the first names of a list in braces, or one name; "" where the
/// path ends and so means the engine as a whole.
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

/// The names directly below the engine that a module's text names.
fn names_below_engine(module: &[String], text: &str) -> Vec<String> {
    let code: Vec<&str> =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    // As many steps up as lead to the engine itself.
    let upwards = "super::".repeat(module.len());
    let upwards = upwards.trim_end_matches("::");
    let mut names = Vec::new();
    for prefix in [FROM_CRATE, upwards].into_iter().filter(|prefix| !prefix.is_empty()) {
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

#[test]
fn rooms_of_the_engine_name_only_those_before_them() {
    let mut wrong = Vec::new();
    for (path, text) in super::sources(ENGINE, &["rs"]) {
        let module = module_of(&path);
        // The engine's own `mod.rs` stands before all rooms, and says what the harness may name.
        let Some(room) = module.first() else { continue };
        let Some(own) = ROOMS.iter().position(|name| name == room) else {
            wrong.push(format!("{} is in no room", path.display()));
            continue;
        };
        for name in names_below_engine(&module, &text) {
            if !ROOMS[..=own].contains(&name.as_str()) {
                wrong.push(format!("{} names {name:?}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A room without files would be listed for nothing; what is no room would not be seen above.
#[test]
fn the_engine_consists_of_its_rooms() {
    let text = std::fs::read_to_string(super::root().join(ENGINE).join("mod.rs")).expect("a file");
    let modules =
        text.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "));
    let mut modules: Vec<&str> = modules.map(|name| name.trim_end_matches(';')).collect();
    let mut rooms = ROOMS;
    modules.sort();
    rooms.sort();
    assert_eq!(modules, rooms);
}

/// Whoever opens a folder reads in its `mod.rs` what is where.
#[test]
fn each_folder_of_the_engine_lists_its_files() {
    let files = super::sources(ENGINE, &["rs", "c"]);
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
        names_below_engine(&module.iter().map(|part| part.to_string()).collect::<Vec<_>>(), text)
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
}
