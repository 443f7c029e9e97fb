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

/// A set whose void `remove` does this first.
fn set(first: &str) -> String {
    format!(
        "#include <mutex>
        #include <set>
        #include <interlap.hpp>
        struct Target {{
            std::mutex mutex;
            std::set<int64_t> keys;
            bool insert(int64_t key) {{
                std::lock_guard<std::mutex> guard(mutex);
                return keys.insert(key).second;
            }}
            void remove(int64_t key) {{
                {first}
                std::lock_guard<std::mutex> guard(mutex);
                keys.erase(key);
            }}
            bool contains(int64_t key) {{
                std::lock_guard<std::mutex> guard(mutex);
                return keys.count(key) > 0;
            }}
        }};
        INTERLAP_TARGET(Target)"
    )
}

/// What a void method found it does not say; what it leaves is judged.
#[test]
fn a_void_remove_is_judged_by_what_it_leaves() {
    let tool = Tool::new();
    let run = |name: &str, first: &str| {
        let adapter = tool.adapter(name, &set(first));
        tool.fuzz(adapter).controlled().seed(5).jobs(1).findings(1).threads(3).calls(6)
    };
    run("right.cpp", "").rounds(3_000).expect(0, &[]);
    let gives_up = "if (!mutex.try_lock()) return; mutex.unlock();";
    let found: Answer = run("wrong.cpp", gives_up).rounds(20_000).expect(1, &[]);
    let report = brief(&found.stored());
    assert!(report.contains("remove(") && report.contains("-> done"), "{report}");
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

/// A queue with a lock that says how many values are inside, and counts them like this.
fn sized(added: &str, removed: &str) -> String {
    format!(
        "#include <atomic>
        #include <deque>
        #include <mutex>
        #include <interlap.hpp>
        struct Target {{
            static constexpr auto model = \"fifo\";
            std::mutex mutex;
            std::deque<int64_t> values;
            std::atomic<size_t> count{{0}};
            void enqueue(int64_t value) {{
                {{
                    std::lock_guard<std::mutex> guard(mutex);
                    values.push_back(value);
                }}
                {added}
            }}
            bool dequeue(int64_t &value) {{
                std::lock_guard<std::mutex> guard(mutex);
                if (values.empty()) return false;
                value = values.front();
                values.pop_front();
                {removed}
                return true;
            }}
            bool dequeue_bulk(int64_t *all, size_t most) {{
                std::lock_guard<std::mutex> guard(mutex);
                if (values.size() < most) return false;
                for (size_t at = 0; at < most; at++) {{
                    all[at] = values.front();
                    values.pop_front();
                    {removed}
                }}
                return true;
            }}
            size_t size() const {{ return count; }}
            bool empty() const {{ return count == 0; }}
        }};
        INTERLAP_TARGET(Target)"
    )
}

/// What is counted a little later than it is added is right while nothing is under way. Two who
/// count at once and lose a step are wrong for ever.
#[test]
fn a_size_is_judged_by_what_is_promised_of_it() {
    let tools = [Tool::new(), Tool::new()];
    let run = |tool: usize, text: &str, model: &str| {
        let adapter = tools[tool].adapter("queue.cpp", text);
        let run = tools[tool].fuzz(adapter).controlled().seed(5).jobs(1).findings(1);
        run.threads(3).calls(6).arg("--model").arg(model)
    };
    let late = sized("count++;", "count--;");
    run(0, &late, "fifo").rounds(3_000).expect(0, &[]);
    let found: Answer = run(0, &late, "fifo:size=exact").rounds(20_000).expect(1, &[]);
    let report = brief(&found.stored()).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(report.contains("Is this meant? `--model fifo` allows it"), "{report}");

    let lost = sized("count = count + 1;", "count = count - 1;");
    let found: Answer = run(1, &lost, "fifo").rounds(20_000).expect(1, &[]);
    assert!(found.stored().finding.signature.to_string().contains("miscounted"));

    // Under the lock it is right.
    let guarded = "{ std::lock_guard<std::mutex> guard(mutex); return values.size()";
    let right = sized("", "").replace(" const { return count", guarded);
    run(1, &right, "fifo:size=exact").rounds(3_000).expect(0, &[]);
}
