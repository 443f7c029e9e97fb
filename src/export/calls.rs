//! Writes the calls of a history and their answers in words and in C.

use std::fmt::Write;

use crate::core::history::{History, OperationId};
use crate::core::method::Methods;
use crate::core::operation::{Op, Status};
pub use crate::core::words::call_in_full as call;
use crate::core::words::{answer_in_full, answer_of_words};

/// A text as a literal of C.
pub fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A value as a literal of C.
fn value(number: i64) -> String {
    match number {
        i64::MIN => "INT64_MIN".to_string(),
        number => number.to_string(),
    }
}

/// The answer as the program prints it, which knows no types: of a method, the words of its result.
pub fn answer(history: &History, id: OperationId) -> Option<String> {
    let operation = history.operation(id);
    match operation.op {
        Op::Method(_) if operation.status != Status::Pending => {
            Some(answer_of_words(operation.op, operation.status, history.results(id)))
        }
        _ => answer_in_full(history, id),
    }
}

/// A call through the contract: `call(0, local, 0x20, 1, (int64_t)7)`.
pub fn contract_call(history: &History, methods: &Methods, id: OperationId, thread: u32) -> String {
    let (op, args) = (code(methods, history.operation(id).op), history.args(id));
    let mut words = format!("call({thread}, local, {op:#x}, {}", args.len());
    for arg in args {
        write!(words, ", (int64_t){}", value(*arg)).expect("writing to a string");
    }
    words + ")"
}

fn code(methods: &Methods, op: Op) -> u8 {
    methods.code(op).expect("the calls of a round are those of its target")
}

/// The codes of `il_status`.
const STATUSES: u32 = Status::Done as u32 + 1;

/// A table in C: the words of each operation by status.
pub fn words_by_status(ops: &[Op], methods: &Methods) -> String {
    let mut rows = String::new();
    for op in ops {
        let word = |code| match Status::from_code(code) {
            Some(status) => op.answer_word(status),
            None => "unsupported",
        };
        let quoted = |code| format!("\"{}\"", word(code));
        let words: Vec<String> = (0..STATUSES).map(quoted).collect();
        writeln!(rows, "    {{{:#x}, {{{}}}}},", code(methods, *op), words.join(", "))
            .expect("writing to a string");
    }
    format!(
        "// What each operation says, by status.\n\
         static const struct {{ uint32_t op; const char *words[{STATUSES}]; }} said[] =\n\
         {{\n{rows}}};\n"
    )
}
