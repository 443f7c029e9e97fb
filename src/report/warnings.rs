//! Puts the warnings of a run into words, and why it tested next to nothing.

use std::time::Duration;

use super::words::{
    AGAIN_IN_A_FRESH_ONE, HARDLY_TESTED, RENEWED, STOOD_STILL, fault, places, whole_seconds,
};
use crate::core::plan::Engine;
use crate::finding::Failure;
use crate::fuzz::{Untested, Warning};
use crate::model::OtherType;
use crate::tla::methods::Type;
use crate::trace::frame::Growth;

/// Why a run says next to nothing about its target, and what to do.
pub fn untested(why: Untested) -> String {
    let (what, advice) = match why {
        Untested::Stuck { rounds } => {
            return format!(
                "Not decided: {rounds} of the rounds under way at the end of the run were stuck; \
                 give it more time (--for), or wait less for a hang (--hang)."
            );
        }
        Untested::NoRound => (
            "no round was over whose calls can overlap".to_string(),
            "give it more time (--for), or see what holds it up with another --engine",
        ),
        Untested::Undecided { rounds, decided } => (
            format!("{decided} of {rounds} rounds were decided"),
            "try fewer calls (--calls) or threads (--threads)",
        ),
        Untested::NoOverlap { operations, overlapping } => (
            format!("{overlapping} of {operations} calls overlapped one of another thread"),
            "try more threads (--threads), more calls (--calls) or another --engine",
        ),
        Untested::NothingShared { rounds } => (
            format!(
                "in {rounds} rounds no thread was seen to notice another, by an atomic access, a \
                 lock or a wait"
            ),
            "try --engine native, or plain accesses alone with --plain-points",
        ),
    };
    format!("{HARDLY_TESTED}: {what}; {advice}.")
}

/// More says only that hardly a call returned.
const TIMES_MAX: u64 = 1000;

/// A warning of a run.
pub fn warning(warning: &Warning) -> String {
    match warning {
        Warning::Doubtful { round, fault: what, grown } => {
            let why = match grown {
                true => "Its process had grown much in the rounds before",
                false => "Its process was killed, by the kernel for want of memory or by somebody",
            };
            let what = fault(what);
            format!(
                "round {round}: {what} {why}, so {AGAIN_IN_A_FRESH_ONE}; only what happens there \
                 counts"
            )
        }
        Warning::Stalled { round, seconds } => format!(
            "round {round} {STOOD_STILL} {}, and nothing shows that the target is the \
             cause: none of its code was under way, its threads were stopped, waited for a disk or \
             hardly got a processor, or a pause before was over a quarter as long. The round is \
             left out, and the run goes on with a fresh process",
            whole_seconds(*seconds)
        ),
        Warning::Misjudged { round } => format!(
            "round {round}: the target's process judged it otherwise than this program, whose \
             verdict counts. Most likely the target overwrites memory that is not its own: look \
             for that first, for instance with AddressSanitizer, because until then violations \
             may be missed. The run goes on with a fresh process"
        ),
        Warning::Stuck { round, fault, patience } => stuck(*round, fault, *patience),
        Warning::Growth(Growth { bytes, descriptors, rounds }, Engine::Controlled) => format!(
            "the target's process grew by {} MiB and {descriptors} open files in {rounds} rounds \
             and {RENEWED}, as often as needed: destroy does not give back all that was \
             mapped or opened, or the target does that once and for good, which it repeats in \
             each round, because its variables are put back",
            bytes >> 20
        ),
        Warning::Growth(Growth { bytes, rounds, .. }, Engine::Native | Engine::Rr) => format!(
            "the target's process grew by {} MiB in {rounds} rounds and {RENEWED}: destroy \
             or leave may not free everything that create, enter and the calls took",
            bytes >> 20
        ),
        Warning::Unjudged { round, explained, unjudged } => format!(
            "round {round}: an order explains its first {explained} calls; the time was over \
             before the last {unjudged} were judged. `interlap check` of a --trace judges all"
        ),
        Warning::Oversubscribed { processors, times_slower } => format!(
            "rounds with more threads than processors ({processors}) crawl, each call takes {} \
             times as long as in others: threads that spin wait for one that does not run. \
             --threads {processors} does more in the time; so may --engine controlled",
            match times_slower {
                ..=TIMES_MAX => times_slower.to_string(),
                _ => format!("over {TIMES_MAX}"),
            }
        ),
        Warning::NeverCalled(methods) => format!(
            "no operation, so never called: {}(). A class is tested by the methods that \
             interlap.hpp lists, with these names and parameters, or by those that \
             INTERLAP_OPERATIONS lists",
            methods.join("(), ")
        ),
        Warning::OneSided { offers, lacks } => format!(
            "the target offers {}, but no {}: many bugs cannot show. If the class has such a \
             method, give it the name and the parameters listed in interlap.hpp",
            offers.join(" and "),
            lacks.join(" or "),
        ),
        Warning::OtherType(of) => other_type(of),
        Warning::Other(words) => words.clone(),
    }
}

fn other_type(of: &OtherType) -> String {
    let OtherType { method, argument, action, parameter, expected } = of;
    let (what, own) = match argument {
        Some(at) => (format!("argument {} of {}", at + 1, method.text()), &method.arguments()[*at]),
        None => (format!("the result of {}", method.text()), method.result()),
    };
    format!(
        "{what} is {own}, and {parameter} of {action} is {} as the specification uses it: change \
         one of the two, unless you know better",
        specified(expected)
    )
}

/// A type of a specification, as its readers call it.
fn specified(of: &Type) -> String {
    match of {
        Type::Bool => "TRUE or FALSE".to_string(),
        Type::Int => "an integer".to_string(),
        Type::Text => "a string".to_string(),
        Type::List(of) => format!("a sequence (of {})", specified(of)),
        Type::Set(of) => format!("a set (of {})", specified(of)),
        Type::Optional(of) => format!("{}, or no value", specified(of)),
        Type::Any => "any value".to_string(),
    }
}

fn stuck(round: u64, what: &Failure, patience: Duration) -> String {
    let places = match places(what) {
        places if places.is_empty() => String::new(),
        places => format!(" Its threads: {}.", places.join("; ")),
    };
    format!(
        "round {round} was stuck when the run ended. {}{places} After {} and a quarter more \
         (--hang) it would have been a finding: give the run more time (--for), or make --hang \
         shorter",
        fault(what),
        whole_seconds(patience.as_secs())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_that_a_reader_believes() {
        let crawls =
            |times_slower| warning(&Warning::Oversubscribed { processors: 2, times_slower });
        assert!(crawls(64).contains(" 64 times"), "{}", crawls(64));
        assert!(crawls(35_828_731).contains(" over 1000 times"), "{}", crawls(35_828_731));
        let stalled = |seconds| warning(&Warning::Stalled { round: 7, seconds });
        assert!(stalled(0).contains("for less than 1 s,"), "{}", stalled(0));
        assert!(stalled(3).contains("for 3 s,"), "{}", stalled(3));
    }
}
