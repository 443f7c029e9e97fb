//! Calls in words and in C++: the operations of a history come in; what they are called, what they
//! answered, and the functions that make them go out.

use std::fmt::Write;

use crate::core::history::{History, OperationId};
use crate::core::operation::{Family, Op, Status};
pub use crate::core::words::{answer_in_full as answer, call_in_full as call};

/// What the methods of the adapter's class are like, told by its text.
pub struct Methods<'a> {
    pub text: &'a str,
}

impl Methods<'_> {
    /// Whether threads have something of their own.
    pub fn has_local(&self) -> bool {
        ["struct Local", "class Local", "using Local"].iter().any(|words| self.text.contains(words))
    }

    /// Whether this method wants what its thread has.
    fn takes_local(&self, name: &str) -> bool {
        self.parameters(name).any(|of| of.trim_start().starts_with("Local &"))
    }

    /// What stands in the parentheses behind each mention of the name.
    fn parameters<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'b str> {
        let starts = self.text.match_indices(name).map(|(at, _)| at);
        starts.filter_map(move |at| {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let rest = self.text[at + name.len()..].trim_start().strip_prefix('(')?;
            let is_whole = !self.text[..at].ends_with(is_part);
            is_whole.then(|| rest.split(')').next().unwrap_or(rest))
        })
    }
}

/// A text as a literal of C.
pub fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A value of C++ that has exactly this type.
fn value(number: i64) -> String {
    match number {
        i64::MIN => "INT64_MIN".to_string(),
        number => number.to_string(),
    }
}

/// The call of one of the functions that [`functions`] writes.
pub fn of_class(history: &History, id: OperationId, methods: &Methods) -> String {
    let op = history.operation(id).op;
    let args: Vec<String> = history.args(id).iter().map(|arg| value(*arg)).collect();
    let mut words: Vec<String> = Vec::new();
    if methods.takes_local(op.name()) {
        words.push("local".to_string());
    }
    match op {
        Op::EnqueueBulk => words.push(format!("{{{}}}", args.join(", "))),
        _ if op.family() == Family::Kv => {
            words.extend(args.first().cloned());
            if op != Op::KvGet {
                words.push(format!("{{{}}}", args[1..].join(", ")));
            }
        }
        _ => words.extend(args),
    }
    format!("call_{}({})", op.name(), words.join(", "))
}

/// The same through the contract in C, `call(0, local, 0x20, 1, (int64_t)7)`.
pub fn of_table(history: &History, id: OperationId, thread: u32) -> String {
    let (op, args) = (history.operation(id).op as u8, history.args(id));
    let mut words = format!("call({thread}, local, {op:#x}, {}", args.len());
    for arg in args {
        write!(words, ", (int64_t){}", value(*arg)).expect("writing to a string");
    }
    words + ")"
}

/// The status of a call that says false.
fn refusal(op: Op) -> Status {
    match op {
        Op::Enqueue | Op::EnqueueBulk | Op::Push | Op::DequePush | Op::PriorityInsert => {
            Status::Full
        }
        Op::Dequeue | Op::DequeueBulk | Op::Pop | Op::DequeTake | Op::DequeSteal => Status::Empty,
        Op::PriorityPoll | Op::LogRead => Status::Empty,
        _ => Status::Failed,
    }
}

/// The words for done, for not done, and for what is told apart from that, where that has its own,
/// as arguments of `in_words`.
fn answers(op: Op) -> (String, String) {
    let [done, not, empty] = [Status::Ok, refusal(op), Status::Empty].map(|status| op.said(status));
    let last = if [not, Status::Empty.name()].contains(&empty) { "" } else { empty };
    let last = if last.is_empty() { String::new() } else { format!(", \"{last}\"") };
    (format!("\"{done}\", \"{not}\""), last)
}

