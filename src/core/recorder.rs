//! Records the calls of a test or a simulation as they happen, into a journal.
//!
//! A stamp is taken before each call and one after, each greater than the last, so that a call
//! precedes another only if it returned before the other was invoked.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display, Formatter};
use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::annotations::AnnotationLine;
use super::journal::Journal;

/// A call and its answer: the operations of a journal that was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Answered<C, A> {
    pub call: C,
    /// None where the outcome is not known: the call may have taken effect, may do so at any later
    /// time, or not at all.
    pub answer: Option<A>,
}

impl<C: Debug, A: Debug> Debug for Answered<C, A> {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        let Answered { call, answer } = self;
        match answer {
            Some(answer) => write!(formatter, "{call:?} -> {answer:?}"),
            None => write!(formatter, "{call:?} -> unknown"),
        }
    }
}

/// Records calls of type `C` and answers of type `A`. Clones record into the same journal.
///
/// ```
/// use interlap::check::{Limits, Verdict, check};
/// use interlap::core::recorder::{Answered, Recorder};
/// use interlap::model::Model;
///
/// #[derive(Clone, Debug)]
/// enum Call {
///     Write(u64),
///     Read,
/// }
///
/// struct Register;
///
/// impl Model<Answered<Call, u64>> for Register {
///     type State = u64;
///
///     fn init(&self) -> u64 {
///         0
///     }
///
///     fn step(&self, held: &u64, operation: &Answered<Call, u64>, next: &mut Vec<u64>) {
///         match (&operation.call, operation.answer) {
///             (Call::Write(value), _) => next.push(*value),
///             (Call::Read, Some(answer)) if answer != *held => {} // it cannot have answered that
///             (Call::Read, _) => next.push(*held),
///         }
///     }
/// }
///
/// let recorder = Recorder::new();
/// let write = recorder.invoke(1, Call::Write(7));
/// let read = recorder.invoke(2, Call::Read);
/// read.returned(7);
/// drop(write); // no answer came: it may have taken effect, and has
/// recorder.invoke(2, Call::Read).returned(7);
/// assert_eq!(check(&recorder.journal(), &Register, &Limits::default()), Verdict::Consistent);
///
/// recorder.invoke(2, Call::Read).returned(0);
/// let verdict = check(&recorder.journal(), &Register, &Limits::default());
/// assert!(matches!(verdict, Verdict::Violation(_)), "{verdict:?}");
/// ```
pub struct Recorder<C, A> {
    recording: Arc<Mutex<Recording<C, A>>>,
}

/// A call that is under way. Dropped without an answer, its outcome is not known.
#[must_use = "a call that is dropped has no answer"]
pub struct CallUnderWay<C, A> {
    recording: Arc<Mutex<Recording<C, A>>>,
    client: u32,
    answer: Option<A>,
}

struct Recording<C, A> {
    clock: Box<dyn FnMut() -> u64 + Send>,
    last: u64,
    /// Ended calls, and by client the one that is under way.
    ended: Journal<Answered<C, A>>,
    open: BTreeMap<u32, Open<C>>,
    calls: u64,
    spans: u64,
    write: Option<Box<WriteLine<C, A>>>,
    /// The first error of writing.
    failed: Option<io::Error>,
}

/// A call that is under way.
#[derive(Clone)]
struct Open<C> {
    number: u64,
    call: C,
    start: u64,
    notes: Vec<String>,
}

type WriteLine<C, A> = dyn FnMut(&Written<&C, &A>) -> io::Result<()> + Send;

#[derive(Serialize)]
#[serde(untagged)]
enum Written<C, A> {
    Event(Line<C, A>),
    Annotation(AnnotationLine),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Event<C, A> {
    Start(C),
    Finish(A),
    /// The call was dropped.
    Unknown,
    /// Something is said of the call that is under way.
    Note(String),
}

/// A line of JSON Lines, as `interlap check` reads them (docs/histories.md, "events").
#[derive(Serialize, Deserialize)]
struct Line<C, A> {
    event: Event<C, A>,
    client_id: u32,
    op_id: u64,
}

impl<C, A> Recorder<C, A> {
    /// Its clock counts invocations and responses.
    pub fn new() -> Recorder<C, A> {
        Recorder::with_clock(|| 0)
    }

    /// Takes stamps from a clock, such as that of a simulation. Where it stands still or goes back,
    /// the next stamp is the last one plus 1.
    pub fn with_clock(clock: impl FnMut() -> u64 + Send + 'static) -> Recorder<C, A> {
        Recorder { recording: Arc::new(Mutex::new(Recording::new(clock))) }
    }

