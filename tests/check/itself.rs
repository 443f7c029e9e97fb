//! The model self against plain enumeration: the structure is a counter of permits, called in every
//! order that the search asks for, or only in some.

use std::sync::Arc;

use interlap::check::{Limits, Verdict, check, partials, split_clients};
use interlap::core::history::{Entry, History, OperationId};
use interlap::core::method::Method;
use interlap::core::operation::{Op, Status};
use interlap::core::sequential_runs::{ClientCall, SequentialCall, SequentialRuns};
use interlap::model::{Consistency, Expected, Kind, Spec};

use super::random::Random;
use crate::how_many;

/// A call of one client, in its timebox.
#[derive(Clone, Debug)]
struct Made {
    client: u32,
    op: Op,
    start: u64,
    /// None: it waits for ever.
    end: Option<u64>,
    result: i64,
}

/// The first call of the first client.
const FIRST: ClientCall = ClientCall { client: 0, index: 0, choice: 0 };

/// The method that may fail at any time.
const SPURIOUS: &str = "try_acquire() -> bool or false";

fn op(text: &str) -> Op {
    Op::Method(Method::new(text).expect("a signature"))
}

/// A counter of permits. Those who wait for one are woken in turn, and take it if it is still
/// there when they go on.
#[derive(Clone, Debug, Default)]
struct Semaphore {
    permits: i64,
    waiting: Vec<u32>,
    awake: Vec<u32>,
    /// Those between the two steps of a visit.
    inside: Vec<u32>,
}

impl Semaphore {
    /// In how many ways a call may be made: a permit may be lost, and two may be given back.
    fn ways(&self, op: Op) -> u32 {
        match op.name() {
            "give" => 3,
            // What is asked depends on what was chosen.
            "lose" => 2 + u32::from(self.permits > 1),
            _ => 1,
        }
    }

    /// Makes a client's call, or goes on with it. None: it waits. Threads see different answers, as
    /// of a structure with state for each.
    fn step(&mut self, op: Op, client: u32, way: u32) -> Option<i64> {
        self.awake.retain(|other| *other != client);
        let permits = self.permits;
        match op.name() {
            "acquire" if permits == 0 => {
                self.waiting.push(client);
                return None;
            }
            "acquire" => self.permits -= 1,
            "try_acquire" => {
                self.permits -= i64::from(permits > 0);
                return Some(i64::from(permits > 0));
            }
            "release" => {
                self.permits += 1;
                if !self.waiting.is_empty() {
                    self.awake.push(self.waiting.remove(0));
                }
            }
            "give" => {
                self.permits += i64::from(way);
                return Some(0);
            }
            "lose" => {
                self.permits = (self.permits - i64::from(way)).max(0);
                return Some(i64::from(way));
            }
            "visit" if !self.inside.contains(&client) => {
                self.permits += 1;
                self.inside.push(client);
                self.awake.push(client);
                return None;
            }
            "visit" => self.inside.retain(|other| *other != client),
            "waiting" => return Some(self.waiting.len() as i64),
            _ => return Some(permits + i64::from(client) % 3),
        }
        Some(permits)
    }
}