/// The words of these operations by status, in C.
pub fn words_by_status(ops: &[Op]) -> String {
    let mut rows = String::new();
    for op in ops {
        let words: Vec<String> = (0..)
            .map_while(Status::from_code)
            .map(|status| format!("\"{}\"", op.said(status)))
            .collect();
        writeln!(rows, "    {{{:#x}, {{{}, \"unsupported\"}}}},", *op as u8, words.join(", "))
            .expect("writing to a string");
    }
    format!(
        "// What each operation says, by status.\n\
         static const struct {{ uint32_t op; const char *words[6]; }} said[] = {{\n{rows}}};\n"
    )
}

/// Whether it hands a value out through its last parameter.
fn hands_out(op: Op, methods: &Methods) -> bool {
    match op {
        Op::Dequeue | Op::Pop | Op::DequeTake | Op::DequeSteal | Op::PriorityPoll => true,
        Op::SetSelect | Op::MapGet | Op::LogAppend | Op::LogRead | Op::StoreRead => true,
        Op::StoreCommit => {
            methods.parameters("commit").any(|of| of.contains('&') && of.contains("int64_t"))
        }
        _ => false,
    }
}

/// The names of its plain parameters.
fn parameters(op: Op) -> &'static [&'static str] {
    match op {
        Op::SetInsert | Op::SetRemove | Op::SetContains | Op::SetRank => &["key"],
        Op::MapGet | Op::MapRemove | Op::StoreRead | Op::StoreRemove => &["key"],
        Op::MapPut | Op::MapInsertIfAbsent | Op::StoreWrite => &["key", "value"],
        Op::MapCompareExchange => &["key", "old", "value"],
        Op::RegisterCompareExchange => &["old", "value"],
        Op::SetRangeCount | Op::SetRangeList => &["low", "high"],
        Op::SetSelect => &["n"],
        Op::CounterAdd => &["amount"],
        Op::LogRead => &["position"],
        Op::Enqueue | Op::Push | Op::DequePush | Op::PriorityInsert => &["value"],
        Op::RegisterWrite | Op::LogAppend => &["value"],
        _ => &[],
    }
}

/// The functions that call the class's methods and put their answers into words.
pub fn functions(ops: &[Op], methods: &Methods) -> String {
    let mut text = IN_WORDS.to_string();
    if methods.text.contains("interlap::status") {
        text = text.replace("    /* status */\n", STATUS_IN_WORDS);
    } else {
        text = text.replace("    /* status */\n", "");
    }
    if ops.iter().any(|op| matches!(op, Op::DequeueBulk | Op::SetRangeList)) {
        text += LIST_IN_WORDS;
    }
    if ops.iter().any(|op| op.family() == Family::Kv) {
        text += TEXTS;
    }
    for op in ops {
        text += &function(*op, methods);
    }
    text
}

