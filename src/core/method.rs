//! Methods: the operations of a structure that is of no family, each known by its signature.
//! A signature has a number in each process that sees it, so that a method is as small as the other
//! operations. Numbers are given out in the order in which a process meets signatures: no file
//! holds them.

use std::sync::{Mutex, OnceLock};

use serde::{Deserialize, Serialize};

use super::operation::Op;
use super::source::Source;
use super::value::{NoValue, Type, TypeParser, all};

/// Signatures that one process may meet.
const SIGNATURES_MAX: usize = 255;
/// Methods of one target.
pub const METHODS_MAX: usize = 32;

static SIGNATURES: [OnceLock<Signature>; SIGNATURES_MAX] =
    [const { OnceLock::new() }; SIGNATURES_MAX];
/// How many there are.
static MET: Mutex<usize> = Mutex::new(0);

/// Name and types of a method.
#[derive(Debug)]
struct Signature {
    /// As it is in files: `release(int) -> bool`.
    text: String,
    name: String,
    arguments: Vec<Type>,
    result: Type,
    /// The words of a result that may be given at any time, and says that nothing was done.
    spurious: Option<Vec<i64>>,
    /// Where the arguments are drawn from, once a target has said so.
    sources: OnceLock<Vec<Source>>,
}

/// A method: the number of its signature in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Method(u8);

impl Method {
    /// The method with this signature, as `release(int) -> bool`. One that may fail spuriously says
    /// with which result: `try_lock() -> bool or false`. Behind the type of an argument an adapter
    /// may say where it is drawn from ([`Source`]).
    ///
    /// # Errors
    /// If the text is no signature, or this process has met 255 others.
    pub fn new(text: &str) -> Result<Method, String> {
        let signature = signature(text).ok_or_else(|| {
            format!(
                "'{text}' is no signature of a method, as `release(int) -> bool` is (behind the \
                 type of an argument: few, answered, distinct or 1..64; in the end: or false)"
            )
        })?;
        let mut met = MET.lock().expect("no thread panics while it holds it");
        let mut all = SIGNATURES[..*met].iter().map(|of| of.get().expect("a number is given once"));
        if let Some(known) = all.position(|known| known.text == signature.text) {
            let method = Method(known as u8);
            if let Some(sources) = signature.sources.get() {
                let _ = method.signature().sources.set(sources.clone());
            }
            return Ok(method);
        }
        if *met == SIGNATURES_MAX {
            return Err(format!(
                "more than {SIGNATURES_MAX} methods; look at fewer targets at once"
            ));
        }
        SIGNATURES[*met].set(signature).expect("a number is given once");
        *met += 1;
        Ok(Method(*met as u8 - 1))
    }

    fn signature(self) -> &'static Signature {
        SIGNATURES[usize::from(self.0)].get().expect("`new` has set it")
    }

    pub fn name(self) -> &'static str {
        &self.signature().name
    }

    pub fn arguments(self) -> &'static [Type] {
        &self.signature().arguments
    }

    pub fn result(self) -> &'static Type {
        &self.signature().result
    }

    /// Whether a result says yes or no in its first word: a bool, an optional, either with more.
    #[inline]
    pub fn may_say_no(self) -> bool {
        matches!(self.said_first(), Type::Bool | Type::Optional(_))
    }

    /// The type that a result begins with.
    fn said_first(self) -> &'static Type {
        match self.result() {
            Type::Tuple(types) => types.first().unwrap_or(self.result()),
            of => of,
        }
    }

    /// The kind of result in a word: "true", "none", "a value", "ok".
    pub fn answer_words(self, yes: bool) -> &'static str {
        match (self.said_first(), yes) {
            (Type::Bool, true) => "true",
            (Type::Bool, false) => "false",
            (Type::Optional(_), false) => "none",
            (Type::Void, _) => "ok",
            _ => "a value",
        }
    }

    /// The words of a result that may be given at any time, and says that nothing was done.
    pub fn spurious(self) -> Option<&'static [i64]> {
        self.signature().spurious.as_deref()
    }

    /// Where the argument with this number, from 0, is drawn from.
    pub fn source(self, argument: usize) -> Source {
        let sources = self.signature().sources.get();
        sources.and_then(|of| of.get(argument)).copied().unwrap_or_default()
    }

    /// `release(int) -> bool`.
    pub fn text(self) -> &'static str {
        &self.signature().text
    }

    /// A number below [`METHODS_MAX`] that differs from those of other methods of a target, as
    /// long as a process meets them one after the other.
    pub fn place(self) -> usize {
        usize::from(self.0) % METHODS_MAX
    }

    /// The arguments of a call as people write them: `7, "key"`.
    ///
    /// # Errors
    /// If the words are no such arguments.
    pub fn shown_arguments(self, words: &[i64]) -> Result<String, NoValue> {
        all(self.arguments(), words)
    }

    /// The result of a call that returned.
    ///
    /// # Errors
    /// If the words are no such result.
    pub fn shown_result(self, words: &[i64]) -> Result<String, NoValue> {
        all(std::slice::from_ref(self.result()), words)
    }
}

impl TryFrom<String> for Method {
    type Error = String;

    fn try_from(text: String) -> Result<Method, String> {
        Method::new(&text)
    }
}

