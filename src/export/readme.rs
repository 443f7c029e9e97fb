//! Writes the README of an export, for people who know neither interlap nor the library.

use std::fmt::Write;

use super::program::Symptom;
use super::search::TrialResult;
use super::{Draft, FILE, Material, controlled_command};
use crate::core::plan::{Engine, quoted};
use crate::finding::{Failure, Stored};

/// A command, quoted for a shell.
pub fn shell(words: &[&str]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

pub fn text(material: &Material, draft: &Draft, tried: &TrialResult) -> String {
    let mut text = format!("# {}\n\n", material.title);
    write!(
        text,
        "`{FILE}` is a program that shows the bug. It needs a compiler and the library, nothing \
         else: the library's headers are compiled as they are installed. `adapter/` says how the \
         library is called. `report.md` is a report to send to the library's authors.\n\n\
         ## Compile and run\n\n```sh\n{}\n./reproducer\n```\n\n",
        draft.command
    )
    .expect("writing to a string");
    text += &outcome(material, draft, tried);
    text += "\n## What to expect\n\n";
    text += &expect(material, draft);
    text += "\n## What is forced, and how\n\n";
    text += &forced(material, draft);
    text += "\n## With interlap\n\n";
    text + &with_interlap(material.stored)
}

/// The result of trying the draft; promises nothing that was not tried.
pub fn outcome(material: &Material, draft: &Draft, tried: &TrialResult) -> String {
    match tried {
        TrialResult::NotTried => {
            "**Not tried**: whether it compiles and shows the bug is not known yet.\n".into()
        }
        TrialResult::DoesNotCompile(words) => {
            let words: Vec<&str> = words.lines().take(12).collect();
            format!(
                "**It does not compile** where it was written, with this \
                command:\n\n```\n{}\n```\n\n\
                 Most often a directory of headers or a library is missing from it.\n",
                words.join("\n")
            )
        }
        TrialResult::Runs { .. } if !tried.is_shown() => {
            format!(
                "**It could not be reproduced without interlap**: {}. {} {}\n",
                tried.words(),
                tried.failed_effort().unwrap_or_default(),
                advice(material, draft, tried)
            )
        }
        _ => format!("Tried where it was written: **it {}**.\n", tried.words()),
    }
}

/// What to do after the draft did not reproduce the finding.
fn advice(material: &Material, draft: &Draft, tried: &TrialResult) -> String {
    let stored = material.stored;
    let directory = quoted(&stored.directory.display().to_string());
    if stored.finding.plan.engine == Engine::Controlled && stored.finding.shrunk.is_none() {
        return format!(
            "It was not shrunk, and each place at which a thread was stopped has to be found: make \
             it smaller with `interlap shrink {directory}`, and export it again."
        );
    }
    if tried.is_cut_short() {
        return format!("To try more of them: `interlap export {directory} --try-for 5m`.");
    }
    if stored.finding.plan.engine == Engine::Controlled {
        return "What decides it is done by code that is not compiled here, or by threads of the \
                library's own. `interlap replay` shows it each time (below)."
            .to_string();
    }
    let way = if draft.runtime.schedule().is_some() {
        ""
    } else {
        "The moments at which threads were \
        interrupted are not known of native threads. "
    };
    format!(
        "{way}Let it try for longer (`./reproducer 600`), on more processors; or hunt the bug \
        where \
         the order is known and can be forced, and export that finding: `{}`",
        controlled_command(stored)
    )
}

fn expect(material: &Material, draft: &Draft) -> String {
    let is_scheduled = draft.runtime.schedule().is_some();
    let otherwise = match is_scheduled {
        true => {
            "`not reproduced: the schedule could be followed to step N of M`: the library has \
             taken another way at that step, or has done the same and answered rightly. Status 0"
        }
        false => "`not seen in N rounds`, with status 0",
    };
    match material.symptom() {
        Symptom::Answers => format!(
            "It prints each call with its answer. When all answers are those of the finding, the \
             last line says `REPRODUCED` and the exit status is 1. Otherwise it says {otherwise}; \
             answers that differ are marked. Correct code cannot give these answers, as the calls \
             follow each other at least as strictly as they did when the bug was found.{}\n",
            match material.stored.uninitialised().is_empty() {
                true => "",
                false => FILLED,
            }
        ),
        Symptom::Crash if material.wants_sanitizer() && is_scheduled => format!(
            "It says `REPRODUCED`, and ends with status 1, at the access that uses memory \
             wrongly: a breakpoint on `wrong` stops there. Otherwise it says {otherwise}.\n"
        ),
        Symptom::Crash if material.wants_sanitizer() => format!(
            "AddressSanitizer, a part of the compiler, ends the program with an error, and status \
             1, where the memory is used wrongly. Without `-fsanitize=address` it may well go \
             unnoticed. Otherwise it says {otherwise}.\n"
        ),
        Symptom::Crash => format!(
            "It crashes, or ends itself, in one of its calls. Otherwise it says {otherwise}.\n"
        ),
        Symptom::Race => format!(
            "ThreadSanitizer, a part of the compiler, reports the race, with both accesses, the \
             last line says `REPRODUCED`, and the exit status is 1. Otherwise it says \
             {otherwise}. (If it stops at once with `unexpected memory mapping`: `setarch -R \
             ./reproducer`.)\n"
        ),
        Symptom::Hang => format!(
            "Calls never return; after some seconds the program says `REPRODUCED` and ends with \
             status 1. Otherwise it says {otherwise}.\n"
        ),
    }
}

const FILLED: &str = " An answer of the finding is memory that nobody has written. To tell that \
                      from a value, the program fills what `malloc` gives with bytes 0xa5.";

fn forced(material: &Material, draft: &Draft) -> String {
    let Some(schedule) = draft.runtime.schedule() else {
        let mut text = "Threads start together and run at once; nobody knows which of them goes \
                        first. A call waits only for those calls that had returned before it began \
                        in the finding. Each thread dawdles for a random short time before its \
                        calls, so that rounds differ."
            .to_string();
        let has_delays = material.execution.is_some_and(|execution| execution.table.has_delays());
        text += if has_delays { IN_BUFFERS } else { "\n" };
        return text;
    };
    let mut text = format!(
        "One thread at a time runs, in {} turns that `{FILE}` lists (`turns`): a thread goes on \
         until one of its calls is about to do what its turn ends at, say the second 8-byte \
         `SWAP` (compare and exchange); then the thread of the next turn does. The adapter and \
         the library's headers are compiled with `-fsanitize=thread`, so that they call a \
         function before each access; these functions are in `hooks.c`, not those of \
         ThreadSanitizer. Nothing is changed in the library: edit it, compile again, and see \
         whether the same order still shows the bug. Accesses are counted by kind and size \
         within a call, so that most changes leave the turns where they are.\n",
        schedule.turns.len()
    );
    if !schedule.held.is_empty() {
        text += "\nStores that `held` lists stay in their thread's store buffer until a turn \
                 `DRAIN`, as they may on x86 until a fence or a locked instruction.\n";
    }
    if !schedule.older.is_empty() {
        text += "\nAccesses that `older` lists do not meet the newest store of their location: the \
                 memory of C++ allows that (`schedule.c` keeps the older ones). Other processors \
                 than x86 do it, and any compiler may.\n";
    }
    if schedule.reuses_memory {
        text += "\nMemory that is freed is handed out again at once, to any thread (`malloc` in \
                 `schedule.c`): allocators may do that at any time.\n";
    }
    text
}

const IN_BUFFERS: &str = " What is to happen is a store that stays in a processor's store buffer \
                          for a moment: threads must run on processors that are free.\n";

/// The commands that show the finding with interlap.
pub fn with_interlap(stored: &Stored) -> String {
    let directory = quoted(&stored.directory.display().to_string());
    let plan = stored.finding.shrunk.as_ref().map_or(&stored.finding.plan, |shrunk| &shrunk.plan);
    let how = match (&stored.finding.what, stored.finding.plan.engine) {
        (_, Engine::Controlled) => "the round alone, the same each time",
        (_, Engine::Rr) => "the recording, the same each time",
        (Failure::Violation { .. } | Failure::Fault { .. }, Engine::Native) => "until it recurs",
    };
    format!("```sh\n{plan}  # how it was found\ninterlap replay {directory}  # {how}\n```\n")
}
