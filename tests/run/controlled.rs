//! The controlled engine: it never accuses correct structures, drives any number of threads, and a
//! seed gives the same bytes on both carriers.

use interlap::report::words::{CONFIRMED, NOTHING_FOUND};

use super::tool::{Tool, data};

#[test]
fn correct_structures_are_not_accused() {
    let tool = Tool::new();
    for target in [
        "treiber_stack",
        "ms_queue",
        "harris_set",
        "unordered_set",
        "ring_mpmc",
        "ring_spsc",
        "chase_lev",
        "mutex_map",
        "atomic_register",
        "atomic_counter",
        "slot_log",
        "locked_range_set",
    ] {
        tool.fuzz(target).controlled().rounds(3_000).expect(0, &[target, NOTHING_FOUND]);
    }
}

#[test]
fn a_stack_or_a_deque_may_be_checked_as_a_pool() {
    let tool = Tool::new();
    for target in ["treiber_stack", "chase_lev"] {
        let run = tool.fuzz(target).controlled().with("--model pool").rounds(1_000);
        run.expect(0, &[target, NOTHING_FOUND]);
        let run = tool.fuzz(target).native().with("--model pool --calls 60000").rounds(2);
        run.finds_nothing();
    }
    let text = "
        #include <atomic>
        #include <interlap.hpp>
        struct Stack {
            std::atomic<int64_t> top{0};
            int64_t below[4096];
            bool push(int64_t value) {
                int64_t at = top.load();
                below[at] = value;
                top.store(at + 1);
                return true;
            }
            bool pop(int64_t &value) {
                int64_t at = top.load();
                if (at == 0) return false;
                value = below[at - 1];
                top.store(at - 1);
                return true;
            }
        };
        INTERLAP_TARGET(Stack)
    ";
    let adapter = tool.adapter("torn_stack.cpp", text);
    let run = tool.fuzz(adapter).controlled().with("--model pool").findings(1).rounds(1_000);
    run.expect(1, &[CONFIRMED, "--model pool"]);
}

#[test]
fn who_looks_through_a_large_table_makes_progress() {
    let tool = Tool::new();
    let table = tool.fuzz(data("controlled/large_table.cpp")).controlled().seed(3);
    let rounds = table.with("--steps 3000 --threads 3 --calls 4").rounds(100);
    rounds.expect(0, &[NOTHING_FOUND]);
}

/// Large tables that one call fills or empties; and one whose slots do not change.
#[test]
fn long_work_is_no_livelock() {
    let text = "
        #include <atomic>
        #include <memory>
        #include <mutex>
        #include <vector>
        #include <interlap.hpp>
        static std::atomic<long> slots[200000];
        struct Counter {
            static constexpr auto model = \"counter\";
            std::mutex mutex;
            std::vector<std::unique_ptr<std::mutex>> table;
            int64_t value = 0;
            Counter() {
                for (auto &slot : slots) slot.store(0);
                grow(120000);
            }
            void grow(size_t size) {
                while (table.size() < size) table.emplace_back(new std::mutex);
            }
            void add(int64_t amount) {
                std::lock_guard<std::mutex> guard(mutex);
                if (value > 4) grow(240000);
                value += amount;
            }
            int64_t read() { std::lock_guard<std::mutex> guard(mutex); return value; }
        };
        INTERLAP_TARGET(Counter)
    ";
    let tool = Tool::new();
    let run = tool.fuzz(tool.adapter("tables.cpp", text)).controlled().seed(3);
    run.clone().rounds(40).expect(0, &[NOTHING_FOUND]);
    run.rounds(20).with("--plain-points").expect(0, &[NOTHING_FOUND]);
}

/// The recorded history of a seed's first finding.
fn history(tool: &Tool, folder: &str, options: &str) -> String {
    let run = tool.fuzz("ms_queue_no_recheck").controlled().seed(11).jobs(1).findings(1);
    let answer = run.out(folder).with(options).expect(1, &[CONFIRMED]);
    tool.show(answer.finding()).with("--history").run().out
}

#[test]
fn a_seed_gives_the_same_history_on_both_carriers() {
    let tool = Tool::new();
    let first = history(&tool, "first", "");
    assert!(!first.is_empty());
    assert_eq!(first, history(&tool, "again", ""), "in another process");
    assert_eq!(first, history(&tool, "threads", "--carrier thread"), "on real threads");
}

#[test]
fn any_number_of_threads_is_driven() {
    let tool = Tool::new();
    // Each round draws its number of threads.
    let run = tool.fuzz("ms_queue").controlled().threads(63).seed(1).jobs(1).rounds(600);
    let json = run.json(0);
    let driven = json["exercise"]["threads"].as_object().expect("rounds by number of threads");
    let missing: Vec<u32> =
        (2..=63).filter(|threads| !driven.contains_key(&threads.to_string())).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for threads in 1..=64 {
        let run = tool.fuzz("ms_queue").native().threads(threads).seed(1).calls(4).rounds(1);
        assert_eq!(run.finds_nothing().json()["rounds"], 1);
    }
    let too_many = tool.fuzz("ms_queue").controlled().threads(64).rounds(1);
    too_many.expect(2, &["at most 63", "--engine native"]);
    let answer = tool.fuzz("ms_queue").threads(64).calls(8).rounds(1).run();
    assert!(answer.status != 1 && answer.err.contains("--engine native"), "{}", answer.all());
}
