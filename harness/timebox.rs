//! Makes recorded calls, one or a block: opens the box, calls the structure, closes the box and
//! records. While a box is open no other code runs, but that which writes the answers of a block.
//! It allocates nothing, locks nothing and makes no system call.

use interlap::core::operation::{Op, Status};
use interlap::core::plan::BULK_MAX;
use interlap::trace::records::{Writer, size_max};
use smallvec::SmallVec;

use crate::clock::Clock;
use crate::disturb;
use crate::forked;
use crate::library::{Local, Structure, Target, abi, host};
use crate::marker::{interlap_op_begin, interlap_op_end};
use crate::pipe::abandon;
use crate::prepared::Block;
use crate::record::Recorded;

/// Written behind the room for results, to detect an adapter that writes past it.
const GUARD: i64 = 0x1eaf_cafe_d00d_5afe;
const GUARD_VALUES: usize = 8;
/// At least `IL_RESULT_ROOM` and the guard.
const INLINE: usize = 128;
const _: () = assert!(abi::IL_RESULT_ROOM as usize + GUARD_VALUES <= INLINE);

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    Recorded(Status),
    /// The target did nothing, and nothing is recorded.
    Unsupported,
    /// There is no room for another record.
    NoRoom,
}

/// The adapter's call for its host functions: `il_call` is the first field, so a pointer to it is a
/// pointer to this.
#[repr(C)]
struct HostCall {
    call: abi::il_call,
    clock: Clock,
    /// Calls recorded before this one.
    made: u64,
    /// The call is one of a block, whose box it cannot narrow.
    in_block: bool,
}

impl HostCall {
    #[inline(always)]
    fn begins(&self, stamp: u64) {
        interlap_op_begin(self.call.thread.into(), self.made, stamp);
    }

    #[inline(always)]
    fn ends(&self, stamp: u64) {
        interlap_op_end(self.call.thread.into(), self.made, stamp);
    }
}

/// What one thread needs to make recorded calls.
pub struct Timebox<'a> {
    call: HostCall,
    writer: Writer<'a>,
    recorded: Recorded<'a>,
    /// Inline, and so on the caller's stack, if they are few: accesses of the stack are not
    /// scheduling points.
    results: SmallVec<[i64; INLINE]>,
    room: usize,
    /// How many results there are before the call.
    expected: usize,
    last: u64,
}

