//! Targets that list their methods under the models of families.

use interlap::core::operation::Op;
use interlap::report::words::NOTHING_FOUND;

use super::tool::{Tool, data, read};

#[test]
fn listed_methods_are_judged_by_the_model_of_a_family() {
    let (tool, stack) = (Tool::new(), data("custom/stack.cpp"));
    for model in ["lifo", "pool", "self"] {
        let run = tool.fuzz(&stack).seed(3).rounds(600).with(format!("--model {model}"));
        run.expect(0, &[NOTHING_FOUND, &format!("model {model}")]);
    }
    let run = tool.fuzz(&stack).native().rounds(100).with("--model lifo");
    run.expect(0, &[NOTHING_FOUND, "model lifo"]);
    // It is no queue, and says so at once.
    let run = tool.fuzz(&stack).seed(3).rounds(600).findings(1);
    let words = ["model fifo", "even when called from one thread at a time"];
    run.with("--model fifo --shrink 0s").expect(1, &words);
}

/// Of every family a class that lists its methods, with types as such classes have them.
#[test]
#[ignore = "many compilations: make test-long"]
fn classes_of_every_family_may_list_their_methods() {
    let families = ["priority-queue", "map", "set", "counter", "register", "kv", "deque", "log"];
    for family in families.into_iter().chain(["fifo", "range-set"]) {
        let (tool, name) = (Tool::new(), family.replace('-', "_"));
        let class = data("listed").join(name).with_extension("cpp");
        let run = tool.fuzz(class).rounds(5_000).with(format!("--model {family}"));
        run.expect(0, &[NOTHING_FOUND]);
    }
}

#[test]
fn a_bug_of_listed_methods_is_a_finding_of_the_family() {
    let (tool, stack) = (Tool::new(), data("custom/stack.cpp"));
    let run = tool.fuzz(&stack).seed(1).findings(1).with("--cflag=-DWRONG --model lifo");
    let answer = run.expect(1, &["taken-twice"]);
    let stored = answer.stored();
    assert_eq!(stored.hello.target.operations, [Op::Push, Op::Pop, Op::StackSize]);
    let again = ["The recorded history, checked again: the same violation", "the same again"];
    tool.replay(answer.finding()).expect(1, &again);
}

/// Of many values at once they take a list, and return one.
#[test]
fn listed_methods_may_be_bulk_calls() {
    let (tool, queue) = (Tool::new(), data("listed/fifo.cpp"));
    let fuzz = || tool.fuzz(&queue).seed(1).findings(1);
    let run = |model: &str| fuzz().rounds(600).with(format!("--model {model}"));
    run("fifo").expect(0, &[NOTHING_FOUND, "4 operations"]);
    run("self").expect(0, &[NOTHING_FOUND, "4 operations"]);
    let wrong = fuzz().with("--cflag=-DWRONG --model fifo");
    wrong.expect(1, &["(sequential of dequeue_bulk)"]);
}

#[test]
fn a_listed_method_that_the_model_lacks_is_named() {
    let tool = Tool::new();
    let ring = data("custom/ring_peek.cpp");
    let words = ["peek() -> optional<int>", "model fifo", "enqueue, dequeue", "model self"];
    tool.fuzz(&ring).rounds(10).with("--model fifo").expect(2, &words);
    // Numbers that a narrow type cannot hold would look like values that nobody added.
    let narrow = read(data("custom/stack.cpp")).replace("push(int value)", "push(int8_t value)");
    let run = tool.fuzz_text("narrow.cpp", &narrow).rounds(600).with("--model lifo");
    run.expect(2, &["cannot hold", "widen its type"]);
    let run = tool.fuzz_text("narrow.cpp", &narrow).rounds(100);
    run.expect(0, &[NOTHING_FOUND, "model self"]);
}

/// What `said` says of its methods, and which calls have no answer.
#[test]
fn what_is_said_of_listed_methods_counts() {
    let tool = Tool::new();
    let said = |text: &str| read(data("custom/stack.cpp")) + text;
    let any_time = said("INTERLAP_METHOD(Stack, pop, interlap::may_answer(\"none\"))\n");
    let run = |model: &str| {
        tool.fuzz_text("said.cpp", &any_time).rounds(100).with(format!("--model {model}"))
    };
    run("lifo").expect(2, &["may be given at any time"]);
    run("lifo:empty=none").expect(0, &[NOTHING_FOUND]);
    let first = said("INTERLAP_METHOD(Stack, push, interlap::first_thread)\n");
    let first = first.replace("#ifdef WRONG", "#if 1");
    let run = tool.fuzz_text("first.cpp", &first).findings(1).with("--model lifo --shrink 0s");
    let stored = run.expect(1, &["model lifo"]).stored();
    let history = &stored.round.history;
    let is_push = |id| history.operation(id).op == Op::Push;
    assert!(history.ids().filter(|id| is_push(*id)).all(|id| id.thread == 0));
    assert!(history.ids().any(is_push));
}

/// A class that waits where nothing is inside is no deadlock: the model cannot say whether it may.
#[test]
fn a_listed_method_may_wait() {
    let text = read(data("custom/stack.cpp"))
        .replace(
            "if (values.empty()) return std::nullopt;",
            "while (values.empty()) \
             more.wait(guard);",
        )
        .replace("values.push_back(value);", "values.push_back(value), more.notify_one();")
        .replace("std::mutex mutex;", "std::mutex mutex;\n    std::condition_variable more;")
        .replace("#include <mutex>", "#include <condition_variable>\n#include <mutex>");
    let tool = Tool::new();
    let run = tool.fuzz_text("waits.cpp", &text).rounds(300).with("--model lifo");
    run.expect(0, &[NOTHING_FOUND]);
}

/// An exception is no answer of a family: it ends the process, as in other adapters of one.
#[test]
fn an_exception_of_a_listed_method_is_a_fault_under_a_family() {
    let text = read(data("custom/stack.cpp"))
        .replace("if (values.empty()) return std::nullopt;", "if (values.empty()) throw 7;");
    let tool = Tool::new();
    let run = tool.fuzz_text("throws.cpp", &text).rounds(100).findings(1);
    run.clone().with("--model lifo --shrink 0s").expect(1, &["exception"]);
    run.expect(0, &[NOTHING_FOUND]);
}

/// Adapters of families may have the types that such methods usually have.
#[test]
fn methods_of_families_have_natural_types() {
    let queue = r#"
        #include <interlap.hpp>
        #include <deque>
        #include <mutex>
        #include <optional>
        struct Queue {
            std::mutex mutex;
            std::deque<int> values;
            void enqueue(int value) {
                std::lock_guard<std::mutex> guard(mutex);
                values.push_back(value);
            }
            std::optional<int> dequeue() {
                std::lock_guard<std::mutex> guard(mutex);
                if (values.empty()) return std::nullopt;
                int value = values.front();
                values.pop_front();
                return value;
            }
        };
        INTERLAP_TARGET(Queue)
    "#;
    let filled = queue.replace("std::optional<int> dequeue()", "bool dequeue(int &to)");
    let filled = filled.replace("return std::nullopt", "return false");
    let filled = filled.replace("return value;", "to = value;\n return true;");
    let tool = Tool::new();
    let run = |text: &str| tool.fuzz_text("natural.cpp", text).rounds(100);
    run(queue).expect(0, &[NOTHING_FOUND, "model fifo"]);
    run(&filled).expect(0, &[NOTHING_FOUND, "model fifo"]);
    let unordered = queue.replace("front()", "back()").replace("pop_front()", "pop_back()");
    run(&unordered).expect(1, &["model fifo"]);
}
