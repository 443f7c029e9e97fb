//! Adapters that break the contract of interlap.h, or have methods that no family knows: an error
//! or a warning says what to do.

use interlap::fuzz::Warning;
use interlap::report::warnings;
use interlap::trace::area::Stage;

use super::adapters::{QUEUE, in_c, member};
use super::bad_targets::finishes;
use super::tool::Tool;

#[test]
fn an_adapter_that_gives_up_ends_the_run_with_its_message() {
    let text = member("Queue(const interlap::config &c) { interlap::fail(c, \"no disk\"); }");
    Tool::new().fuzz_text("gives_up.cpp", &text).within("5s").expect(2, &["gives_up.cpp: no disk"]);
}

#[test]
fn an_adapter_of_another_version_is_refused() {
    let text = in_c(".abi_version = 99,", "");
    let words = ["adapter", "old.c", "version 99 of interlap.h", "compile it again"];
    let tool = Tool::new();
    let run = tool.fuzz_text("old.c", &text).within("5s").with("--cflag -Wno-override-init");
    run.expect(2, &words);
}

#[test]
fn an_adapter_without_the_symbol_is_refused() {
    let text = QUEUE.replace("INTERLAP_TARGET(Queue)", "");
    Tool::new().fuzz_text("none.cpp", &text).within("5s").expect(2, &["INTERLAP_TARGET(Class)"]);
}

/// Under the controlled engine the loader notices, which knows one mangled name.
#[test]
fn a_forgotten_library_is_hinted_at() {
    let text = QUEUE.replace("struct Queue {", "namespace hp { void pass(int); }\nstruct Queue {");
    let text = text.replace("/*ENQUEUE*/", "hp::pass(1);");
    let words = ["nothing defines hp::pass;", "pass -l NAME", "// interlap: source"];
    Tool::new().fuzz_text("forgotten.cpp", &text).within("5s").expect(2, &words);
}

#[test]
fn an_unknown_model_is_refused_with_the_known_ones() {
    let text = member("static constexpr auto model = \"bag\";");
    let words = ["unknown model 'bag'", "fifo-per-producer"];
    Tool::new().fuzz_text("model.cpp", &text).within("5s").expect(2, &words);
}

#[test]
fn a_model_of_another_family_is_refused() {
    let words = ["offers enqueue of a queue", "model lifo has none"];
    Tool::new().fuzz_text("queue.cpp", QUEUE).within("5s").with("--model lifo").expect(2, &words);
}

#[test]
fn too_many_results_are_an_adapter_error() {
    let text = in_c("", "call->result_count = 5000;");
    let words = ["returned 5000 results where 64 fit"];
    Tool::new().fuzz_text("many.c", &text).within("5s").expect(2, &words);
}

#[test]
fn more_values_than_requested_are_an_adapter_error() {
    let call = "if (call->op == IL_DEQUEUE_BULK) call->result_count = 64;
                else call->status = call->op == IL_DEQUEUE ? IL_EMPTY : IL_FULL;";
    let words = ["dequeue_bulk answered 64 values where at most"];
    Tool::new().fuzz_text("more.c", &in_c("", call)).within("5s").expect(2, &words);
}

#[test]
fn results_of_the_wrong_kind_are_an_adapter_error() {
    let text = in_c("", "call->status = IL_FAILED;");
    let words = ["answered failed", "interlap.h does not allow"];
    Tool::new().fuzz_text("kind.c", &text).within("5s").expect(2, &words);
    let text = in_c("", "call->status = 77;");
    Tool::new().fuzz_text("status.c", &text).within("5s").expect(2, &["status 77", "il_status"]);
}

#[test]
fn a_target_that_supports_nothing_does_not_loop_for_ever() {
    let text = in_c("", "call->status = call->op == IL_DEQUEUE ? IL_EMPTY : IL_UNSUPPORTED;");
    finishes(Tool::new().fuzz_text("refuses.c", &text).calls(10), 20);
}

#[test]
fn a_crash_while_loading_is_an_adapter_error() {
    let text = format!("{QUEUE}\nstruct Early {{ Early() {{ abort(); }} }} early;");
    let tool = Tool::new();
    let run = tool.fuzz_text("early.cpp", &text).within("5s");
    run.expect(2, &["SIGABRT", Stage::Idle.doing()]);
}

/// What a void `remove` found it does not say, and a void `contains` would say nothing at all.
#[test]
fn a_method_that_only_looks_must_answer() {
    let text = "
        #include <interlap.hpp>
        struct Set {
            bool in[64] = {};
            bool insert(int64_t key) { return in[key] ? false : (in[key] = true); }
            void remove(int64_t key) { in[key] = false; }
            void contains(int64_t key) { in[key] = in[key]; }
        };
        INTERLAP_TARGET(Set)
    ";
    let tool = Tool::new();
    let run = tool.fuzz_text("silent.cpp", text).within("5s");
    run.expect(2, &["this method must say whether it changed or found something", "contains"]);
}

#[test]
fn a_method_that_cannot_be_called_is_refused_with_the_one_that_can() {
    let pointer = QUEUE.replace("dequeue(int64_t &value)", "dequeue(int64_t *value)");
    let alone = "struct Queue { bool pop(int64_t *); bool push(int64_t); };";
    let alone = format!("#include <interlap.hpp>\n{alone}\nINTERLAP_TARGET(Queue)\n");
    let bulk = member("int dequeue_bulk(int *values, int most) { return 0; }");
    for (text, signature) in [
        (pointer.replace("value = values", "*value = values"), "bool dequeue(int64_t &value)"),
        (alone, "bool pop(int64_t &value)"),
        (bulk, "size_t dequeue_bulk(int64_t *values, size_t most)"),
    ] {
        let tool = Tool::new();
        let run = tool.fuzz_text("misfit.cpp", &text).within("5s");
        run.expect(2, &["cannot be called as interlap.hpp lists it", signature]);
    }
}

#[test]
fn methods_that_are_never_called_are_listed_and_misspelt_ones_refused() {
    // One that another method calls is no operation that was meant, nor is a private one.
    let extra = "int64_t peek() { return values.front(); }
    size_t length() const { return values.size(); }
    size_t used() const { return values.size(); }
    bool has_room() const { return used() < 9; }
    static int number() { return 7; }
    private: void hidden() {}";
    let text = member(extra).replace("added++;", "if (!has_room()) return false;");
    let tool = Tool::new();
    let run = tool.fuzz_text("extra.cpp", &text).rounds(5);
    let methods = ["peek", "length"].map(str::to_string).to_vec();
    run.expect(0, &[&warnings::warning(&Warning::NeverCalled(methods))]);
    let text = member("size_t enqueue_bluk(const int64_t *, size_t) { return 0; }");
    let run = tool.fuzz_text("misspelt.cpp", &text).rounds(5);
    run.expect(2, &["enqueue_bluk", "enqueue_bulk"]);
}

#[test]
fn helpers_may_have_the_names_of_other_families() {
    let text = member("void *get() { return 0; } void write(char *, int) {} int size = 0;");
    finishes(Tool::new().fuzz_text("helpers.cpp", &text), 40);
}

#[test]
fn a_container_that_only_adds_or_only_removes_is_a_warning() {
    let text = QUEUE.replace("dequeue(", "take_one(");
    let tool = Tool::new();
    let run = tool.fuzz_text("one_sided.cpp", &text).rounds(40);
    let one_sided =
        Warning::OneSided { offers: vec!["enqueue"], lacks: vec!["dequeue", "dequeue_bulk"] };
    run.expect(0, &[&warnings::warning(&one_sided)]);
}
