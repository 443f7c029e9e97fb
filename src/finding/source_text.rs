//! Reads the text of the source lines that a finding names, if the files exist.

use std::collections::HashMap;
use std::path::PathBuf;

use super::interleaving::Place;
use crate::binary::symbols::Source;

/// Files that were read, by lines.
#[derive(Default)]
pub struct Texts {
    files: HashMap<PathBuf, Vec<String>>,
}

impl Texts {
    pub fn place(&mut self, source: Source) -> Place {
        let Source { function, file, line, within, from, .. } = source;
        let within = within.map(|(file, line)| {
            let function = String::new();
            let outer = Source {
                function,
                file,
                line,
                within: None,
                from: None,
                is_own: true,
                is_glue: false,
            };
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

/// The source lines of a fault with their text.
pub fn fault_lines(sources: Vec<Option<Source>>) -> Vec<Option<Place>> {
    let mut texts = Texts::default();
    sources.into_iter().map(|source| Some(texts.place(source?))).collect()
}
