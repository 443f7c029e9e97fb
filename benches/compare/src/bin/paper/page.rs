//! The page: the tables, and what is to be known to read them.

use std::time::Duration;

use crate::Setting;
use crate::checking::Measured;
use crate::table::count;

pub struct Parts {
    pub machine: String,
    pub lines: String,
    pub bugs: String,
    pub checking: Measured,
    pub transactions: String,
}

pub fn written(parts: &Parts, setting: &Setting, took: Duration) -> String {
    let limits = [
        ("SECONDS", setting.limits.cpu_seconds.to_string()),
        ("MEBIBYTES", count(setting.limits.mebibytes)),
        ("HEAP", count(setting.limits.mebibytes - 512)),
        ("SEEDS", setting.seeds.to_string()),
        ("FUZZ", setting.fuzz_seconds.to_string()),
        ("MINUTES", took.as_secs().div_ceil(60).to_string()),
    ];
    let tables = [
        ("MACHINE", parts.machine.clone()),
        ("LINES", parts.lines.clone()),
        ("BUGS", parts.bugs.clone()),
        ("BY_OPERATIONS", parts.checking.by_operations(setting)),
        ("BY_THREADS", parts.checking.by_threads(setting)),
        ("TRANSACTIONS", parts.transactions.clone()),
        ("RATIOS_OPERATIONS", parts.checking.ratios_by_operations()),
        ("RATIOS_THREADS", parts.checking.ratios_by_threads()),
    ];
    let mut text = include_str!("page.md").to_string();
    for (name, value) in limits.iter().chain(&tables) {
        text = text.replace(&format!("{{{name}}}"), value.trim_end());
    }
    text
}
