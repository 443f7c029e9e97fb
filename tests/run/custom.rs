//! Structures of no family: methods of any types, and the structure as its own model.

use interlap::finding::Stored;
use interlap::report::words::NOTHING_FOUND;

use super::tool::{Tool, data, read};

/// Structures of `tests/data/custom`: each is right, and with `-DWRONG` has a bug.
const STRUCTURES: [&str; 3] = ["channel", "semaphore", "id_pool"];
/// The others, which `make test-long` compiles as well.
const OTHERS: [&str; 9] = [
    "event_count",
    "handle",
    "latch",
    "lru",
    "priority_lock",
    "ring_peek",
    "snapshot_iterator",
    "timer_wheel",
    "two_phase",
];

/// The adapter of one of the structures.
fn structure(name: &str) -> std::path::PathBuf {
    data("custom").join(name).with_extension("cpp")
}

fn are_not_accused(structures: &[&str], rounds: u64) {
    for name in structures {
        let tool = Tool::new();
        tool.fuzz(structure(name)).seed(3).rounds(rounds).expect(0, &[NOTHING_FOUND]);
    }
}

#[test]
fn structures_of_no_family_are_not_accused() {
    are_not_accused(&STRUCTURES, 600);
}

#[test]
#[ignore = "takes minutes: make test-long"]
fn structures_of_no_family_are_not_accused_in_many_rounds() {
    are_not_accused(&STRUCTURES, 30_000);
    are_not_accused(&OTHERS, 30_000);
}

#[test]
fn bugs_of_structures_of_no_family_are_found() {
    are_found(&STRUCTURES);
}

#[test]
#[ignore = "takes minutes: make test-long"]
fn bugs_of_more_structures_of_no_family_are_found() {
    are_found(&OTHERS);
}

fn are_found(structures: &[&str]) {
    for name in structures {
        let tool = Tool::new();
        let run = tool.fuzz(structure(name)).seed(1).rounds(20_000).findings(1);
        let stored = run.with("--cflag=-DWRONG --shrink 0s").expect(1, &["model self"]).stored();
        let is_lost_wakeup = *name == "semaphore";
        let kind = if is_lost_wakeup { "deadlock" } else { "not-linearizable" };
        assert!(stored.finding.signature.to_string().starts_with(kind), "{name}");
    }
}

