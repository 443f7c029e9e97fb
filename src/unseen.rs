//! Atomic instructions that hooks do not see. A hooked library comes in; where its code has such an
//! instruction of its own goes out. All that the compiler knows as atomic has become a call of a
//! hook, so what is left was written as inline assembly, or compiled before and linked in. Plain
//! loads and stores of that kind cannot be told from any others.

use std::fs;
use std::io;
use std::path::Path;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use object::{Architecture, Object, ObjectSection, SectionKind};

/// Addresses in the library's file, the lowest first.
pub fn atomics(library: &Path) -> io::Result<Vec<u64>> {
    let bytes = fs::read(library)?;
    let file = object::File::parse(&*bytes).map_err(io::Error::other)?;
    if file.architecture() != Architecture::X86_64 {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        let code = section.data().map_err(io::Error::other)?;
        let decoder = Decoder::with_ip(64, code, section.address(), DecoderOptions::NONE);
        found.extend(decoder.into_iter().filter(is_atomic).map(|instruction| instruction.ip()));
    }
    found.sort_unstable();
    Ok(found)
}

fn is_atomic(instruction: &Instruction) -> bool {
    let kinds = (0..instruction.op_count()).map(|n| instruction.op_kind(n));
    let of_memory = kinds.into_iter().any(|kind| kind == OpKind::Memory);
    let locks = instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg;
    // On the thread's own stack it is a fence, which orders nothing that one thread at a time
    // could see.
    of_memory && locks && instruction.memory_base() != Register::RSP
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_atomic(code: &[u8]) -> bool {
        let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
        super::is_atomic(&decoder.decode())
    }

    #[test]
    fn atomic_instructions_are_told_from_others() {
        assert!(is_atomic(b"\xf0\x0f\xb1\x0f"), "lock cmpxchg [rdi], ecx");
        assert!(is_atomic(b"\xf0\x48\x0f\xc7\x0f"), "lock cmpxchg16b [rdi]");
        assert!(is_atomic(b"\xf0\x48\x0f\xc1\x07"), "lock xadd [rdi], rax");
        assert!(is_atomic(b"\xf0\xff\x07"), "lock inc dword [rdi]");
        assert!(is_atomic(b"\x86\x07"), "xchg [rdi], al");
        assert!(!is_atomic(b"\x87\xc3"), "xchg ebx, eax");
        assert!(!is_atomic(b"\x66\x90"), "two bytes that do nothing");
        assert!(!is_atomic(b"\xf0\x48\x83\x0c\x24\x00"), "lock or qword [rsp], 0");
        assert!(!is_atomic(b"\x0f\xb1\x0f"), "cmpxchg [rdi], ecx: not atomic");
        assert!(!is_atomic(b"\x48\x8d\x84\x24\xf0\x0f\xb1\x0f"), "in a displacement");
    }
}
