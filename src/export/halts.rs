//! Where in the code a thread can be stopped as it was in the finding. A stop between two rows of
//! the table comes in; points in the sources go out, the likeliest first, each with how often the
//! thread comes by before. Lines are all that is known of the two rows: which of these points is
//! the right one, if any, is found out by running.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

pub use super::program::Halt;
use super::script::Stop;
use super::source::{Hook, Source};
use super::statements::{Code, Place as Spot};
use crate::finding::interleaving::{Interleaving, Place, Row, What};

/// Most points for one stop.
const OPTIONS_MAX: usize = 12;

/// The sources, as far as something may be put into them: the adapter's and those of libraries.
pub struct Files<'a> {
    pub source: &'a Source,
    /// Directories of headers that are not the compiler's.
    pub roots: &'a [PathBuf],
    known: HashMap<PathBuf, Option<(PathBuf, Code)>>,
}

impl<'a> Files<'a> {
    pub fn new(source: &'a Source, roots: &'a [PathBuf]) -> Files<'a> {
        Files { source, roots, known: HashMap::new() }
    }

    /// Path without detours, and code, of a file that may be changed.
    fn code(&mut self, path: &Path) -> Option<&(PathBuf, Code)> {
        if !self.known.contains_key(path) {
            let found = self.read(path);
            self.known.insert(path.to_path_buf(), found);
        }
        self.known[path].as_ref()
    }

    fn read(&self, path: &Path) -> Option<(PathBuf, Code)> {
        if let Some((file, text)) = self.source.find(path) {
            return Some((file.to_path_buf(), Code::of(text)));
        }
        let file = fs::canonicalize(path).ok()?;
        let root = self.roots.iter().any(|root| file.starts_with(root));
        // The compiler's own.
        let path = file.to_string_lossy();
        let compilers = ["/c++/", "/lib/gcc/", "/lib/clang/"].iter().any(|of| path.contains(of));
        let of_contract = file.file_name().is_some_and(|name| name == "interlap.hpp");
        let text =
            (root && !compilers && !of_contract).then(|| fs::read_to_string(&file).ok())??;
        Some((file, Code::of(&text)))
    }
}

/// Points for a stop, the likeliest first; `op` is what the thread calls.
pub fn options(stop: &Stop, table: &Interleaving, op: &str, files: &mut Files) -> Vec<Halt> {
    let until = stop.next.unwrap_or(stop.last);
    let rows: Vec<(usize, &Row)> = table.rows[..=until]
        .iter()
        .enumerate()
        .skip(stop.from)
        .filter(|(_, row)| row.thread == stop.thread)
        .collect();
    let last = lines(&table.rows[stop.last]);
    let next = stop.next.map_or(Vec::new(), |next| lines(&table.rows[next]));
    let mut found: Vec<(PathBuf, Spot, Vec<usize>)> = Vec::new();
    for line in &next {
        let passes = passes(&rows, line, until);
        let Some((file, code)) = files.code(&line.0) else { continue };
        let (mut spots, arguments) = (code.on_line(line.1), code.arguments_on_line(line.1));
        spots.extend(code.bodies_on_line(line.1));
        if last.contains(line) {
            // In the middle of the line, more likely than not.
            spots.reverse();
            spots.splice(0..0, [code.updates_on_line(line.1), arguments].concat());
        } else {
            spots.extend(arguments);
        }
        found.extend(spots.into_iter().map(|spot| (file.clone(), spot, passes.clone())));
    }
    for line in &last {
        let passes = passes(&rows, line, stop.last);
        let Some((file, code)) = files.code(&line.0) else { continue };
        let spot = code.after_line(line.1);
        found.extend(spot.map(|spot| (file.clone(), spot, passes)));
    }
    let most = found.iter().map(|(.., passes)| passes.len()).max().unwrap_or(0);
    let mut options = Vec::new();
    for which in 0..most {
        for (file, place, passes) in &found {
            let Some(pass) = passes.get(which).copied() else { continue };
            let name = format!("IN_{}", op.to_uppercase());
            let hook = Hook { file: file.clone(), place: *place, name };
            options.push(Halt { hook, pass });
        }
    }
    options.truncate(OPTIONS_MAX);
    options
}

type Line = (PathBuf, u32);

/// The lines that a row is about: its own, and those it was inlined into.
fn lines(row: &Row) -> Vec<Line> {
    let What::Act { place, .. } = &row.what else { return Vec::new() };
    let mut lines = Vec::new();
    let mut place: Option<&Place> = place.as_ref();
    while let Some(of) = place {
        lines.push((of.file.clone(), of.line));
        place = of.within.as_deref();
    }
    lines
}

/// For the how-manieth time a thread may come by a line with this row: by what it did elsewhere in
/// between, and if it did nothing elsewhere.
fn passes(rows: &[(usize, &Row)], line: &Line, until: usize) -> Vec<usize> {
    let (mut visits, mut all, mut was_there) = (0, 0, false);
    for (_, row) in rows.iter().filter(|(at, _)| *at <= until) {
        let What::Act { times, .. } = &row.what else { continue };
        let is_there = lines(row).contains(line);
        visits += usize::from(is_there && !was_there);
        all += if is_there { *times as usize } else { 0 };
        was_there = is_there;
    }
    let mut passes = vec![visits.max(1), all.max(1)];
    passes.dedup();
    passes
}

/// Gives every point a name of its own; stops at one place share it.
pub fn named(mut halts: Vec<Halt>) -> Vec<Halt> {
    let mut places: Vec<(PathBuf, Spot, String)> = Vec::new();
    for halt in &mut halts {
        let Hook { file, place, name } = &mut halt.hook;
        let known = places.iter().find(|other| other.0 == *file && other.1 == *place);
        let own = match known {
            Some((.., own)) => own.clone(),
            None => {
                let alike = places.iter().filter(|other| other.2.starts_with(&*name)).count();
                let own = match alike {
                    0 => name.clone(),
                    alike => format!("{name}_{}", alike + 1),
                };
                places.push((file.clone(), *place, own.clone()));
                own
            }
        };
        *name = own;
    }
    halts
}