/// A finding of such a structure is one as any other.
#[test]
fn a_finding_is_shrunk_replayed_and_explained() {
    let tool = Tool::new();
    let run = tool.fuzz(structure("channel")).seed(1).findings(1).with("--cflag=-DWRONG");
    let answer = run
        .with("--shrink 60s")
        .expect(1, &["send(\"", "throws Closed", "close() -> ok", "Is this meant?"]);
    let finding = answer.finding();
    let shrunk = Stored::load(&finding).expect("written");
    let calls = shrunk.finding.plan.scenarios[0].calls();
    assert!(calls <= 4, "{calls} calls");
    tool.replay(&finding).expect(1, &["The recorded history, checked again: the same violation"]);
    let words = ["How far it can have gone", "should be throws Closed", "channel.cpp:"];
    tool.show(&finding).expect(0, &words);
    // Its page shows values as people write them, too.
    let page = read(finding.join("page.html"));
    let data = page.split("\"strings\":").nth(1).expect("the page has its data");
    assert!(data.starts_with('{') && data.contains(r#""throws Closed""#), "{}", &data[..200]);
    // A file of the history has signatures and typed values, and is read again. It has no runs.
    for to in ["jsonl", "events"] {
        let file = finding.join("trace.mpk");
        let history =
            tool.call("convert --to").arg(to).arg(&file).expect(0, &["send(string) -> bool"]);
        assert!(history.out.contains(r#""results":["Closed"]"#), "{}", history.out);
        let text = tool.write("history", &history.out);
        let again = tool.call("convert --to").arg(to).arg(&text).expect(0, &[]);
        assert_eq!(again.out, history.out);
        tool.call("check").arg(&text).expect(3, &["the calls were not made one at a time"]);
    }
}

const ECHO: &str = r#"
#include <array>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <interlap_operations.hpp>
#include <map>
#include <set>
#include <unordered_map>
struct Point { int x; unsigned long y; std::optional<std::string> name; };
INTERLAP_STRUCT(Point, x, y, name)
enum class Color : short { red, green };
// Each method aborts unless its argument is written as it was read.
struct Echo {
    template <class T> T same(T value) {
        interlap::detail::words written;
        interlap::detail::value_of<T>::put(value, written);
        const il_call *call = interlap::detail::current_call;
        if (written.size() != call->arg_count ||
            !std::equal(written.begin(), written.end(), call->args))
            std::abort();
        return value;
    }
    Point point(Point value) { return same(value); }
    std::string text(const std::string &value) { return same(value); }
    using Either = std::variant<int, std::string>;
    Either either(Either value) { return same(value); }
    std::array<Color, 2> colors(std::array<Color, 2> value) { return same(value); }
    using List = std::deque<std::pair<bool, int8_t>>;
    List list(List value) { return same(value); }
    // Of sets and maps the order and the number of the elements may be others.
    std::set<int> set(std::set<int> value) { return value; }
    using Map = std::unordered_map<int, std::set<std::string>>;
    Map map(Map value) { return value; }
    void out(int in, int &twice, std::string &text) { twice = 2 * in, text = "nine bytes"; }
    std::atomic<int> throws{0};
    bool thrown(bool yes) {
        if (yes) {
            throws++;
            throw 7;
        }
        return yes;
    }
};
INTERLAP_OPERATIONS(Echo, point, text, either, colors, list, set, map, out, thrown)
"#;

#[test]
fn values_of_all_types_go_in_and_out() {
    let tool = Tool::new();
    tool.fuzz_text("echo.cpp", ECHO).rounds(400).expect(0, &[NOTHING_FOUND]);
    // Where all are recorded, they are shown as people write them.
    let text = ECHO.replace("return yes;", "if (throws > 0) std::abort(); return yes;");
    let run = tool.fuzz_text("wrong.cpp", &text).findings(1).with("--shrink 0s --calls 8");
    let stored = run.expect(1, &[]).stored();
    let said = |id| {
        interlap::core::words::operation(&stored.round.history, id, &interlap::core::words::number)
    };
    let all: Vec<String> = stored.round.history.ids().map(said).collect();
    let is_said = |part: &str| all.iter().any(|call| call.contains(part));
    for part in ["-> throws int", "thrown(false) -> never returned"] {
        assert!(is_said(part), "{part}: {all:#?}");
    }
}

#[test]
fn a_method_of_an_unknown_type_is_refused_by_name() {
    let class = |method: &str| {
        format!("#include <interlap_operations.hpp>\nstruct Pool {{ {method} }};\n")
            + "INTERLAP_OPERATIONS(Pool, release)\n"
    };
    for (method, why) in [
        (
            "void release(int, double) {}",
            ["has a parameter of a type", "Pool::release", "1, double"],
        ),
        ("char *release() { return nullptr; }", ["returns a type", "Pool::release", "char*"]),
        ("void other() {}", ["error", "release", "is not a member of"]),
    ] {
        let tool = Tool::new();
        let answer = tool.fuzz_text("pool.cpp", &class(method)).expect(2, &["release"]);
        answer.expect(2, &why);
    }
    let text = class("int release() { return 1; }").replace("_operations", "");
    let needs = ["INTERLAP_OPERATIONS needs #include <interlap_operations.hpp>"];
    Tool::new().fuzz_text("pool.cpp", &text).expect(2, &needs);
}

#[test]
fn what_the_model_self_cannot_do_is_said() {
    let tool = Tool::new();
    let fuzz = || tool.fuzz(structure("semaphore"));
    let native = ["model self makes the calls again", "--engine controlled"];
    fuzz().native().expect(2, &native);
    let other = ["lists its method acquire", "use model self"];
    fuzz().with("--model fifo").expect(2, &other);
}

/// The first thread to arrive waits for the second, whose call has an effect on it.
const BARRIER: &str = "#include <condition_variable>
#include <interlap_operations.hpp>
#include <mutex>
class Barrier {
    std::mutex mutex;
    std::condition_variable all;
    int inside = 0;
    long round = 0;
    struct Node { long place; };
  public:
    long arrive() {
        std::unique_lock<std::mutex> guard(mutex);
        long mine = round;
        if (++inside == 2) inside = 0, round++, all.notify_all();
        while (round == mine) all.wait(guard);
        return mine;
    }
    int count() { std::lock_guard<std::mutex> guard(mutex); return inside; }
    EXTRA
};
INTERLAP_OPERATIONS(Barrier, arrive, count LISTED)
";

#[test]
fn calls_may_wait_for_each_other() {
    let text = BARRIER.replace("EXTRA", "").replace(" LISTED", "");
    let tool = Tool::new();
    let fuzz = |text: &str| tool.fuzz_text("barrier.cpp", text).rounds(600);
    fuzz(&text).expect(0, &[NOTHING_FOUND]);
}

/// Its own thread spins while callers wait for it, or for each other.
const SPINNING: &str = "#include <atomic>
#include <condition_variable>
#include <interlap_operations.hpp>
#include <mutex>
#include <thread>
class Pool {
    std::atomic<bool> stop{false};
    std::atomic<int> todo{0}, done{0};
    std::mutex mutex;
    std::condition_variable more;
    int tokens = 0;
    std::thread worker;
    void work() {
        while (!stop) {
            int left = todo;
            if (left > 0 && todo.compare_exchange_strong(left, left - 1)) done++;
        }
    }
  public:
    Pool() { worker = std::thread([this] { work(); }); }
    ~Pool() { stop = true; worker.join(); }
    void submit() { todo++; }
    void wait() { while (done == 0) {} }
    void take() {
        std::unique_lock<std::mutex> guard(mutex);
        while (tokens == 0) more.wait(guard);
        tokens--;
    }
    void give() { std::lock_guard<std::mutex> guard(mutex); tokens++, more.notify_one(); }
};
INTERLAP_OPERATIONS(Pool, submit, wait, take, give)
";

#[test]
fn a_thread_of_the_structure_may_spin_beside_calls_that_wait() {
    let tool = Tool::new();
    tool.fuzz_text("pool.cpp", SPINNING).rounds(100).expect(0, &[NOTHING_FOUND]);
}

/// Two calls meet while the first waits with a time limit.
const EXCHANGER: &str = "#include <chrono>
#include <condition_variable>
#include <interlap_operations.hpp>
#include <mutex>
class Exchanger {
    std::mutex mutex;
    std::condition_variable met;
    bool full = false, taken = false;
    int here = 0, there = 0;
  public:
    std::optional<int> exchange(int value) {
        std::unique_lock<std::mutex> guard(mutex);
        if (full && taken) return std::nullopt;
        if (full) {
            taken = true, there = value;
            met.notify_all();
            return here;
        }
        full = true, here = value;
        met.wait_for(guard, std::chrono::milliseconds(5), [&] { return taken; });
        bool have_met = taken;
        full = taken = false;
        if (!have_met) return std::nullopt;
        return there;
    }
};
INTERLAP_OPERATIONS(Exchanger, exchange)
";

#[test]
fn calls_may_meet_while_one_waits_for_a_time() {
    let tool = Tool::new();
    tool.fuzz_text("exchanger.cpp", EXCHANGER).rounds(100).expect(0, &[NOTHING_FOUND]);
}

/// Threads that come may wait until all have, also where calls are made one at a time.
#[test]
fn threads_may_meet_as_they_come() {
    let text = "#include <atomic>
#include <interlap_operations.hpp>
class Meeting {
    std::atomic<unsigned> there{0}, visits{0};
    unsigned all;
  public:
    explicit Meeting(const interlap::config &config) : all(config.threads) {}
    struct Local {
        Local(Meeting &of, unsigned) { of.there++; while (of.there < of.all) {} }
    };
    unsigned visit(Local &) { return visits++; }
};
INTERLAP_OPERATIONS(Meeting, visit)
";
    let tool = Tool::new();
    tool.fuzz_text("meeting.cpp", text).rounds(300).expect(0, &[NOTHING_FOUND]);
}

/// What depends on addresses, the time, random numbers, or which thread came first has no answer
/// that is right.
#[test]
fn answers_that_depend_on_more_than_the_calls_are_named() {
    let extra = "uintptr_t place() { auto node = std::make_unique<Node>(); \
                 return reinterpret_cast<uintptr_t>(node.get()); }";
    let text = BARRIER.replace("EXTRA", extra).replace(" LISTED", ", place");
    let tool = Tool::new();
    let run = tool.fuzz_text("barrier.cpp", &text).rounds(100);
    run.expect(2, &["place() depends on more than the calls before it", "INTERLAP_MODEL"]);
    let arrivals = "#include <atomic>
#include <interlap_operations.hpp>
class Arrivals {
    std::atomic<int> next{0};
  public:
    struct Local { int number; Local(Arrivals &all, unsigned) : number(all.next++) {} };
    int number(Local &local) { return local.number; }
};
INTERLAP_OPERATIONS(Arrivals, number)
";
    let run = tool.fuzz_text("arrivals.cpp", arrivals).rounds(100);
    run.expect(2, &["number() depends on more than the calls before it"]);
}

/// Registers, one of which keeps its value where no memory shows it.
const REGISTER: &str = "#include <atomic>
#include <interlap_operations.hpp>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
class Register {
    std::mutex mutex;
    std::atomic<int> visits{0};
    // Calls return in another order than that in which they took effect.
    int late(int answer) { for (int times = 0; times < 4; times++) visits++; return answer; }
#ifdef IN_FILE
    int file = memfd_create(\"register\", 0);
    int load() { int value = 0; return pread(file, &value, sizeof value, 0), value; }
    void store(int value) { (void)!pwrite(file, &value, sizeof value, 0); }
  public:
    ~Register() { close(file); }
#else
    std::unique_ptr<int> value = std::make_unique<int>(0);
    int load() { return *value; }
    // The block is another one after each call.
    void store(int next) { value = std::make_unique<int>(next); }
  public:
#endif
    int change(int factor, int more) {
        std::unique_lock<std::mutex> guard(mutex);
        int before = load();
#ifdef WRONG
        guard.unlock(), guard.lock();
#endif
        store(before * factor + more);
        return before;
    }
    int get() { return late(change(1, 0)); }
    void set(int next) { late(change(0, next)); }
    int add(int more) { return late(change(1, more)); }
};
INTERLAP_OPERATIONS(Register, get, set, add)
";

/// Rounds with more orders than can be run are decided where the memory is looked at; what it does
/// not show accuses nobody.
#[test]
fn rounds_of_many_orders_are_decided() {
    let tool = Tool::new();
    let adapter = tool.adapter("register.cpp", REGISTER);
    let fuzz = |flag, seed| {
        let run = tool.fuzz(&adapter).seed(seed).threads(6).calls(5).findings(99);
        run.with("--shrink 0s").arg(flag)
    };
    let wrong = fuzz("--cflag=-DWRONG", 1).rounds(40).json(1);
    assert_eq!(wrong["inconclusive"].as_array().map(Vec::len), Some(0), "{wrong}");
    // With this seed the orders that were asked for do not show that states differ.
    fuzz("--cflag=-DIN_FILE", 8).rounds(160).expect(0, &[NOTHING_FOUND]);
}

/// Of one producer. Who takes may fail when two meet.
const RING: &str = "#include <atomic>
#include <cstdlib>
#include <interlap_operations.hpp>
#include <set>
class Ring {
    std::atomic<unsigned> head{0}, tail{0};
    std::atomic<int> slots[4] = {};
    std::set<int> pushed;
  public:
    struct Local { unsigned thread; Local(Ring &, unsigned number) : thread(number) {} };
    bool push(Local &local, int value) {
        if (local.thread != 0 || !pushed.insert(value).second) std::abort();
        unsigned next = tail;
        if (next - head == 4) return false;
        slots[next % 4] = value;
        tail = next + 1;
        return true;
    }
    std::optional<int> try_pop(Local &local, const std::string &of, int batch) {
        if (local.thread == 0 || of.size() > 2 || batch < 1 || batch > 64) std::abort();
        unsigned first = head;
        if (first == tail) return std::nullopt;
        int value = slots[first % 4];
        if (!head.compare_exchange_strong(first, first + 1)) return std::nullopt;
        return value;
    }
};
INTERLAP_OPERATIONS(Ring, push, try_pop)
INTERLAP_METHOD(Ring, push, interlap::arguments(\"distinct\"), interlap::first_thread)
INTERLAP_METHOD(Ring, try_pop, interlap::arguments(\"0..2\", \"1..64\"), interlap::other_threads)
";

/// The ring aborts where calls are not drawn as it says.
#[test]
fn more_can_be_said_of_a_method() {
    let tool = Tool::new();
    let fuzz = |text: &str| tool.fuzz_text("ring.cpp", text).rounds(3_000).findings(1);
    let found = fuzz(RING).with("--shrink 0s");
    found.expect(1, &["not-linearizable of", "interlap::may_answer"]);
    let may = "interlap::other_threads, interlap::may_answer(\"none\"))";
    let text = RING.replace("interlap::other_threads)", may);
    fuzz(&text).expect(0, &[NOTHING_FOUND]);
    let bad = RING.replace(", \"1..64\"", "");
    fuzz(&bad).expect(2, &["arguments: 1 of 2"]);
}

/// A call that waits in the class waits until another call changes that.
#[test]
fn calls_of_a_class_beside_the_structure_may_wait() {
    let text = read(structure("semaphore"))
        + "struct Permits {
    int left = 1;
    void acquire() { if (left == 0) interlap::wait(); left--; }
    bool try_acquire() { return left > 0 && left-- > 0; }
    void release() { left++; }
};
INTERLAP_MODEL(Permits)
";
    let tool = Tool::new();
    let fuzz = || tool.fuzz_text("semaphore.cpp", &text);
    fuzz().rounds(600).expect(0, &["model class", NOTHING_FOUND]);
    let found = fuzz().findings(1).with("--cflag=-DWRONG --shrink 0s");
    found.expect(1, &["Deadlock", "Made one at a time, in every order", "acquire() returns"]);
}

/// A structure of a family may be its own model, too.
#[test]
fn a_stack_may_be_its_own_model() {
    let tool = Tool::new();
    let fuzz = |target: &str| tool.fuzz(target).seed(2).with("--model self --threads 3 --calls 4");
    fuzz("treiber_stack").rounds(300).expect(0, &[NOTHING_FOUND]);
    let found = fuzz("treiber_aba").rounds(20_000).findings(1).with("--shrink 1s");
    let stored = found.expect(1, &["model self"]).stored();
    assert!(stored.finding.signature.to_string().starts_with("not-linearizable"));
}

#[test]
fn new_adapters_of_no_family_run_at_once() {
    for (language, file) in [("", "mine.cpp"), ("--c", "mine.c")] {
        let tool = Tool::new();
        tool.call("new").with(language).arg("custom").arg("mine").expect(0, &[file]);
        tool.fuzz(file).rounds(100).expect(0, &[NOTHING_FOUND]);
        assert!(read(tool.path(file)).contains("INTERLAP_OPERATIONS("));
    }
}

/// Keys in an order that depends on their addresses, compared as a set; also by a class beside it.
#[test]
fn answers_may_be_compared_in_another_form() {
    let text = r#"
        #include <interlap_operations.hpp>
        #include <mutex>
        #include <set>
        struct Bag {
            std::mutex mutex;
            std::set<int *> kept;
            ~Bag() { for (int *one : kept) delete one; }
            void put(int value) {
                std::lock_guard<std::mutex> guard(mutex);
                kept.insert(new int(value));
            }
            std::vector<int> all() {
                std::lock_guard<std::mutex> guard(mutex);
                std::vector<int> values;
                for (int *one : kept) values.push_back(*one WRONG);
                return values;
            }
        };
        INTERLAP_OPERATIONS(Bag, put, all)
    "#;
    let right = text.replace(" WRONG", "");
    let sorted = "INTERLAP_METHOD(Bag, all, interlap::compared_by([](const std::vector<int> &all) \
                  { return std::multiset<int>(all.begin(), all.end()); }))\n";
    let tool = Tool::new();
    let run = |text: &str| tool.fuzz_text("bag.cpp", text).rounds(200).with("--keys 4");
    run(&right).expect(2, &["all()", "depends on more than the calls before it"]);
    let class = "struct Values { std::vector<int> values; void put(int v) { values.insert(\
                 values.begin(), v); } ANSWER };\nINTERLAP_MODEL(Values)\n";
    let allows = "interlap::allows all(std::set<int> answer) { return interlap::allows(answer == \
                  std::set<int>(values.begin(), values.end())); }";
    let of_form = right + sorted + &class.replace("ANSWER", allows);
    run(&of_form).expect(0, &[NOTHING_FOUND, "class"]);
    run(&of_form).with("--model self").expect(0, &[NOTHING_FOUND, "self"]);
    let all = "std::vector<int> all() { return values; }";
    let wrong = text.replace(" WRONG", " + (int)(kept.size() / 3)") + sorted;
    let judged = wrong + &class.replace("ANSWER", all);
    run(&judged).findings(1).expect(1, &["not-linearizable of all"]);
}

/// An answer must not take the place of what the structure has freed: a use of it would be missed.
#[test]
fn memory_for_answers_is_none_of_the_structures() {
    let text = r#"
        #include <atomic>
        #include <interlap_operations.hpp>
        struct Handle {
            std::atomic<int> count{1};
            std::atomic<int64_t *> payload{new int64_t(42)};
            bool release() {
                if (count.exchange(0) == 0) return false;
                delete payload.load();
                return true;
            }
            bool is_alive() { return count.load() != 0 && *payload.load() == 42; }
        };
        INTERLAP_OPERATIONS(Handle, release, is_alive)
    "#;
    let tool = Tool::new();
    let run = tool.fuzz_text("handle.cpp", text).rounds(20_000).findings(1);
    let names = ["use after free", "Handle::is_alive", "in Handle::release at handle.cpp:"];
    // The race of the two is found sooner.
    run.with("--threads 2 --calls 2 --races=off").expect(1, &names);
}

#[test]
fn what_methods_never_answered_is_told() {
    let text = r#"
        #include <atomic>
        #include <interlap_operations.hpp>
        struct Flag {
            std::atomic<int> count{0};
            bool is_set() { return count.load() < 0; }
            std::optional<int> next() { return count++; }
            std::optional<int> seen() {
                return count.load() > 0 ? std::optional<int>(count.load()) : std::nullopt;
            }
        };
        INTERLAP_OPERATIONS(Flag, is_set, next)
    "#;
    let tool = Tool::new();
    let run = tool.fuzz_text("flag.cpp", text).rounds(200);
    let never = ["is_set never answered true", "next never answered none"];
    run.expect(0, &["2 operations with 2 kinds of answers", never[0], never[1]]);
    let all = text.replace("is_set, next", "next, seen");
    let run = tool.fuzz_text("flag.cpp", &all).rounds(200);
    run.expect(0, &["next never answered none"]).lacks("seen never answered");
}
