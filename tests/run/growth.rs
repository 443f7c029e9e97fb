//! A library that maps memory or opens files once for good does so in every round of the controlled
//! engine. The process is renewed before that exhausts anything, and the rounds are the same as
//! without.

use interlap::core::plan::WARM_UP_ROUNDS;
use std::path::PathBuf;
use std::process::Command;

use interlap::finding::interleaving::Place;
use interlap::finding::{Failure, Finding, Stored};
use interlap::process::fault::FaultKind;
use interlap::report::words::{AGAIN_IN_A_FRESH_ONE, CONFIRMED, NOTHING_FOUND, RENEWED};
use interlap::trace::rounds::{Round, read};

use super::adapters;
use super::tool::{Answer, Tool};

fn queue(code: &str) -> String {
    let includes = "#include <fcntl.h>\n#include <new>\n#include <sys/mman.h>\n";
    format!("{includes}{}", adapters::enqueue(code))
}

/// Maps 1 MiB when it is first used, with these flags, and then does this.
fn maps(flags: &str, then: &str) -> String {
    let map = format!("mmap(nullptr, 1 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS{flags}, -1, 0)");
    queue(&format!(
        "static void *area; if (!area) area = {map};
        {then} if (area == MAP_FAILED) throw std::bad_alloc();"
    ))
}

/// A mapping at an address that the library chooses outlives the round.
const LOW: &str = " | MAP_32BIT";

/// Opens a file when it is first used, and then runs this with its descriptor.
fn opens(then: &str) -> String {
    queue(&format!(
        "static int file; if (!file) file = open(\"/dev/null\", O_RDONLY); if ({then}) abort();"
    ))
}

fn fuzz(tool: &Tool, text: &str, more: &str, files_max: u64) -> Answer {
    let command = tool.fuzz_text("keeps.cpp", text).controlled().jobs(1).with(more).command();
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -n {files_max}; exec \"$@\""), "sh"]);
    limited.arg(command.get_program()).args(command.get_args());
    limited.current_dir(tool.dir.path());
    for (name, value) in command.get_envs() {
        limited.env(name, value.expect("set, not removed"));
    }
    Answer::from_output(limited.output().expect("a shell"))
}

/// The only finding, its kind of fault and the line of that.
fn found(tool: &Tool) -> (Finding, FaultKind, Option<Place>) {
    let finding = Stored::load(&tool.only_finding()).expect("a finding as it was written").finding;
    let Failure::Fault { kind, line, .. } = finding.what.clone() else { panic!("{finding:?}") };
    (finding, kind, line.map(|line| *line))
}

/// The rounds of a run that finds nothing, without the pairs of accesses: a process reports those
/// that are new to it.
fn rounds(tool: &Tool, text: &str, limits: &str, files_max: u64) -> (Vec<Round>, Answer) {
    let more = format!("--rounds 1000 --trace trace {limits}");
    let answer = fuzz(tool, text, &more, files_max);
    answer.expect(0, &[NOTHING_FOUND]);
    let mut rounds = read(&tool.path("trace")).expect("a trace").rounds;
    for round in &mut rounds {
        round.end.steps.as_mut().expect("of the controlled engine").pairs.clear();
    }
    (rounds, answer)
}

#[track_caller]
fn renewal_changes_nothing(text: &str, scarce: (&str, u64), ample: (&str, u64)) {
    let tool = Tool::new();
    let (renewed, answer) = rounds(&tool, text, scarce.0, scarce.1);
    answer.expect(0, &[RENEWED]);
    let (plain, answer) = rounds(&tool, text, ample.0, ample.1);
    answer.lacks(RENEWED);
    assert_eq!(plain.len() as u64, WARM_UP_ROUNDS + 1000);
    assert!(renewed == plain, "the rounds are others");
}

#[test]
fn memory_that_a_library_maps_once_is_not_exhausted() {
    renewal_changes_nothing(&maps(LOW, ""), ("--memory 128", 4096), ("", 4096));
}

/// A mapping at an address that the engine chooses is gone after the round.
#[test]
fn memory_that_is_mapped_anywhere_ends_with_the_round() {
    let (_, answer) = rounds(&Tool::new(), &maps("", ""), "--memory 128", 4096);
    answer.lacks(RENEWED);
}

#[test]
fn files_that_a_library_opens_once_are_not_exhausted() {
    renewal_changes_nothing(&opens("file < 0"), ("", 256), ("", 8192));
}

