//! Source lines of code. Addresses in a library's file come in, `function at file:line` goes out,
//! as far as the library's debugging information knows, asked of binutils' addr2line once for each
//! address. Knows nothing of processes: where the library was loaded is the caller's to take off.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Template arguments of up to so many characters, with their brackets, are kept.
const ARGUMENTS_MAX: usize = 18;

/// The source lines of one library.
pub struct SourceLines {
    library: PathBuf,
    known: HashMap<u64, Option<Source>>,
}

/// Where in the sources some code comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// As people name it, without parameters and long template arguments.
    pub function: String,
    /// As the compiler was given it.
    pub file: PathBuf,
    pub line: u32,
    /// The line of another file that it was inlined into, the nearest one.
    pub within: Option<(PathBuf, u32)>,
    /// The line of the same file that it was inlined into, the nearest one.
    pub from: Option<u32>,
    /// Not in a header of the compiler's.
    pub is_own: bool,
}

/// "Stack::pop at stack.hpp:31".
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        write!(f, "{} at {name}:{}", self.function, self.line)
    }
}

impl SourceLines {
    pub fn of(library: &Path) -> SourceLines {
        SourceLines { library: library.to_path_buf(), known: HashMap::new() }
    }

    pub fn library(&self) -> &Path {
        &self.library
    }

    /// The lines of these addresses, in words; none where addr2line is missing or knows nothing.
    pub fn find(&mut self, addresses: &[u64]) -> Vec<Option<String>> {
        let found = self.sources(addresses).into_iter();
        found.map(|source| source.map(|source| source.to_string())).collect()
    }

    /// The same, to look at.
    pub fn sources(&mut self, addresses: &[u64]) -> Vec<Option<Source>> {
        let is_new = |at: &&u64| !self.known.contains_key(at);
        let mut new: Vec<u64> = addresses.iter().filter(is_new).copied().collect();
        new.sort_unstable();
        new.dedup();
        if !new.is_empty() {
            // Where the inlined functions around an instruction are not known, they often are
            // around the next one.
            let both: Vec<u64> = new.iter().flat_map(|at| [*at, at + 1]).collect();
            let lines = parse(&self.ask(&both).unwrap_or_default());
            for at in new {
                let next = lines.get(&(at + 1)).filter(|next| next.is_own).cloned();
                let place = match lines.get(&at).cloned() {
                    Some(place) if place.is_own => Some(place),
                    place => next.or(place),
                };
                self.known.insert(at, place);
            }
        }
        addresses.iter().map(|at| self.known[at].clone()).collect()
    }

    fn ask(&self, addresses: &[u64]) -> Option<String> {
        let output = Command::new("addr2line")
            .args(["-a", "-f", "-i", "-C", "-e"])
            .arg(&self.library)
            .args(addresses.iter().map(|at| format!("{at:#x}")))
            .output()
            .ok()?;
        String::from_utf8(output.stdout).ok()
    }
}

/// The answer: for each address its own line, then function and file:line of the innermost inlined
/// function and of each around it.
fn parse(answer: &str) -> HashMap<u64, Source> {
    let mut found = HashMap::new();
    let mut lines = answer.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(address) = line.strip_prefix("0x") else { continue };
        let mut frames = Vec::new();
        while lines.peek().is_some_and(|line| !line.starts_with("0x")) {
            let function = lines.next().unwrap_or_default();
            frames.push((function, lines.next().unwrap_or_default()));
        }
        if let (Ok(address), Some(place)) = (u64::from_str_radix(address, 16), place(&frames)) {
            found.insert(address, place);
        }
    }
    found
}

