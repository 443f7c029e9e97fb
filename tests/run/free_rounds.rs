//! Rounds in which native threads run free: their calls have no stamps in between.

use interlap::core::history::{History, LATE, OperationId};
use interlap::core::operation::Status;
use interlap::core::plan::WARM_UP_ROUNDS;
use interlap::core::scenario;
use interlap::trace::rounds;

use super::tool::Tool;

/// The numbers of calls that share a timebox.
fn blocks(history: &History, callers: u32) -> Vec<usize> {
    let start = |id: &OperationId| history.operation(*id).start;
    let of_client = |client| {
        let ids = history.program_order(client);
        ids.chunk_by(|a, b| start(a) == start(b)).map(<[_]>::len).collect::<Vec<_>>()
    };
    (0..callers).flat_map(of_client).collect()
}

#[test]
fn some_rounds_of_native_threads_run_free() {
    let tool = Tool::new();
    let trace = tool.path("rounds.mpk");
    let run = tool.fuzz("ms_queue").native().with("--rounds 60 --seed 1 --trace").arg(&trace);
    run.finds_nothing();
    let read = rounds::read(&trace).expect("a trace");
    let (free, others): (Vec<_>, Vec<_>) =
        read.rounds.iter().partition(|round| round.history.has_blocks());
    assert!(free.len() > 10 && others.len() > 20, "{} of {}", free.len(), read.rounds.len());
    for round in free {
        assert!(round.start.round >= WARM_UP_ROUNDS, "round {}", round.start.round);
        let blocks = blocks(&round.history, round.start.threads);
        let (longest, calls) = (blocks.iter().max(), blocks.iter().sum::<usize>());
        assert!((16..=256).contains(longest.expect("it has calls")), "{longest:?}");
        assert_eq!(calls as u64, round.start.calls * u64::from(round.start.threads));
        // A scenario of its calls runs free, too, and has them in their order.
        let scenario = scenario::from_history(&round.history, round.start.threads);
        assert!(scenario.free);
        for calls in &scenario.threads {
            let added = calls.iter().filter_map(|call| call.args.first());
            assert!(added.is_sorted(), "each thread counts the values that it adds");
        }
    }
    for round in others {
        let blocks = blocks(&round.history, round.start.threads);
        assert!(blocks.iter().all(|calls| *calls == 1), "round {}", round.start.round);
    }
    tool.check(&trace).expect(0, &[]);
}

/// A queue that ends the process in its 700th call.
const ENDS: &str = r#"#include <interlap.hpp>
#include <cstdlib>
#include <deque>
#include <mutex>
struct Ends {
    static constexpr auto model = "fifo";
    std::mutex mutex;
    std::deque<int64_t> values;
    int calls = 0;
    void count() { if (++calls == 700) abort(); }
    bool enqueue(int64_t value) {
        std::lock_guard one(mutex);
        count();
        values.push_back(value);
        return true;
    }
    bool dequeue(int64_t &value) {
        std::lock_guard one(mutex);
        count();
        if (values.empty()) return false;
        value = values.front();
        values.pop_front();
        return true;
    }
};
INTERLAP_TARGET(Ends)
"#;

#[test]
fn a_crash_in_a_free_round_loses_no_call() {
    let tool = Tool::new();
    let adapter = tool.adapter("ends.cpp", ENDS);
    let found = (1..=20).find_map(|seed| {
        let run = tool.fuzz(&adapter).native().findings(1).threads(2).seed(seed);
        let answer = run.with("--calls 500 --shrink 0s").out(format!("{seed}")).expect(1, &[]);
        let stored = answer.stored();
        stored.round.history.has_blocks().then_some(stored)
    });
    let stored = found.expect("one round of three is free");
    let history = &stored.round.history;
    let is_pending = |id: &OperationId| history.operation(*id).status == Status::Pending;
    let (pending, answered): (Vec<_>, Vec<_>) = history.ids().partition(is_pending);
    // The other thread may have been between its count and the record of its answer.
    assert!((698..700).contains(&answered.len()), "{} answered", answered.len());
    assert!((1..=2).contains(&pending.len()), "{pending:?}");
    assert!(answered.iter().all(|id| history.operation(*id).end < LATE));
}
