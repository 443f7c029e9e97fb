//! Specifications in TLA+ as models of targets and files.

use std::path::{Path, PathBuf};

use interlap::report::words::NOTHING_FOUND;

use serde_json::{Value as Json, json};

use super::tool::{Tool, data, read};
use crate::exchange::{Action, omnilink_logs};

const HISTORY: &str = r#"{"thread": 0, "op": "enqueue", "args": [3], "start": 1, "end": 2}
{"thread": 0, "op": "enqueue", "args": [4], "start": 3, "end": 4}
{"thread": 1, "op": "dequeue", "results": [3], "start": 5, "end": 6}
"#;

/// A queue's specification with this in place of that.
fn changed(tool: &Tool, from: &str, to: &str) -> PathBuf {
    let text = read(data("tla/Queue.tla"));
    assert!(text.contains(from), "{from}");
    tool.write("Queue.tla", &text.replace(from, to))
}

fn check(tool: &Tool, model: PathBuf, history: &str, status: i32, parts: &[&str]) {
    let file = tool.write("history.jsonl", history);
    tool.call("check --model").arg(model).arg(file).expect(status, parts);
}

#[test]
fn a_file_is_judged_by_a_specification() {
    let (tool, queue) = (Tool::new(), data("tla/Queue.tla"));
    check(&tool, queue.clone(), HISTORY, 0, &["consistent with Queue"]);
    let wrong = HISTORY.replace("\"results\": [3]", "\"results\": [4]");
    let said = ["leaves q = <<3, 4>>", "dequeue() = 4", "should be 3"];
    check(&tool, queue.clone(), &wrong, 1, &said);
    let empty = HISTORY.replace("\"results\": [3]", "\"status\": \"empty\"");
    check(&tool, queue.clone(), &empty, 1, &["dequeue() = empty", "should be 3"]);
    // Whatever it took out.
    let open = HISTORY.replace("\"results\": [3], \"start\": 5, \"end\": 6", "\"start\": 5");
    let open = open.replace("\"start\": 5", "\"start\": 5, \"end\": null, \"status\": \"pending\"");
    let after = r#"{"thread": 2, "op": "dequeue", "results": [4], "start": 7, "end": 8}"#;
    check(&tool, queue.clone(), &format!("{open}{after}\n"), 0, &["consistent with Queue"]);
    let again = after.replace("\"start\": 7, \"end\": 8", "\"start\": 9, \"end\": 10");
    check(&tool, queue, &format!("{HISTORY}{after}\n{again}\n"), 1, &["should be empty"]);
    // The answer may be asked for before anything says it, and names may be those of answers.
    let asked = changed(&tool, "q # <<>>\n", "q # <<>> /\\ result # Empty\n");
    check(&tool, asked, &wrong, 1, &["dequeue() = 4"]);
    let named = changed(&tool, "Init == q = <<>>", "Done == <<>>\nInit == q = Done");
    check(&tool, named, HISTORY, 0, &["consistent with Queue"]);
    // The conjunct that is false, where no answer is right.
    let full = changed(&tool, "q' = Append(q, value)", "q = <<>> /\\ q' = Append(q, value)");
    check(&tool, full, HISTORY, 1, &["refused: line", "q = <<>> /\\ q' = ", "= <<>>)"]);
}

/// Sets and maps of methods are sets and functions.
#[test]
fn values_are_those_of_their_types() {
    let tool = Tool::new();
    let store = tool.write(
        "Store.tla",
        "---- MODULE Store ----\nEXTENDS FiniteSets, TLC\nVARIABLE s\nInit == s = {}\n\
         Add(all) == s' = s \\cup all\n\
         Counted(answer) == answer = [n \\in s |-> 1] /\\ UNCHANGED s\n====\n",
    );
    let history = concat!(
        r#"{"thread": 0, "op": "add(set<int>) -> void", "args": [[4, 9]], "start": 1, "end": 2}"#,
        "\n",
        r#"{"thread": 0, "op": "counted() -> map<int, int>", "start": 3, "end": 4, "#,
        r#""results": [[[4, 1], [9, 1]]]}"#
    );
    check(&tool, store.clone(), history, 0, &["consistent with Store"]);
    let wrong = history.replace("[9, 1]", "[9, 2]");
    check(&tool, store, &wrong, 1, &["should be (4 :> 1 @@ 9 :> 1)"]);
}

