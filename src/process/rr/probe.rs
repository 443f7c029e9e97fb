//! Tests whether rr can record on this machine, and advises what to do if not.
//! The messages are from rr's sources (src/PerfCounters.cc, src/PerfCounters_x86.h,
//! src/RecordSession.cc), the advice is from its wiki.

use std::fmt;
use std::io::ErrorKind;
use std::process::Command;

use super::Rr;

/// Why rr cannot record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// rr's own message, or the reason why it could not be run.
    pub says: String,
    pub advice: &'static str,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}\n{}", self.says, self.advice)
    }
}

impl std::error::Error for Refusal {}

const INSTALL: &str = "Install rr (`apt-get install rr`, or https://rr-project.org for a newer \
                       one), or name it with --rr PATH. Where the processor's performance \
                       counters are out of reach, the fork rr.soft does: `--rr PATH --rr-arg -W` \
                       (https://github.com/sidkshatriya/rr.soft).";
const NO_COUNTERS: &str = "rr counts with the processor's performance counters, and the kernel \
    offers none. In a virtual machine, turn on its virtual PMU (KVM: `-cpu host,pmu=on`; some \
    cloud machines have one only in their largest or \"metal\" sizes). The fork rr.soft \
    (https://github.com/sidkshatriya/rr.soft) needs none, because it counts in software: `--rr \
    PATH --rr-arg -W`.";
const NO_PERMISSION: &str = "The performance counters are there but closed. As root: `sysctl \
    kernel.perf_event_paranoid=1`. In a container, start it with `--cap-add=SYS_PTRACE \
    --cap-add=PERFMON --security-opt seccomp=unconfined`.";
const PARANOID: &str = "As root: `sysctl kernel.perf_event_paranoid=1` (to keep it: a file in \
    /etc/sysctl.d).";
const ZEN: &str = "On AMD Zen processors, SpecLockMap makes the counters inexact: run rr's \
    scripts/zen_workaround.py as root on the host (https://github.com/rr-debugger/rr/wiki/Zen), or \
    let rr record all the same with `--rr-arg -F`, which may give recordings that do not replay.";
const UNKNOWN_CPU: &str = "This rr is too old for this processor: use a newer one (--rr PATH), or \
                           name a similar processor with `--rr-arg --microarch=...`.";
const PTRACE: &str = "rr traces the processes that it records. In a container, start it with \
                      `--cap-add=SYS_PTRACE --security-opt seccomp=unconfined`; else look at \
                      kernel.yama.ptrace_scope.";
const NESTED: &str = "rr cannot record itself: run interlap outside of rr.";
const DISK: &str = "Free some space, or have findings and recordings elsewhere (--out; a probe \
                    uses TMPDIR).";
const OVERCOUNT: &str = "The counters of this virtual or physical machine are not exact enough for \
                         rr; another machine, or newer firmware and hypervisor, may do.";
const USAGE: &str = "it does not know an option or this kind of recording, and prints its usage";
const OTHER_RR: &str = "Name the rr that made the recording, and its options: `--rr PATH`, \
                        `--rr-arg ARG` for each.";
const UNKNOWN: &str = "rr's wiki may know more: https://github.com/rr-debugger/rr/wiki";

/// The prefix of the line with which rr gives up.
const FATAL: &str = "[FATAL ";
const MESSAGE_LINES_MAX: usize = 3;
const MESSAGE_CHARACTERS_MAX: usize = 600;

/// Parts of rr's messages with advice. The first that matches counts.
const ADVICE: [(&str, &str); 16] = [
    (USAGE, OTHER_RR),
    ("hardware perf events available", NO_COUNTERS),
    ("Permission denied to use 'perf_event_open'", NO_PERMISSION),
    ("perf_event_paranoid", PARANOID),
    ("SpecLockMap", ZEN),
    ("On Zen CPUs", ZEN),
    ("CPU type", UNKNOWN_CPU),
    ("microarch", UNKNOWN_CPU),
    ("ptrace", PTRACE),
    ("PTRACE", PTRACE),
    ("already running under rr", NESTED),
    ("No space left", DISK),
    ("ENOSPC", DISK),
    ("overcount", OVERCOUNT),
    ("Freezing performance counters", OVERCOUNT),
    ("perf_event_open", NO_COUNTERS),
];

/// Records `/bin/true` in a temporary directory. Returns rr's version.
pub fn probe(rr: &Rr) -> Result<String, Refusal> {
    let version = version(rr)?;
    let refuse = |says: String| {
        let advice = advice_for(&says);
        Refusal { says, advice }
    };
    let scratch = crate::core::files::scratch()
        .map_err(|error| refuse(format!("cannot make a temporary directory: {error}")))?;
    let words = rr.record_words(0, &scratch.path().join("trace"));
    let output = Command::new(&words[0])
        .args(&words[1..])
        .arg("/bin/true")
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| refuse(format!("{} cannot be run: {error}", rr.program)))?;
    match output.status.success() {
        true => Ok(version),
        false => {
            let text = String::from_utf8_lossy(&output.stderr);
            Err(refuse(
                message(&text).unwrap_or_else(|| format!("rr ended with {}", output.status)),
            ))
        }
    }
}

