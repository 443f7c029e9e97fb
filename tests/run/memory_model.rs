//! Memory models under control. Store buffers: loads see what x86-TSO allows, all that it allows
//! occurs, and buffers are emptied by whatever empties them on a real machine. C++20: litmus tests
//! of `std::atomic` show what it allows, and nothing else.

use std::collections::HashSet;

use interlap::finding::interleaving::Action;
use interlap::report::words::{CONFIRMED, NOTHING_FOUND, SHRUNK_TO};

use super::orders::RING;
use super::tool::{Answer, Call, Tool, data, read};

/// An adapter of `tests/data/controlled` under this memory model.
fn fuzz<'a>(tool: &'a Tool, adapter: &str, model: &str) -> Call<'a> {
    let run = tool.fuzz(data(&format!("controlled/{adapter}.cpp"))).controlled().seed(3);
    run.findings(1).with(format!("--memory-model {model}"))
}

/// Asserts that one preemption is left of the finding.
#[track_caller]
fn has_one_preemption(answer: &Answer) {
    let shrunk = answer.stored().finding.shrunk.expect("it was shrunk");
    assert_eq!(shrunk.size.preemptions, Some(1), "{}", shrunk.size);
}

/// Random programs of stores, loads, exchanges and fences of four and eight bytes. The adapter
/// enumerates all orders of x86-TSO.
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
fn every_litmus_test_that_x86_shows_is_seen() {
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
            let run = fuzz(&tool, "litmus_shapes", model).calls(1).threads(3).shrinking("60s");
            run.with(format!("--cflag -DSHAPE={number}"))
        };
        has_one_preemption(&fuzz("tso").rounds(200_000).expect(1, &[shape]));
        fuzz("sc").rounds(2_000).expect(0, &[NOTHING_FOUND]);
    }
}

/// System calls, signals, locks, pipes and mappings of the target.
#[test]
fn store_buffers_are_emptied_by_what_empties_real_ones() {
    let tool = Tool::new();
    let fuzz = |model| fuzz(&tool, "emptied_buffers", model).rounds(20_000).threads(2).calls(8);
    for model in ["tso", "tso-late"] {
        fuzz(model).expect(0, &[NOTHING_FOUND]);
    }
    // The same without them, to prove that the assertions can fail.
    fuzz("tso").with("--cflag -DNOTHING").expect(1, &["neither saw the other"]);
}

/// A thread takes longer to block than a processor keeps stores.
#[test]
fn no_store_waits_while_a_thread_blocks() {
    for model in ["tso", "tso-late"] {
        let tool = Tool::new();
        let run = fuzz(&tool, "store_and_notify", model).calls(1).threads(4).rounds(50_000);
        run.with("--weight read=0 --cflag -std=c++20").expect(0, &[NOTHING_FOUND]);
    }
}

/// The engine does not see such fences, so it must assume them.
#[test]
fn fences_in_assembly_forbid_buffers() {
    let tool = Tool::new();
    let fuzz = |model| fuzz(&tool, "fence_in_assembly", model);
    fuzz("some").rounds(20_000).expect(0, &["--memory-model sc", NOTHING_FOUND]);
    let words = ["fences of the target are inline assembly", "fence_in_assembly.cpp:"];
    fuzz("tso").rounds(1).expect(2, &words);
}

/// Without any option. The test of all bundled targets has the same deque with its fence.
#[test]
fn a_missing_fence_is_found() {
    let tool = Tool::new();
    let run = tool.fuzz("chase_lev_no_fence").seed(3).rounds(200_000).findings(1).shrinking("20s");
    let bug = "BUG: the fence behind it is missing";
    let answer = run.expect(1, &["taken-twice of push+steal+take", bug]);
    has_one_preemption(&answer);
    let table = answer.stored().interleaving.expect("it is explained");
    let waits_at_bug = table.rows.iter().any(|row| {
        let is_there = row.place().is_some_and(|place| place.text.contains(bug));
        row.matters && is_there && matches!(row.action(), Some(Action::Buffers { .. }))
    });
    assert!(waits_at_bug, "{table:#?}");
    for (target, model) in [("chase_lev", "tso"), ("chase_lev_no_fence", "sc")] {
        let run = tool.fuzz(target).rounds(10_000).with(format!("--memory-model {model}"));
        run.expect(0, &[NOTHING_FOUND]);
    }
}

/// A litmus test of `tests/data/litmus/shapes.txt`, which says how they are written.
struct Shape {
    name: String,
    is_allowed: bool,
    /// In C++: a function that says whether the outcome was seen.
    function: String,
}

/// In C++: "a=x.cas(1) rlx acq" is `a = 0, x.compare_exchange_strong(a, 1, rlx, acq);`.
fn statement(step: &str) -> String {
    let words: Vec<&str> = step.split_whitespace().collect();
    let orders = words[1..].join(", ");
    if words[0] == "fence" {
        return format!("std::atomic_thread_fence({orders});");
    }
    let (left, right) = words[0].split_once('=').expect("an access");
    let Some((location, call)) = right.split_once('.') else {
        return match right.parse::<i32>() {
            Ok(value) => format!("{left}.store({value}, {orders});"),
            Err(_) => format!("{left} = {right}.load({orders});"),
        };
    };
    let (call, value) = call.trim_end_matches(')').split_once('(').expect("an argument");
    match call {
        "swap" => format!("{left} = {location}.exchange({value}, {orders});"),
        _ => format!("{left} = 0, {location}.compare_exchange_strong({left}, {value}, {orders});"),
    }
}

