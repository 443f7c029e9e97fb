//! Puts operations of a history into words, as sentences name them.

use crate::core::history::{History, OperationId};
use crate::core::interner::Interner;
use crate::core::operation::{Op, Status, listed};
use crate::core::words;
use crate::model::Expected;

/// The operations of a history, and the texts that its values stand for.
#[derive(Clone, Copy)]
pub struct Operations<'a> {
    pub history: &'a History,
    pub strings: &'a Interner,
}

impl Operations<'_> {
    pub fn value(&self, value: i64) -> String {
        self.strings.shown(value)
    }

    /// "1, 2, 3"; the middle of a long list is left out.
    pub fn values(&self, values: &[i64]) -> String {
        listed(values.iter().map(|value| self.value(*value)))
    }

    /// "thread 3", or "the drain": the client that made the call.
    pub fn thread(&self, id: OperationId) -> String {
        match self.history.client_name(id) {
            name if name == "drain" => "the drain".to_string(),
            name => name,
        }
    }

    /// "enqueue".
    pub fn verb(&self, id: OperationId) -> &'static str {
        self.history.operation(id).op.name()
    }

    /// "insert(7) by thread 3".
    pub fn called(&self, id: OperationId) -> String {
        format!("{} by {}", self.made(id), self.thread(id))
    }

    fn made(&self, id: OperationId) -> String {
        let op = self.history.operation(id).op;
        words::call(op, self.history.args(id), &|value| self.value(value))
    }

    /// "answered false", "answered 7".
    pub fn answered(&self, id: OperationId) -> String {
        match self.history.operation(id).status {
            Status::Pending => self.answer(id),
            Status::Unknown => "returned without an answer".to_string(),
            _ => format!("answered {}", self.answer(id)),
        }
    }

    fn answer(&self, id: OperationId) -> String {
        let operation = self.history.operation(id);
        let results = self.history.results(id);
        words::answer(operation.op, operation.status, results, &|value| self.value(value))
    }

    /// "insert(7) by thread 3, which answered false".
    pub fn call(&self, id: OperationId) -> String {
        match self.answer(id) {
            answer if answer.is_empty() => self.called(id),
            _ => format!("{}, which {}", self.called(id), self.answered(id)),
        }
    }

    /// "insert(7) = false by thread 3".
    pub fn short(&self, id: OperationId) -> String {
        let answer = match self.history.operation(id).status.is_open() {
            true => " = ?".to_string(),
            false if self.answer(id).is_empty() => String::new(),
            false => format!(" = {}", self.answer(id)),
        };
        format!("{}{answer} by {}", self.made(id), self.thread(id))
    }

    /// "; the 3 calls still under way do not change that", where they might have.
    pub fn still_under_way(&self, others: &[OperationId]) -> String {
        match others {
            [] => String::new(),
            [one] => format!("; {}, still under way then, does not change that", self.called(*one)),
            _ => format!("; the {} calls still under way then do not change that", others.len()),
        }
    }

    /// What the operation should have answered.
    pub fn expected(&self, id: OperationId, expected: &Expected) -> String {
        expected_answer(self.history.operation(id).op, expected, self.strings)
    }
}

/// What an operation of this kind should have answered.
pub fn expected_answer(op: Op, expected: &Expected, strings: &Interner) -> String {
    let list = |values: &[i64]| {
        let of = |value: &i64| words::of_operation(op, *value, strings.shown(*value));
        values.iter().map(of).collect::<Vec<String>>().join(", ")
    };
    match expected {
        Expected::Status(status) => op.answer_word(*status).to_string(),
        Expected::Held { status, value } => {
            format!("{} (the value was {})", op.answer_word(*status), strings.shown(*value))
        }
        Expected::Values(values) if values.is_empty() => Status::Empty.name().to_string(),
        Expected::Values(values) => list(values),
        Expected::List(values) => format!("[{}]", list(values)),
        Expected::Between(first, last) => {
            format!("one of the values from {} to {}", strings.shown(*first), strings.shown(*last))
        }
        Expected::Answer(Status::Unknown, _) => "another answer".to_string(),
        Expected::Answer(Status::Pending, _) => "no answer yet: it waits".to_string(),
        Expected::Answer(status, results) => {
            words::answer(op, *status, results, &|value| strings.shown(value))
        }
        Expected::OneOf(answers) => {
            let each = answers.iter().map(|answer| expected_answer(op, answer, strings));
            each.collect::<Vec<String>>().join(" or ")
        }
        Expected::Text(text) => text.clone(),
        Expected::EmptyString => "the empty string".to_string(),
        Expected::OtherString => "a string that no get found".to_string(),
    }
}
