//! Targets that crash, exit, hang, throw, fork, print, leak or break the contract: the program
//! survives them, reports what happened, and keeps what was recorded.

use interlap::core::operation::Op;
use interlap::finding::Failure;
use interlap::process::fault::{FaultKind, Hang};
use interlap::report::words::{NOTHING_FOUND, RENEWED, REPRODUCE_WITH};
use interlap::trace::area::Stage;

use super::adapters::{dequeue, enqueue};
use super::tool::{Answer, Call, Tool};

/// Runs a queue that faults after some calls, under each engine; expects one finding with such a
/// fault, and the call that never returned. Gives the files of the native run.
pub(super) fn fault(text: &str, is_such: fn(&Failure) -> bool) -> Tool {
    fault_under("controlled", text, is_such);
    fault_under("native", text, is_such)
}

fn fault_under(engine: &str, text: &str, is_such: fn(&Failure) -> bool) -> Tool {
    let tool = Tool::new();
    let run = tool.fuzz_text("bad.cpp", text).engine(engine).findings(1).calls(50);
    let what = run.expect(1, &[REPRODUCE_WITH, "-> never returned"]).stored().finding.what;
    assert!(is_such(&what), "{what:?}");
    tool.show(tool.only_finding()).with("--history").expect(0, &["enqueue"]);
    tool
}

pub(super) fn is_of(what: &Failure, expected: FaultKind) -> bool {
    matches!(what, Failure::Fault { kind, .. } if *kind == expected)
}

/// Whether the target printed this about the fault.
fn said(what: &Failure, words: &str) -> bool {
    matches!(what, Failure::Fault { message: Some(message), .. } if message.contains(words))
}

/// Asserts that a run does all of its rounds and finds nothing.
#[track_caller]
pub(super) fn finishes(run: Call, rounds: u64) -> Answer {
    let answer = run.rounds(rounds).finds_nothing();
    assert_eq!(answer.json()["rounds"], rounds);
    answer
}

#[test]
fn a_crash_is_a_finding_with_its_source_line() {
    fault(&enqueue("if (added > 20) *(volatile int *)8 = 1;"), |what| {
        let Failure::Fault { address: Some(8), line: Some(line), .. } = what else { return false };
        let is_there = line.function == "Queue::enqueue" && line.text.contains("(volatile int *)8");
        is_there && line.file.ends_with("bad.cpp") && is_of(what, FaultKind::Signal(libc::SIGSEGV))
    });
}

#[test]
fn an_operation_under_way_at_the_crash_is_pending() {
    let tool = fault(&enqueue("if (added > 20) abort();"), |what| {
        is_of(what, FaultKind::Signal(libc::SIGABRT))
    });
    let finding = tool.only_finding();
    let pending = r#""end":null,"status":"pending""#;
    tool.show(&finding).with("--history").expect(0, &[pending]);
    tool.check(finding.join("trace.mpk")).expect(0, &["consistent"]);
}

#[test]
fn a_failed_assertion_is_quoted() {
    fault(&enqueue("assert(added < 20);"), |what| {
        let is_quoted = said(what, "Assertion `added < 20' failed");
        // Not that of the C library that ends the process.
        let Failure::Fault { line, .. } = what else { return false };
        let place = line.as_ref().map(|line| &*line.function);
        is_quoted
            && is_of(what, FaultKind::Signal(libc::SIGABRT))
            && place == Some("Queue::enqueue")
    });
}

#[test]
fn an_exception_is_quoted() {
    let text = dequeue("if (added > 20) throw std::runtime_error(\"lost my head\");");
    fault(&text, |what| {
        let Failure::Fault { exception: Some(escaped), line: Some(line), .. } = what else {
            return false;
        };
        let of = escaped.exception.of == "std::runtime_error" && line.line == 25;
        let call = escaped.call.as_ref().is_some_and(|call| call.op == Op::Dequeue);
        said(what, "lost my head") && of && call && is_of(what, FaultKind::Exception)
    });
}

#[test]
fn a_target_that_exits_is_a_finding() {
    fault(&enqueue("if (added > 20) exit(3);"), |what| is_of(what, FaultKind::Exit(3)));
}

