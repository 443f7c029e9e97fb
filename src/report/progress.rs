//! Shows the progress of a run and its findings on standard error.
//! On a terminal one line renews itself; elsewhere a plain line is printed now and then.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::finding::Stored;
use crate::fuzz::{Observer, Options, Statistics, Warning};
use crate::model::Spec;
use crate::report::output::{note, visible};
use crate::report::{coverage, directory, text, warnings, words};
use crate::trace::frame::Hello;

const PLAIN_LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows a run to a person.
pub struct Progress {
    bar: ProgressBar,
    plain: bool,
    quiet: bool,
    last_line: Instant,
    duration_max: Option<Duration>,
    /// Which findings get one line now, because the caller reports them later.
    is_deferred: fn(&Stored) -> bool,
    deferred: Vec<String>,
    telling: Telling,
}

/// How much findings are told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Telling {
    /// Whole reports.
    Whole,
    /// The next one with its picture, those after it in a few lines.
    First,
    FewLines,
}

impl Progress {
    /// `quiet`: nothing but warnings.
    pub fn new(duration_max: Option<Duration>, quiet: bool) -> Progress {
        let plain = !std::io::stderr().is_terminal();
        let target = match plain || quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(10),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template("{spinner} {msg}");
        bar.set_style(style.expect("a fixed template that is right"));
        let (last_line, is_deferred) = (Instant::now(), (|_| false) as fn(&Stored) -> bool);
        let deferred = Vec::new();
        let telling = Telling::Whole;
        Progress { bar, plain, quiet, last_line, duration_max, is_deferred, deferred, telling }
    }

    pub fn telling(self, telling: Telling) -> Progress {
        Progress { telling, ..self }
    }

    /// Prints only a line for findings that the caller reports later.
    pub fn deferring(self, is_deferred: fn(&Stored) -> bool) -> Progress {
        Progress { is_deferred, ..self }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// The names of the findings that got only a line, and how they are to be told.
    pub fn deferred(self) -> (Vec<String>, Telling) {
        (self.deferred, self.telling)
    }

    /// Tells of a finding.
    pub fn report(&mut self, stored: &Stored) {
        if self.quiet {
            return;
        }
        let words = match self.telling {
            Telling::Whole => text::render(stored),
            Telling::First => text::brief(stored),
            Telling::FewLines => text::in_few_lines(stored),
        };
        if self.telling == Telling::First {
            self.telling = Telling::FewLines;
        }
        self.say(&format!("\n{words}"));
    }

    /// Prints a line of progress, not too often.
    pub fn status(&mut self, line: impl FnOnce() -> String) {
        if self.quiet {
            return;
        }
        if !self.plain {
            self.bar.set_message(visible(&line()).into_owned());
            self.bar.tick();
        } else if self.last_line.elapsed() >= PLAIN_LINE_EVERY {
            self.last_line = Instant::now();
            self.say(&line());
        }
    }

    fn say(&self, line: &str) {
        if self.plain {
            note!("{line}");
        } else {
            self.bar.suspend(|| note!("{line}"));
        }
    }

    fn line(&self, statistics: &Statistics) -> String {
        let left = self.duration_max.map(|max| max.saturating_sub(statistics.elapsed).as_secs());
        let left = left.map(|seconds| format!(", {seconds} s left")).unwrap_or_default();
        format!("{}{left}", summary_line(statistics))
    }
}

/// Rounds, rates, overlap and findings in one line.
pub fn summary_line(statistics: &Statistics) -> String {
    let seconds = statistics.elapsed.as_secs_f64().max(1e-3);
    let rate = |count: u64| short(count as f64 / seconds);
    let overlap = 100.0 * statistics.overlap();
    let undecided = match statistics.undecided() {
        0 => String::new(),
        n => format!(", {} undecided", words::counted(n, "round")),
    };
    let covered = statistics.coverage.as_ref().map(coverage::in_line).unwrap_or_default();
    let s = if statistics.rounds == 1 { "" } else { "s" };
    let known = match statistics.known {
        0 => String::new(),
        n => format!(" ({n} known)"),
    };
    format!(
        "{:.0} s: {} round{s} ({}/s), {} operations ({}/s), {overlap:.0} % overlapped{covered}, \
         {}{known}{undecided}",
        seconds,
        short(statistics.rounds as f64),
        rate(statistics.rounds),
        short(statistics.operations as f64),
        rate(statistics.operations),
        words::counted(statistics.findings as u64, "finding"),
    )
}

/// A count as people read it: 950, 12.3 k, 4.56 M.
pub fn short(count: f64) -> String {
    match count {
        n if n >= 1e9 => format!("{:.2} G", n / 1e9),
        n if n >= 1e6 => format!("{:.2} M", n / 1e6),
        n if n >= 1e4 => format!("{:.1} k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

impl Observer for Progress {
    fn started(&mut self, hello: &Hello, model: &Spec) {
        if self.quiet {
            return;
        }
        self.say(&text::subject(&hello.plan, &hello.target, &model.to_string()));
        if let Some(why) = &hello.clock.refused {
            self.say(&format!("clock: CLOCK_MONOTONIC, not the time stamp counter: {why}"));
        }
    }

    fn progressed(&mut self, statistics: &Statistics) {
        let line = self.line(statistics);
        self.status(|| line);
    }

    fn save(&mut self, stored: &Stored, options: &Options) -> Result<()> {
        directory::write_with_script(stored, &options.library, &options.harness)
    }

    fn found(&mut self, stored: &Stored) {
        match &stored.finding.known {
            _ if self.quiet => {}
            // They come in numbers, and are counted at the end.
            Some(_) if stored.finding.signature.is_data_race() => {}
            Some(known) => {
                let (directory, finding) = (stored.directory.display(), &stored.finding);
                self.say(&format!("known: {known}: {}, in {directory}", finding.signature));
            }
            None if (self.is_deferred)(stored) => {
                self.deferred.push(stored.finding.name.clone());
                self.say(&text::one_line(stored));
            }
            None => self.report(stored),
        }
    }

    fn warned(&mut self, warning: &Warning) {
        self.say(&format!("warning: {}", warnings::warning(warning)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_short() {
        assert_eq!(short(950.0), "950");
        assert_eq!(short(12_345.0), "12.3 k");
        assert_eq!(short(4_560_000.0), "4.56 M");
    }
}
