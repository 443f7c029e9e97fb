//! Puts faults and actions of threads into words, for all reports. Words that a script or a test
//! looks for are constants: nothing outside of this room repeats them.

use crate::check::Missing;
use crate::core::measured::time;
use crate::core::plan::Engine;
use crate::core::words;
use crate::finding::interleaving::{
    Action, Answer, Call, Memory, Place, Row, RowKind, StoredBy, Value,
};
use crate::finding::locations::Occurrence;
use crate::finding::{Failure, FaultPlace, Finding};
use crate::fuzz::FailedAtLoad;
use crate::process::fault::{FaultKind, Hang};
use crate::trace::area::{Ended, Stage, signal_name};
use crate::trace::frame::{AccessKind, Awaited, Deed, DetectedKind, Wait, When, Who};

pub const NOTHING_FOUND: &str = "Nothing found";
pub const HARDLY_TESTED: &str = "Hardly anything was tested";
pub const CHECKED_AGAINST: &str = "checked against model";
/// Of a process that grew.
pub const RENEWED: &str = "was started anew";
/// Of a round whose fault need not be its doing.
pub const AGAIN_IN_A_FRESH_ONE: &str = "the round is carried out again in a fresh one";
pub const STOOD_STILL: &str = "stood still for";
pub const FINDING: &str = "Finding";
pub const SHRUNK_TO: &str = "Shrunk to";
pub const CONFIRMED: &str = "Reproduced in a fresh process.";

/// "1 round", "2 rounds".
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// What is known of a finding that no rerun has shown.
pub fn unconfirmed(finding: &Finding) -> String {
    let seen = match finding.sightings {
        1 => "Seen once in the run".to_string(),
        times => format!("Seen {times} times in the run"),
    };
    match (finding.plan.engine, finding.missed_for) {
        (Engine::Rr, _) if finding.recorded.is_some() => {
            "The recording shows it, the same each time.".to_string()
        }
        (_, Some(seconds)) => {
            format!("{seen}; NOT seen again in {} of tries with its calls.", time(seconds))
        }
        (_, None) => format!("{seen}; its calls were not tried again by themselves."),
    }
}
pub const REPRODUCE_WITH: &str = "Reproduce with";
pub const BREAK_AT_IT_WITH: &str = "Break at it with";
pub const HOW_IT_WENT: &str = "How it went";
pub const STOPPED_INSIDE: &str = "is stopped inside of";

pub(super) fn whole_seconds(seconds: u64) -> String {
    if seconds == 0 { "less than 1 s".to_string() } else { format!("{seconds} s") }
}

/// An error with its causes.
pub fn error(error: &anyhow::Error) -> String {
    match error.downcast_ref::<FailedAtLoad>() {
        Some(FailedAtLoad { adapter, fault: what, output }) => {
            format!("adapter {adapter}: {}\n{}", fault(what), output.trim_end())
        }
        None => format!("{error:#}"),
    }
}

/// One sentence about a fault: what happened, to which thread, during what. Nothing of a violation.
pub fn fault(failure: &Failure) -> String {
    let Failure::Fault { kind, stage, thread, drain, address, line, hang, steps, places, .. } =
        failure
    else {
        return String::new();
    };
    let who = match thread {
        Some(thread) if thread == drain => "The drain".to_string(),
        Some(thread) => format!("Thread {thread}"),
        None => "The target".to_string(),
    };
    let doing = stage.doing();
    let place = line.as_ref().map(|line| format!(", in {}", source(line))).unwrap_or_default();
    match kind {
        FaultKind::Signal(libc::SIGKILL) => {
            format!("{who} killed its own process with SIGKILL while {doing}{place}.")
        }
        FaultKind::Signal(signal) => {
            let address = address.map(|at| format!(" at address {at:#x}")).unwrap_or_default();
            let signal = signal_name(*signal);
            format!("{who} crashed with {signal}{address} while {doing}{place}.")
        }
        FaultKind::Exception => {
            format!("{who} ended the process by an exception, {}, while {doing}.", thrown(failure))
        }
        FaultKind::Exit(code) => {
            format!("The target ended the process with exit status {code} while {doing}.")
        }
        FaultKind::Hang => {
            let Hang { seconds, running, waiting } = hang.unwrap_or_default();
            format!(
                "No progress for {} while {doing}; {running} of its threads were running, \
                 {waiting} waiting.",
                whole_seconds(seconds)
            )
        }
        FaultKind::OutOfMemory => format!("{who} ran out of memory while {doing}."),
        FaultKind::Killed => format!(
            "The process was killed with SIGKILL while {doing}: perhaps by the kernel for lack of \
             memory, perhaps by itself or by somebody else."
        ),
        FaultKind::Harmed(Ended::Damaged) => format!(
            "The target damaged memory that is not its own, while {doing}: what interlap records \
             there is not as it was written."
        ),
        FaultKind::Harmed(Ended::Closed) => format!(
            "The target closed descriptors that are not its own, while {doing}: the pipe on \
             which interlap takes records is gone."
        ),
        FaultKind::Harmed(Ended::ThreadExit) => format!(
            "{who} was ended by the target, with pthread_exit or thrd_exit, while {doing}: the \
             thread belongs to the caller."
        ),
        FaultKind::Harmed(Ended::Restricted) => format!(
            "The target lowered its process's limits or changed its user, while {doing} or before: \
             the process then did not get what interlap needs in it, such as a thread."
        ),
        FaultKind::Detected(kind) => {
            let what = match (kind, &places[..]) {
                (DetectedKind::DataRace, [now, earlier]) => race(now, earlier),
                _ => detected(*kind, &who, steps.unwrap_or(0)),
            };
            match stage {
                Stage::Calls => format!("{what}."),
                _ => format!("{what}, while {doing}."),
            }
        }
    }
}

