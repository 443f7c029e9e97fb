//! Targets that crash, exit, hang, throw, fork, print, leak or break the contract: the program
//! survives them, reports what happened, and keeps what was recorded.

use interlap::core::operation::Op;
use interlap::finding::Failure;
use interlap::fuzz::{Ending, Warning};
use interlap::process::fault::{FaultKind, Hang};
use interlap::report::words::{self, NOTHING_FOUND, RENEWED, REPRODUCE_WITH};
use interlap::trace::area::{Ended, Stage};

use super::adapters::{QUEUE, dequeue, enqueue, in_c, member};
use super::tool::{Answer, Call, Tool};

/// Runs a queue that faults after some calls, under each engine; expects one finding with such a
/// fault, and the call that never returned. Gives the files of the native run.
fn fault(text: &str, is_such: fn(&Failure) -> bool) -> Tool {
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

fn is_of(what: &Failure, expected: FaultKind) -> bool {
    matches!(what, Failure::Fault { kind, .. } if *kind == expected)
}

/// Whether the target printed this about the fault.
fn said(what: &Failure, words: &str) -> bool {
    matches!(what, Failure::Fault { message: Some(message), .. } if message.contains(words))
}

/// Asserts that a run does all of its rounds and finds nothing.
#[track_caller]
fn finishes(run: Call, rounds: u64) -> Answer {
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
        is_quoted && is_of(what, FaultKind::Signal(libc::SIGABRT))
    });
}

