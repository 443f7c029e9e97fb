//! `interlap convert`: writes a recorded history in another format.

use anyhow::{Context, Result, anyhow, bail};

use super::source::{self, RecordedHistory};
use crate::cli::arguments;
use crate::core::files;
use crate::core::operation::Family;
use crate::core::outcome::Outcome;
use crate::exchange;
use crate::report::output::{Output, note};

pub fn run(args: &arguments::Convert, out: &mut Output) -> Result<Outcome> {
    let file = args.source.file.display();
    if let Some(path) = &args.source.model.coverage {
        let path = path.display();
        bail!("nothing is judged here: interlap check {file} --model ... --coverage {path}");
    }
    let (histories, truncated) = source::read(&args.source)?;
    let recorded = the_one(histories, args.round).with_context(|| file.to_string())?;
    let family = recorded.family().map_or("register", Family::name);
    let model = recorded.model.map_or_else(|| family.to_string(), |model| model.to_string());
    let text = exchange::write(&recorded.history, &model, &recorded.strings, args.to)
        .map_err(|error| anyhow!("{}: {error}", recorded.name))?;
    match &args.out {
        Some(out) => {
            files::put(out, text.as_bytes())
                .with_context(|| format!("cannot write {}", out.display()))?;
        }
        None => write!(out, "{text}"),
    }
    recorded.notes.iter().for_each(|note| note!("{file}: {note}"));
    if let Some(why) = truncated {
        note!("{file}: {why}; what comes before was read");
    }
    Ok(Outcome::NothingFound)
}

/// The history of this round, or the only one.
fn the_one(mut histories: Vec<RecordedHistory>, round: Option<u64>) -> Result<RecordedHistory> {
    if let Some(round) = round {
        histories.retain(|recorded| recorded.round == Some(round));
    }
    match (histories.len(), round) {
        (1, _) => Ok(histories.remove(0)),
        (0, Some(round)) => bail!("no round {round} in it"),
        (0, None) => bail!("no history in it"),
        (several, _) => bail!("{several} rounds; expected --round to say which"),
    }
}
