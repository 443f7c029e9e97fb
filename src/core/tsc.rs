//! Decides whether this machine's time stamp counter can stamp timeboxes.
//! It asks the kernel about the counter and reads no counter itself.

use std::fs;

/// The reason why the time stamp counter cannot be used here; none if it can.
pub fn refusal() -> Option<String> {
    if !cfg!(target_arch = "x86_64") {
        return Some("this processor has no x86 time stamp counter".to_string());
    }
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let sources = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    refusal_from(&cpuinfo, fs::read_to_string(sources).ok().as_deref())
}

/// Whether this is an AMD processor.
pub fn is_amd() -> bool {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let vendor = cpuinfo.lines().find(|line| line.starts_with("vendor_id"));
    vendor.is_some_and(|line| line.ends_with("AuthenticAMD"))
}

/// As [`refusal`], from the text of /proc/cpuinfo and, if readable, the kernel's list of the clock
/// sources that it still trusts.
fn refusal_from(cpuinfo: &str, clock_sources: Option<&str>) -> Option<String> {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let has = |flag: &str| flags.split_whitespace().any(|word| word == flag);
    if !has("constant_tsc") {
        return Some("its rate follows the processor's frequency (no constant_tsc)".to_string());
    }
    if !has("nonstop_tsc") {
        return Some("it stops when the processor sleeps (no nonstop_tsc)".to_string());
    }
    match clock_sources {
        Some(list) if !list.split_whitespace().any(|source| source == "tsc") => {
            let list = list.trim();
            Some(format!("the kernel does not trust it as a clock (it lists: {list})"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_property_is_a_reason() {
        let good = "processor: 0\nflags\t\t: fpu constant_tsc nonstop_tsc sse\n";
        assert_eq!(refusal_from(good, Some("tsc kvm-clock\n")), None);
        assert_eq!(refusal_from(good, None), None);
        let names = |cpuinfo, sources, word: &str| {
            refusal_from(cpuinfo, sources).is_some_and(|why| why.contains(word))
        };
        assert!(names(good, Some("hpet acpi_pm"), "hpet"));
        assert!(names("flags : nonstop_tsc", None, "constant_tsc"));
        assert!(names("flags : constant_tsc", None, "nonstop_tsc"));
        assert!(refusal_from("", None).is_some());
    }
}