    /// Writes each invocation and each answer as it happens, a line of JSON each, so that nothing
    /// is lost if the process dies. [`read`] reads them; [`written`](Recorder::written) says if
    /// writing failed.
    ///
    /// # Panics
    /// If something was recorded before: the lines would not tell it.
    pub fn write_to(&self, mut to: impl Write + Send + 'static)
    where
        C: Serialize,
        A: Serialize,
    {
        let write = move |written: &Written<&C, &A>| {
            let mut line = serde_json::to_vec(written)?;
            line.push(b'\n');
            to.write_all(&line)?;
            to.flush()
        };
        let mut recording = lock(&self.recording);
        let is_new = recording.calls == 0 && recording.ended.annotations.is_empty();
        assert!(is_new, "write_to comes after a call; give it the file first");
        recording.write = Some(Box::new(write));
    }

    /// The error that ended the writing, if one did. It is told once.
    pub fn written(&self) -> io::Result<()> {
        lock(&self.recording).failed.take().map_or(Ok(()), Err)
    }

    /// The client calls something. Take the result's [`returned`](CallUnderWay::returned) when the
    /// answer comes.
    ///
    /// # Panics
    /// If a call of this client is under way: a client makes one call at a time.
    pub fn invoke(&self, client: u32, call: C) -> CallUnderWay<C, A> {
        let recording = self.recording.clone();
        lock(&recording).invoke(client, call);
        CallUnderWay { recording, client, answer: None }
    }

    /// Says something about this time, to be shown: "n2 is the leader".
    pub fn note(&self, text: impl Into<String>) {
        lock(&self.recording).annotation(AnnotationLine::Point { note: text.into() });
    }

    /// Says something about the time until the result is dropped: "n1 is cut off".
    pub fn span(&self, text: impl Into<String>) -> SpanUnderWay<C, A> {
        let recording = self.recording.clone();
        let span = lock(&recording).begin(text.into());
        SpanUnderWay { recording, span }
    }

    /// What was recorded up to now. Calls that are under way have no answer.
    pub fn journal(&self) -> Journal<Answered<C, A>>
    where
        C: Clone,
        A: Clone,
    {
        let recording = lock(&self.recording);
        with_open(recording.ended.clone(), recording.open.clone())
    }

    /// What has ended since the last time, which is not kept any longer; and a time before which
    /// nothing began that is still to come. For [`OnlineJournal`](crate::check::OnlineJournal).
    pub fn take(&self) -> (Journal<Answered<C, A>>, u64) {
        let mut recording = lock(&self.recording);
        let mut ended = std::mem::take(&mut recording.ended);
        recording.ended.annotations = std::mem::take(&mut ended.annotations);
        let starts = recording.open.values().map(|open| open.start);
        (ended, starts.min().unwrap_or(recording.last + 1))
    }
}

impl<C, A> Default for Recorder<C, A> {
    fn default() -> Recorder<C, A> {
        Recorder::new()
    }
}

impl<C, A> Clone for Recorder<C, A> {
    fn clone(&self) -> Recorder<C, A> {
        Recorder { recording: self.recording.clone() }
    }
}

/// A span of time that goes on until this is dropped.
#[must_use = "a span that is dropped ends"]
pub struct SpanUnderWay<C, A> {
    recording: Arc<Mutex<Recording<C, A>>>,
    span: u64,
}

impl<C, A> Drop for SpanUnderWay<C, A> {
    fn drop(&mut self) {
        lock(&self.recording).annotation(AnnotationLine::End { end_span: self.span });
    }
}

impl<C, A> CallUnderWay<C, A> {
    /// Says something about the call, to be shown with it: "asked n3".
    pub fn note(&self, text: impl Into<String>) {
        lock(&self.recording).note(self.client, text.into());
    }

    pub fn returned(mut self, answer: A) {
        self.answer = Some(answer);
    }
}

impl<C, A> Drop for CallUnderWay<C, A> {
    fn drop(&mut self) {
        lock(&self.recording).end(self.client, self.answer.take());
    }
}

/// A panic of a thread that records leaves a sound recording.
fn lock<C, A>(recording: &Mutex<Recording<C, A>>) -> MutexGuard<'_, Recording<C, A>> {
    recording.lock().unwrap_or_else(PoisonError::into_inner)
}

fn push<C, A>(
    journal: &mut Journal<Answered<C, A>>,
    client: u32,
    open: Open<C>,
    answer: Option<A>,
    end: Option<u64>,
) {
    let Open { call, start, notes, .. } = open;
    let pushed = journal.push(client, Answered { call, answer }, start, end);
    let id = pushed.expect("stamps increase, and a client makes one call at a time");
    if !notes.is_empty() {
        journal.annotations.of_operations.insert(id, notes);
    }
}

/// Adds the calls that are under way.
fn with_open<C, A>(
    mut journal: Journal<Answered<C, A>>,
    open: BTreeMap<u32, Open<C>>,
) -> Journal<Answered<C, A>> {
    for (client, open) in open {
        push(&mut journal, client, open, None, None);
    }
    journal
}

impl<C, A> Recording<C, A> {
    fn new(clock: impl FnMut() -> u64 + Send + 'static) -> Recording<C, A> {
        Recording {
            clock: Box::new(clock),
            last: 0,
            ended: Journal::default(),
            open: BTreeMap::new(),
            calls: 0,
            spans: 0,
            write: None,
            failed: None,
        }
    }