/// "std::runtime_error, thrown in Queue::grow at queue.hpp:31 during enqueue(7)".
fn thrown(failure: &Failure) -> String {
    let Failure::Fault { exception: Some(escaped), line, .. } = failure else {
        return "which nobody caught".to_string();
    };
    let mut words = escaped.exception.of.clone();
    words.extend(line.as_ref().map(|line| format!(", thrown in {}", source(line))));
    words.extend(escaped.call.as_ref().map(|made| format!(" during {}", call(made))));
    words
}

fn detected(kind: DetectedKind, who: &str, steps: u64) -> String {
    match kind {
        DetectedKind::Deadlock => {
            "Deadlock: every thread that has not ended waits for another".to_string()
        }
        DetectedKind::Livelock => {
            format!("Livelock: the round did not end within {steps} steps")
        }
        DetectedKind::Hang => {
            format!("{who} came to no atomic access, lock or end of its call for too long")
        }
        DetectedKind::UseAfterFree => format!("{who} accessed memory that had been freed"),
        DetectedKind::DoubleFree => format!("{who} freed memory that had been freed before"),
        DetectedKind::BadFree => {
            format!("{who} freed an address at which no allocated block begins")
        }
        DetectedKind::OutOfBounds => {
            format!("{who} accessed memory outside of every allocated block")
        }
        DetectedKind::DataRace => format!("{who} accessed memory in a data race"),
    }
}

/// "Data race: nothing orders the accesses to #1.value by thread 0 and thread 1".
fn race(now: &FaultPlace, earlier: &FaultPlace) -> String {
    let memory = now.memory.as_ref().map_or_else(|| "memory".to_string(), memory);
    let by = |place: &FaultPlace| match place.who.when {
        When::Keeper => who(place.who),
        _ => format!("thread {}", place.who.thread),
    };
    format!("Data race: nothing orders the accesses to {memory} by {} and {}", by(earlier), by(now))
}

/// A line for each event that led to a fault.
pub fn places(failure: &Failure) -> Vec<String> {
    let Failure::Fault { kind, places, .. } = failure else { return Vec::new() };
    let at = |line: &Option<Place>| match line {
        Some(line) => format!(", in {}", source(line)),
        None => String::new(),
    };
    let synchronized = |place: &FaultPlace| {
        let last = place.synchronized.as_ref()?;
        Some(match &last.did {
            Some(did) => format!("; its last synchronization: {}{}", action(did), at(&last.line)),
            None => "; until then it has not synchronized".to_string(),
        })
    };
    let words = |place: &FaultPlace| {
        deed(place, *kind) + &at(&place.line) + &synchronized(place).unwrap_or_default()
    };
    places.iter().map(words).collect()
}

/// What happened at a source line.
pub fn occurrence(occurrence: Occurrence) -> String {
    match occurrence {
        Occurrence::Crashed => "crashed".to_string(),
        Occurrence::Place(place, kind) => deed(place, kind),
        Occurrence::Act(did) => action(did),
    }
}

