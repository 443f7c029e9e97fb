//! Makes calls one at a time, in a given order. A call that waits for another's lets the next one
//! run, and goes on when it can.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use interlap::core::sequential_runs::ClientCall;

use crate::controlled::core::engine::{self, Wait};
use crate::controlled::core::waiting;
use crate::controlled::state::memory;
use crate::model_state;
use crate::pipe::abandon;

const WAIT_INSIDE: &str = "a method calls wait() or skip() after next_step() or wait_until(), and \
                           would begin again: to wait there, use wait_until()";

/// Steps of one call at most.
const STEPS_MAX: u32 = 1 << 10;

/// The order of the calls.
#[derive(Clone, Copy, Default)]
pub struct Order<'a> {
    /// How it begins. A call that waits goes on where it is named again.
    pub begun: &'a [ClientCall],
    /// All calls, in the order in which clients then make those that they have not come to. Calls
    /// that wait go on as soon as they can.
    pub guess: &'a [ClientCall],
    /// The memory after each turn is looked at.
    pub compares: bool,
    /// Clients enter the structure in the order of their numbers, or the last first.
    pub last_enters_first: bool,
}

impl Order<'_> {
    pub fn is_given(&self) -> bool {
        !self.guess.is_empty()
    }

    /// The guess from the next call of each client on.
    fn rest(&self, next: &[u32]) -> Vec<ClientCall> {
        let is_left = |call: &&ClientCall| call.index >= next[call.client as usize];
        self.guess.iter().filter(is_left).copied().collect()
    }
}

/// A turn of a client: it made a call, or went on with it.
#[derive(Clone, Debug)]
pub struct Turn {
    pub of: ClientCall,
    pub came_to: CameTo,
    /// The clients whose calls wait, and could go on after this.
    pub awake: Vec<u32>,
    /// The state of the model, where it says it.
    pub state: Option<String>,
    /// A hash of what decides later answers, where no call waits and that is known.
    pub memory: Option<u64>,
    /// The choices after 0 that the model had.
    pub choice_last: u32,
}

/// What a turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CameTo {
    Return,
    /// Until another thread wakes it.
    Wait,
    /// As it looked in vain for what another call does, or was refused.
    WaitInVain,
    /// The call says that what it did is a step of its own.
    Step,
    /// The model says that the answer is wrong. There are no more turns then.
    WrongAnswer,
}

/// How a call waits.
#[derive(Clone, Copy, Debug)]
enum Waits {
    /// Until another thread wakes it, or time passes.
    Blocked,
    /// It looks in vain for what another call does, or was refused, since so many turns that may
    /// have changed something.
    InVain(usize),
    /// For nothing: others may come between two of its steps.
    BetweenSteps,
}

/// What a client does.
#[derive(Default)]
struct Client {
    waits: Cell<Option<Waits>>,
    /// The number of the call that it makes, or goes on with, in its turn.
    index: Cell<u32>,
    /// How many calls it has come to.
    reached: Cell<u32>,
    /// How often its call has let others come; 0 after it has returned.
    steps: Cell<u32>,
}

/// The turns of a round, which the thread that makes the structure gives.
pub struct Turns<'a> {
    order: Order<'a>,
    clients: Vec<Client>,
    /// How many clients have entered the structure.
    entered: Cell<u32>,
    /// They wait for each other there: in any order.
    enter_freely: Cell<bool>,
    /// Whose turn it is.
    of: Cell<Option<u32>>,
    /// How the turn ended; none before that.
    ended: Cell<Option<Ended>>,
    /// There are no more turns.
    are_over: Cell<bool>,
    /// How many turns were more than one more try in vain.
    changes: Cell<usize>,
    made: RefCell<Vec<Turn>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ended {
    Returned,
    /// The target did nothing: the call is made again in the client's next turn.
    Refused,
    /// The model did nothing, because the answer is wrong.
    Wrong,
    /// The call lets others come, and then goes on from there.
    Step,
}

/// The turns that are being given; null outside of that.
static GIVEN: AtomicPtr<Turns> = AtomicPtr::new(std::ptr::null_mut());

/// Called by `next_step` and `wait_until` of interlap_operations.hpp: lets other calls come; where
/// it waits, only such as may change something.
#[unsafe(no_mangle)]
extern "C" fn il_next_step(waits: bool) {
    // SAFETY: null, or turns whose `give` has not ended.
    if let Some(turns) = unsafe { GIVEN.load(Relaxed).as_ref() } {
        turns.step(engine::current() as u32, waits);
    }
}

