//! The calls of a thread that runs free, drawn before the round begins. They follow each other in
//! blocks without a stamp inside, because stamps keep threads apart and empty the store buffers.

use std::ops::Range;

use interlap::core::operation::Op;
use interlap::trace::records::{Writer, size_max};

use crate::workload::{Caller, adds};

/// The calls of a thread in a round.
#[derive(Default)]
pub struct Prepared {
    calls: Vec<(Op, Range<usize>)>,
    args: Vec<i64>,
}

/// Some of them in a row, which share a timebox.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    calls: &'a [(Op, Range<usize>)],
    args: &'a [i64],
}

impl Prepared {
    /// Draws so many calls at most.
    pub fn draw(caller: &mut Caller, most: u64) -> Prepared {
        let (mut all, mut args) = (Prepared::default(), Vec::new());
        while !caller.is_idle()
            && (all.calls.len() as u64) < most
            && let Some(op) = caller.next(&mut args)
        {
            let from = all.args.len();
            all.args.extend_from_slice(&args);
            all.calls.push((op, from..all.args.len()));
        }
        all
    }

    /// So many calls of an operation without arguments.
    pub fn repeated(op: Op, calls: usize) -> Prepared {
        Prepared { calls: vec![(op, 0..0); calls], args: Vec::new() }
    }

    /// The number of values that they add.
    pub fn added(&self) -> u64 {
        let added = self.calls.iter().filter(|(op, _)| adds(*op));
        added.map(|(_, args)| args.len() as u64).sum()
    }

    /// Blocks of so many calls; the last may have fewer.
    pub fn blocks(&self, calls: u64) -> impl Iterator<Item = Block<'_>> {
        self.calls.chunks(calls as usize).map(|calls| Block { calls, args: &self.args })
    }
}

impl<'a> Block<'a> {
    /// The call, of a block of one.
    pub fn single(self) -> Option<(Op, &'a [i64])> {
        self.calls().next().filter(|_| self.calls.len() == 1)
    }

    pub fn calls(self) -> impl Iterator<Item = (Op, &'a [i64])> {
        self.calls.iter().map(move |(op, args)| (*op, &self.args[args.clone()]))
    }

    /// Bytes of its record at most, of two calls and more, none of which has more than so many
    /// results.
    pub fn size_max(self, results: usize) -> usize {
        self.calls.iter().map(|(_, args)| size_max(args.len() + results)).sum()
    }

    /// Writes the invocations, but for their stamp.
    pub fn invoke(self, writer: &mut Writer) {
        writer.block(self.calls.len());
        self.calls().for_each(|(op, args)| writer.call(op.code(), args));
    }
}