/// A parameter may be the thread that makes the call.
#[test]
fn a_call_may_know_its_thread() {
    let tool = Tool::new();
    let lock = tool.write(
        "Lock.tla",
        "---- MODULE Lock ----\nCONSTANT None\nVARIABLE owner\nInit == owner = None\n\
         TryLock(thread, answer) ==\n  /\\ answer = (owner = None)\n  \
         /\\ owner' = IF answer THEN thread ELSE owner\n\
         Unlock(self) == owner = self /\\ owner' = None\n====\n",
    );
    let line = |thread: u32, op: &str, results: &str, start: u32| {
        let end = start + 1;
        format!(
            "{{\"thread\": {thread}, \"op\": \"{op}\", \"results\": [{results}], \
             \"start\": {start}, \"end\": {end}}}\n"
        )
    };
    let taken =
        line(3, "try_lock() -> bool", "true", 1) + &line(4, "try_lock() -> bool", "false", 3);
    let own = taken.clone() + &line(3, "unlock() -> void", "", 5);
    check(&tool, lock.clone(), &own, 0, &["consistent with Lock"]);
    let other = taken + &line(4, "unlock() -> void", "", 5);
    check(&tool, lock, &other, 1, &["Unlock", "refused: line 8 is false", "(3 = 4)"]);
}

/// What no step went through is named, and the conjunct that was never true.
#[test]
fn what_was_exercised_of_a_specification_is_counted() {
    let tool = Tool::new();
    let cell = "---- MODULE Cell ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\n\
         Up(answer) ==\n  \\/ x < 3 /\\ x' = x + 1 /\\ answer = x'\n  \
         \\/ /\\ x = 3\n     /\\ answer = 0 /\\ x' = 0\n\
         Down == x > 0 /\\ x' = x - 1\n\
         Next == Down \\/ \\E a \\in 0..3 : Up(a)\n====\n";
    let cell = tool.write("Cell.tla", cell);
    let line = |number: u32| {
        format!(
            "{{\"thread\": 0, \"op\": \"up() -> int\", \"results\": [{number}], \
             \"start\": {}, \"end\": {}}}\n",
            2 * number,
            2 * number + 1
        )
    };
    let history = tool.write("history.jsonl", &(line(1) + &line(2)));
    let check = tool.call("check").arg(history).arg("--model").arg(&cell).with("--coverage c.json");
    let never = [
        "steps of 1 of 2 actions, through 1 of 2 branches, to 2 states, 2 of the 4 that",
        "  Down: nothing called it\n",
        "  Up, line 7 (disjunct: x = 3): line 7 was never true: x = 3\n",
    ];
    check.expect(0, &never);
    let parts: Vec<Json> = serde_json::from_str(&tool.read("c.json")).expect("JSON");
    let taken = |line: u64, kind: &str| {
        let is_it = |part: &&Json| part["line"] == line && part["kind"] == kind;
        parts.iter().find(is_it).map(|part| part["taken"].clone()).expect("a part")
    };
    assert_eq!((taken(6, "disjunct"), taken(7, "disjunct")), (2.into(), 0.into()));
    let run = tool.fuzz("ms_queue").rounds(40).with("--model fifo --coverage d.json");
    run.expect(2, &["the model is no specification"]);
}