/// The first line of `rr --version`.
fn version(rr: &Rr) -> Result<String, Refusal> {
    let output = Command::new(&rr.program).arg("--version").output().map_err(|error| {
        let name = &rr.program;
        let says = match error.kind() {
            ErrorKind::NotFound => format!("{name} was not found"),
            _ => format!("{name} cannot be run: {error}"),
        };
        Refusal { says, advice: INSTALL }
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().unwrap_or_default().trim();
    match output.status.success() && line.contains("rr") {
        true => Ok(line.to_string()),
        false => {
            let says = format!("{} does not answer `--version` as rr does", rr.program);
            Err(Refusal { says, advice: INSTALL })
        }
    }
}

/// The message with which rr gives up: its first fatal message, with only the error of its prefix
/// `[FATAL file:line:function() errno: ...]`, or else its last lines. Its usage is no message.
pub fn message(text: &str) -> Option<String> {
    if text.lines().any(|line| line.starts_with("Usage:") || line.starts_with(" rr replay [")) {
        return Some(USAGE.to_string());
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let said: Vec<String> = match lines.iter().position(|line| line.starts_with(FATAL)) {
        Some(at) => {
            let rest = lines[at + 1..].iter().take_while(|line| !ends_message(line));
            let rest = rest.take(MESSAGE_LINES_MAX).map(|line| line.trim().to_string());
            std::iter::once(without_prefix(lines[at])).chain(rest).collect()
        }
        None => lines.iter().rev().take(MESSAGE_LINES_MAX).rev().map(|l| l.to_string()).collect(),
    };
    let mut text = said.join("\n").trim().to_string();
    if let Some((at, _)) = text.char_indices().nth(MESSAGE_CHARACTERS_MAX) {
        text.truncate(at);
        text += " ...";
    }
    (!text.is_empty()).then_some(text)
}

fn without_prefix(line: &str) -> String {
    let (prefix, rest) = line.split_once(']').unwrap_or(("", line));
    match prefix.split_once("errno: ") {
        Some((_, error)) => format!("{} ({error})", rest.trim()),
        None => rest.trim().to_string(),
    }
}

/// Whether the output from here on is only for rr's developers.
fn ends_message(line: &str) -> bool {
    line.starts_with(FATAL) || is_dump(line)
}

/// Whether this was printed by an rr that gave up.
pub fn is_fatal(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(FATAL) || is_dump(line))
}

fn is_dump(line: &str) -> bool {
    line.starts_with("=== Start rr backtrace") || line.starts_with("Tail of trace dump:")
}

/// What to do about rr's message.
pub fn advice_for(says: &str) -> &'static str {
    let known = ADVICE.iter().find(|(part, _)| says.contains(part));
    known.map_or(UNKNOWN, |(_, advice)| advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::plan::Recorder;

    const ASSERTION: &str = include_str!("../../../tests/data/rr/assertion.txt");
    const NO_COUNTERS: [&str; 2] = [
        include_str!("../../../tests/data/rr/no-counters-5.6.txt"),
        include_str!("../../../tests/data/rr/no-counters.txt"),
    ];

    #[test]
    fn missing_counters_and_missing_permission_get_different_advice() {
        for text in NO_COUNTERS {
            let says = message(text).expect("a message");
            assert!(says.starts_with("Unable to open performance counter with"), "{says}");
            assert!(advice_for(&says).contains("virtual PMU"));
        }
        assert!(advice_for("Permission denied to use 'perf_event_open'").contains("PERFMON"));
        assert!(advice_for("needs perf_event_paranoid <= 3").contains("sysctl"));
        assert!(advice_for("unless you disable .. SpecLockMap").contains("zen_workaround.py"));
        assert!(advice_for("something new").contains("wiki"));
    }

    #[test]
    fn a_message_keeps_the_error_and_omits_dumps() {
        let full = "[FATAL src/A.cc:1:f() errno: ENOSPC] Can't write 12 bytes\n\
                    === Start rr backtrace:\nrr(+0x1)[0x2]\n";
        assert_eq!(message(full).as_deref(), Some("Can't write 12 bytes (ENOSPC)"));
        assert!(advice_for("Can't write 12 bytes (ENOSPC)").contains("space"));
        let says = message(ASSERTION).expect("a message");
        assert!(says.contains("Assertion `t->desched_rec()") && !says.contains("rax"), "{says}");
        assert_eq!(message("\n"), None);
        let usage =
            "rr: unknown option\nUsage: rr [OPTION] (record|replay|dump)\n  -a, --autopilot\n";
        let says = message(usage).expect("a message");
        assert!(!says.contains("autopilot") && advice_for(&says).contains("--rr PATH"), "{says}");
        assert_eq!(message("one\ntwo\n").as_deref(), Some("one\ntwo"));
    }

    #[test]
    fn failures_of_rr_and_of_the_target_are_distinguished() {
        assert!(is_fatal(ASSERTION) && NO_COUNTERS.iter().all(|text| is_fatal(text)));
        assert!(!is_fatal("q.h:11: f: Assertion `a' failed.\n") && !is_fatal("fatal: [FATAL no"));
    }

    #[test]
    fn a_program_that_is_not_rr_gets_advice_to_install_it() {
        for (program, part) in [("interlap-no-such-rr", "not found"), ("true", "as rr does")] {
            let recorder = Recorder { program: program.into(), ..Recorder::default() };
            let refusal = probe(&Rr::new(&recorder)).expect_err("it is no rr");
            assert!(refusal.to_string().contains(part), "{refusal}");
            assert!(refusal.advice.contains("apt-get install rr"));
        }
    }
}
