//! A finding asks whether what was found is meant, where a weaker promise allows it.

use interlap::report::text::brief;

use super::tool::{Answer, Tool};

/// A queue with a lock, whose `dequeue` does this first.
fn queue(first: &str) -> String {
    format!(
        "#include <atomic>
        #include <condition_variable>
        #include <deque>
        #include <mutex>
        #include <interlap.hpp>
        struct Target {{
            static constexpr auto model = \"fifo\";
            std::mutex mutex;
            std::condition_variable more;
            std::deque<int64_t> values;
            std::atomic<int> inside{{0}};
            void enqueue(int64_t value) {{
                std::lock_guard<std::mutex> guard(mutex);
                values.push_back(value);
                more.notify_one();
            }}
            bool dequeue(int64_t &value) {{
                {first}
                if (values.empty()) return false;
                value = values.front();
                values.pop_front();
                return true;
            }}
        }};
        INTERLAP_TARGET(Target)"
    )
}

/// The report of the only finding.
fn report(tool: &Tool, first: &str) -> String {
    let adapter = tool.adapter("queue.cpp", &queue(first));
    let run = tool.fuzz(adapter).controlled().seed(5).jobs(1).findings(1).threads(3).calls(6);
    let found: Answer = run.rounds(20_000).expect(1, &[]);
    brief(&found.stored()).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_empty_answer_beside_another_removal_may_be_meant() {
    let gives_up = "std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
        struct Counted {
            std::atomic<int> &inside;
            bool alone;
            Counted(std::atomic<int> &inside) : inside(inside), alone(inside++ == 0) {}
            ~Counted() { inside--; }
        } counted(inside);
        if (!counted.alone) return false;
        guard.lock();";
    let report = report(&Tool::new(), gives_up);
    assert!(report.contains("Is this meant? `--model fifo:empty=lone` allows it"), "{report}");
}

#[test]
fn a_lost_value_is_never_meant() {
    let loses = "std::lock_guard<std::mutex> guard(mutex);
        if (inside++ % 3 == 2 && values.size() > 1) values.pop_back();";
    let report = report(&Tool::new(), loses);
    assert!(report.contains("(sequential)") || report.contains("lost"), "{report}");
    assert!(!report.contains("Is this meant?"), "{report}");
}

#[test]
fn removals_that_wait_for_more_may_be_meant() {
    let waits = "std::unique_lock<std::mutex> guard(mutex);
        while (values.empty() && inside++ < 1000) more.wait(guard);";
    let report = report(&Tool::new(), waits);
    assert!(report.contains("Deadlock"), "{report}");
    assert!(report.contains("Is this meant? All that was added has been removed"), "{report}");
    assert!(report.contains("dequeue(), which waits for more"), "{report}");
}