/// The innermost function that is not the compiler's: `std::atomic::load` tells nobody anything. If
/// all are, the outermost, which says what it is for.
fn place(frames: &[(&str, &str)]) -> Option<Source> {
    let known = || frames.iter().filter(|(function, _)| !function.starts_with("??"));
    // GCC has those of one machine in /usr/include/x86_64-linux-gnu/c++.
    let of_compiler = |file: &str| {
        let cxx = file.contains("/include/") && file.contains("/c++/");
        cxx || ["/lib/gcc/", "/lib/clang/"].iter().any(|part| file.contains(part))
    };
    let innermost = known().find(|(_, file)| !of_compiler(file));
    let (function, line) = innermost.or_else(|| known().next_back())?;
    let (file, number) = file_and_line(line);
    let outer = known().filter(|(_, of)| innermost.is_none() || !of_compiler(of));
    let outer = outer.map(|(_, of)| file_and_line(of)).skip_while(|place| place.0 != file);
    let within = wrapped(outer.skip_while(|place| place.0 == file).collect());
    let mut around = known().skip_while(|frame| frame.1 != *line).skip(1);
    let around = (around.next(), around.next().map(|(_, of)| file_and_line(of)));
    let from = match around {
        // The adapter's method, which is the operation itself.
        (_, Some(outer)) if is_ours(&outer) => None,
        (Some((_, of)), _) => {
            Some(file_and_line(of)).filter(|place| place.0 == file).map(|place| place.1)
        }
        (None, _) => None,
    };
    let (function, is_own) = (readable(function), innermost.is_some());
    Some(Source { function, file, line: number, within, from, is_own })
}

/// The first of these places, from the inside out, unless it is the adapter's, which interlap.hpp
/// calls: there the library is called, not one of its wrappers.
fn wrapped(outer: Vec<(PathBuf, u32)>) -> Option<(PathBuf, u32)> {
    let first = outer.first().filter(|place| !is_ours(place))?;
    let next = outer.iter().find(|place| place.0 != first.0);
    (!next.is_some_and(is_ours)).then(|| first.clone())
}

fn is_ours(place: &(PathBuf, u32)) -> bool {
    place.0.ends_with("interlap.hpp")
}

/// Of `/home/me/stack.hpp:31 (discriminator 2)`.
fn file_and_line(text: &str) -> (PathBuf, u32) {
    let text = text.split(" (").next().unwrap_or(text);
    let (file, line) = text.rsplit_once(':').unwrap_or((text, "0"));
    (PathBuf::from(file), line.parse().unwrap_or(0))
}

/// A demangled name as people say it: without its parameters, and without long template arguments.
fn readable(function: &str) -> String {
    let mut name = without_parameters(function);
    let mut short = String::new();
    while let Some((before, arguments, after)) = split_at_arguments(name) {
        short += before;
        short += if arguments.chars().count() <= ARGUMENTS_MAX { arguments } else { "<…>" };
        name = after;
    }
    short + name
}

/// What comes before the first template arguments, these with their brackets, and what comes after.
fn split_at_arguments(name: &str) -> Option<(&str, &str, &str)> {
    // The brackets of `operator<<` and the like are none.
    let symbol =
        |at: usize| name[..at].trim_end_matches(['<', '>', '=', '-']).ends_with("operator");
    let start = name.match_indices('<').map(|(at, _)| at).find(|at| !symbol(*at))?;
    // In parentheses they may be comparisons, and are in pairs otherwise.
    let (mut depth, mut parentheses) = (0, 0);
    for (at, c) in name[start..].char_indices() {
        match c {
            '(' => parentheses += 1,
            ')' => parentheses -= 1,
            '<' if parentheses == 0 => depth += 1,
            '>' if parentheses == 0 => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let end = start + at + 1;
            return Some((&name[..start], &name[start..end], &name[end..]));
        }
    }
    None
}

