//! Examines memory, disks and address space randomization.

use std::path::Path;

use super::{Availability, Fact, read};

/// Memory for a long round: 16 M calls, at 32 bytes each, and their values.
const MEMORY_BYTES: u64 = 1 << 30;

/// Space for recordings, some 10 MB each, and compiled targets, some MB each.
const DISK_BYTES: u64 = 1 << 30;

pub(super) fn facts(cache: &Path) -> Vec<Fact> {
    let meminfo = read("/proc/meminfo").unwrap_or_default();
    vec![
        aslr(read("/proc/sys/kernel/randomize_va_space").as_deref()),
        memory(&meminfo),
        disk("cache", "INTERLAP_CACHE", cache),
        disk("temp folder", "TMPDIR", &std::env::temp_dir()),
    ]
}

fn aslr(text: Option<&str>) -> Fact {
    let says = match text {
        Some("0") => "off: addresses are the same in every run",
        Some(_) => "on: addresses differ from run to run",
        None => "unknown",
    };
    Fact::new("ASLR", Availability::Note, says)
}

fn memory(meminfo: &str) -> Fact {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kibibytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    match kibibytes.map(|kibibytes| kibibytes * 1024) {
        None => Fact::new("memory", Availability::Note, "unknown"),
        Some(bytes) if bytes < MEMORY_BYTES => {
            Fact::new("memory", Availability::No, format!("{} available", gibibytes(bytes)))
                .advise("use fewer calls a round, or free some memory")
        }
        Some(bytes) => {
            Fact::new("memory", Availability::Yes, format!("{} available", gibibytes(bytes)))
        }
    }
}

fn disk(topic: &'static str, variable: &str, folder: &Path) -> Fact {
    let shown = folder.display();
    let bytes = match rustix::fs::statvfs(folder) {
        Ok(statistics) => statistics.f_bavail.saturating_mul(statistics.f_frsize),
        Err(error) => {
            return Fact::new(topic, Availability::No, format!("{shown}: {error}"))
                .advise(format!("set {variable} to a folder that can be written"));
        }
    };
    let says = format!("{} free in {shown}", gibibytes(bytes));
    match bytes < DISK_BYTES {
        true => Fact::new(topic, Availability::No, says)
            .advise(format!("free some space, or set {variable} to a folder on another disk")),
        false => Fact::new(topic, Availability::Yes, says),
    }
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_is_available() {
        let text = "MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable:   24024932 kB\n";
        let fact = memory(text);
        assert_eq!((fact.ok, fact.says.as_str()), (Availability::Yes, "22.9 GiB available"));
        assert_eq!(memory("MemAvailable: 1024 kB").ok, Availability::No);
        assert_eq!(memory("").ok, Availability::Note);
    }

    #[test]
    fn a_folder_that_is_not_there_names_its_variable() {
        let fact = disk("cache", "INTERLAP_CACHE", Path::new("/nonexistent"));
        assert_eq!(fact.ok, Availability::No);
        assert!(fact.advice.is_some_and(|advice| advice.contains("INTERLAP_CACHE")));
    }

    #[test]
    fn aslr_is_a_note() {
        assert!(aslr(Some("0")).says.starts_with("off"));
        assert!(aslr(Some("2")).says.starts_with("on"));
    }
}