/// "thread 1 in its call 3, pop(), had freed the block".
fn deed(place: &FaultPlace, kind: FaultKind) -> String {
    let called = place.call.as_ref().map(|made| format!(", {},", call(made))).unwrap_or_default();
    let who = who(place.who) + &called;
    let at = |address: u64| match &place.memory {
        Some(name) => memory(name),
        None => format!("{address:#x}"),
    };
    let verb = |writes: bool| if writes { "wrote to" } else { "read from" };
    match place.deed {
        Deed::AccessedFreed { writes, address, offset } => {
            let (verb, at) = (verb(writes), at(address));
            format!("{who} {verb} freed memory at {at}, byte {offset} of a block")
        }
        Deed::FreedAgain { block } => {
            format!("{who} freed the block at {}, which was freed already", at(block))
        }
        Deed::FreedNoBlock { address } => {
            format!("{who} freed {address:#x}, where no block begins")
        }
        Deed::AccessedBehind { writes, offset, bytes } => {
            format!("{who} {} byte {offset} of a block of {bytes} bytes", verb(writes))
        }
        Deed::AccessedBetween { writes } => {
            format!("{who} {} memory between two blocks of the heap", verb(writes))
        }
        Deed::Raced { writes, kind, address, size } => {
            let (how, bytes) = match kind {
                AccessKind::Atomic => (" atomically", "byte"),
                AccessKind::Volatile => ("", "volatile byte"),
                AccessKind::Plain => ("", "byte"),
            };
            let bytes = counted(size, bytes);
            format!("{who}{how} {} {bytes} at {}", verb(writes), at(address))
        }
        Deed::HadFreed { .. } if kind == FaultKind::Detected(DetectedKind::DoubleFree) => {
            format!("{who} had freed it")
        }
        Deed::HadFreed { .. } => format!("{who} had freed the block"),
        Deed::HadAllocated { .. } => format!("{who} had allocated the block"),
        Deed::Waits(wait) => format!("{who} waits for {}", awaited(wait, &at(wait.address))),
        Deed::Runs => format!("{who} runs"),
        Deed::HasNotReturned => format!("{who} has not returned"),
    }
}

/// "thread 2 in its call 5".
fn who(who: Who) -> String {
    let thread = who.thread;
    match who.when {
        When::BeforeCalls => format!("thread {thread} before its first call"),
        When::InCall(call) => format!("thread {thread} in its call {call}"),
        When::AfterCall(call) => format!("thread {thread} after its call {call}"),
        When::Keeper => "the thread that creates, drains and destroys".to_string(),
        When::OfTarget => format!("thread {thread}, which the target started,"),
    }
}

/// "the mutex at #1.lock, which thread 1 holds".
fn awaited(wait: Wait, at: &str) -> String {
    let name = match wait.on {
        Awaited::Other if wait.address == 0 => return "something".to_string(),
        Awaited::Join => return "a thread to end".to_string(),
        Awaited::Signal => return "a signal".to_string(),
        Awaited::Mutex => "the mutex",
        Awaited::ReadLock => "the read lock",
        Awaited::WriteLock => "the write lock",
        Awaited::Condition => "the condition variable",
        Awaited::Semaphore => "the semaphore",
        Awaited::Barrier => "the barrier",
        Awaited::Once => "the once flag",
        Awaited::Futex => "the futex",
        Awaited::Time => "time to pass",
        Awaited::Other => "something",
    };
    let held = wait.holder.map(|holder| format!(", which thread {holder} holds"));
    format!("{name} at {at}{}", held.unwrap_or_default())
}

/// "Stack::pop at stack.hpp:31".
pub fn source(place: &Place) -> String {
    format!("{} at {}:{}", place.function, file_name(place), place.line)
}

fn file_name(place: &Place) -> std::borrow::Cow<'_, str> {
    place.file.file_name().unwrap_or_default().to_string_lossy()
}

/// A row of the table: "push(7)", "pop() -> 7", "head = #2, was 0 (3 times)".
pub fn row(row: &Row) -> String {
    match &row.what {
        RowKind::Call(made) => call(made),
        RowKind::Answer(given) => answer(given),
        RowKind::Act { did, times: 1, .. } => action(did),
        RowKind::Act { did, times, .. } => format!("{} ({times} times)", action(did)),
        RowKind::Stopped(under_way) => format!("stopped inside of {}", call(under_way)),
        RowKind::Repeats(under_way) => format!("repeats this for ever in {}", call(under_way)),
    }
}

pub fn call(call: &Call) -> String {
    words::call(call.op, &call.args, &words::number)
}

fn answer(answer: &Answer) -> String {
    let Answer { call: made, status, results, missing } = answer;
    if let Some(Missing { before, values, .. }) = missing {
        let lacks = (*before, &values[..]);
        let said = words::answer_without((made.op, *status), results, lacks, &words::number);
        return format!("{} -> {said}", call(made));
    }
    format!("{} -> {}", call(made), words::answer(made.op, *status, results, &words::number))
}

