//! Lines of source code. Places come in, the text that stands there goes out, if the file is there.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::interleaving::Place;
use crate::symbols::Source;

/// The files that were read.
#[derive(Default)]
pub struct Texts {
    files: HashMap<PathBuf, Vec<String>>,
}

impl Texts {
    pub fn place(&mut self, source: Source) -> Place {
        let Source { function, file, line, within, from } = source;
        let within = within.map(|(file, line)| {
            let function = String::new();
            let outer = Source { function, file, line, within: None, from: None };
            Box::new(self.place(outer))
        });
        let read = |file: &PathBuf| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            text.lines().map(|line| line.trim().to_string()).collect()
        };
        let lines: &Vec<String> = self.files.entry(file.clone()).or_insert_with(|| read(&file));
        let text = (line as usize).checked_sub(1).and_then(|at| lines.get(at));
        Place { function, line, text: text.cloned().unwrap_or_default(), file, within, from }
    }
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