impl<'a> Timebox<'a> {
    /// `bulk`: values that a call may ask for at most.
    pub fn new(
        clock: Clock,
        thread: u32,
        bulk: u64,
        bytes: &'a mut [u8],
        recorded: Recorded<'a>,
    ) -> Timebox<'a> {
        let room = bulk.clamp(abi::IL_RESULT_ROOM.into(), BULK_MAX) as usize;
        let mut results = SmallVec::from_elem(0, room);
        results.resize(room + GUARD_VALUES, GUARD);
        let call = abi::il_call {
            op: 0,
            status: 0,
            args: std::ptr::null(),
            results: std::ptr::null_mut(),
            arg_count: 0,
            result_room: room as u32,
            result_count: 0,
            thread,
            host: host(),
            start: 0,
            end: 0,
        };
        let call = HostCall { call, clock, made: 0, in_block: false };
        Timebox { call, writer: Writer::new(bytes), recorded, results, room, expected: 0, last: 0 }
    }

    /// Begins the records anew, because those so far were sent.
    pub fn rewind(&mut self) {
        self.writer.rewind();
    }

    /// Whether there is room for the record of one more call with this many arguments.
    pub fn has_room(&self, args: usize) -> bool {
        self.writer.room() >= size_max(args + self.room)
    }

    /// What the next call is to answer, which it may read; as much of it as there is room for.
    pub fn expect(&mut self, answer: &[i64]) {
        self.expected = answer.len().min(self.room);
        self.results[..self.expected].copy_from_slice(&answer[..self.expected]);
    }

    /// Whether the last call was of a model, and waits for another.
    pub fn waits(&self) -> bool {
        self.call.call.status == abi::IL_WAITS
    }

    /// The values that the last call returned.
    pub fn results(&self) -> &[i64] {
        &self.results[..self.call.call.result_count as usize]
    }

    /// How many more values are inside a queue, stack or deque after the call that was made last.
    pub fn growth(&self, op: Op, args: &[i64], outcome: Outcome) -> i64 {
        let Outcome::Recorded(status) = outcome else { return 0 };
        self.growth_of(op, args, status)
    }

    fn growth_of(&self, op: Op, args: &[i64], status: Status) -> i64 {
        match (self.results(), args.len() as i64) {
            (results, _) if op.removes() => -(results.len() as i64),
            (_, _) if !op.adds() || status == Status::Full => 0,
            (results, all) => results.first().map_or(all, |added| *added.min(&all)),
        }
    }

    /// Makes one call and records it. An adapter that breaks its contract ends the process.
    #[inline]
    pub fn perform(
        &mut self,
        target: &Target,
        structure: &Structure,
        local: &Local,
        op: Op,
        args: &[i64],
    ) -> Outcome {
        let size_max = size_max(args.len() + self.room);
        if self.writer.room() < size_max {
            return Outcome::NoRoom;
        }
        if self.call.clock != Clock::Steps {
            self.writer.warm_up(size_max);
        }
        let before = self.writer.len();
        let code = code(target, op);
        self.writer.call(code, args);
        self.prepare(code, args);
        let clock = self.call.clock;
        let start = clock.open_after(self.last);
        self.writer.start(start);
        self.recorded.reach(self.writer.len());
        self.call.begins(start);
        // SAFETY: structure and local are alive; `call` is the first field of a HostCall that
        // stays in place; arguments and results are valid for the counts given.
        unsafe {
            let call = (&raw mut self.call).cast();
            disturb::set_inside(true);
            target.call_function()(structure.pointer(), local.pointer(), call);
        }
        let end = clock.close();
        disturb::set_inside(false);
        self.call.ends(end);
        forked::stop_if_forked();
        self.record(before, start, end)
    }

    /// Makes the calls of a block, two at least, in one timebox, and records them. None may have
    /// more than so many results. Returns how many more values are inside a queue, stack or deque.
    /// Markers are not passed.
    pub fn perform_block(
        &mut self,
        target: &Target,
        structure: &Structure,
        local: &Local,
        block: Block,
        results: usize,
    ) -> i64 {
        self.writer.warm_up(block.size_max(results));
        block.invoke(&mut self.writer);
        let clock = self.call.clock;
        let start = clock.open_after(self.last);
        self.writer.start(start);
        self.recorded.reach(self.writer.len());
        self.call.in_block = true;
        disturb::set_inside(true);
        let mut growth = 0;
        for (op, args) in block.calls() {
            self.prepare(op.code(), args);
            // SAFETY: as in `perform`.
            unsafe {
                let call = (&raw mut self.call).cast();
                target.call_function()(structure.pointer(), local.pointer(), call);
            }
            forked::stop_if_forked();
            growth += self.respond(op, args, results);
        }
        let closed = clock.close();
        disturb::set_inside(false);
        self.call.in_block = false;
        self.writer.close(closed - start);
        self.recorded.complete(self.writer.len(), self.writer.seal());
        self.last = closed;
        growth
    }

    /// Records the answer of a block's call, which has at most so many results. Returns how many
    /// more values are inside.
    #[inline]
    fn respond(&mut self, op: Op, args: &[i64], results: usize) -> i64 {
        let Some(status) = self.answer() else {
            self.writer.respond(None);
            return 0;
        };
        let count = self.call.call.result_count as usize;
        if count > results {
            broken(&self.call.call, format!("returned {count} results, more than {results}"));
        }
        self.writer.respond(Some((status as u8, &self.results[..count])));
        self.recorded.reach(self.writer.len());
        self.call.made += 1;
        self.growth_of(op, args, status)
    }

    /// The call's status; none if the target did nothing. An adapter that breaks its contract ends
    /// the process.
    #[inline]
    fn answer(&self) -> Option<Status> {
        let call = &self.call.call;
        if matches!(call.status, abi::IL_UNSUPPORTED | abi::IL_WAITS) {
            return None;
        }
        if call.result_count as usize > self.room || self.results[self.room] != GUARD {
            let (count, room) = (call.result_count, self.room);
            broken(call, format!("returned {count} results where {room} fit"));
        }
        let status = Status::from_code(call.status);
        status.or_else(|| {
            broken(call, format!("returned status {}, which is no il_status", call.status))
        })
    }

    #[inline]
    fn prepare(&mut self, code: u8, args: &[i64]) {
        let call = &mut self.call.call;
        call.op = code.into();
        call.status = abi::IL_OK;
        call.args = args.as_ptr();
        call.results = self.results.as_mut_ptr();
        call.arg_count = args.len() as u32;
        call.result_count = self.expected as u32;
        call.start = 0;
        call.end = 0;
    }

    #[inline]
    fn record(&mut self, before: usize, start: u64, end: u64) -> Outcome {
        let Some(status) = self.answer() else {
            self.writer.truncate(before);
            self.recorded.reach(before);
            return Outcome::Unsupported;
        };
        let call = &self.call.call;
        // The adapter may have narrowed the box, never widened it.
        let start = if call.start != 0 { call.start } else { start };
        let end = if call.end != 0 { call.end } else { end };
        if start > end {
            broken(call, "called il_box_open after il_box_close".to_string());
        }
        if call.start != 0 {
            self.writer.restart(start);
        }
        let results = &self.results[..call.result_count as usize];
        self.writer.answer(status as u8, end - start, results);
        self.recorded.complete(self.writer.len(), self.writer.seal());
        self.last = end;
        self.call.made += 1;
        Outcome::Recorded(status)
    }
}

/// The code of an operation that the target offers.
#[inline]
fn code(target: &Target, op: Op) -> u8 {
    target.methods.code(op).expect("only calls that the target offers are made")
}

#[cold]
fn broken(call: &abi::il_call, what: String) -> ! {
    let op = Op::from_code(call.op).map_or("a method", Op::name);
    abandon(format!("{op} by thread {} {what}", call.thread).into())
}

/// `il_box_open`: see interlap.h.
pub unsafe extern "C" fn box_open(call: *mut abi::il_call) {
    let call = call.cast::<HostCall>();
    // SAFETY: adapters get their il_call from `perform` alone, where it begins a HostCall that
    // only this thread uses.
    let call = unsafe { &mut *call };
    if !call.in_block {
        call.call.start = call.clock.open();
        call.begins(call.call.start);
    }
}

/// `il_box_close`: see interlap.h.
pub unsafe extern "C" fn box_close(call: *mut abi::il_call) {
    let call = call.cast::<HostCall>();
    // SAFETY: as in `box_open`.
    let call = unsafe { &mut *call };
    if !call.in_block {
        call.call.end = call.clock.close();
        call.ends(call.call.end);
    }
}