/// Calls of up to three clients as they may come about, and then perhaps one that is wrong.
fn calls(random: &mut Random) -> Vec<Made> {
    let ops = ["try_acquire() -> bool", "release() -> int", "available() -> int"];
    let waiting = ["acquire() -> int", "release() -> int", "waiting() -> int"];
    let spurious = [SPURIOUS, "acquire() -> int", "release() -> int"];
    let choosing = ["give() -> int", "lose() -> int", "available() -> int"];
    let visiting = ["visit() -> int", "visit() -> int", "available() -> int"];
    let ops = [ops, waiting, spurious, choosing, visiting][random.below(5)].map(op);
    let mut left = [4, 3, 3].map(|most| random.below(most));
    let (mut semaphore, mut time) = (Semaphore { permits: 1, ..Semaphore::default() }, 0);
    // What a client is about to do: nothing, its call, to go on, to return.
    let (mut calls, mut now) = (Vec::<Made>::new(), [None::<(usize, Option<i64>, bool)>; 3]);
    let mut last_end = [None; 3];
    loop {
        let can_act = |client: usize| match now[client] {
            None => left[client] > 0,
            Some((_, None, true)) => semaphore.awake.contains(&(client as u32)),
            Some(_) => true,
        };
        let able: Vec<usize> = (0..3).filter(|client| can_act(*client)).collect();
        if able.is_empty() {
            break;
        }
        // Often the one that is in a call, so that not all calls overlap.
        let in_call = able.iter().copied().find(|client| now[*client].is_some());
        let any = able[random.below(able.len())];
        let client = in_call.filter(|_| random.percent(50)).unwrap_or(any);
        time += random.below(2) as u64;
        match now[client] {
            None => {
                left[client] -= 1;
                time += u64::from(last_end[client] == Some(time));
                let made = Made {
                    client: client as u32,
                    op: ops[random.below(3)],
                    start: time,
                    end: None,
                    result: 0,
                };
                now[client] = Some((calls.len(), None, false));
                calls.push(made);
            }
            Some((at, None, _)) => {
                let step = |of: &mut Semaphore, random: &mut Random| {
                    let way = random.below(of.ways(calls[at].op) as usize) as u32;
                    of.step(calls[at].op, client as u32, way)
                };
                now[client] = Some((at, step(&mut semaphore, random), true));
            }
            Some((at, Some(result), _)) => {
                (calls[at].end, calls[at].result) = (Some(time), result);
                (now[client], last_end[client]) = (None, Some(time));
            }
        }
    }
    spoil(calls, time, random)
}

/// Half of the time another answer, or another call that waits.
fn spoil(mut calls: Vec<Made>, time: u64, random: &mut Random) -> Vec<Made> {
    if calls.is_empty() || random.percent(50) {
        return calls;
    }
    let at = random.below(calls.len());
    let is_last = calls[at + 1..].iter().all(|call| call.client != calls[at].client);
    let call = &mut calls[at];
    match call.end {
        None => (call.end, call.result) = (Some(time), random.below(3) as i64),
        Some(_) if is_last && random.percent(40) => call.end = None,
        Some(_) if call.op.name() == "try_acquire" => call.result = 1 - call.result,
        Some(_) => call.result = (call.result + 1) % 4,
    }
    calls
}

/// Whether some order within the boxes explains all answers. `begun`: the calls that wait; `done`:
/// those that have returned.
fn enumerated(
    (calls, spec): (&[Made], &Spec),
    begun: &[usize],
    done: &[usize],
    semaphore: &Semaphore,
) -> bool {
    let is_left = |at: &usize| !begun.contains(at) && !done.contains(at);
    let is_awake = |at: usize| semaphore.awake.contains(&calls[at].client);
    let is_over = (0..calls.len()).all(|at| match calls[at].end {
        Some(_) => done.contains(&at),
        None => begun.contains(&at) && !is_awake(at),
    });
    let ends_before = |at: usize, time: u64| calls[at].end.is_some_and(|end| end < time);
    let is_apart =
        |time: u64| (0..calls.len()).all(|at| ends_before(at, time) || calls[at].start >= time);
    let may_begin = |at: &usize| {
        let before = |other: &usize| match spec.consistency {
            Consistency::Quiescent => {
                (0..=calls[*at].start).any(|time| ends_before(*other, time) && is_apart(time))
            }
            Consistency::Sequential => *other < *at && calls[*other].client == calls[*at].client,
            _ => ends_before(*other, calls[*at].start),
        };
        is_left(at) && (0..calls.len()).filter(before).all(|other| done.contains(&other))
    };
    let goes_on = begun.iter().copied().filter(|at| is_awake(*at));
    let step = |(at, way): (usize, u32)| {
        let (mut after, call) = (semaphore.clone(), &calls[at]);
        let without: Vec<usize> = begun.iter().copied().filter(|other| *other != at).collect();
        match after.step(call.op, call.client, way) {
            None => enumerated((calls, spec), &[&without[..], &[at]].concat(), done, &after),
            Some(result) => {
                let is_its = call.end.is_some() && result == call.result;
                is_its && enumerated((calls, spec), &without, &[done, &[at]].concat(), &after)
            }
        }
    };
    let ways = |at: usize| (0..semaphore.ways(calls[at].op)).map(move |way| (at, way));
    // As of one that does nothing, and says so.
    let is_spurious = |at: &usize| {
        let call = &calls[*at];
        call.op == op(SPURIOUS) && call.end.is_some() && call.result == 0
    };
    let leave_out =
        |at: usize| enumerated((calls, spec), begun, &[done, &[at]].concat(), semaphore);
    is_over
        || (0..calls.len()).filter(may_begin).chain(goes_on).flat_map(ways).any(step)
        || (0..calls.len()).filter(may_begin).filter(is_spurious).any(leave_out)
}

