//! The controlled engine: it never accuses correct structures, drives any number of threads, and a
//! seed gives the same bytes on both carriers.

use interlap::report::words::{CONFIRMED, NOTHING_FOUND};

use super::tool::Tool;

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