impl<'a> Turns<'a> {
    pub fn new(order: Order<'a>, clients: u32) -> Turns<'a> {
        Turns {
            order,
            clients: (0..clients).map(|_| Client::default()).collect(),
            entered: Cell::new(0),
            enter_freely: Cell::new(false),
            of: Cell::new(None),
            ended: Cell::new(None),
            are_over: Cell::new(false),
            changes: Cell::new(0),
            made: RefCell::default(),
        }
    }

    /// What waits for a client's turn is this key.
    fn key(&self, client: u32) -> usize {
        &raw const self.clients[client as usize] as usize
    }

    /// Lets a client enter the structure: if there is an order, after those that enter before it.
    pub fn enter<T>(&self, client: u32, enter: impl FnOnce() -> T) -> T {
        if !self.order.is_given() {
            return enter();
        }
        let last = self.clients.len() as u32 - 1;
        let place = if self.order.last_enters_first { last - client } else { client };
        while self.entered.get() != place && !self.enter_freely.get() {
            engine::block(self.key(client), Wait::Other, None);
        }
        let local = enter();
        self.entered.set(self.entered.get() + 1);
        self.wake_clients();
        engine::wake(self.entered.as_ptr() as usize, usize::MAX);
        local
    }

    /// Waits until all clients have entered, or none that has not can.
    fn await_all(&self) {
        while self.entered.get() < self.clients.len() as u32 {
            engine::block(self.entered.as_ptr() as usize, Wait::Other, None);
            if waiting::take_stuck() {
                if self.enter_freely.replace(true) {
                    return;
                }
                waiting::let_all_run();
                self.wake_clients();
            }
        }
    }

    fn wake_clients(&self) {
        (0..self.clients.len() as u32).for_each(|client| {
            engine::wake(self.key(client), usize::MAX);
        });
    }

    /// Waits until it is this client's turn, if there is an order; gives how many of its calls it
    /// leaves out. None if there are no more turns.
    pub fn begin(&self, client: u32) -> Option<u32> {
        if !self.order.is_given() {
            return Some(0);
        }
        let own = &self.clients[client as usize];
        self.await_turn(client).then(|| own.index.get() - own.reached.replace(own.index.get() + 1))
    }

    fn await_turn(&self, client: u32) -> bool {
        while self.of.get() != Some(client) {
            if self.are_over.get() {
                return false;
            }
            engine::block(self.key(client), Wait::Other, None);
        }
        true
    }

    /// The client's call has returned.
    pub fn end(&self) {
        self.end_as(Ended::Returned);
    }

    /// The target refused the client's call. Waits for its next turn; whether there is one.
    pub fn refused(&self, client: u32, is_wrong: bool) -> bool {
        if !is_wrong && self.is_inside(client) {
            abandon(WAIT_INSIDE.to_string().into());
        }
        self.end_as(if is_wrong { Ended::Wrong } else { Ended::Refused });
        self.order.is_given() && self.await_turn(client)
    }

    /// The client's call goes on in the client's next turn. It never does if there is none.
    fn step(&self, client: u32, waits: bool) {
        // A thread of the target's own has no turns.
        let Some(Client { steps, .. }) = self.clients.get(client as usize) else { return };
        // To wait again is no other step.
        steps.set(if waits { steps.get().max(1) } else { steps.get() + 1 });
        if steps.get() > STEPS_MAX {
            let wait = "to wait for others, use wait_until()";
            abandon(format!("a call takes more than {STEPS_MAX} steps: {wait}").into());
        }
        self.end_as(if waits { Ended::Refused } else { Ended::Step });
        while !self.await_turn(client) {
            engine::block(self.key(client), Wait::Other, None);
        }
    }

    fn is_inside(&self, client: u32) -> bool {
        self.clients[client as usize].steps.get() > 0
    }

    fn end_as(&self, ended: Ended) {
        if !self.order.is_given() {
            return;
        }
        self.of.set(None);
        self.ended.set(Some(ended));
        engine::wake(self.ended.as_ptr() as usize, usize::MAX);
    }

    /// Gives all turns; to be called by the thread that makes the structure, while it is watched
    /// for ([`waiting::watch`]). In the end calls may wait.
    pub fn give(&self) {
        self.await_all();
        GIVEN.store((&raw const *self).cast_mut().cast(), Relaxed);
        let mut begun = self.order.begun.iter();
        let mut goes_on = begun.all(|call| self.may_go_on(call.client) && self.go(*call));
        let next: Vec<u32> = self.clients.iter().map(|client| client.reached.get()).collect();
        let mut rest = self.order.rest(&next);
        while goes_on {
            let awake = self.made.borrow().last().and_then(|turn| turn.awake.first().copied());
            let awake = awake.map(|client| self.waiting(client));
            let free = |call: &ClientCall| self.clients[call.client as usize].waits.get().is_none();
            let next = awake.or_else(|| rest.iter().position(free).map(|at| rest.remove(at)));
            let Some(call) = next else { break };
            goes_on = self.go(call);
        }
        GIVEN.store(std::ptr::null_mut(), Relaxed);
        self.are_over.set(true);
        waiting::let_all_run();
        self.wake_clients();
    }

    /// The call of this client that waits.
    fn waiting(&self, client: u32) -> ClientCall {
        ClientCall { client, index: self.clients[client as usize].index.get(), choice: 0 }
    }

    /// Whether a turn of the client would do anything.
    fn may_go_on(&self, client: u32) -> bool {
        match self.clients[client as usize].waits.get() {
            None | Some(Waits::BetweenSteps) => true,
            Some(Waits::Blocked) => waiting::may_go_on(client as usize),
            Some(Waits::InVain(since)) => since < self.changes.get(),
        }
    }

    /// Gives the client a turn. Whether there may be more.
    fn go(&self, call: ClientCall) -> bool {
        let client = call.client;
        let own = &self.clients[client as usize];
        let before = own.waits.get();
        own.index.set(call.index);
        self.ended.set(None);
        self.of.set(Some(client));
        model_state::choose(call.choice);
        waiting::let_run(client as usize);
        engine::wake(self.key(client), usize::MAX);
        while self.ended.get().is_none() && !waiting::take_stuck() {
            engine::block(self.ended.as_ptr() as usize, Wait::Other, None);
        }
        let is_in_vain = match self.ended.get() {
            Some(ended) => ended == Ended::Refused,
            None => waiting::is_running(client as usize),
        };
        let is_again = is_in_vain && matches!(before, Some(Waits::InVain(_)));
        self.changes.set(self.changes.get() + usize::from(!is_again));
        own.waits.set(match self.ended.get() {
            Some(Ended::Returned | Ended::Wrong) => {
                own.steps.set(0);
                None
            }
            Some(Ended::Step) => Some(Waits::BetweenSteps),
            _ if is_in_vain => Some(Waits::InVain(self.changes.get())),
            _ => Some(Waits::Blocked),
        });
        let came_to = match (own.waits.get(), self.ended.get()) {
            (Some(Waits::Blocked), _) => CameTo::Wait,
            (Some(Waits::BetweenSteps), _) => CameTo::Step,
            (Some(Waits::InVain(_)), _) => CameTo::WaitInVain,
            (None, Some(Ended::Wrong)) => CameTo::WrongAnswer,
            (None, _) => CameTo::Return,
        };
        self.made.borrow_mut().push(Turn {
            of: call,
            came_to,
            awake: Vec::new(),
            state: self.state(),
            memory: if self.order.compares { self.memory() } else { None },
            choice_last: model_state::ways() - 1,
        });
        model_state::choose(0);
        let waits = |client: &u32| self.clients[*client as usize].waits.get().is_some();
        let clients = 0..self.clients.len() as u32;
        let awake = clients.filter(waits).filter(|client| self.may_go_on(*client)).collect();
        self.made.borrow_mut().last_mut().expect("pushed above").awake = awake;
        came_to != CameTo::WrongAnswer
    }

    /// The state of the model, where it says it, and that is all that is to be known.
    fn state(&self) -> Option<String> {
        let clients = 0..self.clients.len() as u32;
        let any_is_inside = clients.into_iter().any(|client| self.is_inside(client));
        model_state::take().filter(|_| !any_is_inside)
    }

    /// The hash of the memory, where all that is to be known lies there: not on the stack of a call
    /// that waits, or of a thread of the target's own.
    fn memory(&self) -> Option<u64> {
        let clients = self.clients.len();
        let waits = self.clients.iter().any(|client| client.waits.get().is_some());
        let are_callers = engine::alive().all(|alive| alive.thread <= clients);
        if waits || !are_callers { None } else { memory::hash(clients + 1) }
    }

    /// The turns that were given.
    pub fn take(&self) -> Vec<Turn> {
        self.made.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_goes_on_with_the_calls_that_it_lacks() {
        let call = |(client, index)| ClientCall { client, index, choice: 0 };
        let guess = [(0, 0), (1, 0), (0, 1), (2, 0)].map(call);
        let order = Order { guess: &guess, ..Order::default() };
        assert_eq!(order.rest(&[0, 0, 0]), guess);
        assert_eq!(order.rest(&[1, 0, 1]), [(1, 0), (0, 1)].map(call));
    }
}