fn shape(line: &str) -> Shape {
    let (head, outcome) = line.split_once("=>").expect("an outcome");
    let parts: Vec<&str> = head.split('|').map(str::trim).collect();
    let letters = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = "test_".chars().chain(parts[0].chars().map(letters)).collect();
    let threads = parts[2..].iter().map(|thread| {
        let steps: Vec<String> = thread.split(';').map(|step| statement(step.trim())).collect();
        format!("[&] {{ {} }}", steps.join(" "))
    });
    let threads: Vec<String> = threads.collect();
    let is_seen = outcome.split_whitespace().map(|of| of.replace('=', " == "));
    let is_seen: Vec<String> = is_seen.collect();
    let function = format!(
        "    bool {name}() {{ atomic x{{0}}, y{{0}}, z{{0}}; int a, b, c, d; \
         at_once({}); return {}; }}\n",
        threads.join(", "),
        is_seen.join(" && "),
    );
    Shape { name, is_allowed: parts[1] == "allowed", function }
}

/// Of one adapter.
const METHODS_MAX: usize = 32;

/// An adapter of which each method is a litmus test, and a model that sees no outcome.
fn litmus_adapter(shapes: &[&Shape]) -> String {
    let names: Vec<&str> = shapes.iter().map(|shape| &*shape.name).collect();
    let functions: String = shapes.iter().map(|shape| &*shape.function).collect();
    let unseen = names.iter().map(|name| format!("    bool {name}() {{ return false; }}\n"));
    let (head, unseen): (_, String) = (read(data("litmus/adapter.hpp")), unseen.collect());
    let names = names.join(", ");
    format!(
        "{head}struct Shapes {{\n{functions}}};\nstruct Unseen {{\n{unseen}}};\n\
         INTERLAP_OPERATIONS(Shapes, {names})\nINTERLAP_MODEL(Unseen)\n"
    )
}

#[test]
fn litmus_tests_of_cpp_show_what_it_allows() {
    let text = read(data("litmus/shapes.txt"));
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let shapes: Vec<Shape> = lines.map(shape).collect();
    let (allowed, forbidden): (Vec<_>, Vec<_>) = shapes.iter().partition(|shape| shape.is_allowed);
    assert!(allowed.len() > 40 && forbidden.len() > 50);
    let tool = Tool::new();
    let fuzz = |file, shapes: &[&Shape]| {
        let run = tool.fuzz_text(file, &litmus_adapter(shapes)).jobs(1).shrinking("0s");
        run.with("--memory-model c11 --races=off --calls 1 --threads 2 --findings 1000")
    };
    for shapes in forbidden.chunks(METHODS_MAX) {
        fuzz("forbidden.cpp", shapes).rounds(3_000).expect(0, &[NOTHING_FOUND]);
    }
    for shapes in allowed.chunks(METHODS_MAX) {
        let answer = fuzz("allowed.cpp", shapes).rounds(10_000).expect(1, &[]);
        let seen: HashSet<&str> = answer.out.split([' ', ',', '+']).collect();
        let is_missing = |name: &&String| !seen.contains(name.as_str());
        let missing: Vec<&String> = shapes.iter().map(|s| &s.name).filter(is_missing).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

/// Rings, locks, counts of references, hazard pointers: `targets/relaxed_structures.cpp`.
#[test]
fn structures_with_an_order_that_is_too_weak_are_found_and_no_others() {
    let tool = Tool::new();
    let fuzz = |model: &str, more: &str| {
        let run = tool.fuzz("relaxed_structures").controlled().seed(1).jobs(1);
        run.shrinking("0s").findings(30).with(format!("--memory-model {model} {more}"))
    };
    for model in ["c11", "tso"] {
        fuzz(model, "").rounds(1_000).expect(0, &[NOTHING_FOUND]);
    }
    fuzz("sc", "--cflag -DWRONG").rounds(1_000).expect(0, &[NOTHING_FOUND]);
    let methods = [
        "by_ring",
        "by_sequence_lock",
        "by_deque",
        "by_hazard_pointer",
        "by_spin_lock",
        "by_reference_count",
        "by_lazy_value",
        "by_two_flags",
    ];
    let found = |model| {
        let answer = fuzz(model, "--cflag -DWRONG").rounds(300).expect(1, &[]);
        methods.map(|method| answer.out.contains(&format!("::{method}")))
    };
    assert_eq!(found("c11"), [true; 8]);
    // On x86 only loads overtake stores.
    let on_x86 = ["by_deque", "by_hazard_pointer", "by_two_flags"];
    assert_eq!(found("tso"), methods.map(|method| on_x86.contains(&method)));
}

/// What it does not see is said, with its line.
#[test]
fn a_read_of_an_older_store_is_explained() {
    let tool = Tool::new();
    let with =
        |order: &str| RING.replace("(at + 1)", &format!("(at + 1, std::memory_order_{order})"));
    let (text, right) = (&with("relaxed"), &with("release"));
    let fuzz = |text: &str, model: &str| {
        let run = tool.fuzz_text("ring.cpp", text).controlled().findings(1).rounds(20_000);
        run.with(format!("--memory-model {model}"))
    };
    for model in ["sc", "tso"] {
        fuzz(text, model).expect(0, &[NOTHING_FOUND]);
    }
    fuzz(right, "c11").expect(0, &[NOTHING_FOUND]);
    let seen = [
        "slots[0] is 0 for it, an old value: it does not see the store of 1",
        "by thread 0 at ring.cpp:12 yet",
        "ring.cpp:19",
    ];
    let answer = fuzz(text, "some").shrinking("20s").expect(1, &[SHRUNK_TO]);
    tool.explain(answer.finding()).expect(1, &seen);
    tool.replay(answer.finding()).expect(1, &[]);
}
