//! Finds the function and source line of an address in a library's file.
//! The debugging information is opened at the first question, and answers are cached.

use crate::adapter::sources::HEADERS;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use addr2line::Loader;

use super::debug_file::DebugFile;
use super::loops::Code;
use super::names::{ENTRY, class_of, is_interlaps, is_mangled, readable};

/// The source lines of one library.
pub struct SourceLines {
    library: PathBuf,
    /// None where there is no such library, or it cannot be read.
    loader: OnceCell<Option<Loader>>,
    code: OnceCell<Code>,
    known: HashMap<u64, Option<Source>>,
    /// Readable names, by symbol.
    names: HashMap<String, String>,
}

/// Where in the sources some code comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its readable name, without parameters and long template arguments.
    pub function: String,
    /// The path as it was given to the compiler.
    pub file: PathBuf,
    pub line: u32,
    /// The nearest line of another file that it was inlined into.
    pub within: Option<(PathBuf, u32)>,
    /// The line of the same file that it was inlined into.
    pub from: Option<u32>,
    /// Whether it is the target's: in no header of the compiler or of interlap.
    pub is_own: bool,
    /// Whether a macro of interlap made it of a line of the adapter.
    pub is_glue: bool,
}

/// "Stack::pop at stack.hpp:31".
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        write!(f, "{} at {name}:{}", self.function, self.line)
    }
}

/// A function of an instruction: its own, or one that its own was inlined into.
#[derive(Default)]
struct Frame {
    /// Its name for the linker.
    symbol: String,
    file: PathBuf,
    line: u32,
}

impl SourceLines {
    pub fn for_library(library: &Path) -> SourceLines {
        let (known, names) = (HashMap::new(), HashMap::new());
        let (library, loader, code) = (library.to_path_buf(), OnceCell::new(), OnceCell::new());
        SourceLines { library, loader, code, known, names }
    }

    pub fn library(&self) -> &Path {
        &self.library
    }

    /// The sources of these addresses, as text.
    pub fn find(&mut self, addresses: &[u64]) -> Vec<Option<String>> {
        let found = self.sources(addresses).into_iter();
        found.map(|source| source.map(|source| source.to_string())).collect()
    }

    /// The sources of these addresses; none where nothing is known.
    pub fn sources(&mut self, addresses: &[u64]) -> Vec<Option<Source>> {
        let mut sources = Vec::with_capacity(addresses.len());
        for at in addresses {
            if !self.known.contains_key(at) {
                let source = self.source(*at);
                self.known.insert(*at, source);
            }
            sources.push(self.known[at].clone());
        }
        sources
    }

    /// The function whose loop a thread is in, with these addresses on its stack, the innermost
    /// first. A loop of the C++ library is that of the target's function that calls it.
    pub fn of_loop(&mut self, stack: &[u64]) -> Option<Source> {
        let code = self.code.get_or_init(|| Code::read(&self.library).unwrap_or_default());
        let loops = stack.iter().map(|at| code.loop_around(*at));
        let (first, of_first) = loops.enumerate().find(|(_, turn)| !turn.is_empty())?;
        let is_own = |source: &Source| source.is_own;
        let own = self.common(&of_first).filter(is_own);
        own.or_else(|| self.sources(&stack[first + 1..]).into_iter().flatten().find(is_own))
    }

    /// The innermost function that all these addresses of one function of the library are in: the
    /// others were inlined into it.
    fn common(&mut self, addresses: &[u64]) -> Option<Source> {
        let mut all = addresses.iter().map(|at| self.frames(*at));
        let mut common = all.next()?;
        for other in all {
            let pairs = common.iter().rev().zip(other.iter().rev());
            let equal = pairs.take_while(|(one, other)| one.symbol == other.symbol).count();
            common.drain(..common.len() - equal);
        }
        let source = choose(&common)?;
        Some(self.with_readable_name(source))
    }

