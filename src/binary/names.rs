//! Demangles symbols of C++ and Rust to names without parameters and long template arguments.
//! Other symbols are names already.

use cpp_demangle::{DemangleOptions, Symbol};

/// The longest template arguments that are kept, in characters with their brackets.
const ARGUMENTS_MAX: usize = 18;

/// The demangled name, without parameters and long template arguments.
pub fn readable(symbol: &str) -> String {
    without_long_arguments(&demangled(symbol))
}

/// The function of an adapter that describes it: INTERLAP_TARGET makes it.
pub const ENTRY: &str = "interlap_target";

/// Whether the symbol is that of a function of interlap.hpp.
pub fn is_interlaps(symbol: &str) -> bool {
    symbol.starts_with("_ZN8interlap6detail") || symbol.starts_with("_ZZN8interlap6detail")
}

/// The class for which interlap.hpp has a function with this symbol. Where the compiler moved
/// unlikely code of the class out of a function, no other function is known there.
pub fn class_of(symbol: &str) -> String {
    let name = demangled(symbol);
    let of_class = |template: &str| {
        let (_, arguments, _) = split_at_arguments(&name[name.find(template)?..])?;
        Some(without_long_arguments(&arguments[1..arguments.len() - 1]))
    };
    let class = ["interlap::detail::functions<", "interlap::detail::offer<"];
    class.into_iter().find_map(of_class).unwrap_or_else(|| "the adapter".to_string())
}

/// The demangled name; for C++ without parameters.
fn demangled(symbol: &str) -> String {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return format!("{name:#}");
    }
    let options = DemangleOptions::new().no_params();
    let cpp = Symbol::new(symbol).ok();
    let cpp = cpp.and_then(|name| name.demangle_with_options(&options).ok());
    let Some(cpp) = cpp else { return symbol.to_string() };
    // The crate leaves this of a const lambda's parameters and of empty template arguments.
    let cpp = cpp.trim_end_matches(" const").replace(", >", ">");
    SUFFIXES.iter().fold(cpp, |name, (cast, suffix)| with_suffix(&name, cast, suffix))
}

/// Whether a C++ compiler mangled it.
pub fn is_mangled(symbol: &str) -> bool {
    symbol.starts_with("_Z")
}

/// The casts that the crate writes before literals, and the suffixes of C++.
const SUFFIXES: [(&str, &str); 5] = [
    ("(unsigned int)", "u"),
    ("(unsigned long)", "ul"),
    ("(unsigned long long)", "ull"),
    ("(long)", "l"),
    ("(long long)", "ll"),
];

/// `16ul` for `(unsigned long)16`.
fn with_suffix(name: &str, cast: &str, suffix: &str) -> String {
    let mut parts = name.split(cast);
    let mut short = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let end = part.find(|c: char| c != '-' && !c.is_ascii_digit()).unwrap_or(part.len());
        let (number, rest) = part.split_at(end);
        let literal = if number.is_empty() { cast } else { suffix };
        short.extend([number, literal, rest]);
    }
    short
}

fn without_long_arguments(mut name: &str) -> String {
    let mut short = String::new();
    while let Some((before, arguments, after)) = split_at_arguments(name) {
        short += before;
        short += if arguments.chars().count() <= ARGUMENTS_MAX { arguments } else { "<…>" };
        name = after;
    }
    short + name
}

/// The text before the first template arguments, these with their brackets, and the text after.
fn split_at_arguments(name: &str) -> Option<(&str, &str, &str)> {
    // The signs of `operator<<` and the like are no brackets.
    let of_operator =
        |at: usize| name[..at].trim_end_matches(['<', '>', '=', '-']).ends_with("operator");
    let start = name.match_indices('<').map(|(at, _)| at).find(|at| !of_operator(*at))?;
    // Inside parentheses they may be comparisons; elsewhere they are in pairs.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_interlap_have_a_class() {
        let call = "_ZN8interlap6detail9functionsI5QueueE4callEPvS3_P7il_call.cold";
        assert!(is_interlaps(call) && !is_interlaps("_ZN5Queue4pushEl"));
        assert_eq!(class_of(call), "Queue");
        assert_eq!(class_of("_ZN8interlap6detail7is_waitEv"), "the adapter");
    }

    #[test]
    fn names_are_those_of_the_language() {
        for (symbol, name) in [
            ("push", "push"),
            ("_ZN5Stack3popERl", "Stack::pop"),
            ("_ZNK1AclEi", "A::operator()"),
            ("_ZZ1fvENKUliE_clEi", "f()::{lambda(int)#1}::operator()"),
            ("_ZN1QIlJEE3popEv", "Q<long>::pop"),
            ("_ZN1AILm16ELj4ELln5EE1fEv", "A<16ul, 4u, -5l>::f"),
            ("_ZN1AILi16EE1fEi.isra.0", "A<16>::f"),
            ("_ZN5stack3pop17h0123456789abcdefE", "stack::pop"),
        ] {
            assert_eq!(demangled(symbol), name);
        }
    }

    #[test]
    fn long_template_arguments_are_left_out() {
        for (long, short) in [
            ("ConcurrentQueue<long, Traits>::pop", "ConcurrentQueue<long, Traits>::pop"),
            (
                "bool cds::container::MSQueue<cds::gc::HP, long, cds::container::msqueue::make_tr\
                 aits<cds::opt::back_off<cds::backoff::empty> >::type>::enqueue_with<f(long)::{la\
                 mbda(long&)#1}>",
                "bool cds::container::MSQueue<…>::enqueue_with<…>",
            ),
            ("A<(((unsigned long)8)>(4)), std::vector<int> >::f", "A<…>::f"),
            ("std::operator<< <std::char_traits<char> >", "std::operator<< <…>"),
            ("A<std::vector<std::string> >::operator->", "A<…>::operator->"),
            ("A::operator< <long>", "A::operator< <long>"),
            ("operator>>", "operator>>"),
            ("broken<std::vector<std::string>", "broken<std::vector<std::string>"),
        ] {
            assert_eq!(without_long_arguments(long), short);
        }
    }
}