/// Hundreds of values inside, the order of many of which is left open.
#[test]
fn a_long_file_is_judged_by_a_specification() {
    let tool = Tool::new();
    let mut history = String::new();
    let mut row = |thread: usize, op: &str, said: &str, start: usize, width: usize| {
        let end = start + width;
        history += &format!("{{\"thread\": {thread}, \"op\": \"{op}\", {said}, ");
        history += &format!("\"start\": {start}, \"end\": {end}}}\n");
    };
    // Of four calls at once, the last to be called takes effect first.
    for value in 0..800 {
        let (start, slot) = (40 * (value / 4) + 7, value % 4);
        row(slot, "enqueue", &format!("\"args\": [{}]", value ^ 3), start + slot, 20);
        let start = start + 40 * 60;
        row(4 + slot, "dequeue", &format!("\"results\": [{value}]"), start + slot, 20);
    }
    let queue = data("tla/Queue.tla");
    check(&tool, queue.clone(), &history, 0, &["consistent with Queue (1600 operations)"]);
    // A value that comes before one that was added in full before it.
    let wrong = history.replace("\"results\": [700]", "\"results\": [708]");
    let wrong = wrong.replacen("\"results\": [708]", "\"results\": [700]", 2);
    let wrong = wrong.replacen("\"results\": [700]", "\"results\": [708]", 1);
    let file = tool.write("history.jsonl", &wrong);
    let run = tool.call("check --model").arg(queue).arg(file).arg("--configurations").arg("9000");
    run.expect(3, &["not decided"]);
}

/// A string is a value also where an operation of a family has the name of the call.
#[test]
fn strings_are_answers() {
    let tool = Tool::new();
    let store = "---- MODULE Store ----\nVARIABLE s\nInit == s = [k \\in {\"a\"} |-> \"\"]\n\
                 Put(key, value) == s' = [s EXCEPT ![key] = value]\n\
                 Get(key, answer) == answer = s[key] /\\ UNCHANGED s\n====\n";
    let store = tool.write("Store.tla", store);
    let history = r#"{"thread": 0, "op": "put", "args": ["a", "x"], "start": 1, "end": 2}
{"thread": 0, "op": "get", "args": ["a"], "results": ["x"], "start": 3, "end": 4}
"#;
    check(&tool, store.clone(), history, 0, &["consistent with Store"]);
    let wrong = history.replace("[\"x\"]", "[\"y\"]");
    check(&tool, store, &wrong, 1, &["should be \"x\""]);
}

#[test]
fn a_bundled_queue_is_judged_by_a_specification() {
    let (tool, queue) = (Tool::new(), data("tla/Queue.tla"));
    let fuzz = |target: &str, rounds| {
        let run = tool.fuzz(target).seed(1).rounds(rounds).findings(1);
        run.with("--threads 3 --calls 4 --shrink 2s --model").arg(&queue)
    };
    fuzz("ms_queue", 300).expect(0, &[NOTHING_FOUND, "Queue.tla"]);
    let found = fuzz("ms_queue_no_recheck", 2_000).expect(1, &["not-linearizable"]);
    tool.replay(found.finding()).expect(1, &["checked again: the same violation"]);
}

/// Of a class that lists its methods; its comment says what is not said beside the specification.
#[test]
fn methods_are_judged_by_a_specification() {
    let pool = r#"
        #include <interlap_operations.hpp>
        #include <mutex>
        struct Pool {
            std::mutex mutex;
            std::atomic<bool> used[2] = {};
            std::optional<int> acquire() {
                GUARD
                for (int id : {0, 1})
                    if (!used[id]) {
                        used[id] = true;
                        return id;
                    }
                return std::nullopt;
            }
            bool release(int id) {
                std::lock_guard<std::mutex> guard(mutex);
                return (id == 0 || id == 1) && used[id].exchange(false);
            }
        };
        INTERLAP_OPERATIONS(Pool, acquire, release)
    "#;
    let run = |guard: &str, status: i32, part: &str| {
        let tool = Tool::new();
        let model = tool.write("Ids.tla", &read(data("tla/Ids.tla")).replace("Acquire", "Take"));
        let head = "// interlap: action acquire = Take\n// interlap: constant Size = 2\n";
        let text = format!("{head}#include <atomic>\n{}", pool.replace("GUARD", guard));
        let run = tool.fuzz_text("pool.cpp", &text).rounds(600).findings(1);
        let run = run.with("--threads 3 --calls 3 --shrink 2s --model").arg(model).run();
        run.expect(status, &[part]);
        if status == 1 {
            tool.replay(run.finding()).expect(1, &["checked again: the same violation"]);
        }
    };
    run("std::lock_guard<std::mutex> guard(mutex);", 0, NOTHING_FOUND);
    run("", 1, "not-linearizable of acquire");
}