    fn source(&mut self, at: u64) -> Option<Source> {
        let own = |source: &Source| source.is_own;
        let source = choose(&self.frames(at));
        // Inlined functions that are not known at an instruction often are at the next one.
        let next = || choose(&self.frames(at + 1)).filter(own);
        let source = if source.as_ref().is_some_and(own) { source } else { next().or(source) }?;
        Some(self.with_readable_name(source))
    }

    fn with_readable_name(&mut self, source: Source) -> Source {
        if source.is_glue && is_interlaps(&source.function) {
            return Source { function: class_of(&source.function), ..source };
        }
        let name = self.names.entry(source.function).or_insert_with_key(|symbol| readable(symbol));
        Source { function: name.clone(), ..source }
    }

    /// The functions of an instruction, from the inside out.
    fn frames(&self, at: u64) -> Vec<Frame> {
        let load = || {
            let DebugFile { path, supplement } = DebugFile::find(&self.library);
            Loader::new_with_sup(path, supplement).ok()
        };
        let Some(loader) = self.loader.get_or_init(load) else { return Vec::new() };
        let mut frames = Vec::new();
        let mut found = loader.find_frames(at).ok();
        while let Some(Ok(Some(frame))) = found.as_mut().map(|found| found.next()) {
            let symbol = frame.function.as_ref().and_then(|function| function.raw_name().ok());
            let location = frame.location.as_ref();
            frames.push(Frame {
                symbol: symbol.unwrap_or_default().into_owned(),
                file: location.and_then(|location| location.file).unwrap_or(UNKNOWN_FILE).into(),
                line: location.and_then(|location| location.line).unwrap_or(0),
            });
        }
        if let Some(symbol) = loader.find_symbol(at) {
            let unknown = || Frame { file: UNKNOWN_FILE.into(), ..Frame::default() };
            let outermost = frames.pop().unwrap_or_else(unknown);
            frames.push(outermost.with_symbol(symbol));
        }
        frames.retain(|frame| !frame.symbol.is_empty());
        frames
    }
}

/// The name of a type as C++ writes it, whose name for the linker is this.
pub fn type_name(mangled: &str) -> String {
    // Types of one library alone are marked like this.
    let name = readable(&format!("_ZTS{}", mangled.trim_start_matches('*')));
    name.strip_prefix("typeinfo name for ").map_or(mangled.to_string(), str::to_string)
}

/// The file of a function that only the symbol table names.
const UNKNOWN_FILE: &str = "??";

impl Frame {
    /// The symbol table has the class of a function that is not exported, where the debugging
    /// information may lack it.
    fn with_symbol(self, symbol: &str) -> Frame {
        let is_better = self.symbol.is_empty() || is_mangled(symbol) && !is_mangled(&self.symbol);
        if is_better { Frame { symbol: symbol.to_string(), ..self } } else { self }
    }

    /// Whether it is in a header of the compiler or of the C library. Those of GCC for one machine
    /// are in /usr/include/x86_64-linux-gnu/c++, functions of the C library in ../bits.
    fn is_compilers(&self) -> bool {
        let file = self.file.to_string_lossy();
        let cxx = file.contains("/include/") && file.contains("/c++/");
        let c = file.starts_with("/usr/include/") && file.contains("/bits/");
        cxx || c || ["/lib/gcc/", "/lib/clang/"].iter().any(|part| file.contains(part))
    }

    /// Whether it calls the adapter's methods: it is in a header of interlap, or what a macro of
    /// interlap_c.h makes of a line of the adapter.
    fn is_interlaps(&self) -> bool {
        HEADERS.iter().any(|name| self.file.ends_with(name)) || self.symbol == "interlap_calls"
    }

    /// Whether only the symbol table names it, and as one of those.
    fn is_foreign_by_name(&self) -> bool {
        const FOREIGN: [&str; 5] = ["_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"];
        let is_foreign = FOREIGN.iter().any(|start| self.symbol.starts_with(start));
        self.file == Path::new(UNKNOWN_FILE) && (is_foreign || is_interlaps(&self.symbol))
    }

    fn is_own(&self) -> bool {
        !self.is_compilers() && !self.is_interlaps() && !self.is_foreign_by_name()
    }
}

