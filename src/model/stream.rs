//! A stream of S2: batches of records are appended, on conditions, and the whole of it is read at
//! once. Calls come in, the stream they leave behind goes out.
//!
//! Of its records a stream keeps one number, as S2's own verifier does: `hash(empty) = 0` and
//! `hash(stream + record) = xxh3_64(xxh3_64(record), seed = hash(stream))`, numbers as eight bytes,
//! little endian. So a read tells of everything before the tail. What is appended comes as the
//! hashes of its records.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Call, Expect, Model};
use crate::core::operation::{Op, Status};

/// Stands for "none" among the conditions of an append, and for the token of a stream without one.
pub const NONE: i64 = i64::MIN;

pub struct Stream;

/// What is known of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Known {
    /// How many records there are.
    pub tail: i64,
    pub hash: u64,
    /// The fencing token, or [`NONE`].
    pub token: i64,
}

impl Known {
    pub const EMPTY: Known = Known { tail: 0, hash: 0, token: NONE };

    fn of(args: &[i64]) -> Known {
        Known { tail: args[0], hash: args[1] as u64, token: args[2] }
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

    /// What an append with these arguments leaves; none if its conditions do not hold: that the
    /// tail is the sequence number it names, and the token the one it names.
    fn after(&self, args: &[i64]) -> Option<Known> {
        let [at, token, set, records @ ..] = args else { return None };
        let holds = |wanted: i64, found: i64| wanted == NONE || wanted == found;
        (holds(*at, self.tail) && holds(*token, self.token)).then(|| Known {
            tail: self.tail + records.len() as i64,
            hash: records.iter().fold(self.hash, |hash, record| chain(hash, *record as u64)),
            token: if *set == NONE { self.token } else { *set },
        })
    }
}

/// The hash of a stream with one more record.
pub fn chain(stream: u64, record: u64) -> u64 {
    xxh3_64_with_seed(&record.to_le_bytes(), stream)
}

impl Model<Call<'_>> for Stream {
    type State = Known;

    fn init(&self) -> Known {
        Known::EMPTY
    }

    fn step(&self, state: &Known, call: &Call, next: &mut Vec<Known>) {
        let after = match call.op {
            Op::LogAppendBatch if call.status == Status::Failed => Some(*state),
            Op::LogAppendBatch => state.after(call.args),
            // Into an empty stream only: so a tail never falls.
            Op::LogRestore => Some(Known::of(call.args)).filter(|_| *state == Known::EMPTY),
            _ => Some(*state),
        };
        let Some(after) = after else { return };
        let legal = match (call.op, call.results) {
            (_, []) => true,
            (Op::LogAppendBatch | Op::LogCheckTail, [tail, ..]) => *tail == after.tail,
            (_, [tail, hash]) => *tail == after.tail && *hash as u64 == after.hash,
            _ => false,
        };
        if legal {
            next.push(after);
        }
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    /// A tail never falls.
    fn is_too_late(&self, state: &Known, call: &Call) -> bool {
        let appended = if call.op == Op::LogAppendBatch { call.args.len() as i64 - 3 } else { 0 };
        call.results.first().is_some_and(|tail| tail.saturating_sub(appended) < state.tail)
    }
}

impl Expect<Call<'_>> for Stream {
    fn expected(&self, state: &Known, call: &Call) -> String {
        match (call.op, state.after(call.args)) {
            (Op::LogAppendBatch, Some(after)) => after.tail.to_string(),
            (Op::LogAppendBatch, None) => "failed".to_string(),
            (Op::LogCheckTail, _) => state.tail.to_string(),
            _ => format!("{}, {}", state.tail, state.hash as i64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    /// The vectors that S2's collector and verifier are held to.
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