impl From<Method> for String {
    fn from(method: Method) -> String {
        method.text().to_string()
    }
}

fn signature(text: &str) -> Option<Signature> {
    let mut parser = TypeParser::new(text);
    let name = parser.name()?.to_string();
    let (mut arguments, mut sources) = (Vec::new(), Vec::new());
    if !parser.take("(") {
        return None;
    }
    while !parser.take(")") {
        if !arguments.is_empty() && !parser.take(",") {
            return None;
        }
        arguments.push(parser.one()?);
        sources.push(Source::read(&mut parser)?);
    }
    let result = if parser.take("->") { parser.one()? } else { return None };
    let spurious = if parser.take("or") { Some(parser.value(&result)?) } else { None };
    if !parser.is_at_end() {
        return None;
    }
    let types: Vec<String> = arguments.iter().map(Type::to_string).collect();
    let mut text = format!("{name}({}) -> {result}", types.join(", "));
    if let Some(words) = &spurious {
        text += &format!(" or {}", all(std::slice::from_ref(&result), words).ok()?);
    }
    // Those of files say nothing of it.
    let are_given = sources.iter().any(|source| *source != Source::Mixed);
    let sources = if are_given { OnceLock::from(sources) } else { OnceLock::new() };
    Some(Signature { text, name, arguments, result, spurious, sources })
}

/// The first code of a target's methods in records: that of the first one that it lists.
pub const FIRST_CODE: u8 = 0xc0;

/// The methods of a target, whose codes in records go by their order in its list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Methods(Vec<Op>);

impl Methods {
    /// The methods among the operations that a target offers.
    pub fn among(operations: impl IntoIterator<Item = Op>) -> Methods {
        Methods(operations.into_iter().filter(|op| matches!(op, Op::Method(_))).collect())
    }

    /// The code of an operation in records and calls; none of a method that the target lacks.
    #[inline]
    pub fn code(&self, op: Op) -> Option<u8> {
        match op {
            Op::Method(_) => {
                let at = self.0.iter().position(|method| *method == op)?;
                Some(FIRST_CODE + at as u8)
            }
            op => Some(op.code()),
        }
    }

    /// The operation with this code.
    #[inline]
    pub fn op(&self, code: u8) -> Option<Op> {
        match code.checked_sub(FIRST_CODE) {
            None => Op::from_code(code.into()),
            Some(at) => self.0.get(usize::from(at)).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_one_method_however_it_is_written() {
        let method = Method::new("release(int,string) -> optional<int>").expect("a signature");
        assert_eq!(method, Method::new(" release( int, string )->optional< int >").expect("one"));
        assert_eq!(method.text(), "release(int, string) -> optional<int>");
        assert_eq!((method.name(), method.arguments().len()), ("release", 2));
        assert_ne!(method, Method::new("release(int, string) -> int").expect("another"));
        let bad = ["", "release", "release()", "release() -> ", "r(,) -> int", "r() -> int x"];
        for text in
            bad.into_iter().chain(["r(int 1..) -> int", "r() -> string or s", "r() -> bool or 2"])
        {
            assert!(Method::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_adapter_says_where_arguments_come_from() {
        let of_file = Method::new("resize(int, string) -> void").expect("a signature");
        assert_eq!(of_file.source(0), Source::Mixed);
        let of_adapter = Method::new("resize(int 1..64, string distinct) -> void").expect("one");
        assert_eq!((of_adapter, of_adapter.text()), (of_file, "resize(int, string) -> void"));
        let sources = [of_file.source(0), of_file.source(1)];
        assert_eq!(sources, [Source::Between(1, 64), Source::Distinct]);
    }

    #[test]
    fn a_result_may_be_given_at_any_time() {
        let method = Method::new("try_pop() -> optional<int> or none").expect("a signature");
        assert_eq!(method.spurious(), Some(&[0][..]));
        assert_eq!(method.text(), "try_pop() -> optional<int> or none");
        assert_ne!(method, Method::new("try_pop() -> optional<int>").expect("another"));
    }

    #[test]
    fn methods_have_codes_by_their_order() {
        let [a, b] =
            ["a() -> void", "b() -> void"].map(|text| Op::Method(Method::new(text).unwrap()));
        let methods = Methods::among([b, Op::Push, a]);
        assert_eq!(
            [b, a, Op::Push].map(|op| methods.code(op)),
            [Some(0xc0), Some(0xc1), Some(0x20)]
        );
        assert_eq!(
            [0xc0, 0xc1, 0x20].map(|code| methods.op(code)),
            [Some(b), Some(a), Some(Op::Push)]
        );
        assert_eq!((methods.op(0xc2), Methods::default().code(a)), (None, None));
    }

    #[test]
    fn operations_are_json_by_name_or_signature() {
        let method = Op::Method(Method::new("peek() -> optional<int>").expect("a signature"));
        let json = serde_json::to_string(&[Op::SetInsert, method]).expect("JSON");
        assert_eq!(json, "[\"set-insert\",\"peek() -> optional<int>\"]");
        assert_eq!(serde_json::from_str::<[Op; 2]>(&json).expect("read"), [Op::SetInsert, method]);
        assert!(serde_json::from_str::<Op>("\"nonsense\"").is_err());
    }
}
