//! Finds the uninstrumented atomic instructions and fences of a hooked library.
//! The compiler replaces every atomic that it knows by a call of a hook. One that is left was
//! written as inline assembly, or compiled before and linked in. Uninstrumented plain loads and
//! stores cannot be distinguished from others. The C++ runtime has no hooks either: some compilers
//! link it in, and then its instructions are in the library, and left out here.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use object::{Architecture, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

/// Their addresses in the library's file, in ascending order.
#[derive(Debug, Default)]
pub struct Uninstrumented {
    /// Instructions that read and write memory at once.
    pub atomics: Vec<u64>,
    /// Instructions that only order the accesses of their thread.
    pub fences: Vec<u64>,
}

pub fn find(library: &Path) -> io::Result<Uninstrumented> {
    let bytes = fs::read(library)?;
    let file = object::File::parse(&*bytes).map_err(io::Error::other)?;
    let mut found = Uninstrumented::default();
    if file.architecture() != Architecture::X86_64 {
        return Ok(found);
    }
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        let code = section.data().map_err(io::Error::other)?;
        for instruction in Decoder::with_ip(64, code, section.address(), DecoderOptions::NONE) {
            match kind(&instruction) {
                Kind::Atomic => found.atomics.push(instruction.ip()),
                Kind::Fence => found.fences.push(instruction.ip()),
                Kind::Other => {}
            }
        }
    }
    found.atomics.sort_unstable();
    found.fences.sort_unstable();
    if !found.atomics.is_empty() || !found.fences.is_empty() {
        let runtime = linked_in_runtime(&file);
        let is_runtimes = |at: &u64| {
            let behind = runtime.partition_point(|code| code.start <= *at);
            behind.checked_sub(1).is_some_and(|before| runtime[before].contains(at))
        };
        found.atomics.retain(|at| !is_runtimes(at));
        found.fences.retain(|at| !is_runtimes(at));
    }
    Ok(found)
}

/// Whether the function is of the C++ runtime by its symbol, or made of a template of the C++
/// library: of these the target's own have hooks.
fn is_runtimes(symbol: &str) -> bool {
    const FUNCTIONS: [&str; 4] =
        ["__cxa_", "__gxx_", "_txnal_cow_string", "execute_native_thread_"];
    // The namespaces, with the abbreviations of the Itanium ABI for std and what is in it.
    const SPACES: [&str; 9] =
        ["St", "Sa", "Sb", "Ss", "Si", "So", "Sd", "9__gnu_cxx", "10__cxxabiv1"];
    let member = symbol.strip_prefix("_ZN").map(|name| name.trim_start_matches(['K', 'V']));
    let is_in_space = |name: &str| SPACES.iter().any(|space| name.starts_with(space));
    member.is_some_and(is_in_space)
        || symbol.starts_with("_ZSt")
        || FUNCTIONS.iter().any(|part| symbol.contains(part))
}

/// Where the functions of the C++ runtime lie, in ascending order, if it was linked in.
fn linked_in_runtime(file: &object::File) -> Vec<Range<u64>> {
    let functions = || {
        let defined = |symbol: &object::Symbol| symbol.is_definition();
        let all = file.symbols().filter(defined);
        all.filter(|symbol| symbol.kind() == SymbolKind::Text)
    };
    if !functions().any(|symbol| symbol.name() == Ok("_ZSt9terminatev")) {
        return Vec::new();
    }
    let code = functions().filter(|symbol| symbol.name().is_ok_and(is_runtimes));
    let mut code: Vec<Range<u64>> =
        code.map(|symbol| symbol.address()..symbol.address() + symbol.size()).collect();
    code.sort_unstable_by_key(|code| (code.start, code.end));
    code
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Atomic,
    Fence,
    Other,
}

fn kind(instruction: &Instruction) -> Kind {
    let kinds = (0..instruction.op_count()).map(|n| instruction.op_kind(n));
    let accesses_memory = kinds.into_iter().any(|kind| kind == OpKind::Memory);
    let is_locked = instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg;
    match instruction.mnemonic() {
        Mnemonic::Mfence => Kind::Fence,
        // On the thread's own stack it is used only for its order.
        _ if accesses_memory && is_locked && instruction.memory_base() == Register::RSP => {
            Kind::Fence
        }
        _ if accesses_memory && is_locked => Kind::Atomic,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(code: &[u8]) -> Kind {
        let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
        super::kind(&decoder.decode())
    }

    #[test]
    fn atomic_instructions_are_distinguished_from_others() {
        let is_atomic = |code: &[u8]| kind(code) == Kind::Atomic;
        assert!(is_atomic(b"\xf0\x0f\xb1\x0f"), "lock cmpxchg [rdi], ecx");
        assert!(is_atomic(b"\xf0\x48\x0f\xc7\x0f"), "lock cmpxchg16b [rdi]");
        assert!(is_atomic(b"\xf0\x48\x0f\xc1\x07"), "lock xadd [rdi], rax");
        assert!(is_atomic(b"\xf0\xff\x07"), "lock inc dword [rdi]");
        assert!(is_atomic(b"\x86\x07"), "xchg [rdi], al");
        assert_eq!(kind(b"\x87\xc3"), Kind::Other, "xchg ebx, eax");
        assert_eq!(kind(b"\x66\x90"), Kind::Other, "two bytes that do nothing");
        assert_eq!(kind(b"\x0f\xb1\x0f"), Kind::Other, "cmpxchg [rdi], ecx: not atomic");
        let displaced = b"\x48\x8d\x84\x24\xf0\x0f\xb1\x0f";
        assert_eq!(kind(displaced), Kind::Other, "in a displacement");
        assert_eq!(kind(b"\xf0\x48\x83\x0c\x24\x00"), Kind::Fence, "lock or qword [rsp], 0");
        assert_eq!(kind(b"\x0f\xae\xf0"), Kind::Fence, "mfence");
        assert_eq!(kind(b"\x0f\xae\xe8"), Kind::Other, "lfence: no store waits for it");
    }
}