fn is_right(calls: &[Made], spec: &Spec) -> bool {
    enumerated((calls, spec), &[], &[], &Semaphore { permits: 1, ..Semaphore::default() })
}

/// The calls as they are made where a thread's calls have no order: each by a client of its own.
fn of_any_thread(history: &History, calls: &[Made]) -> Vec<Made> {
    let own = |id: OperationId| {
        let client = history.threads[id.thread as usize].client;
        calls.iter().filter(move |call| call.client == client).nth(id.index as usize)
    };
    let (_, ids) = split_clients(history, Consistency::Quiescent);
    (0..)
        .zip(ids)
        .map(|(client, id)| Made { client, ..own(id).expect("it is one").clone() })
        .collect()
}

fn history(calls: &[Made]) -> History {
    let mut history = History { waits: true, ..History::default() };
    for call in calls {
        let Made { op, start, end, result, .. } = *call;
        let (status, results) = match end {
            Some(_) => (Status::Ok, &[result][..]),
            None => (Status::Pending, &[][..]),
        };
        let end = end.unwrap_or(0);
        let entry = Entry { op, status, start, end, args: &[], results };
        history.push(call.client, entry).expect("in order");
    }
    history
}

/// What is known after each call.
#[derive(Clone, Copy)]
enum Known {
    Answer,
    /// The state, too, which the structure says.
    State,
    /// The memory, too, where no call waits.
    Memory,
    /// As if the memory were always the same.
    NoMemory,
}

/// The calls of `order`, made one at a time.
fn run(calls: &[Made], order: &[ClientCall], known: Known) -> Vec<SequentialCall> {
    let mut waits = [false; 16];
    let mut semaphore = Semaphore { permits: 1, ..Semaphore::default() };
    let one = |&ClientCall { client, index, choice }: &ClientCall| {
        let mut own = calls.iter().filter(|call| call.client == client);
        let call = own.nth(index as usize).expect("a call of the client");
        assert!(!waits[client as usize] || semaphore.awake.contains(&client), "it cannot go on");
        let choice_last = semaphore.ways(call.op) - 1;
        let result = semaphore.step(call.op, client, choice);
        waits[client as usize] = result.is_none();
        let status = if result.is_some() { Status::Ok } else { Status::Pending };
        let (results, awake) = (result.into_iter().collect(), semaphore.awake.clone());
        let (op, args) = (call.op, vec![]);
        let memory = |of| Some(of).filter(|_| !waits.contains(&true));
        let (state, memory) = match known {
            Known::Answer => (None, None),
            Known::State if !semaphore.inside.is_empty() => (None, None),
            Known::State => (Some(format!("{semaphore:?}")), None),
            Known::Memory => (None, memory(semaphore.permits as u64)),
            Known::NoMemory => (None, memory(0)),
        };
        SequentialCall {
            client,
            index,
            choice,
            choice_last,
            op,
            args,
            status,
            results,
            is_step: op.name() == "visit" && waits[client as usize],
            awake,
            state,
            memory,
        }
    };
    order.iter().map(one).collect()
}

