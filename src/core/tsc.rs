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
    judge(&cpuinfo, fs::read_to_string(sources).ok().as_deref())
}

/// Whether this is an AMD processor.
pub fn is_amd() -> bool {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let vendor = cpuinfo.lines().find(|line| line.starts_with("vendor_id"));
    vendor.is_some_and(|line| line.ends_with("AuthenticAMD"))
}

/// As [`refusal`], from the text of /proc/cpuinfo and, if readable, the kernel's list of the clock
/// sources that it still trusts.
pub fn judge(cpuinfo: &str, clock_sources: Option<&str>) -> Option<String> {
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
        assert_eq!(judge(good, Some("tsc kvm-clock\n")), None);
        assert_eq!(judge(good, None), None);
        assert!(judge(good, Some("hpet acpi_pm")).is_some_and(|why| why.contains("hpet")));
        assert!(judge("flags : nonstop_tsc", None).is_some_and(|w| w.contains("constant_tsc")));
        assert!(judge("flags : constant_tsc", None).is_some_and(|w| w.contains("nonstop_tsc")));
        assert!(judge("", None).is_some());
    }
}