    fn into_journal(self) -> Journal<Answered<C, A>> {
        with_open(self.ended, self.open)
    }

    fn stamp(&mut self) -> u64 {
        self.last = (self.clock)().max(self.last + 1);
        self.last
    }

    fn invoke(&mut self, client: u32, call: C) {
        if let Some(Open { number, .. }) = self.open.get(&client) {
            panic!(
                "client {client} makes a call while its call {number} is under way; give each \
                 task a client of its own"
            );
        }
        let number = self.calls;
        self.calls += 1;
        self.event(Event::Start(&call), client, number);
        let start = self.stamp();
        self.open.insert(client, Open { number, call, start, notes: Vec::new() });
    }

    fn end(&mut self, client: u32, answer: Option<A>) {
        let end = answer.as_ref().map(|_| self.stamp());
        let open = self.open.remove(&client).expect("it was invoked");
        let event = answer.as_ref().map_or(Event::Unknown, Event::Finish);
        self.event(event, client, open.number);
        push(&mut self.ended, client, open, answer, end);
    }

    fn note(&mut self, client: u32, text: String) {
        let number = self.open.get(&client).expect("it was invoked").number;
        self.event(Event::Note(text.clone()), client, number);
        self.open.get_mut(&client).expect("it was invoked").notes.push(text);
    }

    fn begin(&mut self, note: String) -> u64 {
        self.spans += 1;
        self.annotation(AnnotationLine::Begin { note, span: self.spans });
        self.spans
    }

    fn annotation(&mut self, line: AnnotationLine) {
        self.put(&Written::Annotation(line.clone()));
        let at = self.stamp();
        self.ended.annotations.add(line, at).expect("spans have numbers of their own");
    }

    fn event(&mut self, event: Event<&C, &A>, client_id: u32, op_id: u64) {
        self.put(&Written::Event(Line { event, client_id, op_id }));
    }