/// The innermost function of the target: `std::atomic::load` does not help a reader. If there is
/// none, the innermost of interlap, or else the outermost. Its name is still the symbol.
fn choose(frames: &[Frame]) -> Option<Source> {
    let innermost = frames.iter().position(Frame::is_own);
    let interlaps = || frames.iter().position(Frame::is_interlaps);
    let at = innermost.or_else(interlaps).or(frames.len().checked_sub(1))?;
    let Frame { symbol, file, line } = &frames[at];
    let outer = frames.iter().filter(|frame| innermost.is_none() || !frame.is_compilers());
    let outer = outer.skip_while(|outer| outer.file != *file);
    let within = inlined_into(outer.skip_while(|outer| outer.file == *file).collect());
    let from = match (frames.get(at + 1), frames.get(at + 2)) {
        // The caller is the adapter's method, which is the operation itself.
        (_, Some(outer)) if outer.is_interlaps() => None,
        (Some(caller), _) if caller.is_interlaps() => None,
        (Some(caller), _) => (caller.file == *file).then_some(caller.line),
        (None, _) => None,
    };
    let (function, file, is_own) = (symbol.clone(), file.clone(), innermost.is_some());
    let is_glue = is_own && (is_interlaps(&function) || function == ENTRY);
    Some(Source { function, file, line: *line, within, from, is_own, is_glue })
}