/// `Stack::pop` of `Stack::pop(long&) const`.
fn without_parameters(function: &str) -> &str {
    let name = function.strip_suffix(" const").unwrap_or(function);
    if !name.ends_with(')') {
        return function;
    }
    let mut depth = 0;
    let open = name.char_indices().rev().find(|(_, c)| {
        depth += i32::from(*c == ')') - i32::from(*c == '(');
        depth == 0
    });
    match open {
        Some((at, _)) if at > 0 && !name[..at].ends_with("operator") => &name[..at],
        _ => function,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_function_of_the_target_is_named() {
        let answer = "0x0000000000001139\nstd::__atomic_base<long>::load(std::memory_order) const\n\
                      /usr/include/c++/12/bits/atomic_base.h:818\nStack::pop(long&)\n\
                      /home/me/stack.hpp:31 (discriminator 2)\n0x0000000000001200\n??\n??:0\n";
        let found = parse(answer);
        assert_eq!(found[&0x1139].to_string(), "Stack::pop at stack.hpp:31");
        assert!(found[&0x1139].is_own && !found.contains_key(&0x1200));
    }

    #[test]
    fn a_wrapper_is_told_with_where_it_is_used() {
        let frames = |list: &[&'static str]| -> Option<String> {
            let frames: Vec<_> = list.iter().map(|line| ("f()", *line)).collect();
            let source = place(&frames).expect("known");
            source.within.map(|(file, line)| format!("{}:{line}", file.display()))
        };
        let of_library =
            ["/usr/include/c++/12/atomic:1", "/l/ptr.h:2", "/l/ptr.h:3", "/l/list.h:4"];
        assert_eq!(frames(&of_library), Some("/l/list.h:4".to_string()));
        let ours = [&of_library[..], &["/me/adapter.cpp:5", "/il/interlap.hpp:6"]].concat();
        assert_eq!(frames(&ours), Some("/l/list.h:4".to_string()));
        assert_eq!(frames(&["/l/list.h:4", "/me/adapter.cpp:5", "/il/interlap.hpp:6"]), None);
        assert_eq!(frames(&["/l/list.h:4", "/il/interlap.hpp:6"]), None);
        assert_eq!(frames(&["/l/list.h:4"]), None);
        // A constructor that is called by way of the compiler's headers.
        let construct = "/usr/include/c++/12/bits/stl_construct.h:119";
        assert_eq!(frames(&["/l/list.h:4", construct, "/l/list.h:9"]), None);
        let called = ["/l/ptr.h:2", construct, "/l/list.h:4"];
        assert_eq!(frames(&called), Some("/l/list.h:4".to_string()));
    }

    #[test]
    fn a_helper_is_told_with_the_line_that_calls_it() {
        let from = |list: &[&'static str]| -> Option<u32> {
            let frames: Vec<_> = list.iter().map(|line| ("f()", *line)).collect();
            place(&frames).expect("known").from
        };
        let frames = ["/usr/include/c++/12/atomic:1", "/l/list.h:2", "/l/list.h:9", "/l/list.h:20"];
        assert_eq!(from(&frames), Some(9));
        assert_eq!(from(&["/l/list.h:2", "/me/adapter.cpp:5"]), None);
        // Nor is the adapter's method one, which is called by nobody else.
        assert_eq!(from(&["/me/a.cpp:2", "/me/a.cpp:30", "/il/interlap.hpp:6"]), None);
        let helper = ["/me/a.cpp:2", "/me/a.cpp:9", "/me/a.cpp:30", "/il/interlap.hpp:6"];
        assert_eq!(from(&helper), Some(9));
        assert_eq!(from(&["/l/list.h:2"]), None);
    }

    #[test]
    fn parameters_are_left_out() {
        assert_eq!(without_parameters("main"), "main");
        assert_eq!(without_parameters("f(void (*)(int), long) const"), "f");
        assert_eq!(without_parameters("A::operator()(int)"), "A::operator()");
    }

    #[test]
    fn long_template_arguments_are_left_out() {
        for (long, short) in [
            ("ConcurrentQueue<long, Traits>::pop(long&)", "ConcurrentQueue<long, Traits>::pop"),
            (
                "bool cds::container::MSQueue<cds::gc::HP, long, cds::container::msqueue::make_tr\
                 aits<cds::opt::back_off<cds::backoff::empty> >::type>::enqueue_with<f(long)::{la\
                 mbda(long&)#1}>(f(long)::{lambda(long&)#1}) const",
                "bool cds::container::MSQueue<…>::enqueue_with<…>",
            ),
            ("A<(((unsigned long)8)>(4)), std::vector<int> >::f()", "A<…>::f"),
            ("std::operator<< <std::char_traits<char> >(int)", "std::operator<< <…>"),
            ("A<std::vector<std::string> >::operator->() const", "A<…>::operator->"),
            ("A::operator< <long>(A)", "A::operator< <long>"),
            ("operator>>", "operator>>"),
            ("broken<std::vector<std::string>", "broken<std::vector<std::string>"),
        ] {
            assert_eq!(readable(long), short);
        }
    }
}
