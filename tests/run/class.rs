//! Sequential classes beside the adapter, which say what is right.

use interlap::report::words::NOTHING_FOUND;

use super::tool::Tool;

/// A pool that may give any free id; its sequential model says so.
const POOL: &str = r#"
#include <atomic>
#include <interlap_operations.hpp>
#include <set>
struct Pool {
    struct Local {
        std::set<int> held;
        Local(Pool &, unsigned) {}
    };
    std::atomic<bool> used[4] = {};
    std::optional<int> acquire(Local &local) {
        for (int id = 0; id < 4; id++)
            if (!TAKE(used[id])) return *local.held.insert(id).first;
        return std::nullopt;
    }
    bool release(Local &local, int id) {
        if (local.held.erase(id) == 0) interlap::skip();
        return used[id].exchange(false);
    }
};
INTERLAP_OPERATIONS(Pool, acquire, release)
struct Ids {
    std::set<int> used;
    interlap::allows acquire(std::optional<int> id) {
        // That none is free, it promises only when all calls come one at a time.
        return interlap::allows(!id || used.insert(*id).second);
    }
    bool release(int id) { return used.erase(id) > 0; }
};
INTERLAP_MODEL(Ids)
"#;

#[test]
fn a_class_beside_the_structure_says_what_is_right() {
    let right = POOL.replace("TAKE(used[id])", "used[id].exchange(true)");
    let wrong = POOL
        .replace("TAKE(used[id])", "[&] { bool had = used[id]; used[id] = true; return had; }()");
    let tool = Tool::new();
    tool.fuzz_text("pool.cpp", &right).rounds(1_000).expect(0, &["model class", NOTHING_FOUND]);
    // Which id is free it goes by what its calls meet.
    let other = Tool::new();
    let alone = other.fuzz_text("pool.cpp", &right).rounds(20_000).findings(1);
    alone.with("--model self --shrink 0s").expect(1, &["model self"]);
    let found = tool.fuzz_text("pool.cpp", &wrong).rounds(20_000).findings(1).with("--shrink 2s");
    let finding = found.expect(1, &["model class"]).finding();
    tool.replay(&finding).expect(1, &["checked again: the same violation"]);
}

/// So its state is shown, and orders that lead to one state are one.
#[test]
fn a_class_beside_the_structure_may_say_its_state() {
    let says = "INTERLAP_STRUCT(Ids, used)\nINTERLAP_MODEL(Ids)";
    let text = POOL.replace("INTERLAP_MODEL(Ids)", says);
    let tool = Tool::new();
    let right = text.replace("TAKE(used[id])", "used[id].exchange(true)");
    tool.fuzz_text("pool.cpp", &right).rounds(1_000).expect(0, &["model class", NOTHING_FOUND]);
    let take = "[&] { bool had = used[id]; used[id] = true; return had; }()";
    let wrong = text.replace("TAKE(used[id])", take);
    let found = tool.fuzz_text("pool.cpp", &wrong).rounds(20_000).findings(1).with("--shrink 5s");
    let finding = found.expect(1, &["model class"]).finding();
    tool.show(&finding).expect(0, &["from new", "acquire() = 0 by thread 0  leaves {used: {0}}"]);
    tool.replay(&finding).expect(1, &["checked again: the same violation"]);
}

/// Its words are not those of an answer.
#[test]
fn an_exception_is_no_answer_that_a_model_allows() {
    let right = POOL.replace("TAKE(used[id])", "used[id].exchange(true)");
    let throws = right.replace("return std::nullopt;", "throw std::string(\"all are taken\");");
    assert_ne!(throws, right);
    let tool = Tool::new();
    let run = tool.fuzz_text("pool.cpp", &throws).rounds(2_000).findings(1);
    run.with("--shrink 0s").expect(1, &["model class", "throws std::"]);
}

#[test]
fn mistakes_of_a_model_are_called_so() {
    let right = POOL.replace("TAKE(used[id])", "used[id].exchange(true)");
    let run = |from: &str, to: &str| {
        let tool = Tool::new();
        let text = right.replace(from, to);
        assert_ne!(text, right);
        tool.fuzz_text("pool.cpp", &text).rounds(50).run()
    };
    let other = run("bool release(int id) {", "int release(int id) {");
    other.expect(2, &["the model has release(int) -> int, the structure release(int) -> bool"]);
    let crash = run("return used.erase(id) > 0;", "std::abort();");
    crash.expect(2, &["its sequential model (INTERLAP_MODEL) crashed or did not return"]);
    let lacks = run("bool release(int id) { return used.erase(id) > 0; }", "");
    lacks.expect(2, &["release", "is not a member of"]);
    let none = run("INTERLAP_MODEL(Ids)\n", "");
    none.lacks("model class");
    let tool = Tool::new();
    let text = right.replace("INTERLAP_MODEL(Ids)\n", "");
    let class = tool.fuzz_text("pool.cpp", &text).with("--model class");
    class.expect(2, &["has no sequential model", "INTERLAP_MODEL"]);
}

/// A box whose send gives up where another call is under way: whether it does, no answer tells.
const LOSSY: &str = r#"
#include <deque>
#include <interlap_operations.hpp>
#include <mutex>
class Box {
    std::mutex mutex;
    std::deque<int> sent;

  public:
    void send(int value) {
        std::unique_lock<std::mutex> guard(mutex, std::try_to_lock);
        if (guard) sent.push_back(value);
    }
    std::optional<int> receive() {
        std::lock_guard<std::mutex> guard(mutex);
        if (sent.empty()) return std::nullopt;
        int value = sent.END();
        sent.pop_END();
        return value;
    }
    size_t size() {
        std::lock_guard<std::mutex> guard(mutex);
        return sent.size();
    }
};
INTERLAP_OPERATIONS(Box, send, receive, size)
struct Sequential {
    std::deque<int> sent;
    void send(int value) {
        if (CHOICE) sent.push_back(value);
    }
    std::optional<int> receive() {
        if (sent.empty()) return std::nullopt;
        int value = sent.front();
        sent.pop_front();
        return value;
    }
    size_t size() { return sent.size(); }
};
STATE
INTERLAP_MODEL(Sequential)
"#;

#[test]
fn a_class_may_have_a_choice() {
    let says = "INTERLAP_STRUCT(Sequential, sent)";
    let text = |end: &str, choice: &str, state: &str| {
        let texts = [("sent.END()", format!("sent.{end}()")), ("pop_END", format!("pop_{end}"))];
        let text = texts.iter().fold(LOSSY.to_string(), |text, (from, to)| text.replace(from, to));
        text.replace("CHOICE", choice).replace("STATE", state)
    };
    let run = |tool: &Tool, text: &str, status: i32, parts: &[&str]| {
        let run = tool.fuzz_text("box.cpp", text).rounds(300).findings(1);
        run.with("--threads 3 --calls 3").expect(status, parts)
    };
    let tool = Tool::new();
    let lossy = text("front", "interlap::choose(2)", "");
    run(&tool, &lossy, 0, &["model class", NOTHING_FOUND]);
    // Its own mistake is found, and shown with all that would have been right.
    let wrong = text("back", "interlap::choose(2)", says);
    let finding = run(&tool, &wrong, 1, &["model class"]).finding();
    let shown = tool.show(&finding).expect(0, &["should be"]);
    assert!(shown.out.contains("leaves {sent: ["), "{}", shown.all());
    tool.replay(&finding).expect(1, &["checked again: the same violation"]);
    let endless = text("front", "interlap::choose(100000)", says);
    run(&tool, &endless, 2, &["chooses among more than 4096 ways"]);
}
