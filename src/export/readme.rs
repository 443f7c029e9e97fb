//! The README of an export: a draft and what became of it come in; Markdown goes out, for people
//! who know neither interlap nor the library.

use std::fmt::Write;

use super::program::Sign;
use super::search::Tried;
use super::{Draft, Material, controlled, headers};
use crate::core::plan::{Engine, quoted};
use crate::finding::interleaving::Interleaving;
use crate::finding::{Stored, What};

/// The words of a command as a shell needs them.
pub fn shell(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

pub fn text(material: &Material, draft: &Draft, tried: &Tried) -> String {
    let mut text = format!("# {}\n\n", material.title);
    let file = material.file();
    writeln!(
        text,
        "`{file}` is a program that shows the bug. It needs a compiler and the library, nothing \
         else. `report.md` is a report to send to the library's authors.\n\n\
         ## Compile and run\n\n```sh\n{}\n./reproducer\n```\n",
        shell(&draft.command)
    )
    .expect("writing to a string");
    text += &outcome(material, draft, tried);
    text += "\n## What to expect\n\n";
    text += &expect(material, draft);
    text += "\n## What is forced, and how\n\n";
    text += &forced(material, draft);
    if !draft.headers.is_empty() {
        text += &hooks(draft);
    }
    text += "\n## With interlap\n\n";
    text + &again(material.stored)
}

/// Whether it was tried, in words that promise nothing else.
pub fn outcome(material: &Material, draft: &Draft, tried: &Tried) -> String {
    match tried {
        Tried::No => {
            "**Not tried**: whether it compiles and shows the bug is not known yet.\n".into()
        }
        Tried::DoesNotCompile(words) => {
            let words: Vec<&str> = words.lines().take(12).collect();
            format!(
                "**It does not compile** where it was written, with this \
                command:\n\n```\n{}\n```\n\n\
                 Most often a directory of headers or a library is missing from it.\n",
                words.join("\n")
            )
        }
        Tried::Runs { .. } if !tried.is_shown() => {
            format!(
                "**It could not be reproduced without interlap**: {}. {} {}\n",
                tried.words(),
                tried.in_vain().unwrap_or_default(),
                instead(material, draft, tried)
            )
        }
        _ => format!("Tried where it was written: **it {}**.\n", tried.words()),
    }
}

fn instead(material: &Material, draft: &Draft, tried: &Tried) -> String {
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
        return "What decides it lies inside of single statements, in code that is not compiled \
                here, or in how memory is handed out. `interlap replay` shows it each time (below)."
            .to_string();
    }
    let way = if draft.script.has_turns {
        ""
    } else {
        "The moments at which threads were \
        interrupted are not known of native threads. "
    };
    format!(
        "{way}Let it try for longer (`./reproducer 600`), on more processors; or hunt the bug \
        where \
         the order is known and can be forced, and export that finding: `{}`",
        controlled(stored)
    )
}

fn expect(material: &Material, draft: &Draft) -> String {
    let seconds = if draft.script.has_turns { 10 } else { 60 };
    match material.sign() {
        Sign::Answers => format!(
            "It prints each call with its answer. When all answers are those of the finding, \
            the last \
             line says `REPRODUCED` and the exit status is 1. If they are not after {seconds} \
             seconds \
             (or as many as the argument says: `./reproducer 30`), it says `not seen in N \
             rounds` and \
             the status is 0; what differs is marked. Correct code cannot give these answers, \
             as the \
             calls follow each other at least as strictly as they did when the bug was found.\n"
        ),
        Sign::Crash if material.wants_sanitizer() => {
            "AddressSanitizer, a part of the compiler, ends the program with an error, and \
            status 1, \
             where the memory is used wrongly. Without `-fsanitize=address` it may well go \
             unnoticed. \
             If it ends with `not seen in N rounds`, and status 0, nothing went wrong.\n"
                .to_string()
        }
        Sign::Crash => "It crashes, or ends itself, in one of its calls. If it ends with `not \
        seen in N \
                        rounds`, and status 0, it did not.\n"
            .to_string(),
        Sign::Hang => "Calls never return; after some seconds the program says `REPRODUCED` and \
        ends \
                       with status 1. If it ends with `not seen in N rounds`, and status 0, they \
                       returned.\n"
            .to_string(),
    }
}