/// "head.next", "#3+8", "#2[1].key", "0x7f00".
fn memory(memory: &Memory) -> String {
    match memory {
        Memory::Block { number, offset: 0 } => format!("#{number}"),
        Memory::Block { number, offset } => format!("#{number}+{offset}"),
        Memory::Address(address) => format!("{address:#x}"),
        Memory::Member { block, index, path } => {
            let block = block.map(|number| format!("#{number}")).unwrap_or_default();
            let index = index.map(|index| format!("[{index}]")).unwrap_or_default();
            let is_bare = block.is_empty() || path.is_empty() || path.starts_with('[');
            format!("{block}{index}{}{path}", if is_bare { "" } else { "." })
        }
    }
}

fn value(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Bits(bits) => format!("{bits:#x}"),
        Value::Uninitialised => "uninitialised memory".to_string(),
        Value::Pointer { to, tag: 0 } => memory(to),
        Value::Pointer { to, tag } => format!("{} with tag {tag}", memory(to)),
    }
}

/// "head = #2, was 0".
fn set(at: &Memory, to: &Value, from: Option<&Value>) -> String {
    let was = from.map(|from| format!(", was {}", value(from))).unwrap_or_default();
    format!("{} = {}{was}", memory(at), value(to))
}

/// " at queue.cpp:12".
fn stored_at(by: &StoredBy) -> String {
    let line = |place: &Place| format!(" at {}:{}", file_name(place), place.line);
    by.place.as_ref().map(|place| line(place.in_library())).unwrap_or_default()
}

/// "it does not see the store of 1 by thread 0 at queue.cpp:12 yet".
fn unseen(newest: &Value, by: Option<&StoredBy>) -> String {
    let by = by.map(|by| format!(" by thread {}{}", by.thread, stored_at(by))).unwrap_or_default();
    format!("it does not see the store of {}{by} yet", value(newest))
}

fn action(action: &Action) -> String {
    match action {
        Action::Reads { at, value: read } => format!("{} is {}", memory(at), value(read)),
        Action::Writes { at } => format!("{} is written", memory(at)),
        Action::Sets { at, to, from } => set(at, to, from.as_ref()),
        Action::Buffers { at, to, from } => {
            format!("{}: others do not see it yet", set(at, to, from.as_ref()))
        }
        Action::Drains { at, to } => format!("{}: now others see it", set(at, to, None)),
        Action::ReadsOld { at, value: read, by, newest, newest_by } => {
            let by = by.as_ref().map(stored_at).unwrap_or_default();
            let by = if by.is_empty() { by } else { format!(" stored{by}") };
            let unseen = unseen(newest, newest_by.as_ref());
            format!("{} is {} for it, an old value{by}: {unseen}", memory(at), value(read))
        }
        Action::StoresOld { at, to, newest, newest_by } => {
            let unseen = unseen(newest, newest_by.as_ref());
            format!("{}, which is overwritten at once: {unseen}", set(at, to, None))
        }
        Action::Exchanges { at, from, to } => {
            format!("{} from {} to {}", memory(at), value(from), value(to))
        }
        Action::FailsToExchange { at, found, expected } => {
            let (found, expected) = (value(found), value(expected));
            format!("{} is {found}, not {expected}: not changed", memory(at))
        }
        Action::Fence => "fence".to_string(),
        Action::Allocates { block, bytes, former } => {
            let former = former.map(|old| format!(", where #{old} was")).unwrap_or_default();
            format!("allocates {}, {bytes} bytes{former}", memory(block))
        }
        Action::Frees { block } => format!("frees {}", memory(block)),
        Action::AsksFor { at } => format!("asks for {}", memory(at)),
        Action::Releases { at } => format!("releases {}", memory(at)),
        Action::Starts { thread } => format!("starts thread {thread}"),
        Action::Waits { at: None } => "waits".to_string(),
        Action::Waits { at: Some(at) } => format!("waits for {}", memory(at)),
        Action::Wakes { at } => format!("wakes who waits for {}", memory(at)),
        Action::EndsProcess => "ends the process".to_string(),
        Action::Crashes { signal: libc::SIGKILL, .. } => {
            "kills its own process with SIGKILL".to_string()
        }
        Action::Crashes { signal, at } => {
            let at = at.as_ref().map(|at| format!(" at {}", memory(at))).unwrap_or_default();
            format!("crashes with {}{at}", signal_name(*signal))
        }
        Action::WorksIn { container, changes } => {
            format!("{} is {}", memory(container), if *changes { "changed" } else { "read" })
        }
        Action::Faults { kind, at } => faults(*kind, at.as_ref()),
        Action::WaitsForEver { wait, at } => {
            format!("waits for ever for {}", awaited(*wait, &memory(at)))
        }
    }
}