#[test]
fn a_target_that_exits_without_handlers_keeps_the_history() {
    fault(&enqueue("if (added > 20) _exit(0);"), |what| is_of(what, FaultKind::Exit(0)));
}

#[test]
fn a_target_that_kills_itself_keeps_the_history() {
    let text = enqueue("if (added > 20) kill(getpid(), 9);")
        .replace("<unistd.h>", "<csignal>\n#include <unistd.h>");
    fault(&text, |what| is_of(what, FaultKind::Signal(libc::SIGKILL)));
}

#[test]
fn running_out_of_memory_is_reported() {
    let text = enqueue("if (added > 20) for (;;) memset(new char[1 << 24], 1, 1 << 24);")
        .replace("<cstdlib>", "<cstdlib>\n#include <cstring>");
    for engine in ["native", "controlled"] {
        let tool = Tool::new();
        let call = tool.fuzz_text("bad.cpp", &text).engine(engine).findings(1);
        let answer = call.with("--calls 50 --memory 256").expect(1, &["std::bad_alloc"]);
        let what = answer.stored().finding.what;
        let is_said = said(&what, "std::bad_alloc");
        assert!(is_said && is_of(&what, FaultKind::OutOfMemory), "{what:?}");
    }
}

/// It takes longer than a hang until memory is full.
#[test]
fn a_leak_is_no_hang() {
    let leak = "static char *volatile kept; \
                if (added > 20) for (;;) { kept = new char[8 << 20](); usleep(50000); }";
    let tool = Tool::new();
    let run = tool.fuzz_text("bad.cpp", &enqueue(leak)).native().findings(1).calls(50);
    let what =
        run.with("--memory 256 --hang 1s").expect(1, &[REPRODUCE_WITH]).stored().finding.what;
    assert!(is_of(&what, FaultKind::OutOfMemory), "{what:?}");
}

#[test]
fn a_hang_is_found_and_ended() {
    let tool = Tool::new();
    let text = enqueue("while (added > 20) usleep(1000);");
    let call = tool.fuzz_text("bad.cpp", &text).native().calls(50).findings(1);
    let what = call.with("--hang 1s").expect(1, &[]).stored().finding.what;
    let Failure::Fault { kind: FaultKind::Hang, stage: Stage::Calls, hang, .. } = what else {
        panic!("{what:?}")
    };
    let Hang { seconds, running, waiting } = hang.expect("what its threads did");
    assert_eq!(seconds, 1);
    assert!(running + waiting > 0, "its threads are counted");
}

#[test]
fn a_run_continues_after_a_fault() {
    let tool = Tool::new();
    let text = enqueue("if (rand() % 200 == 0) abort();");
    let json = tool.fuzz_text("bad.cpp", &text).rounds(100).calls(20).json(1);
    assert!(json["faults"].as_u64() > Some(1), "{json}");
    assert!(json["rounds"].as_u64() > Some(20), "{json}");
    assert_eq!(json["findings"].as_array().map(Vec::len), Some(1), "one bug is one finding");
}

#[test]
fn a_child_that_the_target_forks_does_no_harm() {
    let text = enqueue("if (added == 10) fork();");
    for engine in ["native", "controlled"] {
        let tool = Tool::new();
        finishes(tool.fuzz_text("forks.cpp", &text).engine(engine).calls(20), 40);
    }
}

/// The child runs beside the engine's thread, so atomic operations must be atomic. Only in late
/// rounds, because before those all accesses are reported for the coverage.
#[test]
fn a_forked_child_and_its_parent_may_share_memory() {
    let text = enqueue(
        "if (added == 1 && round >= 1100) {
            const int access = PROT_READ | PROT_WRITE, kind = MAP_SHARED | MAP_ANONYMOUS;
            void *shared = mmap(nullptr, 4096, access, kind, -1, 0);
            auto *counts = static_cast<std::atomic<long> *>(shared);
            auto &sum = counts[0], &of_child = counts[1], &stop = counts[2];
            pid_t child = fork();
            if (child == 0) {
                long made = 0;
                for (; !stop && made < 100000000; made++) sum.fetch_add(1);
                of_child = made;
                _exit(0);
            }
            // Nothing that the engine sees, until the child has begun.
            for (int i = 0; i < 5000000; i++) __asm__ volatile(\"\");
            for (int i = 0; i < 500; i++) sum.fetch_add(1);
            stop = 1;
            waitpid(child, nullptr, 0);
            if (sum != 500 + of_child) abort();
        }",
    );
    let includes = "<atomic>\n#include <cstdlib>\n#include <sys/mman.h>\n#include <sys/wait.h>";
    let member = "uint32_t round; explicit Queue(const il_config &config) : round(config.round) {}";
    let text = text.replace("<cstdlib>", includes).replace("/*MEMBER*/", member);
    let tool = Tool::new();
    finishes(tool.fuzz_text("forks.cpp", &text).engine("controlled").calls(4).jobs(1), 1120);
}