fn function(op: Op, methods: &Methods) -> String {
    let (name, local) = (op.name(), methods.takes_local(op.name()));
    let (words, last) = answers(op);
    let join = |parts: Vec<String>| parts.join(", ");
    let own = |word: &str| local.then(|| word.to_string());
    let typed = |more: &[&str]| {
        join(
            own("Tested::Local &local")
                .into_iter()
                .chain(more.iter().map(|m| m.to_string()))
                .collect(),
        )
    };
    let call = |more: &[&str]| {
        let words = own("local").into_iter().chain(more.iter().map(|m| m.to_string()));
        format!("structure->{name}({})", join(words.collect()))
    };
    let head = |of: String| format!("static const char *call_{name}({of}) {{\n");
    match op {
        Op::EnqueueBulk => {
            let call = call(&["values.data()", "values.size()"]);
            head(typed(&["std::vector<int64_t> values"]))
                + &format!(
                    "    return in_words({words}, nullptr, [&] {{ return {call}; }}{last});\n}}\n"
                )
        }
        Op::DequeueBulk => {
            let call = call(&["values.data()", "values.size()"]);
            head(typed(&["size_t most"]))
                + &format!("    std::vector<int64_t> values(most);\n    size_t count = {call};\n")
                + "    return list_in_words(values, count, \"empty\");\n}\n"
        }
        Op::SetRangeList => {
            let call = call(&["low", "high", "keys.data()", "keys.size()"]);
            head(typed(&["int64_t low", "int64_t high"]))
                + &format!("    std::vector<int64_t> keys(4096);\n    size_t count = {call};\n")
                + "    return list_in_words(keys, count, \"nothing\");\n}\n"
        }
        Op::KvGet => {
            head(typed(&["int64_t key"]))
                + &format!("    return numbers_of({});\n}}\n", call(&["text_of_key(key)"]))
        }
        Op::KvPut | Op::KvAppend => {
            let call = call(&["text_of_key(key)", "text_of(numbers)"]);
            head(typed(&["int64_t key", "std::vector<int64_t> numbers"]))
                + &format!(
                    "    return in_words({words}, nullptr, [&] {{ return {call}; }}{last});\n}}\n"
                )
        }
        _ => {
            let names = parameters(op);
            let types: Vec<String> = names.iter().map(|name| format!("int64_t {name}")).collect();
            let types: Vec<&str> = types.iter().map(String::as_str).collect();
            let out = hands_out(op, methods);
            let given = [names, if out { &["out"] } else { &[] }].concat();
            let (before, result) =
                if out { ("    int64_t out = 0;\n", "&out") } else { ("", "nullptr") };
            let call = call(&given);
            head(typed(&types))
                + before
                + &format!(
                    "    return in_words({words}, {result}, [&] {{ return {call}; }}{last});\n}}\n"
                )
        }
    }
}

const IN_WORDS: &str = "\
// What a call answers, in words: `yes` or the value it hands out, `no` if it says that it
// failed, or the number it returns.
template <class Call>
const char *in_words(const char *yes, const char *no, const int64_t *value, Call call,
                     const char *empty = \"empty\") {
    static thread_local std::string words;
    using Answer = decltype(call());
    bool done = true;
    (void)done, (void)no, (void)value, (void)empty;
    if constexpr (std::is_void_v<Answer>) {
        call();
    } else if constexpr (std::is_same_v<Answer, bool>) {
        done = call();
    /* status */
    } else {
        return words = std::to_string(call()), words.c_str();
    }
    words = !done ? no : value != nullptr ? std::to_string(*value) : yes;
    return words.c_str();
}

";

const STATUS_IN_WORDS: &str = "    } else if constexpr (std::is_same_v<Answer, interlap::status>) {
        Answer answer = call();
        const char *names[] = {yes, empty, \"full\", no, \"unknown\", \"unsupported\"};
        if (answer != interlap::status::ok) return names[static_cast<int>(answer)];
";

const LIST_IN_WORDS: &str = "\
static const char *list_in_words(const std::vector<int64_t> &values, size_t count, const char *no) {
    static thread_local std::string words;
    words = count == 0 ? no : \"\";
    for (size_t at = 0; at < count && at < values.size(); at++)
        words += (at > 0 ? \", \" : \"\") + std::to_string(values[at]);
    return words.c_str();
}

";

const TEXTS: &str = "\
// Texts are put together from numbers, each with a `;` behind it.
static std::string text_of_key(int64_t key) { return \"key\" + std::to_string(key); }
static std::string text_of(const std::vector<int64_t> &numbers) {
    std::string text;
    for (int64_t number : numbers) text += std::to_string(number) + \";\";
    return text;
}
static const char *numbers_of(const std::string &text) {
    static thread_local std::string words;
    words = text.empty() ? \"the empty string\" : \"\";
    for (char c : text) words += c == ';' ? std::string(\", \") : std::string(1, c);
    if (!text.empty() && text.back() == ';') words.erase(words.size() - 2);
    return words.c_str();
}

";
