//! Finds the source lines of a trail's events.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::binary::symbols::{Source, SourceLines};
use crate::trace::trail::Event;

/// The source line of each event: the innermost one in the library's own files, not in the
/// compiler's headers.
pub fn resolve(trail: &[Event], lines: &mut SourceLines) -> Vec<Option<Source>> {
    let codes = |event: &Event| {
        let known = std::iter::once(event.code).chain(event.around).take_while(|code| *code != 0);
        // Return addresses point behind the call.
        known.map(|code| code - 1).collect::<Vec<u64>>()
    };
    lines.sources(&trail.iter().flat_map(codes).collect::<Vec<u64>>());
    let mut place = |event: &Event| {
        let mut found = lines.sources(&codes(event)).into_iter().flatten();
        let innermost = found.next()?;
        if innermost.is_own {
            Some(innermost)
        } else {
            found.find(|source| source.is_own).or(Some(innermost))
        }
    };
    trail.iter().map(&mut place).collect()
}

/// Drops the calling line of functions that only one line calls.
pub fn without_single_callers(mut sources: Vec<Option<Source>>) -> Vec<Option<Source>> {
    let mut callers: HashMap<(&Path, &str), HashSet<Option<u32>>> = HashMap::new();
    for source in sources.iter().flatten() {
        callers.entry((&source.file, &source.function)).or_default().insert(source.from);
    }
    let has_one = |source: &Source| callers[&(&*source.file, &*source.function)].len() == 1;
    let single: Vec<bool> =
        sources.iter().map(|source| source.as_ref().is_some_and(has_one)).collect();
    for (source, _) in sources.iter_mut().zip(single).filter(|(_, single)| *single) {
        source.iter_mut().for_each(|source| source.from = None);
    }
    sources
}
