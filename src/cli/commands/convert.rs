//! `interlap convert`: a recorded history, written down in another format.

use anyhow::{Context, Result, anyhow, bail};

use super::source::{self, Subject};
use crate::cli::arguments;
use crate::core::operation::Family;
use crate::core::outcome::Outcome;
use crate::exchange;
use crate::report::output::{Output, note};

pub fn run(args: &arguments::Convert, out: &mut Output) -> Result<Outcome> {
    let file = args.source.file.display();
    let (subjects, truncated) = source::read(&args.source)?;
    let subject = the_one(subjects, args.round).with_context(|| file.to_string())?;
    let family = subject.family().map_or("register", Family::name);
    let model = subject.model.map_or_else(|| family.to_string(), |model| model.to_string());
    let text = exchange::write(&subject.history, &model, &subject.strings, args.to)
        .map_err(|error| anyhow!("{}: {error}", subject.name))?;
    match &args.out {
        Some(out) => {
            std::fs::write(out, text).with_context(|| format!("cannot write {}", out.display()))?;
        }
        None => write!(out, "{text}"),
    }
    subject.notes.iter().for_each(|note| note!("{file}: {note}"));
    if let Some(why) = truncated {
        note!("{file}: {why}; what comes before was read");
    }
    Ok(Outcome::NothingFound)
}

/// The history that is asked for; the only one where none is.
fn the_one(mut subjects: Vec<Subject>, round: Option<u64>) -> Result<Subject> {
    if let Some(round) = round {
        subjects.retain(|subject| subject.round == Some(round));
    }
    match (subjects.len(), round) {
        (1, _) => Ok(subjects.remove(0)),
        (0, Some(round)) => bail!("no round {round} in it"),
        (0, None) => bail!("no history in it"),
        (several, _) => bail!("{several} rounds; expected --round to say which"),
    }
}
