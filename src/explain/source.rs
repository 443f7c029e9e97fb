//! Source places of a trail's events.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::binary::symbols::{Source, SourceLines};
use crate::trace::trail::Event;

/// Where each event happened: in a function of the library's own, not in one of the compiler's
/// headers that it calls, as far as that is known.
pub fn of_events(trail: &[Event], lines: &mut SourceLines) -> Vec<Option<Source>> {
    let codes = |event: &Event| {
        let known = std::iter::once(event.code).chain(event.around).take_while(|code| *code != 0);
        // The call before the place where it goes on.
        known.map(|code| code - 1).collect::<Vec<u64>>()
    };
    lines.sources(&trail.iter().flat_map(codes).collect::<Vec<u64>>());
    let mut place = |event: &Event| {
        let mut found = lines.sources(&codes(event)).into_iter().flatten();
        let innermost = found.next()?;
        if innermost.is_own {
            Some(innermost)
        } else {
            found.find(|of| of.is_own).or(Some(innermost))
        }
    };
    trail.iter().map(&mut place).collect()
}

/// Of functions that are only ever inlined into one line it need not be said which.
pub fn without_known_callers(mut sources: Vec<Option<Source>>) -> Vec<Option<Source>> {
    let mut callers: HashMap<(&Path, &str), HashSet<Option<u32>>> = HashMap::new();
    for source in sources.iter().flatten() {
        callers.entry((&source.file, &source.function)).or_default().insert(source.from);
    }
    let is_known = |source: &Source| callers[&(&*source.file, &*source.function)].len() == 1;
    let known: Vec<bool> =
        sources.iter().map(|source| source.as_ref().is_some_and(is_known)).collect();
    for (source, _) in sources.iter_mut().zip(known).filter(|(_, known)| *known) {
        source.iter_mut().for_each(|source| source.from = None);
    }
    sources
}