fn forced(material: &Material, draft: &Draft) -> String {
    let mut text = String::new();
    if !draft.script.has_turns {
        text += "Threads start together and run at once; nobody knows which of them goes first. \
                 A call waits only for those calls that had returned before it began in the \
                 finding. Each thread dawdles for a random short time before its calls, so that \
                 rounds differ.";
        text += match material.table.is_some_and(Interleaving::has_delays) {
            true => {
                " What is to happen is a store that stays in a processor's store buffer for a \
                 moment: threads must run on processors that are free.\n"
            }
            false => "\n",
        };
    } else {
        text += "One thread at a time runs, in turns that the program numbers (`my_turn`, \
        `end_turn`):\n\n";
        for line in draft.text.lines().skip_while(|line| *line != "// The threads:").skip(1) {
            let Some(line) = line.strip_prefix("//   ") else { break };
            writeln!(text, "- {line}").expect("writing to a string");
        }
    }
    if !draft.halts.is_empty() {
        text += "\nA call is left in the middle at a point in the code, `REPRODUCER_POINT(name)`; \
                 `stop_at(name, n, turn)` says that the next call of the thread stops when it \
                 comes \
                 there for the n-th time, until that turn. Everybody else passes it as if it \
                 was not \
                 there. A debugger, or a call of `sleep` there, would do the same.\n\n\
                 | point | where | thread | for the n-th time |\n|---|---|---|---|\n";
        for (halt, stop) in draft.halts.iter().zip(&draft.script.stops) {
            let (line, code) = halt.hook.line(&material.source);
            let history = &material.stored.round.history;
            let call = super::calls::call(history, stop.call);
            writeln!(
                text,
                "| `{}` | {line}, at `{}` | {}, in `{call}` | {} |",
                halt.hook.name,
                code.replace('|', "\\|"),
                stop.thread,
                halt.pass
            )
            .expect("writing to a string");
        }
    }
    if draft.reuses_memory {
        text += "\nMemory that is freed is handed out again at once, to any thread (`operator \
        new` in \
                 the program): allocators may do that at any time, and the bug depends on it.\n";
    }
    text
}

fn hooks(draft: &Draft) -> String {
    let mut text = format!(
        "\nThe points lie in the library's headers. `{}/` has copies of them, with the points \
        put in; \
         the compiler looks there first. Without `-I{}` the program compiles, too, but nothing \
         stops \
         where it should. These lines differ:\n\n```diff\n",
        headers::DIRECTORY,
        headers::DIRECTORY
    );
    for header in &draft.headers {
        let (path, name) = (header.path.display(), header.name.display());
        write!(text, "--- {path}\n+++ {}/{name}\n", headers::DIRECTORY)
            .expect("writing to a string");
        for (line, was, is) in &header.changes {
            write!(text, "@@ -{line} @@\n-{was}\n+{is}\n").expect("writing to a string");
        }
    }
    text + "```\n"
}

/// How to see it again with interlap.
pub fn again(stored: &Stored) -> String {
    let directory = quoted(&stored.directory.display().to_string());
    let plan = stored.finding.shrunk.as_ref().map_or(&stored.finding.plan, |shrunk| &shrunk.plan);
    let how = match (&stored.finding.what, stored.finding.plan.engine) {
        (_, Engine::Controlled) => "the round alone, the same each time",
        (_, Engine::Rr) => "the recording, the same each time",
        (What::Violation { .. } | What::Fault { .. }, Engine::Native) => "until it recurs",
    };
    format!("```sh\n{plan}  # how it was found\ninterlap replay {directory}  # {how}\n```\n")
}
