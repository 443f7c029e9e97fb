//! Examines the processor: its model, its clock for stamps, thread-local storage for fibers, and
//! performance counters for rr.

use super::{Availability, Fact, read};
use crate::core::machine::field;
use crate::core::tsc;

/// `records`: rr records here, whatever it counts with.
pub(super) fn facts(records: bool) -> Vec<Fact> {
    let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
    let paranoid = read("/proc/sys/kernel/perf_event_paranoid");
    let units = ["cpu", "cpu_core", "armv8_pmuv3_0"];
    let folder = std::path::Path::new("/sys/bus/event_source/devices");
    let has_unit = units.iter().any(|unit| folder.join(unit).exists());
    let is_root = rustix::process::geteuid().is_root();
    let auxv = std::fs::read("/proc/self/auxv").unwrap_or_default();
    vec![
        model(&cpuinfo),
        stamps(tsc::refusal()),
        fsgsbase(&cpuinfo, &auxv),
        match counters(paranoid.as_deref(), has_unit, is_root) {
            fact if records && fact.ok == Availability::No => without_counters(fact),
            fact => fact,
        },
    ]
}

/// Counters that are missing and not missed.
fn without_counters(fact: Fact) -> Fact {
    let says = format!("{}; this rr does without", fact.says);
    Fact { ok: Availability::Note, says, advice: None, ..fact }
}

fn has_flag(cpuinfo: &str, flag: &str) -> bool {
    field(cpuinfo, "flags").is_some_and(|flags| flags.split_whitespace().any(|word| word == flag))
}

fn model(cpuinfo: &str) -> Fact {
    let model = field(cpuinfo, "model name").unwrap_or("unknown model");
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let says = format!("{model}, {cores} usable here, {}", std::env::consts::ARCH);
    let fact = Fact::new("processor", Availability::Note, says);
    match cores {
        1 => fact
            .advise("threads never run at the same instant; a machine with more cores finds more"),
        _ => fact,
    }
}

fn stamps(refusal: Option<String>) -> Fact {
    match refusal {
        None => Fact::new("TSC", Availability::Yes, "constant and nonstop: stamps operations"),
        Some(reason) => Fact::new("TSC", Availability::No, reason).advise(
            "CLOCK_MONOTONIC stamps operations instead: correct, but slower, so boxes are wider \
             and fewer bugs show",
        ),
    }
}

/// The entry of the auxiliary vector for instructions that the kernel allows, and its bit for
/// FSGSBASE.
const AT_HWCAP2: u64 = 26;
const HWCAP2_FSGSBASE: u64 = 2;

/// The processor's flag is not enough: the kernel must allow the instructions.
fn fsgsbase(cpuinfo: &str, auxv: &[u8]) -> Fact {
    let number = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
    let entries = auxv.chunks_exact(16).map(|entry| (number(&entry[..8]), number(&entry[8..])));
    let is_allowed = entries
        .filter(|(kind, _)| *kind == AT_HWCAP2)
        .any(|(_, value)| value & HWCAP2_FSGSBASE != 0);
    match (has_flag(cpuinfo, "fsgsbase"), is_allowed) {
        (_, true) => Fact::new(
            "FSGSBASE",
            Availability::Yes,
            "fibers can have thread-local storage of their own",
        ),
        (true, false) => {
            Fact::new("FSGSBASE", Availability::No, "the kernel does not allow it (Linux 5.9 does)")
        }
        (false, false) => Fact::new("FSGSBASE", Availability::No, "not available"),
    }
}

fn counters(paranoid: Option<&str>, has_unit: bool, is_root: bool) -> Fact {
    let level = paranoid.and_then(|text| text.trim().parse::<i32>().ok());
    let no = |says: String| Fact::new("counters", Availability::No, says);
    match level {
        _ if !has_unit => no("the kernel shows no performance counters".to_string())
            .advise("most builds of rr need them (see rr)"),
        None => no("the kernel has no perf_event_open".to_string())
            .advise("most builds of rr need it (see rr)"),
        Some(level) if level > 1 && !is_root => {
            no(format!("there, but closed to users (perf_event_paranoid is {level})"))
                .advise("for rr: sysctl kernel.perf_event_paranoid=1")
        }
        Some(level) => {
            let says = format!("open to rr (perf_event_paranoid is {level})");
            Fact::new("counters", Availability::Yes, says)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "processor\t: 0\nmodel name\t: A CPU\n\
        flags\t\t: fpu tsc constant_tsc nonstop_tsc fsgsbase\n";

    #[test]
    fn a_refused_clock_comes_with_what_is_used_instead() {
        assert_eq!(stamps(None).ok, Availability::Yes);
        let fact = stamps(Some("it stops".to_string()));
        assert!(fact.says.contains("stops"));
        assert!(fact.advice.is_some_and(|advice| advice.contains("CLOCK_MONOTONIC")));
    }

    #[test]
    fn fsgsbase_is_what_the_kernel_allows() {
        let entry = |kind: u64, value: u64| [kind.to_ne_bytes(), value.to_ne_bytes()].concat();
        let allowed = [entry(16, 0), entry(AT_HWCAP2, 2), entry(0, 0)].concat();
        let denied = [entry(16, 2), entry(AT_HWCAP2, 0)].concat();
        assert_eq!(fsgsbase(GOOD, &allowed).ok, Availability::Yes);
        assert!(fsgsbase(GOOD, &denied).says.contains("5.9"));
        assert_eq!(fsgsbase("", &[]).ok, Availability::No);
    }

    #[test]
    fn counters_need_a_unit_and_permission() {
        assert_eq!(counters(Some("1"), true, false).ok, Availability::Yes);
        assert_eq!(counters(Some("2"), true, true).ok, Availability::Yes);
        let closed = counters(Some("2"), true, false);
        assert!(closed.advice.is_some_and(|advice| advice.contains("perf_event_paranoid=1")));
        assert_eq!(counters(Some("-1"), false, true).ok, Availability::No);
        let none = counters(None, true, true);
        assert_eq!(none.ok, Availability::No);
        let unused = without_counters(none);
        assert!(unused.ok == Availability::Note && unused.advice.is_none(), "{unused:?}");
    }
}
