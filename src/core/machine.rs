//! The machine that this program runs on, described for reports.
//! The description is stored with a run, because its figures depend on the machine.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// "AMD EPYC 7763 64-Core Processor", or the architecture where the kernel names no model.
    pub processor: String,
    /// Processors that this program may use.
    pub processors: u64,
    /// "Debian GNU/Linux 12 (bookworm), Linux 6.8.0 x86_64".
    pub system: String,
    /// All memory of the machine; 0 where it is not known.
    pub memory_bytes: u64,
}

impl Machine {
    pub fn here() -> Machine {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let uname = rustix::system::uname();
        let words = [uname.sysname(), uname.release(), uname.machine()];
        let architecture = std::env::consts::ARCH;
        Machine {
            processor: field(&cpuinfo, "model name").unwrap_or(architecture).to_string(),
            processors: std::thread::available_parallelism().map_or(1, |n| n.get() as u64),
            system: distribution()
                + &words.map(|word| word.to_string_lossy().into_owned()).join(" "),
            memory_bytes: memory_bytes(&meminfo),
        }
    }

    /// In one line.
    pub fn sentence(&self) -> String {
        let memory = match self.memory_bytes {
            0 => String::new(),
            bytes => format!(", {:.1} GiB of memory", bytes as f64 / (1u64 << 30) as f64),
        };
        let Machine { processor, processors, system, .. } = self;
        format!("{processor}, {processors} processors{memory}, {system}")
    }
}

/// The name of the distribution, with a comma; empty where it is not known.
fn distribution() -> String {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.map_or(String::new(), |name| format!("{}, ", name.trim_matches('"')))
}

/// The value of a key of /proc/cpuinfo, for the first processor.
pub fn field<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    let mut pairs = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    pairs.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
}

fn memory_bytes(meminfo: &str) -> u64 {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kibibytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.map_or(0, |kibibytes| kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described() {
        let machine = Machine::here();
        assert!(machine.processors >= 1 && machine.memory_bytes > 1 << 20, "{machine:?}");
        assert!(machine.system.contains("Linux ") && !machine.processor.is_empty());
        assert!(machine.sentence().contains(" GiB of memory, "), "{}", machine.sentence());
    }

    #[test]
    fn memory_is_the_total() {
        assert_eq!(memory_bytes("MemTotal:    16 kB\nMemFree: 1 kB\n"), 16384);
        assert_eq!(memory_bytes(""), 0);
    }
}
