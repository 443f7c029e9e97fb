//! `interlap orders`: which memory orders a structure needs; and `--weaken`, which takes one of
//! them weaker.

use std::collections::BTreeMap;
use std::path::Path;

use interlap::report::words::NOTHING_FOUND;
use serde_json::Value;

use super::tool::{Tool, read};

/// Of each line that has these words: the access, the order as written, and the weakest ones with
/// which nothing was found.
fn rows(table: &Value, source: &str) -> BTreeMap<(String, String), (String, Vec<String>)> {
    let text = |value: &Value| value.as_str().expect("text").to_string();
    let lines: Vec<&str> = source.lines().collect();
    let entry = |row: &Value| {
        let line = lines[row["line"].as_u64().expect("a line") as usize - 1].trim();
        let weakest = row["weakest"].as_array().expect("all were tried").iter().map(text);
        ((line.to_string(), text(&row["of"])), (text(&row["order"]), weakest.collect()))
    };
    table["rows"].as_array().expect("rows").iter().map(entry).collect()
}

/// Of structures with the orders that they need, each order that is needed.
#[test]
fn orders_that_are_needed_are_told_from_others() {
    let tool = Tool::new();
    let targets = Path::new(env!("CARGO_MANIFEST_DIR")).join("targets");
    let source = read(targets.join("relaxed_structures.cpp"));
    let run = tool.call("orders relaxed_structures --rounds 300 --races=off");
    let table = run.json(0);
    let rows = rows(&table, &source);
    let weakest = |line: &str, of: &str| -> (String, Vec<String>) {
        let found = rows.iter().filter(|((text, kind), _)| text.contains(line) && kind == of);
        let found: Vec<_> = found.collect();
        assert_eq!(found.len(), 1, "{line}: {rows:#?}");
        found[0].1.clone()
    };
    // Here and there one is needed by what a load may not read: what is stored later.
    for (line, of, order) in [
        ("if (!wrong) std::atomic_thread_fence(seq_cst);", "fence", "seq_cst"),
        ("tail.store(at + 1, weak_release);", "store", "release"),
        ("at != tail.load(acquire)", "load", "acquire"),
        ("if (!wrong) std::atomic_thread_fence(release);", "fence", "release"),
        ("int before = sequence.load(acquire);", "load", "acquire"),
        ("if (!wrong) std::atomic_thread_fence(acquire);", "fence", "acquire"),
        ("lock.exchange(1, acquire)", "update", "acquire"),
        ("lock.store(0, weak_release);", "store", "release"),
        ("count.fetch_sub(1, wrong ? relaxed : acq_rel)", "update", "acq_rel"),
        ("is_made.store(1, release);", "store", "release"),
        ("is_made.load(weak_acquire)", "load", "acquire"),
    ] {
        let needed = (order.to_string(), vec![order.to_string()]);
        assert_eq!(weakest(line, of), needed, "{line}");
    }
    let not_needed = |of: &str| (of.to_string(), vec!["relaxed".to_string()]);
    assert_eq!(weakest("EXPECT(value == 2);", "load"), not_needed("seq_cst"));
    assert_eq!(weakest("head.store(at + 1, release);", "store"), not_needed("release"));
    assert_eq!(table["complete"], true);
    assert!(table["noticed"].as_u64() >= Some(12), "{table}");
}

/// One order is stronger than it must be.
pub const RING: &str = "
    #include <atomic>
    #include <interlap.hpp>
    struct Ring {
        static constexpr auto model = \"fifo\";
        static constexpr bool one_producer = true, one_consumer = true;
        std::atomic<int64_t> slots[4] = {};
        std::atomic<unsigned> tail{0}, head{0};
        bool enqueue(int64_t value) {
            unsigned at = tail.load(std::memory_order_relaxed);
            if (at - head.load(std::memory_order_acquire) == 4) return false;
            slots[at % 4].store(value, std::memory_order_relaxed);
            tail.store(at + 1);
            return true;
        }
        bool dequeue(int64_t &value) {
            unsigned at = head.load(std::memory_order_relaxed);
            if (at == tail.load(std::memory_order_acquire)) return false;
            value = slots[at % 4].load(std::memory_order_relaxed);
            head.store(at + 1, std::memory_order_release);
            return true;
        }
        int64_t size() const { return tail.load() - head.load(); }
    };
    INTERLAP_TARGET(Ring)
