//! Options of the commands that take a recorded history: check, convert.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::{Format, Model, duration};
use crate::exchange::Format as HistoryFormat;

pub const CHECK_EXAMPLES: &str = "\
Examples:
  interlap check history.jsonl --model set
  interlap check findings/moodycamel-3f2a/trace.mpk
  interlap check store/latest/history.edn             of Jepsen or Knossos
  interlap check etcd_000.log                         lines of Jepsen's log
  interlap check traces/ --model map                  a directory of OmniLink's logs
  my_test | interlap check --follow - --model fifo    events, while they are written

JSON Lines have one operation a line; docs/histories.md describes every format:
  {\"thread\": 0, \"op\": \"enqueue\", \"args\": [7], \"start\": 10, \"end\": 14}
  {\"thread\": 1, \"op\": \"dequeue\", \"start\": 12, \"end\": 19, \"results\": [7]}
  {\"thread\": 1, \"op\": \"dequeue\", \"start\": 20, \"end\": null, \"status\": \"pending\"}";

pub const CONVERT_EXAMPLES: &str = "\
Examples:
  interlap convert etcd_000.log --to jsonl
  interlap convert findings/moodycamel-3f2a/trace.mpk --to events -o history.jsonl
  interlap convert history.jsonl --to edn -o history.edn     for Knossos";

/// A history that was recorded, by interlap or another tool.
#[derive(Args, Debug)]
pub struct Source {
    /// The file, or the directory of OmniLink's logs
    pub file: PathBuf,
    /// Format of the file; if not given, recognized by its content
    #[arg(long, value_enum)]
    pub format: Option<HistoryFormat>,
    #[command(flatten)]
    pub model: Model,
    /// Initial value of a register in EDN or Jepsen's log: nil or an integer
    #[arg(long, value_name = "VALUE", default_value = "nil", value_parser = initial)]
    pub initial: Initial,
}

/// The initial value of a register; none is `nil`.
#[derive(Clone, Copy, Debug)]
pub struct Initial(pub Option<i64>);

#[derive(Args, Debug)]
pub struct Convert {
    #[command(flatten)]
    pub source: Source,
    /// Format to write
    #[arg(long, value_parser = written_format())]
    pub to: HistoryFormat,
    /// File to write, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Which round of a trace that has several
    #[arg(long, value_name = "N")]
    pub round: Option<u64>,
}

#[derive(Args, Debug)]
pub struct Check {
    #[command(flatten)]
    pub source: Source,
    /// Judge events (JSON Lines) while they are written, and end with the first response that no
    /// order explains; FILE may be -: standard input
    #[arg(long)]
    pub follow: bool,
    /// Most configurations that the general search holds at once
    #[arg(long, value_name = "N", default_value_t = 1 << 20)]
    pub configurations: usize,
    /// Most configurations that the general search visits in all
    #[arg(long, value_name = "N", default_value_t = 500_000_000)]
    pub steps: u64,
    /// Most memory that the general search takes, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 2048)]
    pub memory: usize,
    /// Time for all histories of the file; what is not decided by then is said to be undecided.
    /// Default: as long as it takes
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// Write a page for a browser: the timeline, how far the history can be explained (or an order
    /// that explains it), and the search move by move. If the file has several histories, of the
    /// first that violates the model
    #[arg(long, value_name = "PAGE")]
    pub html: Option<PathBuf>,
    /// Write JUnit XML, a test case for each history; -: to standard output, and nothing else
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    #[command(flatten)]
    pub format: Format,
}

/// A format that can be written, too.
fn written_format() -> impl TypedValueParser<Value = HistoryFormat> {
    let written = HistoryFormat::value_variants().iter().filter(|format| format.is_written());
    let names = written.filter_map(HistoryFormat::to_possible_value);
    let parse = |name: String| HistoryFormat::from_str(&name, false).expect("one of these names");
    PossibleValuesParser::new(names).map(parse)
}

/// An integer, or none for `nil`.
fn initial(text: &str) -> Result<Initial, String> {
    match text {
        "nil" => Ok(Initial(None)),
        text => text
            .parse()
            .map(|value| Initial(Some(value)))
            .map_err(|_| "expected nil or an integer".to_string()),
    }
}