/// What no call can be is an error before the first call; what may be one is warned of.
#[test]
fn methods_are_compared_with_a_specification_before_they_are_called() {
    let tool = Tool::new();
    let names = tool.write(
        "Names.tla",
        "---- MODULE Names ----\nEXTENDS Naturals\nVARIABLE s\nInit == s = {}\n\
         Add(key, result) == result = (key \\notin s) /\\ s' = s \\cup {key}\n\
         Next == \\E key \\in 1..3, result \\in BOOLEAN : Add(key, result)\n====\n",
    );
    // The keys of a function may be strings, and a string has a length.
    let strings = tool.write(
        "Strings.tla",
        "---- MODULE Strings ----\nEXTENDS Sequences\nVARIABLE f\n\
         Init == f = [x \\in {\"\"} |-> 1]\n\
         Add(key, result) ==\n  /\\ IF result \\in BOOLEAN THEN TRUE ELSE Len(key) = 0\n  \
         /\\ UNCHANGED f\n\
         Next == \\E key \\in DOMAIN f, result \\in BOOLEAN : Add(key, result)\n====\n",
    );
    let judged = |model: &Path, add: &str, others: &str| {
        let list = if others.is_empty() { "add" } else { "add, erase" };
        let text = format!(
            "#include <interlap_operations.hpp>\n#include <mutex>\n#include <set>\n\
             struct Names {{\n  std::mutex mutex;\n  std::set<int> all;\n  {add} {{\n\
             std::lock_guard<std::mutex> guard(mutex); return ANSWER; }}\n  {others}\n}};\n\
             INTERLAP_OPERATIONS(Names, {list})\n"
        );
        let key = if add.contains("string") { "key.size()" } else { "key" };
        let text = text.replace("ANSWER", &format!("all.insert({key}).second"));
        let run = tool.fuzz_text("names.cpp", &text).rounds(40).findings(1);
        run.arg("--model").arg(model).run()
    };
    let run = |add: &str, others: &str| judged(&names, add, others);
    let any = judged(&strings, "bool add(std::string key)", "");
    any.expect(0, &[NOTHING_FOUND]).lacks("as the specification");
    run("bool add(int key)", "").expect(0, &[NOTHING_FOUND]).lacks("as the specification");
    let key = "argument 1 of add(string) -> bool is string, and key of Add is an integer";
    run("bool add(std::string key)", "").expect(1, &[key]);
    let result = "the result of add(int) -> int is int, and result of Add is TRUE or FALSE";
    run("int add(int key)", "").expect(2, &[result, "cannot be compared"]);
    let more = "add(int, int) -> bool is no call of Add(key, result)";
    run("bool add(int key, int)", "").expect(2, &[more, "one, the last, for the result"]);
    run("bool add(int key)", "bool erase(int) { return false; }")
        .expect(2, &["Names has no action Erase for erase"]);
    // The number of the thread is never an answer.
    let text = read(&names).replace("Next ==", "Erase(self) == UNCHANGED s\nNext ==");
    let erasing = tool.write("Erasing.tla", &text.replace("MODULE Names", "MODULE Erasing"));
    judged(&erasing, "bool add(int key)", "bool erase() { return false; }")
        .expect(2, &["erase() -> bool is no call of Erase(self)"]);
    let erased = "{\"thread\": 0, \"op\": \"erase() -> bool\", \"results\": [true], \
                  \"start\": 1, \"end\": 2}\n";
    let check = tool.call("check --model").arg(&erasing).arg(tool.write("erased.jsonl", erased));
    check.expect(3, &["not decided: erase answers something: its action needs one more parameter"]);
}