";

/// What was tried is not tried again, and however many processes there are, the table is the same.
#[test]
fn a_table_goes_on_where_it_was_stopped() {
    let tool = Tool::new();
    let ring = tool.adapter("ring.cpp", RING);
    let orders = |more: &str| tool.call("orders").arg(&ring).with("--rounds 1000").with(more);
    let table = orders("--jobs 1 --html table.html").expect(
        0,
        &[
            "ring.cpp:13  store   seq_cst  release  relaxed: ",
            "ring.cpp:18  load    acquire  acquire  relaxed: ",
            "2 of 7 weaker orders",
        ],
    );
    let page = tool.read("table.html");
    let first = table.out.lines().find_map(|line| line.trim().strip_prefix("interlap explain "));
    let first = first.expect("the first finding");
    assert!(page.contains(&format!("{first}/page.html")), "{first}");
    assert!(page.contains("interlap orders"), "the command");

    let file = "orders/ring/orders.json";
    let whole: Value = serde_json::from_str(&tool.read(file)).expect("JSON");
    let mut part = whole.clone();
    let of_tail = part["rows"].as_array_mut().expect("rows").iter_mut();
    let tried = of_tail.map(|row| row["trials"].as_array_mut().expect("trials"));
    let mut left_out = 0;
    for trials in tried {
        left_out += trials.len() / 2;
        trials.truncate(trials.len() - trials.len() / 2);
    }
    assert!(left_out > 0);
    tool.write(file, &part.to_string());
    assert_eq!(orders("--jobs 2 --html table.html").expect(0, &[]).out, table.out);
    assert_eq!(serde_json::from_str::<Value>(&tool.read(file)).expect("JSON"), whole);

    // Of other rounds, nothing is taken.
    let fewer = orders("--threads 2 --jobs 1").json(0);
    assert_ne!(fewer["plan"], whole["plan"]);
    tool.explain(tool.path(first)).expect(1, &["ring.cpp:13", "ring.cpp:18"]);
}

/// A run with `--weaken` finds what the table shows, and the finding knows what it was found with.
#[test]
fn one_order_is_taken_weaker() {
    let tool = Tool::new();
    let run = |options: &str| tool.fuzz_text("ring.cpp", RING).controlled().with(options);
    let weaken = "--weaken ring.cpp:13:store:seq_cst=relaxed";
    let weaker = || run(weaken).rounds(1_000).findings(1).with("--memory-model c11");
    run("--memory-model c11").rounds(1_000).expect(0, &[NOTHING_FOUND]);
    let found = weaker().expect(1, &[weaken]);
    tool.replay(found.finding()).expect(1, &["the history is identical"]);
    tool.shrink(found.finding()).with("--for 20s").expect(1, &[weaken]);
    let wrong = "--weaken ring.cpp:14:store:seq_cst=relaxed";
    run(wrong).expect(2, &["has no store at ring.cpp:14", "interlap orders"]);
    run("--weaken ring.cpp:13").expect(2, &["expected FILE:LINE:KIND:ORDER=WEAKER"]);
}

/// What is found without a weaker order says nothing of one.
#[test]
fn a_target_with_a_bug_of_its_own_has_no_table() {
    let tool = Tool::new();
    let wrong = RING.replace("(at + 1)", "(at + 1, std::memory_order_relaxed)");
    let ring = tool.adapter("ring.cpp", &wrong);
    let orders = |more: &str| tool.call("orders").arg(&ring).with("--rounds 1000").with(more);
    let answer = orders("").expect(1, &["with all orders as they are written"]);
    answer.lacks("weakest");
    let right = tool.adapter("right.cpp", RING);
    let brief = tool.call("orders").arg(right).with("--rounds 1000000 --for 0s");
    brief.expect(3, &["stopped before 4000000 rounds"]);
    orders("--memory-model tso").expect(2, &["c11"]);
    orders("--weaken a:1:load:acquire=relaxed").expect(2, &["--weaken"]);
}