    fn put(&mut self, written: &Written<&C, &A>) {
        if let Some(write) = &mut self.write
            && let Err(error) = write(written)
        {
            (self.failed, self.write) = (Some(error), None);
        }
    }
}

/// Reads what [`Recorder::write_to`] wrote; or says in which line, counted from 1, something else
/// is. A last line that was cut off is left out. Stamps count the invocations and the answers.
pub fn read<C, A>(mut lines: impl BufRead) -> Result<Journal<Answered<C, A>>, String>
where
    C: DeserializeOwned,
    A: DeserializeOwned,
{
    let (mut recording, mut text) = (Recording::new(|| 0), String::new());
    for number in 1.. {
        text.clear();
        let at = |error: &dyn Display| format!("line {number}: {error}");
        if lines.read_line(&mut text).map_err(|error| at(&error))? == 0 {
            break;
        }
        let Line { event, client_id, op_id } = match serde_json::from_str(&text) {
            Ok(line) => line,
            Err(error) => match AnnotationLine::read(&text) {
                Some(line) => {
                    let stamp = recording.stamp();
                    recording.ended.annotations.add(line, stamp).map_err(|error| at(&error))?;
                    continue;
                }
                None if !text.ends_with('\n') => break,
                None => return Err(at(&error)),
            },
        };
        let known = recording.open.get(&client_id).map(|open| open.number);
        match (event, known) {
            (Event::Start(call), None) => {
                recording.calls = op_id;
                recording.invoke(client_id, call);
            }
            (Event::Finish(answer), Some(call)) if call == op_id => {
                recording.end(client_id, Some(answer));
            }
            (Event::Note(text), Some(call)) if call == op_id => recording.note(client_id, text),
            (Event::Unknown, Some(call)) if call == op_id => recording.end(client_id, None),
            (Event::Start(_), Some(call)) => {
                let error = format!(
                    "client {client_id} makes a call while its call {call} is under way; expected \
                     the end of that first"
                );
                return Err(at(&error));
            }
            (_, Some(call)) => {
                let error = format!(
                    "the end of call {op_id} of client {client_id}, whose call {call} is under way"
                );
                return Err(at(&error));
            }
            (_, None) => return Err(at(&format!("client {client_id} made no call {op_id}"))),
        }
    }
    Ok(recording.into_journal())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;
    use crate::core::history::{NEVER, OperationId};

    type Numbers = Recorder<u32, u32>;

    /// Sends what is written to it.
    struct Sent(Sender<Vec<u8>>);

    impl Write for Sent {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Calls of three threads: answered, dropped, and one that is under way when this returns.
    fn record(recorder: &Numbers) -> CallUnderWay<u32, u32> {
        std::thread::scope(|scope| {
            for client in 0..3 {
                scope.spawn(move || {
                    for number in 0..50 {
                        let call = recorder.invoke(client, number);
                        if number % 7 == client {
                            drop(call);
                        } else {
                            call.returned(number + 1);
                        }
                    }
                });
            }
        });
        recorder.invoke(5, 50)
    }

    #[test]
    fn what_is_written_is_what_was_recorded() {
        let (sender, written) = channel();
        let recorder = Numbers::new();
        recorder.write_to(Sent(sender));
        let under_way = record(&recorder);
        recorder.written().expect("it was written");
        let text: Vec<u8> = written.try_iter().flatten().collect();
        let journal = recorder.journal();
        assert_eq!(journal.len(), 151);
        assert_eq!(read(&text[..]).as_ref(), Ok(&journal));
        // The last line is the call under way.
        let cut: Journal<Answered<u32, u32>> = read(&text[..text.len() - 2]).expect("all before");
        assert_eq!(cut.len(), 150);
        drop(under_way);
        assert_eq!(recorder.journal(), journal, "its outcome is as unknown as before");
    }

    #[test]
    fn what_is_said_besides_the_calls_is_kept_and_read_again() {
        let (sender, written) = channel();
        let recorder = Numbers::new();
        recorder.write_to(Sent(sender));
        recorder.note("n1 leads");
        let cut_off = recorder.span("n2 is cut off");
        let call = recorder.invoke(7, 1);
        call.note("asks n1");
        call.note("asks n3");
        call.returned(2);
        let for_ever = recorder.span("n3 is slow");
        drop(cut_off);
        let journal = recorder.journal();
        let said = journal.annotations.all.iter();
        let said: Vec<_> = said.map(|of| (&*of.text, of.start, of.end)).collect();
        let cut_off = ("n2 is cut off", 2, 6);
        assert_eq!(said, [("n1 leads", 1, 1), cut_off, ("n3 is slow", 5, NEVER)]);
        let id = OperationId { thread: 0, index: 0 };
        assert_eq!(journal.annotations.of_operations[&id], ["asks n1", "asks n3"]);
        let text = written.try_iter().collect::<Vec<_>>().concat();
        assert_eq!(read(&text[..]).as_ref(), Ok(&journal));
        drop(for_ever);
    }

    #[test]
    fn lines_that_are_no_events_are_refused() {
        let refused = |text: &str| read::<u32, u32>(text.as_bytes()).expect_err(text);
        let start = "{\"event\":{\"start\":1},\"client_id\":0,\"op_id\":4}\n";
        assert!(refused(&format!("{start}nonsense\n")).starts_with("line 2: "));
        let twice = "client 0 makes a call while its call 4 is under way";
        assert!(refused(&start.repeat(2)).contains(twice));
        let other = "{\"event\":{\"finish\":1},\"client_id\":0,\"op_id\":5}\n";
        assert_eq!(
            refused(&format!("{start}{other}")),
            "line 2: the end of call 5 of client 0, whose call 4 is under way"
        );
        assert_eq!(refused(other), "line 1: client 0 made no call 5");
    }

    #[test]
    fn a_clock_that_stands_still_orders_calls_all_the_same() {
        let mut times = [10, 10, 10, 50].into_iter();
        let recorder = Numbers::with_clock(move || times.next().unwrap_or(0));
        recorder.invoke(0, 1).returned(1);
        recorder.invoke(0, 2).returned(2);
        recorder.invoke(1, 3).returned(3);
        let journal = recorder.journal();
        let stamps: Vec<_> =
            journal.operations().map(|(_, timed)| (timed.start, timed.end)).collect();
        assert_eq!(stamps, [(10, 11), (12, 50), (51, 52)]);
    }

    #[test]
    fn an_error_of_writing_is_told_and_nothing_recorded_is_lost() {
        let (sender, written) = channel();
        let recorder = Numbers::new();
        recorder.write_to(Sent(sender));
        drop(written);
        recorder.invoke(0, 1).returned(1);
        assert!(recorder.written().is_err());
        assert_eq!(recorder.journal().len(), 1);
    }

    #[test]
    #[should_panic(expected = "client 3 makes a call while its call 0 is under way")]
    fn a_client_makes_one_call_at_a_time() {
        let recorder = Numbers::new();
        let _first = recorder.invoke(3, 1);
        let _second = recorder.invoke(3, 2);
    }
}