/// The first of these frames, from the inside out, unless it is in the adapter, which interlap
/// calls: the adapter calls the library and is no wrapper inside it.
fn inlined_into(outer: Vec<&Frame>) -> Option<(PathBuf, u32)> {
    let first = outer.first().filter(|frame| !frame.is_interlaps())?;
    let next = outer.iter().find(|frame| frame.file != first.file || frame.is_interlaps());
    (!next.is_some_and(|next| next.is_interlaps())).then(|| (first.file.clone(), first.line))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use object::{Object, ObjectSymbol};

    use super::*;

    const STACK: &str = "#include <atomic>
struct Stack {
    std::atomic<long> top;
    long pop() { return top.exchange(0); }
};
Stack stack;
extern \"C\" long run() { return stack.pop() + 1; }
";

    fn run(folder: &Path, program: &str, arguments: &[&str]) {
        let status = Command::new(program).args(arguments).current_dir(folder).status();
        assert!(status.expect(program).success(), "{program} {arguments:?}");
    }

    /// The sources of the instructions of `run`.
    fn sources_of_run(library: &Path) -> Vec<Source> {
        let bytes = std::fs::read(library).expect("a library");
        let file = object::File::parse(&*bytes).expect("a library");
        let of_run = file.dynamic_symbols().find(|symbol| symbol.name() == Ok("run"));
        let of_run = of_run.expect("exported");
        let code: Vec<u64> = (of_run.address()..of_run.address() + of_run.size()).collect();
        SourceLines::for_library(library).sources(&code).into_iter().flatten().collect()
    }

    /// In every format of debugging information, also in a file of its own.
    #[test]
    fn the_innermost_function_of_the_target_is_named() {
        let formats =
            [&["-gdwarf-4"][..], &["-gdwarf-5"], &["-g", "-gz"], &["-g", "-gsplit-dwarf"]];
        let room = tempfile::tempdir().expect("a folder");
        let (folder, library) = (room.path(), room.path().join("stack.so"));
        std::fs::write(folder.join("stack.cpp"), STACK).expect("room");
        let check = |how: &str| {
            let sources = sources_of_run(&library);
            let popped = sources.iter().find(|source| source.function == "Stack::pop");
            let popped = popped.unwrap_or_else(|| panic!("{how}: {sources:?}"));
            assert_eq!(popped.to_string(), "Stack::pop at stack.cpp:4", "{how}");
            assert_eq!((popped.from, popped.is_own), (Some(7), true), "{how}");
            assert!(sources.iter().any(|source| source.to_string() == "run at stack.cpp:7"));
        };
        for format in formats {
            let build = ["-O2", "-shared", "-fPIC", "-o", "stack.so", "stack.cpp"];
            run(folder, "g++", &[format, &build].concat());
            check(format[format.len() - 1]);
        }
        run(folder, "g++", &["-g", "-O2", "-shared", "-fPIC", "-o", "stack.so", "stack.cpp"]);
        run(folder, "objcopy", &["--only-keep-debug", "stack.so", "stack.debug"]);
        run(folder, "strip", &["--strip-all", "stack.so"]);
        assert!(sources_of_run(&library).iter().all(|source| source.line == 0));
        run(folder, "objcopy", &["--add-gnu-debuglink=stack.debug", "stack.so"]);
        check("stripped");
    }

    /// Frames at lines such as `/home/me/stack.hpp:31`.
    fn frames_at(lines: &[&str]) -> Vec<Frame> {
        let frame = |text: &&str| {
            let (file, line) = text.rsplit_once(':').expect("a line");
            let line = line.parse().expect("a number");
            let (symbol, file) = file.split_once('@').unwrap_or(("f", file));
            Frame { symbol: symbol.to_string(), file: PathBuf::from(file), line }
        };
        lines.iter().map(frame).collect()
    }

    #[test]
    fn a_wrapper_comes_with_the_line_that_it_was_inlined_into() {
        let frames = |list: &[&'static str]| -> Option<String> {
            let source = choose(&frames_at(list)).expect("known");
            source.within.map(|(file, line)| format!("{}:{line}", file.display()))
        };
        let of_library =
            ["/usr/include/c++/12/atomic:1", "/l/ptr.h:2", "/l/ptr.h:3", "/l/list.h:4"];
        assert_eq!(frames(&of_library), Some("/l/list.h:4".to_string()));
        let ours = [&of_library[..], &["/me/adapter.cpp:5", "/il/interlap.hpp:6"]].concat();
        assert_eq!(frames(&ours), Some("/l/list.h:4".to_string()));
        assert_eq!(frames(&["/l/list.h:4", "/me/adapter.cpp:5", "/il/interlap.hpp:6"]), None);
        assert_eq!(frames(&["/l/list.h:4", "/il/interlap.hpp:6"]), None);
        let in_c = ["/l/list.h:4", "/me/adapter.c:5", "interlap_calls@/me/adapter.c:9"];
        assert_eq!(frames(&in_c), None);
        assert_eq!(frames(&["/l/list.h:4"]), None);
        // A constructor that a header of the compiler calls.
        let construct = "/usr/include/c++/12/bits/stl_construct.h:119";
        assert_eq!(frames(&["/l/list.h:4", construct, "/l/list.h:9"]), None);
        let called = ["/l/ptr.h:2", construct, "/l/list.h:4"];
        assert_eq!(frames(&called), Some("/l/list.h:4".to_string()));
    }

    #[test]
    fn a_helper_comes_with_the_line_that_calls_it() {
        let from = |list: &[&'static str]| -> Option<u32> {
            choose(&frames_at(list)).expect("known").from
        };
        let frames = ["/usr/include/c++/12/atomic:1", "/l/list.h:2", "/l/list.h:9", "/l/list.h:20"];
        assert_eq!(from(&frames), Some(9));
        assert_eq!(from(&["/l/list.h:2", "/me/adapter.cpp:5"]), None);
        // The adapter's method is no helper: only interlap.hpp calls it.
        assert_eq!(from(&["/me/a.cpp:2", "/me/a.cpp:30", "/il/interlap.hpp:6"]), None);
        let helper = ["/me/a.cpp:2", "/me/a.cpp:9", "/me/a.cpp:30", "/il/interlap.hpp:6"];
        assert_eq!(from(&helper), Some(9));
        // In C, a line of the adapter itself does.
        let caller = "interlap_calls@/me/a.c:50";
        assert_eq!(from(&["/me/a.c:30", caller]), None);
        assert_eq!(from(&["/me/a.c:2", "/me/a.c:30", caller]), None);
        assert_eq!(from(&["/me/a.c:2", "/me/a.c:9", "/me/a.c:30", caller]), Some(9));
        assert_eq!(from(&["/l/list.h:2"]), None);
    }
}