/// Which constants there are, what is true in every state, and how a state is shown.
#[test]
fn a_configuration_says_more_than_a_specification() {
    let tool = Tool::new();
    let text = read(data("tla/Queue.tla"));
    let text = text.replace("CONSTANT Empty", "CONSTANTS Empty, Values, Longest").replace(
        "====",
        "LOCAL INSTANCE Naturals\nIsShort == Len(q) <= Longest\n\
         IsKnown == \\A n \\in 1..Len(q) : q[n] \\in Values\n\
         Shown == [length |-> Len(q)]\n====",
    );
    let model = tool.write("Queue.tla", &text);
    let told = "CONSTRAINT IsShort INVARIANTS IsKnown IsShort ALIAS Shown CONSTANT Longest =";
    let small = tool.write("Small.cfg", &format!("{told} 1"));
    let file = tool.write("history.jsonl", HISTORY);
    let run = |cfg: PathBuf| {
        tool.call("check --model").arg(&model).arg("--cfg").arg(cfg).arg(&file).run()
    };
    // Values of the history are known; a configuration for TLC may have others.
    run(tool.write("Large.cfg", &format!("{told} 2"))).expect(0, &["consistent with Queue"]);
    // Names of answers may be said to be themselves, as TLC must be told, or each other.
    let empty = tool.write(
        "empty.jsonl",
        "{\"thread\": 0, \"op\": \"dequeue\", \"status\": \"empty\", \"start\": 1, \"end\": 2}\n\
         {\"thread\": 0, \"op\": \"dequeue() -> optional<int>\", \"results\": [null], \
         \"start\": 3, \"end\": 4}\n",
    );
    for said in ["", "Empty = Empty", "Empty = none"] {
        let cfg = tool.write("Empty.cfg", &format!("{told} 2 {said}"));
        let checked = tool.call("check --model").arg(&model).arg("--cfg").arg(cfg).arg(&empty);
        checked.expect(0, &["consistent with Queue"]);
    }
    let other = tool.write("Empty.cfg", &format!("{told} 2 Empty = 0"));
    let checked = tool.call("check --model").arg(&model).arg("--cfg").arg(other).arg(&empty);
    checked.expect(1, &["should be 0"]);
    let values = |values: &str| format!("{told} 2 Values = {{{values}}}");
    run(tool.write("Names.cfg", &values("v1, v2"))).expect(0, &["consistent with Queue"]);
    run(tool.write("Values.cfg", &values("3, 4"))).expect(0, &["consistent with Queue"]);
    run(tool.write("Three.cfg", &values("3"))).expect(1, &["IsKnown would be false"]);
    let said = ["refused: IsShort would be false: length = 2", "leaves length = 1"];
    run(small.clone()).expect(1, &said);
    run(tool.write("Other.cfg", "INVARIANT Other")).expect(2, &["Other, which is not defined"]);
    let with = format!("{}:with=constant Longest = 2", model.display());
    tool.call("check --model").arg(with).arg(&file).expect(0, &["consistent with Queue"]);
    tool.call("check --model fifo --cfg")
        .arg(small)
        .arg(file)
        .expect(2, &["name that, too (--model Queue.tla)"]);
}