#[test]
fn verdicts_are_those_of_an_enumeration() {
    let (mut random, mut bad, mut waiting, mut stepping) = (Random::new(4), 0, 0, 0);
    let limits = Limits::default();
    let orders = ["self", "self", "self:consistency=sequential", "self:consistency=quiescent"];
    let all = how_many(10_000);
    for at in 0..all {
        let spec: Spec = orders[at % orders.len()].parse().expect("a model");
        let mut calls = calls(&mut random);
        let mut history = history(&calls);
        if spec.consistency == Consistency::Quiescent {
            calls = of_any_thread(&history, &calls);
        }
        let is_right = is_right(&calls, &spec);
        let (mut runs, gives_up) = (SequentialRuns::default(), random.percent(20));
        let known = [Known::Answer, Known::State, Known::Memory][at % 3];
        let verdict = loop {
            history.runs = Some(Arc::new(runs));
            let verdict = check(&history, &spec, &limits);
            let run_already = history.runs.take().expect("set above");
            let asked = run_already.take_asked();
            runs = Arc::unwrap_or_clone(run_already);
            let is_over = asked.is_empty() || verdict == Verdict::Consistent;
            if is_over || gives_up && random.percent(30) {
                break verdict;
            }
            asked.iter().for_each(|order| runs.add(run(&calls, order, known)));
        };
        assert!(!runs.disagree(), "{calls:?}");
        let kept = serde_json::to_string(&runs).expect("it is data");
        assert_eq!(serde_json::from_str::<SequentialRuns>(&kept).expect("it was written"), runs);
        match verdict {
            Verdict::Consistent => assert!(is_right, "{calls:?}"),
            Verdict::Violation(witness) => {
                assert!(!is_right, "{calls:?}");
                let in_steps = witness.rule == "not-interval-linearizable";
                assert!(!in_steps || calls.iter().any(|call| call.op.name() == "visit"));
                stepping += usize::from(in_steps);
            }
            // Not one order too few was run.
            Verdict::Inconclusive(_) => assert!(gives_up, "{calls:?}"),
        }
        bad += usize::from(!is_right);
        waiting += usize::from(is_right && calls.iter().any(|call| call.end.is_none()));
    }
    assert!(bad * 5 > all && bad * 5 < all * 4, "{bad} of {all} are bad");
    assert!(stepping * 40 > all, "{stepping} of {all} are bad by steps");
    assert!(waiting * 30 > all, "{waiting} of {all} are right and end with calls that wait");
}

#[test]
fn a_call_that_could_not_be_made_explains_nothing() {
    let calls =
        vec![Made { client: 0, op: op("release() -> int"), start: 1, end: Some(2), result: 1 }];
    let mut history = history(&calls);
    let verdict = |history: &History| check(history, &Spec::new(Kind::Itself), &Limits::default());
    assert!(matches!(verdict(&history), Verdict::Inconclusive(_)), "it was not run");
    let refused = SequentialCall {
        status: Status::Pending,
        results: vec![],
        ..run(&calls, &[FIRST], Known::Answer)[0].clone()
    };
    for (call, is_right) in
        [(run(&calls, &[FIRST], Known::Answer).remove(0), true), (refused, false)]
    {
        let mut runs = SequentialRuns::default();
        runs.add([call]);
        history.runs = Some(Arc::new(runs));
        assert_eq!(verdict(&history) == Verdict::Consistent, is_right);
    }
}

/// Of an answer that is a choice, all that are right are told.
#[test]
fn answers_that_are_as_right_are_told() {
    let [give, lose] = ["give() -> int", "lose() -> int"].map(op);
    let made = |client, op, start, result| Made { client, op, start, end: Some(start + 1), result };
    let calls = vec![made(0, give, 1, 0), made(1, lose, 1, 7)];
    let (mut history, mut runs) = (history(&calls), SequentialRuns::default());
    let (spec, limits) = (Spec::new(Kind::Itself), Limits::default());
    let expected: Vec<Expected> = loop {
        history.runs = Some(Arc::new(runs));
        let (verdict, ids) = (check(&history, &spec, &limits), history.ids().collect::<Vec<_>>());
        let partials = partials(&history, &spec, &ids, &limits);
        let known = history.runs.take().expect("set above");
        let asked = known.take_asked();
        if asked.is_empty() {
            assert!(matches!(verdict, Verdict::Violation(_)), "nothing answers 7");
            let found = partials.expect("they are few").partials;
            break found.into_iter().flat_map(|partial| partial.expected).collect();
        }
        runs = Arc::unwrap_or_clone(known);
        asked.iter().for_each(|order| runs.add(run(&calls, order, Known::State)));
    };
    let answers = (0..3).map(|way| Expected::Answer(Status::Ok, vec![way])).collect();
    assert!(expected.contains(&Expected::OneOf(answers)), "{expected:?}");
}

