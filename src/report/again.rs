//! Says what became of a finding whose plan was run again.

use crate::core::measured::time;
use crate::finding::Stored;
use crate::fuzz::{Again, OwnRound, Shown, rounds_enough};

/// The result in a sentence or a few.
pub fn sentences(stored: &Stored, again: &Again) -> String {
    let lead = match again.own {
        Some(_) if again.further == 0 || again.is_same() => {
            format!("Round {}, run alone in a fresh process", stored.finding.round)
        }
        _ => format!("In {} rounds", again.rounds),
    };
    match &again.shown {
        Shown::Same(_) if again.further > 0 => same_under_another_schedule(stored, again),
        Shown::Same(_) => match again.own {
            Some(own) if own.is_identical => {
                format!("{lead}: the same again, and the history is identical, record by record.")
            }
            Some(own) if own.is_followed => format!(
                "{lead}: the same verdict again, but by another history: something besides the \
                 plan decides what happens (addresses, time, what the target keeps between runs)."
            ),
            Some(own) => format!("{lead}: the same again, by another history. {}", steps(own)),
            None => format!("It recurred after {} rounds.", again.rounds),
        },
        Shown::Other(other) => {
            format!("{lead}: not this finding, but another one: {}.", other.finding.signature)
        }
        Shown::Nothing => not_reproduced(stored, again),
        Shown::Undecided => format!(
            "{lead}: not decided: it was not over, or its history not checked, in time; --for \
             gives it more."
        ),
    }
}

fn same_under_another_schedule(stored: &Stored, again: &Again) -> String {
    let course = again.own.map(steps).unwrap_or_default();
    format!(
        "Round {}, run alone in a fresh process, did not show this again. {course} Under another \
         schedule the same calls showed it again, after {} rounds.",
        stored.finding.round, again.further
    )
}

fn not_reproduced(stored: &Stored, again: &Again) -> String {
    let Some(own) = again.own else { return not_recurred(stored, again) };
    let of = own.planned.map_or(String::new(), |planned| format!(" of {planned}"));
    let ran = own.operations;
    let mut text = format!(
        "Round {}, run alone in a fresh process: not reproduced: {ran}{of} operations ran, the \
         answers are explained.",
        stored.finding.round
    );
    text += &format!(" {}", steps(own));
    if again.further > 0 {
        let further = again.further;
        text += &format!(" {further} further schedules of the same calls show nothing either.");
    }
    if !again.is_enough {
        text += " It was not reproduced when it was found, either: something besides the plan \
                 decides it, so that this says little.";
    }
    text
}

/// How far the schedule of the finding could be followed.
fn steps(own: OwnRound) -> String {
    let [then, now] = own.steps;
    match own.is_followed {
        true => format!("The schedule was followed, step for step ({now} steps)."),
        false => format!(
            "The schedule was followed only as far as it goes: the code takes other steps than \
             when this was found ({now} steps, then {then})."
        ),
    }
}

/// Of native threads.
fn not_recurred(stored: &Stored, again: &Again) -> String {
    let (rounds, spent) = (again.rounds, time(again.seconds));
    let mut text =
        format!("Not reproduced: {rounds} rounds ran in {spent}, the answers are explained.");
    match (again.is_enough, rounds_enough(stored)) {
        (true, Some(enough)) if enough > 1 => {
            text += &format!(" {enough} rounds would have shown it 19 times in 20.");
        }
        (true, _) => {}
        (false, Some(enough)) => {
            text += &format!(
                " That is too few to say that it is gone: {enough} would show it 19 times in 20; \
                 try longer (--for)."
            );
        }
        (false, None) => {
            text += " That does not say that it is gone: native threads are scheduled differently \
                     each time, and how often they show it was not measured (`interlap shrink` \
                     does). Try longer (--for), or a quieter or busier machine.";
        }
    }
    text
}