fn faults(kind: DetectedKind, at: Option<&Memory>) -> String {
    let at = at.map_or_else(|| "memory".to_string(), memory);
    match kind {
        DetectedKind::UseAfterFree => format!("accesses {at}, which was freed"),
        DetectedKind::DoubleFree => format!("frees {at}, which was freed before"),
        DetectedKind::BadFree => "frees what is no block".to_string(),
        DetectedKind::OutOfBounds => "accesses memory outside of every block".to_string(),
        DetectedKind::DataRace => format!("accesses {at}, which nothing orders after another"),
        DetectedKind::Hang => "computes without an end".to_string(),
        DetectedKind::Deadlock => "waits for ever".to_string(),
        DetectedKind::Livelock => "goes on without an end".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::operation::Op;

    fn in_call(thread: u32, deed: Deed) -> FaultPlace {
        let who = Who { thread, when: When::InCall(3) };
        FaultPlace { who, deed, call: None, memory: None, line: None, synchronized: None }
    }

    fn detected_fault(kind: DetectedKind, places: Vec<FaultPlace>) -> Failure {
        Failure::Fault {
            kind: FaultKind::Detected(kind),
            stage: Stage::Calls,
            thread: Some(1),
            drain: 2,
            address: None,
            line: None,
            hang: None,
            steps: Some(7),
            places,
            exception: None,
            message: None,
        }
    }

    #[test]
    fn a_fault_lists_its_places() {
        let accessed = Deed::AccessedFreed { writes: false, address: 0x5008, offset: 8 };
        let (function, text) = ("Stack::pop".to_string(), String::new());
        let file = "a/stack.hpp".into();
        let line = Place { function, file, line: 31, text, within: None, from: None };
        let first = FaultPlace { line: Some(line), ..in_call(1, accessed) };
        let call = Some(Call { op: Op::Push, args: vec![7] });
        let second = FaultPlace { call, ..in_call(0, Deed::HadFreed { block: 0x5000 }) };
        let mut what = detected_fault(DetectedKind::UseAfterFree, vec![first, second]);
        assert_eq!(fault(&what), "Thread 1 accessed memory that had been freed.");
        let expected = [
            "thread 1 in its call 3 read from freed memory at 0x5008, byte 8 of a block, in \
             Stack::pop at stack.hpp:31",
            "thread 0 in its call 3, push(7), had freed the block",
        ];
        assert_eq!(places(&what), expected);
        if let Failure::Fault { places, .. } = &mut what {
            places[0].memory = Some(Memory::Block { number: 4, offset: 8 });
        }
        assert!(places(&what)[0].contains("freed memory at #4+8, byte 8 of a block"));
    }

    #[test]
    fn who_waits_says_for_what() {
        let wait = Wait { on: Awaited::Mutex, address: 0x10, holder: Some(1) };
        let waits = in_call(0, Deed::Waits(wait));
        let what = detected_fault(DetectedKind::Deadlock, vec![waits]);
        let expected = "thread 0 in its call 3 waits for the mutex at 0x10, which thread 1 holds";
        assert_eq!(places(&what), [expected]);
        let at = Memory::Member { block: Some(2), index: None, path: "lock".to_string() };
        let expected = "waits for ever for the mutex at #2.lock, which thread 1 holds";
        assert_eq!(action(&Action::WaitsForEver { wait, at }), expected);
    }

    #[test]
    fn memory_has_names() {
        let member = |block, index, path: &str| Memory::Member { block, index, path: path.into() };
        for (name, expected) in [
            (Memory::Block { number: 3, offset: 0 }, "#3"),
            (Memory::Block { number: 3, offset: 15 }, "#3+15"),
            (Memory::Address(0x1010), "0x1010"),
            (member(None, None, "head.next"), "head.next"),
            (member(Some(3), None, "next"), "#3.next"),
            (member(Some(3), Some(2), "key"), "#3[2].key"),
            (member(Some(3), None, ""), "#3"),
            (member(Some(3), None, "[1]"), "#3[1]"),
        ] {
            assert_eq!(memory(&name), expected);
        }
        let to = Memory::Block { number: 2, offset: 0 };
        assert_eq!(value(&Value::Pointer { to, tag: 7 }), "#2 with tag 7");
    }
}
