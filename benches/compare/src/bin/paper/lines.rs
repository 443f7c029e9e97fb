//! How many lines the case studies take: adapters, specifications, and structures written for them.

use std::path::Path;

use crate::table::{count, table};

/// A case study, and its files below `targets/` by what they are.
struct Case {
    name: &'static str,
    parts: &'static [(&'static str, &'static [&'static str])],
}

const CASES: &[Case] = &[
    Case {
        name: "augmented tree",
        parts: &[
            ("adapter", &["augmented_tree.cpp"]),
            ("adapter of the other kind", &["augmented_tree_delegating.cpp"]),
            ("the trees themselves", &["augmented_tree.hpp", "augmented_tree_nodes.hpp"]),
            ("specification", &["specifications/RangeSet.tla"]),
        ],
    },
    Case {
        name: "ConcurrentQueue",
        parts: &[
            ("shared by its adapters", &["moodycamel.hpp"]),
            ("adapter", &["moodycamel.cpp"]),
            ("adapter with small blocks", &["moodycamel_small.cpp"]),
            ("adapter with tokens", &["moodycamel_tokens.cpp"]),
            ("specification, bulk calls at one instant", &["specifications/AtomicBulk.tla"]),
            ("specification, element by element", &["specifications/ElementBulk.tla"]),
        ],
    },
    Case {
        name: "WiredTiger",
        parts: &[
            ("shared by its adapters", &["wiredtiger.hpp"]),
            ("adapter, a call is a transaction", &["wiredtiger.cpp"]),
            ("adapter, transactions of many calls", &["wiredtiger_store.cpp"]),
            ("adapter, with timestamps", &["wiredtiger_timestamps.cpp"]),
            (
                "specification of that",
                &[
                    "specifications/WiredTiger.tla",
                    "specifications/WiredTigerEnds.tla",
                    "specifications/WiredTigerChains.tla",
                ],
            ),
        ],
    },
];

pub fn written(root: &Path) -> String {
    let row = |case: &Case, (what, files): &(&str, &[&str])| {
        let lines = files.iter().map(|file| lines_of(&root.join("targets").join(file))).sum();
        let names: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
        vec![case.name.into(), what.to_string(), names.join(", "), count(lines)]
    };
    let rows = CASES.iter().flat_map(|case| case.parts.iter().map(move |part| row(case, part)));
    let rows: Vec<Vec<String>> = rows.collect();
    table(&["case study", "what", "files in `targets/`", "lines"], 3, &rows)
}

fn lines_of(path: &Path) -> u64 {
    let text = std::fs::read_to_string(path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let is_specification = path.extension().is_some_and(|end| end == "tla");
    let (mark, block) = if is_specification { ("\\*", "(*") } else { ("//", "/*") };
    let code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with(mark);
    assert!(!text.contains(block), "{}: comments in blocks are not counted yet", path.display());
    text.lines().filter(code).count() as u64
}
