//! Makes the commands with which gdb stops at calls in a replay.
//! Calls are found by the markers of the harness (harness/marker.rs). The commands need no Python,
//! because some builds of gdb lack it.

use std::fmt::Write;

use super::locate::Timebox;

/// Events to begin before an operation, because `-g` may stop a few events late.
const MARGIN: u64 = 10;

/// A moment is printed after this, `begin`, `end` or `last`, and the call's number from 1.
pub const LOG: &str = "interlap-moment";

/// The way to ask rr's debugger for the current moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// By rr's commands, which need a gdb with Python.
    Commands,
    /// By the packets that these commands send (rr 5.7 and later).
    Packets,
}

impl Ask {
    /// Event, tick, and gdb's name of the thread. rr's `when-tid` would give the number that the
    /// thread has only in this replay.
    fn lines(self) -> &'static str {
        match self {
            Ask::Commands => "when\nwhen-ticks\nthread\n",
            Ask::Packets => {
                "maint packet qRRCmd:when:-1\nmaint packet qRRCmd:when-ticks:-1\nthread\n"
            }
        }
    }
}

/// The event at which a replay begins to reach an operation that starts in `event`.
pub fn event_before(event: u64) -> u64 {
    event.saturating_sub(MARGIN)
}

/// The breakpoint at the marker of a call's invocation.
pub fn at_begin(call: &Timebox) -> String {
    format!("*interlap_op_begin if {}", condition(call.start))
}

/// The breakpoint at the marker of its response; none if it never returned.
pub fn at_end(call: &Timebox) -> Option<String> {
    Some(format!("*interlap_op_end if {}", condition(call.end?)))
}

/// The stamp identifies the call in the recording. It is read from the register of the x86-64
/// calling convention, because optimised code has no named parameters.
fn condition(stamp: u64) -> String {
    format!("$rdx == {stamp}")
}

/// Commands that print the moments of `round`'s calls. With `to_end` they run through the recording
/// and print the moment of its end or of the signal that ended it; else they quit at the last call.
pub fn pass(round: u64, calls: &[Timebox], to_end: bool, ask: Ask) -> String {
    let mut places = Vec::new();
    for (number, call) in (1..).zip(calls) {
        places.push((at_begin(call), format!("begin {number}")));
        places.extend(at_end(call).map(|place| (place, format!("end {number}"))));
    }
    let (count, first) = (places.len(), 2);
    let last = first + count - 1;
    // The markers may be passed a million times before: these breakpoints are disabled until the
    // round begins.
    let mut text = format!(
        "set pagination off\nset confirm off\nset language c\nset print thread-events off\n\
         handle all nostop noprint pass\n\
         handle SIGSEGV SIGABRT SIGBUS SIGFPE SIGILL SIGKILL stop print\n\
         set $interlap_left = {count}\n\
         break *interlap_round_begin if $rdi == {round}\ncommands\nsilent\n\
         enable {first}-{last}\ncontinue\nend\n"
    );
    let done = if to_end { "delete" } else { "kill\nquit" };
    for (place, name) in places {
        write!(
            text,
            "break {place}\ncommands\nsilent\necho {LOG} {name}\\n\n{}\
             set $interlap_left = $interlap_left - 1\nif $interlap_left == 0\n{done}\nend\n\
             continue\nend\ndisable $bpnum\n",
            ask.lines()
        )
        .expect("writing to a string");
    }
    if count == 0 {
        text = text.replace(&format!("enable {first}-{last}\n"), "");
    }
    text + &format!("continue\necho {LOG} last 0\\n\n{}kill\n", ask.lines())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLS: [Timebox; 2] =
        [Timebox { start: 13519, end: Some(13520) }, Timebox { start: 13525, end: None }];

    #[test]
    fn a_call_is_identified_by_its_stamp() {
        let place = "*interlap_op_begin if $rdx == 13519";
        assert_eq!(at_begin(&CALLS[0]), place);
        assert_eq!(at_end(&CALLS[1]), None);
    }

    #[test]
    fn a_pass_waits_for_the_round_and_ends_with_the_last_call() {
        let text = pass(19, &CALLS, false, Ask::Commands);
        assert!(text.contains("interlap_round_begin if $rdi == 19\n"), "{text}");
        assert!(text.contains("enable 2-4\n") && text.contains("$interlap_left = 3\n"), "{text}");
        assert!(text.contains("kill\nquit\n") && !text.contains("python"), "{text}");
        assert_eq!(text.matches("disable $bpnum").count(), 3);
        assert!(pass(19, &CALLS, true, Ask::Packets).contains("delete\n"));
        assert!(!pass(19, &[], true, Ask::Commands).contains("enable"));
    }

    #[test]
    fn a_margin_is_left_before_an_event() {
        assert_eq!((event_before(100), event_before(3)), (90, 0));
    }
}