/// The modules that OmniLink generates for `Bank`, and those that its users write on top of them.
#[test]
fn omnilinks_logs_are_judged_by_its_modules() {
    let tool = Tool::new();
    for file in ["Bank.tla", "MCBankValidate.tla", "MCBankValidate.cfg"] {
        tool.write(file, &read(data("tla").join(file)));
    }
    let code = |code: i64| json!({"code": code});
    let put = |stamps, n: i64| ("Put", stamps, json!({"account": "a", "n": n, "_meta": code(0)}));
    let taken = |stamps, n: i64, aborts: bool, of: i64| {
        let fields = json!({"account": "a", "n": n, "_did_abort": aborts, "_meta": code(of)});
        ("Take", stamps, fields)
    };
    let check = |threads: &[Vec<Action>], model: &str| {
        let logs = omnilink_logs("Bank", threads);
        tool.call("check --model").arg(tool.dir.path().join(model)).arg(logs.path()).run()
    };
    let validated = |threads: &[Vec<Action>]| check(threads, "MCBankValidate.tla");
    let good = [vec![put((5, 9), 3)], vec![taken((6, 8), 3, false, 0)]];
    validated(&good).expect(0, &["consistent with MCBankValidate"]);
    check(&good, "Bank.tla").expect(0, &["consistent with Bank (2 operations)"]);
    // In steps of one, with others between; what aborted must say so.
    let aborted = |code: i64, at| {
        let none = taken((10, 12), 1, true, code);
        [vec![put((5, 9), 2)], vec![none, taken((at, at + 9), 2, false, 0)]]
    };
    validated(&aborted(7, 13)).expect(0, &["consistent with MCBankValidate"]);
    check(&aborted(8, 13), "Bank.tla").expect(0, &["consistent with Bank"]);
    validated(&aborted(8, 13)).expect(1, &["refused: line", "_meta.code = 7"]);
    let early = [vec![put((5, 9), 2)], vec![taken((1, 4), 2, false, 0)]];
    validated(&early).expect(1, &["not-interval-linearizable", "Take(account = \"a\", n = 2)"]);
    // What must hold at the end.
    validated(&[vec![put((5, 9), 2)]]).expect(1, &["NothingIsLeft would be false"]);
    let history = tool.write("history.jsonl", HISTORY);
    let run = tool.call("check --model").arg(tool.dir.path().join("MCBankValidate.tla"));
    run.arg(history).expect(3, &["enqueue is no record of OmniLink's logs"]);
}

/// A method for each action, with the types that the specification shows.
#[test]
fn an_adapter_is_written_for_a_specification() {
    let tool = Tool::new();
    let store = tool.write(
        "Store.tla",
        "---- MODULE Store ----\nEXTENDS Integers, Sequences\nCONSTANTS Keys, None\nVARIABLE s\n\
         Init == s = [k \\in Keys |-> None]\n\
         TryPut(key, value) == s' = [s EXCEPT ![key] = value + 1]\n\
         Has(key, answer) == answer = (s[key] # None) /\\ UNCHANGED s\n\
         KVGet(key, result) == result = s[key] /\\ UNCHANGED s\n\
         PutAll_Step(all) == Len(all) > 0 /\\ s' = s\nPutAll_Done(all) == s' = s\n\
         Delete(self, key, out) ==\n  \
         \\/ out = None /\\ UNCHANGED s\n  \\/ out = 3 /\\ s' = s\n\
         Group == \\E key \\in Keys : \\E out \\in Nat : Delete(1, key, out)\n\
         Next == \n  \\/ Group\n  \
         \\/ \\E key \\in Keys, is \\in BOOLEAN, v \\in {\"a\"} :\n       \
         TryPut(key, v) \\/ Has(key, is) \\/ KVGet(key, v)\n  \
         \\/ \\E all \\in Seq(Nat) : PutAll_Step(all) \\/ PutAll_Done(all)\n====\n",
    );
    tool.call("new --spec").arg(&store).arg("mine").expect(0, &["mine.cpp --model"]);
    let written = tool.read("mine.cpp");
    for method in [
        "void try_put(int key, std::string value)",
        "bool has(int key)",
        "std::string KVGet(int key)",
        "void put_all(std::vector<int> all)",
        "std::optional<int> Delete(int key)",
        "INTERLAP_OPERATIONS(mine, ",
    ] {
        assert!(written.contains(method), "no {method} in {written}");
    }
    // It compiles as it is, and what it answers is nothing that the specification allows.
    let queue = data("tla/Queue.tla");
    tool.call("new --spec").arg(&queue).arg("queue").expect(0, &["queue.cpp"]);
    let run = tool.fuzz("queue.cpp").seed(1).rounds(400).findings(1).arg("--model").arg(queue);
    run.arg("--cflag=-Werror").expect(1, &["not-linearizable of dequeue"]);
    tool.call("new --spec").arg(store).args(["queue", "two"]).expect(2, &["give NAME alone"]);
}

