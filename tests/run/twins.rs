//! The bundled targets that need only a compiler, driven by native threads: the correct ones are
//! never accused, the broken ones are found. (`chase_lev_no_fence` is left out: it shows only while
//! two threads really run in parallel, which a machine busy with other tests does not guarantee.)

use interlap::report::words::REPRODUCE_WITH;

use super::tool::Tool;

#[test]
fn correct_structures_are_not_accused() {
    let tool = Tool::new();
    let mut overlapping = 0;
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
        "locked_kv",
        "versioned_store",
    ] {
        let answer = tool.fuzz(target).native().rounds(300).finds_nothing();
        overlapping += answer.json()["overlapping"].as_u64().expect("a number");
    }
    assert_ne!(overlapping, 0, "no call of any structure met another");
}

/// Runs a broken twin until it is found, and asserts that the finding names one of these rules.
fn found(target: &str, rules: &[&str]) {
    let tool = Tool::new();
    let answer = tool.fuzz(target).native().findings(1).expect(1, &[REPRODUCE_WITH]);
    let named = rules.iter().any(|rule| answer.out.contains(rule));
    assert!(named, "none of {rules:?} in {}", answer.all());
}

#[test]
fn a_harris_set_that_misreads_a_mark_is_found() {
    found("harris_set_marked_contains", &["set-answer of contains"]);
}

#[test]
fn a_set_that_answers_before_it_has_decided_is_found() {
    found("set_undecided_insert", &["set-answer of"]);
}

#[test]
fn conditional_writes_in_two_steps_are_found() {
    found("mutex_map_lost_update", &["not-linearizable of"]);
    found("atomic_register_split_cas", &["not-linearizable of"]);
}

#[test]
fn a_log_that_announces_records_before_it_writes_them_is_found() {
    found("slot_log_early_tail", &["log-order of", "log-position of"]);
}

#[test]
fn a_range_counted_in_two_steps_is_found() {
    found("range_set_torn_count", &["set-answer", "of range_count"]);
}

#[test]
fn a_lost_append_is_found() {
    let rules = ["lost-append of", "lost-put of", "misplaced-append of", "not-linearizable of"];
    found("locked_kv_lost_append", &rules);
}

#[test]
fn transactions_that_never_conflict_are_found() {
    let rules = ["lost-update of", "write-conflict of", "future-read of", "not-a-snapshot of"];
    found("versioned_store_lost_update", &rules);
}

/// `make test-timing`: native threads find these within half a minute on two busy cores.
mod timing {
    use super::*;

    const RULES: [&str; 4] = ["taken-twice of", "from-nowhere of", "lost of", "fifo-order of"];

    #[test]
    #[ignore = "goes by the clock: make test-timing"]
    fn a_treiber_stack_without_tags_is_found() {
        let rules = ["lost of", "taken-twice of", "lifo-order of", "empty-while-full of"];
        found("treiber_aba", &rules);
    }

    #[test]
    #[ignore = "goes by the clock: make test-timing"]
    fn a_michael_scott_queue_without_the_second_look_is_found() {
        found("ms_queue_no_recheck", &["empty-while-full of dequeue"]);
    }

    #[test]
    #[ignore = "goes by the clock: make test-timing"]
    fn a_michael_scott_queue_without_tags_is_found() {
        found("ms_queue_untagged", &[&RULES[..], &["hang", "empty"]].concat());
    }

    #[test]
    #[ignore = "goes by the clock: make test-timing"]
    fn rings_that_publish_before_they_write_are_found() {
        found("ring_mpmc_early_publish", &RULES);
        found("ring_spsc_early_publish", &RULES);
    }
}
