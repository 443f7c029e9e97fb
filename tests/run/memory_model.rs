//! Store buffers under control: what loads see is what x86-TSO allows, all of what it allows turns
//! up, and what empties buffers on a real machine empties them here.

use std::path::PathBuf;

use super::tool::{Answer, Tool};

fn data(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/controlled");
    folder.join(format!("{name}.cpp")).display().to_string()
}

fn fuzz(adapter: &str, model: &str, more: &[&str]) -> Answer {
    let command = ["fuzz", adapter, "--engine", "controlled", "--seed", "3", "--findings", "1"];
    Tool::new().run(&[&command[..], &["--memory-model", model], more].concat())
}

/// Random programs of stores, loads, exchanges and fences of four and eight bytes; the adapter
/// tries all orders that x86-TSO has.
#[test]
fn programs_see_what_the_model_allows() {
    let litmus = data("litmus");
    let one = ["--calls", "1", "--threads", "4"];
    for model in ["sc", "tso", "tso-late"] {
        for more in [["--rounds", "20000"], ["--rounds", "300"]] {
            let carrier: &[&str] = if more[1] == "300" { &["--carrier", "thread"] } else { &[] };
            let answer = fuzz(&litmus, model, &[&one[..], &more, carrier].concat());
            answer.expect(0, &["Nothing found."]);
        }
    }
    let sequential = [&one[..], &["--cflag", "-DSEQUENTIAL", "--rounds", "20000"]].concat();
    fuzz(&litmus, "sc", &sequential).expect(0, &["Nothing found."]);
    for model in ["tso", "tso-late"] {
        fuzz(&litmus, model, &sequential).expect(1, &["seen in no order", "Reproduced in a fresh"]);
    }
}

#[test]
fn every_shape_that_x86_shows_is_seen() {
    let shapes = [
        "store buffering",
        "own stores first",
        "a store overtaken by a load",
        "n6",
        "read to write causality",
        "one of two stores",
    ];
    for (number, shape) in (0..).zip(shapes) {
        let flag = format!("-DSHAPE={number}");
        let more = ["--calls", "1", "--threads", "3", "--cflag", &flag, "--shrink", "4s"];
        let (few, many) = (["--rounds", "20000"], ["--rounds", "200000"]);
        let answer = fuzz(&data("litmus_shapes"), "tso", &[&more[..], &many].concat());
        answer.expect(1, &[shape, "1 preemption;"]);
        let answer = fuzz(&data("litmus_shapes"), "sc", &[&more[..], &few].concat());
        answer.expect(0, &["Nothing found."]);
    }
}

/// System calls, signals, locks, pipes and mappings of the target empty them as they do elsewhere.
#[test]
fn what_empties_buffers_elsewhere_empties_them_here() {
    for model in ["tso", "tso-late"] {
        let more = ["--rounds", "20000", "--threads", "2", "--calls", "8"];
        fuzz(&data("emptied_buffers"), model, &more).expect(0, &["Nothing found."]);
    }
    // The same without: the assertions can fail.
    let more = ["--rounds", "20000", "--threads", "2", "--calls", "8", "--cflag", "-DNOTHING"];
    fuzz(&data("emptied_buffers"), "tso", &more).expect(1, &["neither saw the other"]);
}

/// Processors keep stores for less time than a thread takes to fall asleep.
#[test]
fn no_store_waits_while_others_go_to_sleep() {
    for model in ["tso", "tso-late"] {
        let calls = ["--weight", "read=0", "--calls", "1", "--threads", "4"];
        let more = ["--cflag", "-std=c++20", "--rounds", "150000"];
        fuzz(&data("store_and_notify"), model, &[&calls[..], &more].concat())
            .expect(0, &["Nothing found."]);
    }
}

/// A fence that nobody sees must not be taken for none.
#[test]
fn fences_in_assembly_forbid_buffers() {
    let adapter = data("fence_in_assembly");
    fuzz(&adapter, "some", &["--rounds", "20000"]).expect(0, &["--memory-model sc", "Nothing"]);
    let answer = fuzz(&adapter, "tso", &["--rounds", "1"]);
    answer.expect(2, &["fences of the target are inline assembly", "fence_in_assembly.cpp:"]);
}

/// Without any option; that the same deque is clean with its fence is for all bundled targets.
#[test]
fn a_missing_fence_is_found() {
    let tool = Tool::new();
    let command = ["fuzz", "chase_lev_no_fence", "--seed", "3", "--for", "60s", "--findings", "1"];
    let answer = tool.run(&[&command[..], &["--shrink", "4s"]].concat());
    let words = ["taken-twice of push+steal+take", "others do not see it yet", "1 preemption;"];
    answer.expect(1, &words).expect(1, &["BUG: the fence behind it is missing"]);
    let more = ["--rounds", "30000", "--memory-model", "tso"];
    tool.run(&[&["fuzz", "chase_lev"], &more[..]].concat()).expect(0, &["Nothing found."]);
    let more = ["--rounds", "30000", "--memory-model", "sc"];
    tool.run(&[&["fuzz", "chase_lev_no_fence"], &more[..]].concat()).expect(0, &["Nothing found."]);
}
