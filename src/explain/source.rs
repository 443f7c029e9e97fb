//! Lines of source code. Places come in, the text that stands there goes out, if the file is there.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::interleaving::Place;
use crate::symbols::Source;

/// The files that were read.
#[derive(Default)]
pub struct Texts {
    files: HashMap<PathBuf, Vec<String>>,
}

impl Texts {
    pub fn place(&mut self, source: Source) -> Place {
        let Source { function, file, line, within } = source;
        let within = within.map(|(file, line)| {
            let outer = Source { function: String::new(), file, line, within: None };
            Box::new(self.place(outer))
        });
        let read = |file: &PathBuf| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            text.lines().map(|line| line.trim().to_string()).collect()
        };
        let lines: &Vec<String> = self.files.entry(file.clone()).or_insert_with(|| read(&file));
        let text = (line as usize).checked_sub(1).and_then(|at| lines.get(at));
        Place { function, line, text: text.cloned().unwrap_or_default(), file, within }
    }
}