/// A round that exhausts memory by itself does so in a fresh process, too.
#[test]
fn a_round_that_exhausts_memory_is_still_a_finding() {
    let tool = Tool::new();
    let text = maps(
        LOW,
        "while (added > 4 && area != MAP_FAILED)
            area = mmap(nullptr, 1 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);",
    );
    let answer = fuzz(&tool, &text, "--rounds 300 --memory 128", 4096);
    answer.expect(1, &[CONFIRMED]);
    let load = |directory: &PathBuf| Stored::load(directory).expect("a finding").finding;
    let findings: Vec<Finding> = tool.findings().iter().map(load).collect();
    let is_it = |finding: &Finding| {
        finding.signature.fault_kind() == Some(FaultKind::OutOfMemory)
            && finding.confirmed == Some(true)
    };
    assert!(findings.iter().any(is_it), "{findings:?}");
}

/// A fault of a grown process counts only if a fresh process shows it. Here the descriptor of a
/// file is what differs in an old process.
#[test]
fn a_fault_of_a_grown_process_alone_is_no_finding() {
    let tool = Tool::new();
    let answer = fuzz(&tool, &opens("file >= 96"), "--rounds 300", 256);
    answer.expect(0, &[NOTHING_FOUND, AGAIN_IN_A_FRESH_ONE]);
    let answer = fuzz(&tool, &opens("file >= 40"), "--rounds 300", 256);
    answer.expect(1, &[]).lacks(CONFIRMED);
    let (finding, kind, _) = found(&tool);
    assert_eq!((kind, finding.confirmed), (FaultKind::Signal(libc::SIGABRT), Some(false)));
}

/// The kernel may kill any process where memory is short; a round that is killed again is a
/// finding.
#[test]
fn a_process_that_is_killed_once_is_no_finding() {
    // A system call that the harness does not see.
    let call = "long done; asm volatile(\"syscall\" : \"=a\"(done)
        : \"0\"(62L), \"D\"((long)getpid()), \"S\"(9L) : \"rcx\", \"r11\", \"memory\");";
    let kill = |when: &str| queue(&format!("if ({when}) {{ {call} }}"));
    let tool = Tool::new();
    // In the second such round: in a process's first one, growth could not be the cause.
    let once = "added == 9 && unlink(\"first\") && !unlink(\"second\")";
    for name in ["first", "second"] {
        tool.write(name, "");
    }
    let text = format!("#include <unistd.h>\n{}", kill(once));
    let answer = fuzz(&tool, &text, "--rounds 300", 256);
    answer.expect(0, &[AGAIN_IN_A_FRESH_ONE, NOTHING_FOUND]);
    assert!(!tool.path("second").exists());
    let text = format!("#include <unistd.h>\n{}", kill("added == 9"));
    let answer = fuzz(&tool, &text, "--rounds 300", 256);
    answer.expect(1, &[CONFIRMED]);
    let (finding, kind, _) = found(&tool);
    assert_eq!((kind, finding.confirmed), (FaultKind::Killed, Some(true)));
}

/// Whichever function it calls; the finding has the line.
#[test]
fn a_target_that_kills_itself_is_named() {
    for call in [
        "raise(SIGKILL);",
        "kill(getpid(), SIGKILL);",
        "pthread_kill(pthread_self(), SIGKILL);",
        "syscall(SYS_kill, getpid(), SIGKILL);",
        "syscall(SYS_tgkill, getpid(), gettid(), SIGKILL);",
    ] {
        let text = format!(
            "#include <csignal>\n#include <sys/syscall.h>\n#include <unistd.h>\n{}",
            queue(&format!("\nif (added == 9)\n    {call}"))
        );
        let tool = Tool::new();
        let answer = fuzz(&tool, &text, "--rounds 300 --findings 1", 256);
        answer.expect(1, &["Queue::enqueue at ", CONFIRMED]);
        let (finding, kind, line) = found(&tool);
        assert_eq!((kind, finding.confirmed), (FaultKind::Signal(libc::SIGKILL), Some(true)));
        let line = line.expect("its line");
        assert_eq!((&*line.function, &*line.text), ("Queue::enqueue", call));
    }
}

/// Such as an error of the adapter.
#[test]
fn a_problem_of_a_grown_process_alone_is_no_problem() {
    let tool = Tool::new();
    let text = |number: u32| {
        let create = format!(
            "explicit Queue(const interlap::config &config) {{
                static int file;
                if (!file) file = open(\"/dev/null\", O_RDONLY);
                if (file >= {number}) interlap::fail(config, \"too many\");
            }}"
        );
        format!("#include <fcntl.h>\n{}", adapters::member(&create))
    };
    fuzz(&tool, &text(96), "--rounds 300", 256).expect(0, &[NOTHING_FOUND, RENEWED]);
    fuzz(&tool, &text(40), "--rounds 300", 256).expect(2, &["too many"]);
}
