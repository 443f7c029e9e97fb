//! Store buffers under control: what loads see is what x86-TSO allows, all of what it allows turns
//! up, and what empties buffers on a real machine empties them here.

use interlap::report::words::{CONFIRMED, NOTHING_FOUND};

use super::tool::{Call, Tool, data};

/// An adapter of `tests/data/controlled` under this memory model.
fn fuzz<'a>(tool: &'a Tool, adapter: &str, model: &str) -> Call<'a> {
    let run = tool.fuzz(data(&format!("controlled/{adapter}.cpp"))).controlled().seed(3);
    run.findings(1).with(format!("--memory-model {model}"))
}

/// Random programs of stores, loads, exchanges and fences of four and eight bytes; the adapter
/// tries all orders that x86-TSO has.
#[test]
fn programs_see_what_the_model_allows() {
    let tool = Tool::new();
    let litmus = |model| fuzz(&tool, "litmus", model).calls(1).threads(4);
    for model in ["sc", "tso", "tso-late"] {
        litmus(model).rounds(20_000).expect(0, &[NOTHING_FOUND]);
        litmus(model).rounds(300).carrier("thread").expect(0, &[NOTHING_FOUND]);
    }
    let sequential = |model| litmus(model).with("--cflag -DSEQUENTIAL").rounds(20_000);
    sequential("sc").expect(0, &[NOTHING_FOUND]);
    for model in ["tso", "tso-late"] {
        sequential(model).out(model).expect(1, &["seen in no order", CONFIRMED]);
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
        let tool = Tool::new();
        let fuzz = |model| {
            let run = fuzz(&tool, "litmus_shapes", model).calls(1).threads(3).shrinking("4s");
            run.with(format!("--cflag -DSHAPE={number}"))
        };
        fuzz("tso").rounds(200_000).expect(1, &[shape, "1 preemption;"]);
        fuzz("sc").rounds(5_000).expect(0, &[NOTHING_FOUND]);
    }
}

/// System calls, signals, locks, pipes and mappings of the target empty them as they do elsewhere.
#[test]
fn store_buffers_are_emptied_by_what_empties_real_ones() {
    let tool = Tool::new();
    let fuzz = |model| fuzz(&tool, "emptied_buffers", model).rounds(20_000).threads(2).calls(8);
    for model in ["tso", "tso-late"] {
        fuzz(model).expect(0, &[NOTHING_FOUND]);
    }
    // The same without: the assertions can fail.
    fuzz("tso").with("--cflag -DNOTHING").expect(1, &["neither saw the other"]);
}

/// Processors keep stores for less time than a thread takes to fall asleep.
#[test]
fn no_store_waits_while_others_go_to_sleep() {
    for model in ["tso", "tso-late"] {
        let tool = Tool::new();
        let run = fuzz(&tool, "store_and_notify", model).calls(1).threads(4).rounds(50_000);
        run.with("--weight read=0 --cflag -std=c++20").expect(0, &[NOTHING_FOUND]);
    }
}

/// A fence that nobody sees must not be taken for none.
#[test]
fn fences_in_assembly_forbid_buffers() {
    let tool = Tool::new();
    let fuzz = |model| fuzz(&tool, "fence_in_assembly", model);
    fuzz("some").rounds(20_000).expect(0, &["--memory-model sc", "Nothing"]);
    let words = ["fences of the target are inline assembly", "fence_in_assembly.cpp:"];
    fuzz("tso").rounds(1).expect(2, &words);
}

/// Without any option; that the same deque is clean with its fence is for all bundled targets.
#[test]
fn a_missing_fence_is_found() {
    let tool = Tool::new();
    let run = tool.fuzz("chase_lev_no_fence").seed(3).rounds(200_000).findings(1).shrinking("20s");
    let words = ["taken-twice of push+steal+take", "others do not see it yet", "1 preemption;"];
    run.expect(1, &words).expect(1, &["BUG: the fence behind it is missing"]);
    for (target, model) in [("chase_lev", "tso"), ("chase_lev_no_fence", "sc")] {
        let run = tool.fuzz(target).rounds(30_000).with(format!("--memory-model {model}"));
        run.expect(0, &[NOTHING_FOUND]);
    }
}
