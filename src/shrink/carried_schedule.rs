//! Carries the schedule of a scenario over to a smaller scenario.
//! The turns of removed calls and threads are moved or removed, and positions are renumbered.

use crate::core::plan::Scenario;
use crate::schedule::{Position, Spec, Turn};

/// Steps of a thread at the boundary before a call.
const BOUNDARY: u32 = 1;

/// The turns of the scenario's schedule.
pub(super) fn turns(scenario: &Scenario) -> Vec<Turn> {
    scenario.schedule.as_deref().map(parsed).unwrap_or_default()
}

/// The turns of a schedule `turns:...` or `near:...`.
pub(super) fn parsed(text: &str) -> Vec<Turn> {
    match text.parse() {
        Ok(Spec::Turns(turns) | Spec::Near(turns)) => turns,
        _ => Vec::new(),
    }
}

/// Replaces the schedule of a scenario, if it has one, by schedules near these turns.
pub(super) fn put(scenario: &mut Scenario, mut turns: Vec<Turn>) {
    if scenario.schedule.is_some() {
        turns.sort_by_key(|turn| (turn.thread, turn.position));
        scenario.schedule = Some(Spec::Near(turns).to_string());
    }
}

/// The turns without the calls for which `is_out` is true, by thread and number. A turn inside a
/// removed call moves to the boundary before the next call.
pub(super) fn without_calls(turns: &[Turn], is_out: impl Fn(usize, u32) -> bool) -> Vec<Turn> {
    let mut fewer: Vec<Turn> = Vec::new();
    for turn in turns {
        let Position { call, steps, repeats } = turn.position;
        let out = (1..call).filter(|number| is_out(turn.thread, *number - 1)).count() as u32;
        let position = |steps, repeats| Position { call: call - out, steps, repeats };
        let moved = match call > 0 && is_out(turn.thread, call - 1) {
            true => Turn { position: position(BOUNDARY, 0), gives_way: false, ..*turn },
            false => Turn { position: position(steps, repeats), ..*turn },
        };
        // Only the last of several turns at one boundary matters.
        fewer.retain(|other| {
            moved.position.steps > BOUNDARY
                || (other.thread, other.position) != (moved.thread, moved.position)
        });
        fewer.push(moved);
    }
    fewer
}

/// The turns without this thread, which has no calls. Higher threads are renumbered.
pub(super) fn without_thread(turns: &[Turn], thread: usize) -> Vec<Turn> {
    let lower = |number: usize| number - usize::from(number > thread);
    let left = turns.iter().filter(|turn| turn.thread != thread && turn.to != thread);
    left.map(|turn| Turn { thread: lower(turn.thread), to: lower(turn.to), ..*turn }).collect()
}

/// The turns after the calls of `thread` were appended to the `calls` of `other`.
pub(super) fn joined(turns: &[Turn], thread: usize, other: usize, calls: usize) -> Vec<Turn> {
    let moved = |turn: &Turn| {
        let mut turn = *turn;
        if turn.thread == thread {
            turn.thread = other;
            turn.position.call += calls as u32;
        }
        if turn.to == thread {
            turn.to = other;
        }
        turn
    };
    let moved: Vec<Turn> = turns.iter().map(moved).filter(|turn| turn.thread != turn.to).collect();
    without_thread(&moved, thread)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thread 0 has three calls, thread 1 two, thread 2 one; thread 3 made the structure.
    const TURNS: &str = "turns:0.1.1@1,0.2.7@1,0.3.5@2,0.4.3~1,1.1.4@0,1.2.9~2,2.1.2@1,3.0.4~0";

    fn sample() -> Vec<Turn> {
        parsed(TURNS)
    }

    fn text(turns: Vec<Turn>) -> String {
        Spec::Turns(turns).to_string()
    }

    #[test]
    fn turns_in_removed_calls_move_before_the_next_call() {
        let fewer = without_calls(&sample(), |thread, call| (thread, call) == (0, 1));
        let expected = "turns:0.1.1@1,0.2.1@1,0.2.5@2,0.3.3~1,1.1.4@0,1.2.9~2,2.1.2@1,3.0.4~0";
        assert_eq!(text(fewer), expected);
        let fewer = without_calls(&sample(), |thread, call| thread == 0 && call < 3);
        assert!(text(fewer).starts_with("turns:0.1.1@2,0.1.3~1,1.1.4@0"), "{TURNS}");
    }

    #[test]
    fn removing_a_thread_renumbers_the_others() {
        let fewer = without_thread(&sample(), 1);
        assert_eq!(text(fewer), "turns:0.3.5@1,2.0.4~0");
        let one = joined(&sample(), 2, 0, 3);
        let expected = "turns:0.1.1@1,0.2.7@1,0.4.3~1,1.1.4@0,1.2.9~0,0.4.2@1,2.0.4~0";
        assert_eq!(text(one), expected);
    }

    #[test]
    fn a_scenario_keeps_its_schedule_in_order() {
        let mut scenario = Scenario { schedule: Some(TURNS.to_string()), ..Scenario::default() };
        assert_eq!(turns(&scenario), sample());
        put(&mut scenario, joined(&sample(), 2, 0, 3));
        let expected = "near:0.1.1@1,0.2.7@1,0.4.2@1,0.4.3~1,1.1.4@0,1.2.9~0,2.0.4~0";
        assert_eq!(scenario.schedule.as_deref(), Some(expected));
        let mut without = Scenario::default();
        put(&mut without, sample());
        assert_eq!(without, Scenario::default());
    }
}