/// Of another call at the same place in the order nothing is known.
#[test]
fn runs_of_other_calls_say_nothing() {
    let [release, acquire] = ["release() -> int", "try_acquire() -> bool"].map(op);
    let of = |op| vec![Made { client: 0, op, start: 1, end: Some(2), result: 1 }];
    let mut history = history(&of(release));
    let mut runs = SequentialRuns::default();
    runs.add(run(&of(acquire), &[FIRST], Known::Answer));
    history.runs = Some(Arc::new(runs));
    let verdict = check(&history, &Spec::new(Kind::Itself), &Limits::default());
    assert!(matches!(verdict, Verdict::Inconclusive(_)), "{verdict:?}");
}

/// Where states or memory are known, orders that lead to the same are followed once.
#[test]
fn orders_that_lead_to_equal_states_are_one() {
    let release = op("release() -> int");
    let last = |client, result| Made { client, op: release, start: 0, end: Some(9), result };
    // What the calls answer in any order, but for one of the last client.
    let calls: Vec<Made> = [(0, 1), (1, 2), (2, 9)].map(|(client, of)| last(client, of)).into();
    let needed = |known: Known| {
        let (mut history, mut runs) = (history(&calls), SequentialRuns::default());
        loop {
            history.runs = Some(Arc::new(runs));
            let verdict = check(&history, &Spec::new(Kind::Itself), &Limits::default());
            let run_already = history.runs.take().expect("set above");
            let asked = run_already.take_asked();
            runs = Arc::unwrap_or_clone(run_already);
            if asked.is_empty() {
                assert!(matches!(verdict, Verdict::Violation(_)), "{verdict:?}");
                return runs.len();
            }
            asked.iter().for_each(|order| runs.add(run(&calls, order, known)));
        }
    };
    let all = needed(Known::Answer);
    assert!(needed(Known::State) <= all && needed(Known::Memory) <= all, "{all}");
    for known in [Known::State, Known::Memory] {
        let mut runs = SequentialRuns::default();
        let by = |order: [u32; 2]| order.map(|client| ClientCall { client, ..FIRST });
        runs.add(run(&calls, &by([0, 1]), known));
        runs.add(run(&calls, &by([1, 0]), known));
        let third = ClientCall { client: 2, ..FIRST };
        runs.add(run(&calls, &[&by([0, 1])[..], &[third]].concat(), known));
        assert!(runs.has(&[&by([1, 0])[..], &[third]].concat()), "the same state");
        assert_eq!(runs.len(), 5);
    }
}

/// Orders that seem to lead to the same are noticed once they are run, and do not.
#[test]
fn runs_that_differ_after_equal_memory_disagree() {
    let made = |client, name| Made { client, op: op(name), start: 0, end: Some(9), result: 0 };
    let names = ["release() -> int", "lose() -> int", "available() -> int"];
    let calls: Vec<Made> = (0..).zip(names).map(|(client, name)| made(client, name)).collect();
    // Of no more than one permit, two are lost: how many there are then depends on the order.
    let [release, lose, available] =
        [(0, 0), (1, 2), (2, 0)].map(|(client, choice)| ClientCall { client, choice, ..FIRST });
    for (known, is_right) in [(Known::Memory, true), (Known::NoMemory, false)] {
        let mut runs = SequentialRuns::default();
        runs.add(run(&calls, &[release, lose, available], known));
        runs.add(run(&calls, &[lose, release], known));
        assert!(!runs.disagree(), "nothing was called after both");
        for order in runs.draw(&mut interlap::core::random::Random::new(1), 8) {
            runs.add(run(&calls, &order, known));
        }
        assert_eq!(runs.disagree(), !is_right);
    }
}
