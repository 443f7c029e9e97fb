//! Calls that take effect in several steps, between which others' may come.

use interlap::report::words::NOTHING_FOUND;

use super::tool::{Answer, Tool};

/// Each call adds its number, and answers all numbers that were added.
const TASK: &str = r#"
#include <interlap_operations.hpp>
#include <mutex>
#include <set>
class Task {
    std::mutex mutex;
    std::set<int> added;

    void add(int number) {
        std::lock_guard<std::mutex> guard(mutex);
        added.insert(number);
    }
    std::set<int> all() {
        std::lock_guard<std::mutex> guard(mutex);
        return added;
    }

  public:
    std::set<int> write_snapshot(int number) { BODY }
};
INTERLAP_OPERATIONS(Task, write_snapshot)
struct Steps {
    std::set<int> added;
    std::set<int> write_snapshot(int number) {
        added.insert(number);
        BETWEEN
        return added;
    }
};
INTERLAP_STRUCT(Steps, added)
INTERLAP_MODEL(Steps)
"#;

fn task(tool: &Tool, (body, between): (&str, &str), status: i32, parts: &[&str]) -> Answer {
    let text = TASK.replace("BODY", body).replace("BETWEEN", between);
    let run = tool.fuzz_text("task.cpp", &text).rounds(600).findings(1);
    run.with("--threads 3 --calls 2 --shrink 2s").expect(status, parts)
}

#[test]
fn a_class_may_take_effect_in_steps() {
    let right = "add(number); return all();";
    let tool = Tool::new();
    task(&tool, (right, "interlap::next_step();"), 0, &["model class", NOTHING_FOUND]);
    // No order of whole calls has two that find each other.
    task(&tool, (right, ""), 1, &["(not-linearizable of write_snapshot)"]);
    // Each finds itself alone.
    let tool = Tool::new();
    let wrong = "auto found = all(); add(number); found.insert(number); return found;";
    let name = "(not-interval-linearizable of write_snapshot)";
    let finding = task(&tool, (wrong, "interlap::next_step();"), 1, &[name]).finding();
    tool.show(&finding).expect(0, &["leaves {added: {"]);
    tool.replay(&finding).expect(1, &["checked again: the same violation"]);
    let endless = "for (;;) interlap::next_step();";
    task(&tool, (right, endless), 2, &["a call takes more than 1024 steps"]);
    let again = "interlap::next_step(); if (added.size() > 1) interlap::wait();";
    task(&tool, (right, again), 2, &["would begin again", "use wait_until()"]);
}

/// The first of two leaves an offer, and waits for the answer of the other.
const EXCHANGER: &str = r#"
#include <condition_variable>
#include <interlap_operations.hpp>
#include <memory>
#include <mutex>
struct Offer {
    int value;
    std::optional<int> answer;
};
class Exchanger {
    std::mutex mutex;
    std::condition_variable answered;
    std::shared_ptr<Offer> offer;

  public:
    int exchange(int value) {
        std::unique_lock<std::mutex> guard(mutex);
        if (offer != nullptr) {
            std::shared_ptr<Offer> other = std::move(offer);
            other->answer = value;
            answered.notify_all();
            return ANSWER;
        }
        std::shared_ptr<Offer> own = offer = std::make_shared<Offer>(Offer{value, {}});
        answered.wait(guard, [&] { return own->answer.has_value(); });
        return *own->answer;
    }
};
INTERLAP_OPERATIONS(Exchanger, exchange)
struct Pairs {
    std::shared_ptr<Offer> offer;
    int exchange(int value) {
        if (offer != nullptr) {
            std::shared_ptr<Offer> other = std::move(offer);
            other->answer = value;
            return other->value;
        }
        std::shared_ptr<Offer> own = offer = std::make_shared<Offer>(Offer{value, {}});
        interlap::wait_until([&] { return own->answer.has_value(); });
        return *own->answer;
    }
};
INTERLAP_MODEL(Pairs)
"#;

#[test]
fn a_class_may_wait_after_it_has_done_something() {
    let run = |answer: &str, status: i32, part: &str| {
        let tool = Tool::new();
        let text = EXCHANGER.replace("ANSWER", answer);
        let run = tool.fuzz_text("exchanger.cpp", &text).rounds(600).findings(1);
        // Threads that find nobody wait for ever.
        run.with("--threads 3 --calls 2").expect(status, &["model class", part]);
    };
    run("other->value", 0, NOTHING_FOUND);
    run("value", 1, "(not-linearizable of exchange)");
}

/// Two calls of a structure that are one operation.
const ACCOUNTS: &str = r#"
#include <interlap_operations.hpp>
#include <mutex>
class Accounts {
    std::mutex mutex;
    int one = 4, other = 0;

    void add(int &to, int amount) {
        std::lock_guard<std::mutex> guard(mutex);
        to += amount;
    }

  public:
    void move() {
        add(one, -1);
        BETWEEN
        add(other, 1);
    }
    int sum() {
        std::lock_guard<std::mutex> guard(mutex);
        return one + other;
    }
};
INTERLAP_OPERATIONS(Accounts, move, sum)
"#;

#[test]
fn the_structure_alone_may_have_steps() {
    let run = |between: &str, status: i32, part: &str| {
        let tool = Tool::new();
        let text = ACCOUNTS.replace("BETWEEN", between);
        let run = tool.fuzz_text("accounts.cpp", &text).rounds(600).findings(1);
        run.with("--threads 3 --calls 2").expect(status, &["model self", part]);
    };
    run("interlap::next_step();", 0, NOTHING_FOUND);
    run("", 1, "(not-linearizable of ");
}
