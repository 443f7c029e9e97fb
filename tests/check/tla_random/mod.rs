//! Random expressions of TLA+ against TLC, where its JAR is: both give the same value, or both
//! refuse.

mod expressions;
mod forms;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use interlap::tla::evaluate;

use super::tla::deeply;
use expressions::{Generator, PRELUDE};

const EXTENDS: &str = "EXTENDS Integers, Sequences, FiniteSets, TLC";

/// Expressions with values that one run of TLC is given: it takes a second to start.
const IN_A_RUN: usize = 250;

/// TLC orders strings by where they come first.
const ORDER: &str = "TheOrder == [a |-> 0, b |-> 0, c |-> 0]";

/// What TLC says of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    /// It has the value that it was compared with.
    Equal,
    Different,
    Refused,
    /// TLC's integers have 32 bits.
    Overflow,
}

/// An expression, and its value here, if it has one.
struct Asked {
    expression: String,
    value: Option<String>,
}

fn jar() -> PathBuf {
    let Some(jar) = std::env::var_os("INTERLAP_TLC") else {
        panic!("INTERLAP_TLC must be the path of TLC's tla2tools.jar; `make test-long` fetches it");
    };
    let jar = PathBuf::from(jar);
    assert!(jar.is_file(), "{}: there is no such file", jar.display());
    jar
}

/// What TLC prints about a module.
fn run(jar: &Path, module: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
    write("M.tla", module).expect("a file");
    write("M.cfg", "").expect("a file");
    let mut java = Command::new("java");
    java.args(["-Xmx1g", "-Xss64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]);
    java.arg(jar).args(["tlc2.TLC", "-deadlock", "-nowarning", "-workers", "1", "M.tla"]);
    let output = java.current_dir(folder.path()).output().expect("Java is installed");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What TLC says of each.
fn ask(jar: &Path, all: &[Asked]) -> Vec<Answer> {
    let mut module = format!("---- MODULE M ----\n{EXTENDS}\n{ORDER}\n{PRELUDE}");
    for Asked { expression, value } in all {
        let value =
            value.as_ref().map_or("TRUE".to_owned(), |of| format!("({expression}) = ({of})"));
        writeln!(module, "ASSUME PrintT({expression}) /\\ PrintT(<<\"is\", {value}>>)")
            .expect("memory");
    }
    let output = run(jar, &(module + "====\n"));
    let is_of = |line: &&str| line.starts_with("<<\"is\", ");
    let said = output.lines().filter(is_of);
    let mut answers: Vec<Answer> = said
        .map(|line| if line.contains(", TRUE>>") { Answer::Equal } else { Answer::Different })
        .collect();
    if answers.len() == all.len() {
        return answers;
    }
    assert!(output.contains("Error"), "TLC did not end as it should:\n{output}");
    let is_read = output.contains("Error: Evaluating assumption");
    if is_read || all.len() == 1 {
        let is_overflow = output.contains("Overflow when computing");
        answers.push(if is_overflow { Answer::Overflow } else { Answer::Refused });
        answers.extend(ask_some(jar, &all[answers.len()..]));
        return answers;
    }
    // It does not get past the one that is wrong.
    let (first, second) = all.split_at(all.len() / 2);
    [ask(jar, first), ask(jar, second)].concat()
}

fn ask_some(jar: &Path, all: &[Asked]) -> Vec<Answer> {
    if all.is_empty() { Vec::new() } else { ask(jar, all) }
}

/// TLC is needed, which `make test-long` fetches.
#[test]
#[ignore = "asks TLC for minutes: make test-long"]
fn random_expressions_are_what_tlc_says() {
    deeply(check);
}

fn check() {
    let (jar, count) = (jar(), crate::how_many(20_000));
    let (mut valued, mut refused) = made(count);
    let share = valued.len() * 100 / count;
    // TLC runs once for each that is refused.
    refused.truncate(80 + count / 100);
    println!("{share} % have a value; compared: {}, and {} others", valued.len(), refused.len());
    assert!(share > 75 && refused.len() > 50);
    let (mut wrong, mut overflows, mut lenient) = (0, 0, 0);
    for (some, wanted) in [(&mut valued, Answer::Equal), (&mut refused, Answer::Refused)] {
        let in_a_run = if wanted == Answer::Equal { IN_A_RUN } else { 1 };
        for some in some.chunks(in_a_run) {
            for (asked, answer) in some.iter().zip(ask(&jar, some)) {
                match answer {
                    answer if answer == wanted => continue,
                    Answer::Overflow => overflows += 1,
                    Answer::Refused => lenient += 1,
                    Answer::Equal | Answer::Different => wrong += 1,
                }
                if answer != Answer::Overflow {
                    let here = asked.value.as_deref().unwrap_or("refused");
                    println!("{}\n  is {here} here; TLC: {answer:?}", asked.expression);
                }
            }
        }
    }
    // A wrong type is not refused here without need: TLC compares an argument with all those of a
    // function, and evaluates the sets of all names that are bound, though one of them be empty.
    assert!(lenient <= count / 1000, "{lenient} are refused by TLC alone");
    assert!(overflows < count / 50, "{overflows} are too large for TLC");
    assert_eq!(wrong, 0, "they differ");
}

/// Random expressions: those that have a value here, and those that have none.
fn made(count: usize) -> (Vec<Asked>, Vec<Asked>) {
    let module = format!("---- MODULE T ----\n{EXTENDS}\n{PRELUDE}====\n");
    let mut generator = Generator::new(71);
    let made = (0..count).map(|_| {
        let expression = generator.expression();
        let value = evaluate(&module, &expression);
        Asked { expression, value: value.ok().map(|value| value.to_string()) }
    });
    made.partition(|asked| asked.value.is_some())
}
