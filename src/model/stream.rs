//! Sequential object for streams of S2: conditional appends and reads of the whole stream.
//!
//! A stream stores one number for all of its records, as S2's own verifier does: `hash(empty) = 0`
//! and `hash(stream + record) = xxh3_64(xxh3_64(record), seed = hash(stream))`, with numbers as
//! eight bytes, little endian. So the answer of a read depends on every record before the tail. The
//! arguments of an append are the hashes of its records.
//!
//! Older collectors of S2 knew less: how many records an append has, and the hash of the last one,
//! which is then that of the stream.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Call, Expect, Expected, Model};
use crate::core::operation::{Op, Status};

/// "No condition" in the arguments of an append, and the token of a stream that has none.
pub const NONE: i64 = i64::MIN;

pub struct Stream;

/// The state of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamState {
    /// The number of records.
    pub tail: i64,
    pub hash: u64,
    /// The fencing token, or [`NONE`].
    pub token: i64,
}

impl StreamState {
    pub const EMPTY: StreamState = StreamState { tail: 0, hash: 0, token: NONE };

    fn from_args(args: &[i64]) -> StreamState {
        StreamState { tail: args[0], hash: args[1] as u64, token: args[2] }
    }

    /// The arguments of the call that puts an empty stream into this state.
    pub fn restored(&self) -> [i64; 3] {
        [self.tail, self.hash as i64, self.token]
    }

    /// Whether an append with these arguments can still change something, now or later.
    pub fn may_grow_by(&self, args: &[i64]) -> bool {
        let [at, _, set, records @ ..] = args else { return false };
        (*at == NONE || *at >= self.tail) && (*set != NONE || !records.is_empty())
    }

    /// The state after an append; none if the tail or the token is not the one that it requires.
    fn after(&self, call: &Call) -> Option<StreamState> {
        let [at, token, set, records @ ..] = call.args else { return None };
        let holds = |wanted: i64, found: i64| wanted == NONE || wanted == found;
        (holds(*at, self.tail) && holds(*token, self.token)).then(|| StreamState {
            tail: self.tail + appended(call),
            hash: match (call.op, records) {
                (Op::LogAppendLast, [0, ..]) => self.hash,
                (Op::LogAppendLast, [_, last, ..]) => *last as u64,
                _ => records.iter().fold(self.hash, |hash, record| chain(hash, *record as u64)),
            },
            token: if *set == NONE { self.token } else { *set },
        })
    }
}

/// How many records a call appends.
fn appended(call: &Call) -> i64 {
    match call.op {
        Op::LogAppendBatch => call.args.len() as i64 - 3,
        Op::LogAppendLast => call.args[3],
        _ => 0,
    }
}

/// The hash of a stream with one more record.
pub fn chain(stream: u64, record: u64) -> u64 {
    xxh3_64_with_seed(&record.to_le_bytes(), stream)
}

impl Model<Call<'_>> for Stream {
    type State = StreamState;

    fn init(&self) -> StreamState {
        StreamState::EMPTY
    }

    fn step(&self, state: &StreamState, call: &Call, next: &mut Vec<StreamState>) {
        let after = match call.op {
            Op::LogAppendBatch | Op::LogAppendLast if call.status == Status::Failed => Some(*state),
            Op::LogAppendBatch | Op::LogAppendLast => state.after(call),
            // Only an empty stream is restored, so a tail never decreases.
            Op::LogRestore => {
                Some(StreamState::from_args(call.args)).filter(|_| *state == StreamState::EMPTY)
            }
            _ => Some(*state),
        };
        let Some(after) = after else { return };
        let legal = match (call.op, call.results) {
            (_, []) => true,
            (Op::LogReadAll, [tail, hash]) => *tail == after.tail && *hash as u64 == after.hash,
            (_, [tail, ..]) => *tail == after.tail,
        };
        if legal {
            next.push(after);
        }
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn describe_state(&self, state: &StreamState) -> String {
        let StreamState { tail, hash, token } = state;
        format!("{{tail: {tail}, hash: {hash}, token: {token}}}")
    }

    /// A tail never decreases.
    fn is_too_late(&self, state: &StreamState, call: &Call) -> bool {
        call.results.first().is_some_and(|tail| tail.saturating_sub(appended(call)) < state.tail)
    }
}

impl Expect<Call<'_>> for Stream {
    fn expected(&self, state: &StreamState, call: &Call) -> Expected {
        match (call.op, state.after(call)) {
            (Op::LogCheckTail, _) => Expected::value(state.tail),
            (Op::LogAppendBatch | Op::LogAppendLast, Some(after)) => Expected::value(after.tail),
            (Op::LogAppendBatch | Op::LogAppendLast, None) => Expected::Status(Status::Failed),
            _ => Expected::Values(vec![state.tail, state.hash as i64]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    /// The test vectors of S2's collector and verifier.
    #[test]
    fn the_chain_is_that_of_s2() {
        let records = [&b"foo"[..], b"bar", b"baz"].map(xxh3_64);
        assert_eq!(records[0], 0xab6e_5f64_077e_7d8a);
        let chained = records.iter().scan(0, |hash, record| {
            *hash = chain(*hash, *record);
            Some(*hash)
        });
        let chained: Vec<u64> = chained.collect();
        let expected = [0x4d2b_003e_e417_c3a5, 0x132e_5d5d_d793_6edd, 0x732e_e99a_bc50_02ff];
        assert_eq!(chained, expected);
    }
}
