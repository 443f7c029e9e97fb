//! The data of a page, as its script reads it (`assets/decode.js`): operations are packed and
//! numbered by their start; the evidence near the failure is there in full.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::evidence::{Evidence, Linearization, PartialsData, SearchData};
use super::pack::Packed;
use super::{Conclusion, Interleaving, Subject};
use crate::core::history::{NEVER, OperationId, client_name};
use crate::core::interner::NIL;
use crate::core::method::Method;
use crate::core::operation::{Op, Status};
use crate::core::{value, words};
use crate::view::versions::concerned;

/// Most operations in a page; of more, those around the failure.
const OPERATIONS_MAX: usize = 300_000;

#[derive(Serialize)]
pub struct Data {
    pub title: String,
    pub model: String,
    /// `consistent`, `inconclusive`, `violation` or `fault`.
    pub verdict: &'static str,
    /// Factor and name of the unit, and whether stamps are shown as recorded.
    pub unit: (f64, &'static str, bool),
    /// The first start, as text: JavaScript's numbers have 53 bits.
    pub zero: String,
    pub rows: Vec<String>,
    pub operations: Operations,
    /// The texts that integers of the history stand for.
    pub strings: BTreeMap<String, String>,
    pub witness: Vec<u32>,
    /// The operations with letters.
    pub lettered: Vec<u32>,
    pub partials: Option<PartialsData>,
    pub search: Option<SearchData>,
    pub order: Option<Linearization>,
    /// Why there is no search or no order.
    pub missing: Vec<String>,
    pub interleaving: Option<InterleavingData>,
    /// Text, start and end (-1: it goes on) of each, from the first start; they have the first row.
    pub annotations: Vec<(String, i64, i64)>,
    /// By operation: what is said of it.
    pub notes: BTreeMap<u32, Vec<String>>,
}

/// Name, status, the status in words, numbers of arguments and results.
pub type Shape = (&'static str, &'static str, &'static str, usize, usize);

#[derive(Serialize)]
pub struct Operations {
    pub count: usize,
    /// How many are not in the page.
    pub left_out: usize,
    pub shapes: Vec<Shape>,
    /// For each operation, by start: start minus the previous start, row, duration plus one (0:
    /// pending), shape, arguments, results.
    pub packed: String,
}

#[derive(Serialize)]
pub struct InterleavingData {
    pub left_out: u64,
    pub steps: Vec<InterleavedData>,
}

#[derive(Serialize)]
pub struct InterleavedData {
    step: u64,
    thread: String,
    operation: Option<u32>,
    what: String,
    file: Option<String>,
    line: Option<u32>,
    from: Option<u32>,
    text: Option<String>,
    switch: bool,
}

/// The numbers that operations have on the page.
pub struct Numbers {
    pub ids: Vec<OperationId>,
    pub places: HashMap<OperationId, u32>,
}

impl Numbers {
    pub fn get(&self, id: OperationId) -> Option<u32> {
        self.places.get(&id).copied()
    }

    pub fn all(&self, ids: &[OperationId]) -> Vec<u32> {
        ids.iter().filter_map(|id| self.get(*id)).collect()
    }
}

impl Data {
    pub fn new(subject: &Subject) -> Data {
        let numbers = numbered(subject);
        let rows = Rows::new(subject);
        let evidence = Evidence::new(subject, &numbers);
        let (verdict, witness): (_, &[OperationId]) = match &subject.conclusion {
            Conclusion::Consistent => ("consistent", &[]),
            Conclusion::Inconclusive(_) => ("inconclusive", &[]),
            Conclusion::Violation { operations, .. } => ("violation", operations),
            Conclusion::Fault { .. } => ("fault", &[]),
        };
        let interleaving = subject.interleaving.as_ref();
        let mut texts = Texts::default();
        Data {
            title: subject.title.clone(),
            model: subject.model.map_or(String::new(), |model| model.to_string()),
            verdict,
            unit: (subject.unit.factor, subject.unit.name, subject.unit.is_absolute),
            zero: numbers
                .ids
                .first()
                .map_or(0, |id| subject.history.operation(*id).start)
                .to_string(),
            operations: operations(subject, &numbers, &rows, &mut texts),
            rows: rows.names,
            strings: strings(subject, &numbers, texts),
            witness: numbers.all(&concerned(subject.history, witness)),
            lettered: numbers.all(&subject.lettered),
            partials: evidence.partials,
            search: evidence.search,
            order: evidence.order,
            missing: evidence.missing,
            interleaving: interleaving
                .map(|steps| interleaved(steps, subject.history.drain, &numbers)),
            annotations: annotations(subject, &numbers),
            notes: notes(subject, &numbers),
        }
    }
}

/// Numbers the operations of the page: all, or those around the failure if there are too many.
fn numbered(subject: &Subject) -> Numbers {
    let history = subject.history;
    let mut ids: Vec<OperationId> = history.ids().collect();
    ids.sort_by_key(|id| (history.operation(*id).start, *id));
    if ids.len() > OPERATIONS_MAX {
        let mut needed: Vec<OperationId> = subject.lettered.clone();
        if let Conclusion::Violation { operations, partials, .. } = &subject.conclusion {
            needed.extend_from_slice(operations);
            needed.extend(partials.iter().flat_map(|partials| &partials.near));
        }
        let last = needed.iter().map(|id| history.operation(*id).start).max().unwrap_or(0);
        let at = ids.partition_point(|id| history.operation(*id).start <= last);
        let from = at.saturating_sub(OPERATIONS_MAX * 3 / 4).min(ids.len() - OPERATIONS_MAX);
        let needed: std::collections::HashSet<OperationId> = needed.into_iter().collect();
        let range = from..from + OPERATIONS_MAX;
        let kept = ids.iter().enumerate();
        let kept = kept.filter(|(at, id)| range.contains(at) || needed.contains(id));
        ids = kept.map(|(_, id)| *id).collect();
    }
    let places = ids.iter().enumerate().map(|(at, id)| (*id, at as u32)).collect();
    Numbers { ids, places }
}

/// The annotations on points and spans of time.
fn annotations(subject: &Subject, numbers: &Numbers) -> Vec<(String, i64, i64)> {
    let zero = numbers.ids.first().map_or(0, |id| subject.history.operation(*id).start);
    // What was said before the first operation stands at its start.
    let offset = |stamp: u64| stamp.saturating_sub(zero) as i64;
    let all = subject.history.annotations.iter().flat_map(|annotations| &annotations.all);
    let each = all.map(|annotation| {
        let end = if annotation.end == NEVER { -1 } else { offset(annotation.end) };
        (annotation.text.clone(), offset(annotation.start), end)
    });
    each.collect()
}

fn notes(subject: &Subject, numbers: &Numbers) -> BTreeMap<u32, Vec<String>> {
    let notes =
        subject.history.annotations.iter().flat_map(|annotations| &annotations.of_operations);
    notes.filter_map(|(id, texts)| Some((numbers.get(*id)?, texts.clone()))).collect()
}

/// A row for each client; before them one for annotations, if there are any.
struct Rows {
    names: Vec<String>,
    clients: Vec<u32>,
}

impl Rows {
    fn new(subject: &Subject) -> Rows {
        let clients = subject.history.clients();
        let has_annotations =
            subject.history.annotations.as_ref().is_some_and(|of| !of.all.is_empty());
        let of_annotations = has_annotations.then(|| "notes".to_string());
        let of_clients = clients.iter().map(|client| subject.history.name_of(*client));
        let names = of_annotations.into_iter().chain(of_clients).collect();
        Rows { names, clients }
    }

    fn at(&self, client: u32) -> u64 {
        let place = self.clients.binary_search(&client).expect("each client has a row");
        (self.names.len() - self.clients.len() + place) as u64
    }
}

fn operations(subject: &Subject, numbers: &Numbers, rows: &Rows, texts: &mut Texts) -> Operations {
    let history = subject.history;
    let (mut packed, mut shapes, mut known) = (Packed::default(), Vec::new(), HashMap::new());
    let mut before = numbers.ids.first().map_or(0, |id| history.operation(*id).start);
    for id in &numbers.ids {
        let operation = history.operation(*id);
        let (args, results) = (history.args(*id), history.results(*id));
        packed.push(operation.start - before);
        before = operation.start;
        packed.push(rows.at(history.threads[id.thread as usize].client));
        packed.push(match operation.end {
            NEVER => 0,
            end => end - operation.start + 1,
        });
        let (op, mut status) = (operation.op, operation.status);
        let (args, results) = match op {
            Op::Method(method) => {
                // Every answer of a method is its result.
                let shown = texts.of(method, status, args, results);
                status = if status == Status::Failed { Status::Ok } else { status };
                shown
            }
            _ => (args.to_vec(), results.to_vec()),
        };
        // The text of a user's own operation is its one argument.
        let (name, args) = match op {
            Op::Described => ("", args[..1].to_vec()),
            _ => (op.name(), args),
        };
        let shape = (name, status.name(), op.answer_word(status), args.len(), results.len());
        let at = *known.entry(shape).or_insert_with(|| {
            shapes.push(shape);
            shapes.len() - 1
        });
        packed.push(at as u64);
        args.iter().chain(&results).for_each(|value| packed.push_signed(*value));
    }
    let count = numbers.ids.len();
    let left_out = history.len() - count;
    Operations { count, left_out, shapes, packed: packed.base64() }
}

/// Numbers for the values of methods, which the page shows as texts.
#[derive(Default)]
struct Texts(HashMap<String, i64>);

impl Texts {
    fn number(&mut self, text: String) -> i64 {
        // As low as those of other texts: see `exchange::values`.
        let next = NIL + 1 + self.0.len() as i64;
        *self.0.entry(text).or_insert(next)
    }

    /// The numbers of the arguments, and that of the result.
    fn of(
        &mut self,
        method: Method,
        status: Status,
        args: &[i64],
        results: &[i64],
    ) -> (Vec<i64>, Vec<i64>) {
        let args = value::each(method.arguments(), args).unwrap_or_default();
        let args = args.into_iter().map(|text| self.number(text)).collect();
        let has_result = !status.is_open() && !results.is_empty();
        let answer = words::answer(Op::Method(method), status, results, &words::number);
        let result = has_result.then(|| self.number(answer));
        (args, result.into_iter().collect())
    }
}

/// The texts that values of these operations stand for.
fn strings(subject: &Subject, numbers: &Numbers, texts: Texts) -> BTreeMap<String, String> {
    let of_methods = texts.0.into_iter().map(|(text, number)| (number.to_string(), text));
    let mut strings: BTreeMap<String, String> = of_methods.collect();
    for id in &numbers.ids {
        let (args, results) = (subject.history.args(*id), subject.history.results(*id));
        for value in args.iter().chain(results) {
            let (number, op) = (value.to_string(), subject.history.operation(*id).op);
            let shown = words::of_operation(op, *value, subject.strings.shown(*value));
            if shown != number {
                strings.entry(number).or_insert(shown);
            }
        }
    }
    strings
}

fn interleaved(all: &Interleaving, drain: Option<u32>, numbers: &Numbers) -> InterleavingData {
    let steps = all.steps.iter().map(|step| InterleavedData {
        step: step.step,
        thread: client_name(step.thread, drain),
        operation: step.operation.and_then(|id| numbers.get(id)),
        what: step.what.clone(),
        file: step.file.clone(),
        line: step.line,
        from: step.from,
        text: step.text.clone(),
        switch: step.is_switch,
    });
    InterleavingData { left_out: all.left_out, steps: steps.collect() }
}