#[test]
fn an_exception_is_quoted() {
    let text = dequeue("if (added > 20) throw std::runtime_error(\"lost my head\");");
    fault(&text, |what| {
        said(what, "lost my head") && is_of(what, FaultKind::Signal(libc::SIGABRT))
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
fn a_history_that_the_target_overwrote_is_not_checked() {
    // The first thread's records: its values, taken by other threads, then seem to come from
    // nowhere.
    let code = r#"
        static pthread_t first;
        static int others;
        if (added == 1) first = pthread_self(), others = 0;
        others += !pthread_equal(first, pthread_self());
        if (added > 60 && others > 20) {
            FILE *maps = fopen("/proc/self/maps", "r");
            char line[512];
            while (fgets(line, sizeof line, maps)) {
                unsigned long start = 0, offset = 0;
                sscanf(line, "%lx-%*x %*s %lx", &start, &offset);
                bool header = offset == 0;
                if (strstr(line, "interlap-records") && !header) memset((void *)start, 0xff, 4096);
            }
            abort();
        }"#;
    let text =
        enqueue(code).replace("<cstdlib>", "<cstdlib>\n#include <cstring>\n#include <pthread.h>");
    let tool = Tool::new();
    let run = tool.fuzz_text("bad.cpp", &text).findings(1).calls(200).threads(2);
    let answer = run.expect(1, &[]);
    assert!(is_of(&answer.stored().finding.what, FaultKind::Harmed(Ended::Damaged)));
    assert!(!answer.out.contains("from-nowhere"), "{}", answer.out);
    tool.show(tool.only_finding()).with("--history").expect(0, &["enqueue"]);
}

/// Runs a queue that does this to the harness, under each engine: one finding of that kind.
fn harms(code: &str, expected: Ended) {
    let headers = "<cstdlib>\n#include <cstring>\n#include <pthread.h>\n#include <threads.h>";
    let text = enqueue(code).replace("<cstdlib>", headers);
    for engine in ["native", "controlled"] {
        let tool = Tool::new();
        let run = tool.fuzz_text("bad.cpp", &text).engine(engine).findings(1).calls(50);
        let what = run.expect(1, &[REPRODUCE_WITH]).stored().finding.what;
        assert!(is_of(&what, FaultKind::Harmed(expected)), "{engine}: {what:?}");
    }
}

/// C++ that does this with `start` and `end` of each mapping of the record area, at the fourth call
/// that adds.
fn with_record_area(code: &str) -> String {
    let walk = r#"
        if (added == 4) {
            FILE *maps = fopen("/proc/self/maps", "r");
            char line[512];
            while (fgets(line, sizeof line, maps)) {
                if (!strstr(line, "interlap-records")) continue;
                char *start = nullptr, *end = nullptr;
                sscanf(line, "%p-%p", (void **)&start, (void **)&end);
                CODE
            }
            fclose(maps);
        }"#;
    walk.replace("CODE", code)
}

#[test]
fn a_target_that_overwrites_the_record_area_is_a_finding() {
    harms(&with_record_area("memset(start, 0xff, end - start);"), Ended::Damaged);
}

/// All that was recorded can still be read, but a queue would be accused of other values.
#[test]
fn a_target_that_changes_a_recorded_value_is_a_finding() {
    // A record of `enqueue`, its only argument, and some of its stamp.
    let code = "for (; start + 32 < end; start += 8)
                    if (start[0] == ENQUEUE && start[1] == 1 && start[8] != 0) start[2] ^= 64;";
    let code = code.replace("ENQUEUE", &(Op::Enqueue as u8).to_string());
    harms(&with_record_area(&code), Ended::Damaged);
}

#[test]
fn a_target_that_writes_beyond_the_record_area_crashes() {
    for code in ["*end = 1;", "start[-1] = 1;"] {
        let text =
            enqueue(&with_record_area(code)).replace("<cstdlib>", "<cstdlib>\n#include <cstring>");
        fault(&text, |what| is_of(what, FaultKind::Signal(libc::SIGSEGV)));
    }
}

#[test]
fn a_target_that_writes_junk_into_every_descriptor_is_a_finding() {
    let code = "if (added > 20) for (int fd = 3; fd < 300; fd++) {
                    if (write(fd, \"\\xff\\xfe, nothing\", 11) > 0) continue;
                }";
    harms(code, Ended::Damaged);
}

#[test]
fn a_target_that_closes_every_descriptor_is_a_finding() {
    harms("if (added > 20) close_range(3, ~0u, 0);", Ended::Closed);
}

#[test]
fn a_call_that_ends_its_thread_is_a_finding() {
    harms("if (added > 20) pthread_exit(nullptr);", Ended::ThreadExit);
    harms("if (added > 20) thrd_exit(0);", Ended::ThreadExit);
}

/// The next round's threads cannot be started.
#[test]
fn a_target_that_lowers_its_limits_is_a_finding() {
    let body = "if (added == 4) { rlimit least{1 << 20, 1 << 20}; setrlimit(RLIMIT_AS, &least); }";
    let text = enqueue(body).replace("<cstdlib>", "<cstdlib>\n#include <sys/resource.h>");
    let tool = Tool::new();
    let run = tool.fuzz_text("bad.cpp", &text).native().rounds(60).findings(1);
    let stored = run.with("--fresh-threads always").expect(1, &[]).stored();
    let Failure::Fault { kind, .. } = stored.finding.what else { panic!("{:?}", stored.finding) };
    assert_eq!(kind, FaultKind::Harmed(Ended::Restricted));
}

/// Its traced threads do not end before somebody has waited for each.
#[test]
fn a_run_of_a_target_that_has_itself_traced_ends() {
    let body = "if (added == 4) ptrace(PTRACE_TRACEME, 0, 0, 0);";
    let text = enqueue(body).replace("<cstdlib>", "<cstdlib>\n#include <sys/ptrace.h>");
    let tool = Tool::new();
    // A signal would stop the thread for good, and so be a hang.
    let run = tool.fuzz_text("bad.cpp", &text).native().rounds(40).with("--no-disturb");
    assert_eq!(run.finds_nothing().json()["rounds"], 40);
}

#[test]
fn a_target_that_sends_signals_to_interlap_does_not_end_the_run() {
    let body = "if (added > 3) kill(getppid(), added % 2 ? SIGTERM : SIGINT);";
    let text =
        enqueue(body).replace("<cstdlib>", "<cstdlib>\n#include <signal.h>\n#include <unistd.h>");
    for engine in ["native", "controlled"] {
        let tool = Tool::new();
        let run = tool.fuzz_text("bad.cpp", &text).engine(engine).rounds(60).calls(20);
        let answer = run.run();
        assert!(
            answer.status != 2 && answer.err.contains("to interlap: ignored"),
            "{}",
            answer.all()
        );
        let ledger = tool.ledger();
        let ended = ledger.parts[0].circumstances.as_ref().map(|about| about.ended);
        assert_ne!(ended, Some(Ending::Stopped), "{}", answer.all());
        assert!(ledger.statistics.rounds > 30, "{}", answer.all());
    }
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

#[test]
fn an_adapter_that_gives_up_ends_the_run_with_its_message() {
    let text = member("Queue(const interlap::config &c) { interlap::fail(c, \"no disk\"); }");
    Tool::new().fuzz_text("gives_up.cpp", &text).within("5s").expect(2, &["gives_up.cpp: no disk"]);
}

#[test]
fn an_adapter_of_another_version_is_refused() {
    let text = in_c(".abi_version = 99,", "");
    let words = ["adapter", "old.c", "version 99 of interlap.h", "compile it again"];
    let tool = Tool::new();
    let run = tool.fuzz_text("old.c", &text).within("5s").with("--cflag -Wno-override-init");
    run.expect(2, &words);
}

#[test]
fn an_adapter_without_the_symbol_is_refused() {
    let text = QUEUE.replace("INTERLAP_TARGET(Queue)", "");
    Tool::new().fuzz_text("none.cpp", &text).within("5s").expect(2, &["INTERLAP_TARGET(Class)"]);
}

#[test]
fn an_unknown_model_is_refused_with_the_known_ones() {
    let text = member("static constexpr auto model = \"bag\";");
    let words = ["unknown model 'bag'", "fifo-per-producer"];
    Tool::new().fuzz_text("model.cpp", &text).within("5s").expect(2, &words);
}

#[test]
fn a_model_of_another_family_is_refused() {
    let words = ["offers enqueue of a queue", "model lifo has none"];
    Tool::new().fuzz_text("queue.cpp", QUEUE).within("5s").with("--model lifo").expect(2, &words);
}

#[test]
fn too_many_results_are_an_adapter_error() {
    let text = in_c("", "call->result_count = 5000;");
    let words = ["returned 5000 results where 64 fit"];
    Tool::new().fuzz_text("many.c", &text).within("5s").expect(2, &words);
}

#[test]
fn more_values_than_requested_are_an_adapter_error() {
    let call = "if (call->op == IL_DEQUEUE_BULK) call->result_count = 64;
                else call->status = call->op == IL_DEQUEUE ? IL_EMPTY : IL_FULL;";
    let words = ["dequeue_bulk answered 64 values where at most"];
    Tool::new().fuzz_text("more.c", &in_c("", call)).within("5s").expect(2, &words);
}

#[test]
fn results_of_the_wrong_kind_are_an_adapter_error() {
    let text = in_c("", "call->status = IL_FAILED;");
    let words = ["answered failed", "interlap.h does not allow"];
    Tool::new().fuzz_text("kind.c", &text).within("5s").expect(2, &words);
    let text = in_c("", "call->status = 77;");
    Tool::new().fuzz_text("status.c", &text).within("5s").expect(2, &["status 77", "il_status"]);
}

#[test]
fn a_target_that_supports_nothing_does_not_loop_for_ever() {
    let text = in_c("", "call->status = call->op == IL_DEQUEUE ? IL_EMPTY : IL_UNSUPPORTED;");
    finishes(Tool::new().fuzz_text("refuses.c", &text).calls(10), 20);
}

#[test]
fn a_crash_while_loading_is_an_adapter_error() {
    let text = format!("{QUEUE}\nstruct Early {{ Early() {{ abort(); }} }} early;");
    let tool = Tool::new();
    let run = tool.fuzz_text("early.cpp", &text).within("5s");
    run.expect(2, &["SIGABRT", Stage::Idle.doing()]);
}

#[test]
fn a_method_that_cannot_be_called_is_refused_with_the_one_that_can() {
    let pointer = QUEUE.replace("dequeue(int64_t &value)", "dequeue(int64_t *value)");
    let alone = "struct Queue { bool pop(int64_t *); bool push(int64_t); };";
    let alone = format!("#include <interlap.hpp>\n{alone}\nINTERLAP_TARGET(Queue)\n");
    let bulk = member("int dequeue_bulk(int *values, int most) { return 0; }");
    for (text, signature) in [
        (pointer.replace("value = values", "*value = values"), "bool dequeue(int64_t &value)"),
        (alone, "bool pop(int64_t &value)"),
        (bulk, "size_t dequeue_bulk(int64_t *values, size_t most)"),
    ] {
        let tool = Tool::new();
        let run = tool.fuzz_text("misfit.cpp", &text).within("5s");
        run.expect(2, &["cannot be called as interlap.hpp lists it", signature]);
    }
}

#[test]
fn methods_that_are_never_called_are_listed_and_misspelt_ones_refused() {
    // One that another method calls is no operation that was meant, nor is a private one.
    let extra = "int64_t peek() { return values.front(); }
    size_t size() const { return values.size(); }
    size_t used() const { return values.size(); }
    bool has_room() const { return used() < 9; }
    static int number() { return 7; }
    private: void hidden() {}";
    let text = member(extra).replace("added++;", "if (!has_room()) return false;");
    let tool = Tool::new();
    let run = tool.fuzz_text("extra.cpp", &text).rounds(5);
    let methods = ["peek", "size"].map(str::to_string).to_vec();
    run.expect(0, &[&words::warning(&Warning::NeverCalled(methods))]);
    let text = member("size_t enqueue_bluk(const int64_t *, size_t) { return 0; }");
    let run = tool.fuzz_text("misspelt.cpp", &text).rounds(5);
    run.expect(2, &["enqueue_bluk", "enqueue_bulk"]);
}

#[test]
fn helpers_may_have_the_names_of_other_families() {
    let text = member("void *get() { return 0; } void write(char *, int) {} int size = 0;");
    finishes(Tool::new().fuzz_text("helpers.cpp", &text), 40);
}

#[test]
fn a_container_that_only_adds_or_only_removes_is_a_warning() {
    let text = QUEUE.replace("dequeue(", "take_one(");
    let tool = Tool::new();
    let run = tool.fuzz_text("one_sided.cpp", &text).rounds(40);
    let one_sided =
        Warning::OneSided { offers: vec!["enqueue"], lacks: vec!["dequeue", "dequeue_bulk"] };
    run.expect(0, &[&words::warning(&one_sided)]);
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