#[test]
fn a_child_that_lives_on_does_not_delay_the_end_of_the_run() {
    let tool = Tool::new();
    let text = enqueue("if (added == 10 && fork() == 0) for (;;) pause();");
    tool.fuzz_text("forks.cpp", &text).rounds(20).calls(20).expect(0, &[NOTHING_FOUND]);
}

#[test]
fn a_target_may_print_a_lot() {
    let text = enqueue("for (int i = 0; i < 100; i++) { puts(\"hello\"); fputs(\"x\", stderr); }");
    for engine in ["native", "controlled"] {
        let tool = Tool::new();
        let answer = finishes(tool.fuzz_text("prints.cpp", &text).engine(engine).calls(50), 40);
        assert!(!answer.out.contains("hello"), "the target's output is not ours");
    }
}

#[test]
fn a_leak_is_a_warning_and_the_run_continues() {
    let tool = Tool::new();
    let text = enqueue("memset(new char[1 << 14], 1, 1 << 14);")
        .replace("<cstdlib>", "<cstdlib>\n#include <cstring>");
    let run = tool.fuzz_text("leaks.cpp", &text).native().rounds(120).calls(64);
    let answer = run.with("--memory 256").finds_nothing();
    assert!(answer.err.contains(RENEWED), "{}", answer.all());
}

/// As of some allocators: a running program has little left of it.
#[test]
fn a_target_may_have_much_static_thread_local_storage() {
    let storage = "[[gnu::tls_model(\"initial-exec\")]] thread_local volatile char own[9000];";
    let text = enqueue("for (auto &c : own) c = c + 1;");
    let text = text.replace("struct Queue", &format!("{storage}\nstruct Queue"));
    for engine in ["native", "controlled"] {
        let tool = Tool::new();
        let run = tool.fuzz_text("storage.cpp", &text).engine(engine).rounds(20).calls(20);
        run.finds_nothing();
    }
    // More than is reserved.
    let text = text.replace("own[9000]", "own[300000]");
    let tool = Tool::new();
    let run = tool.fuzz_text("storage.cpp", &text).native().rounds(20);
    run.expect(2, &["static TLS block", "set GLIBC_TUNABLES", "a larger number"]);
}

/// The wording of faults.
mod snapshots {
    use interlap::report::words;

    use super::*;

    #[test]
    fn the_sentence_of_a_fault() {
        let sentence = |kind| {
            words::fault(&Failure::Fault {
                kind,
                stage: Stage::Calls,
                thread: Some(0),
                drain: 3,
                address: Some(8),
                line: None,
                hang: Some(Hang { seconds: 1, running: 1, waiting: 2 }),
                steps: None,
                places: Vec::new(),
                exception: None,
                message: None,
            })
        };
        for (kind, expected) in [
            (
                FaultKind::Signal(libc::SIGSEGV),
                "Thread 0 crashed with SIGSEGV at address 0x8 while",
            ),
            (
                FaultKind::Signal(libc::SIGKILL),
                "Thread 0 killed its own process with SIGKILL while",
            ),
            (FaultKind::Exit(3), "The target ended the process with exit status 3 while calling"),
            (FaultKind::Hang, "No progress for 1 s while calling the structure; 1 of its threads"),
            (FaultKind::OutOfMemory, "Thread 0 ran out of memory while calling the structure."),
            (
                FaultKind::Killed,
                "The process was killed with SIGKILL while calling the structure: ",
            ),
        ] {
            let sentence = sentence(kind);
            assert!(sentence.starts_with(expected), "{sentence}");
        }
        assert!(sentence(FaultKind::Killed).contains("for lack of memory"));
    }
}
