//! Targets that harm the harness: its record area, its pipe, its threads, its limits. That is a
//! finding, and nothing that they changed is checked.

use interlap::core::operation::Op;
use interlap::finding::Failure;
use interlap::fuzz::Ending;
use interlap::process::fault::FaultKind;
use interlap::report::words::REPRODUCE_WITH;
use interlap::trace::area::Ended;

use super::adapters::enqueue;
use super::bad_targets::{fault, is_of};
use super::tool::Tool;

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
    let code = code.replace("ENQUEUE", &Op::Enqueue.code().to_string());
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

/// The next round's threads cannot be started, unless something asks for memory before.
#[test]
fn a_target_that_lowers_its_limits_is_a_finding() {
    let body = "if (added == 4) { rlimit least{1 << 20, 1 << 20}; setrlimit(RLIMIT_AS, &least); }";
    let text = enqueue(body).replace("<cstdlib>", "<cstdlib>\n#include <sys/resource.h>");
    let tool = Tool::new();
    let run = tool.fuzz_text("bad.cpp", &text).native().rounds(60).findings(1);
    let stored = run.with("--fresh-threads always").expect(1, &[]).stored();
    let Failure::Fault { kind, .. } = stored.finding.what else { panic!("{:?}", stored.finding) };
    let allowed = [FaultKind::Harmed(Ended::Restricted), FaultKind::OutOfMemory];
    assert!(allowed.contains(&kind), "{kind:?}");
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