#[test]
fn what_is_wrong_with_a_specification_is_said() {
    let tool = Tool::new();
    let refused = |from: &str, to: &str, parts: &[&str]| {
        let model = changed(&tool, from, to);
        let file = tool.write("history.jsonl", HISTORY);
        let run = tool.call("check --model").arg(model).arg(file).run();
        assert!(run.status != 0 && run.status != 1, "{}", run.all());
        run.expect(run.status, parts);
    };
    refused("Head(q)", "Hed(q)", &["Queue.tla:15:", "Hed is not defined"]);
    refused("q # <<>>", "q # <<>> /\\ TRUE \\/ FALSE", &["Queue.tla:14:", "ambiguous"]);
    refused("EXTENDS Sequences", "EXTENDS Integers", &["EXTENDS Sequences has it"]);
    refused("EXTENDS Sequences", "EXTENDS Sequences, Other", &["there is no", "Other.tla"]);
    refused("Init == q = <<>>", "Begin == q = <<>>", &["Init is not defined"]);
    refused("Sequences\nCONSTANT Empty", "Sequences", &["Queue.tla:11:", "Empty is not defined"]);
    refused("q # <<>>\n", "Len(q) # N\n", &["N is not defined"]);
    // It is named as a parameter, which makes it no set.
    let unknown = "CONSTANT Value\nEnqueue(value) == value = Value /\\";
    refused("Enqueue(value) ==", unknown, &["the constant Value has no value"]);
    let assumes = "ASSUME \\A n \\in {Empty} : n # Empty\nVARIABLE q";
    refused("VARIABLE q", assumes, &["Queue.tla:4:", "this assumption is false"]);
    let said = ["no action Enqueue for enqueue", "// interlap: action enqueue = NAME"];
    refused("Enqueue(value) ==", "Put(value) ==", &said);
    refused("Dequeue(result)", "Dequeue(a, result)", &["needs one for each argument"]);
    // With nothing inside it cannot be evaluated.
    let guarded = "Append(q, value) /\\ Head(Tail(q)) = 3";
    refused("Append(q, value)", guarded, &["Tail of an empty sequence", "where q = <<>>"]);
    refused("q' = Append(q, value)", "TRUE", &["Queue has no action Enqueue"]);
    refused("q' = Tail(q)", "TRUE", &["nothing says what q is in the next state"]);
    refused("result = Head(q)", "result = \"a\"", &["cannot be compared"]);
}

/// The case study of docs/moodycamel.md: what one specification forbids, the other allows.
#[test]
fn bulk_calls_are_atomic_or_not() {
    let specification = |file: &str| {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("targets/specifications").join(file)
    };
    let repeated = read(specification("repeated.jsonl"));
    let checked = |file: &str, history: &str, status, part| {
        let tool = Tool::new();
        check(&tool, specification(file), history, status, &[part]);
    };
    checked("ElementBulk.tla", &repeated, 0, "consistent with ElementBulk");
    checked("AtomicBulk.tla", &repeated, 1, "violates AtomicBulk");
    let wrong = repeated.replace("20, 21, 9, 0", "21, 20, 9, 0");
    assert_ne!(wrong, repeated);
    checked("ElementBulk.tla", &wrong, 1, "violates ElementBulk");
}
