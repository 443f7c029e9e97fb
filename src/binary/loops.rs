//! Finds the loop of a library that an instruction is in, by the jumps that lead back to it.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};
use object::{Architecture, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

/// Instructions that are looked at for one loop at most.
const INSTRUCTIONS_MAX: usize = 1 << 14;

/// The code of a library.
#[derive(Default)]
pub struct Code {
    /// The address of each section, and its bytes.
    sections: Vec<(u64, Vec<u8>)>,
    /// The addresses at which functions begin, in ascending order.
    functions: Vec<u64>,
}

impl Code {
    /// Of other processors than x86-64 nothing is known.
    pub fn read(library: &Path) -> io::Result<Code> {
        let bytes = fs::read(library)?;
        let file = object::File::parse(&*bytes).map_err(io::Error::other)?;
        let mut code = Code::default();
        if file.architecture() != Architecture::X86_64 {
            return Ok(code);
        }
        for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
            let data = section.data().map_err(io::Error::other)?;
            code.sections.push((section.address(), data.to_vec()));
        }
        let symbols = file.symbols().chain(file.dynamic_symbols());
        let functions = symbols.filter(|symbol| symbol.kind() == SymbolKind::Text);
        code.functions = functions.map(|symbol| symbol.address()).collect();
        code.functions.sort_unstable();
        Ok(code)
    }

    /// The addresses of the instructions of the loop that the one with the byte at this address is
    /// in, itself first; empty: it is in none. Jumps whose target is computed lead nowhere.
    pub fn loop_around(&self, at: u64) -> Vec<u64> {
        let Some(start) = self.instruction_around(at) else { return Vec::new() };
        let (mut next_of, mut open) = (HashMap::new(), vec![start]);
        while let Some(at) = open.pop() {
            if next_of.len() < INSTRUCTIONS_MAX && !next_of.contains_key(&at) {
                let next = self.instruction(at).map(|this| successors(&this)).unwrap_or_default();
                open.extend_from_slice(&next);
                next_of.insert(at, next);
            }
        }
        let mut before: HashMap<u64, Vec<u64>> = HashMap::new();
        for (at, next) in &next_of {
            next.iter().for_each(|next| before.entry(*next).or_default().push(*at));
        }
        let (mut inside, mut open) = (HashSet::new(), vec![start]);
        while let Some(at) = open.pop() {
            for before in before.get(&at).into_iter().flatten() {
                if inside.insert(*before) {
                    open.push(*before);
                }
            }
        }
        if !inside.remove(&start) {
            return Vec::new();
        }
        let mut others: Vec<u64> = inside.into_iter().collect();
        others.sort_unstable();
        [start].into_iter().chain(others).collect()
    }

    /// The beginning of the instruction that has the byte at this address.
    fn instruction_around(&self, at: u64) -> Option<u64> {
        let function = self.functions.partition_point(|start| *start <= at).checked_sub(1);
        let mut here = self.functions[function?];
        while here <= at {
            let next = self.instruction(here)?.next_ip();
            if at < next {
                return Some(here);
            }
            here = next;
        }
        None
    }

    fn instruction(&self, at: u64) -> Option<Instruction> {
        let has = |(start, bytes): &&(u64, Vec<u8>)| {
            Range { start: *start, end: start + bytes.len() as u64 }.contains(&at)
        };
        let (start, bytes) = self.sections.iter().find(has)?;
        let bytes = &bytes[(at - start) as usize..];
        let decoded = Decoder::with_ip(64, bytes, at, DecoderOptions::NONE).decode();
        (!decoded.is_invalid()).then_some(decoded)
    }
}

/// The instructions that may follow, in the same function.
fn successors(this: &Instruction) -> Vec<u64> {
    let target = (this.op0_kind() == OpKind::NearBranch64).then(|| this.near_branch64());
    match this.mnemonic() {
        Mnemonic::Ret | Mnemonic::Retf | Mnemonic::Ud2 | Mnemonic::Hlt | Mnemonic::Int3 => {
            Vec::new()
        }
        Mnemonic::Jmp => target.into_iter().collect(),
        Mnemonic::Call => vec![this.next_ip()],
        _ => target.into_iter().chain([this.next_ip()]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loop around each byte of this code, whose only function begins at 0x100, as offsets.
    fn loops(bytes: &[u8]) -> Vec<Vec<u64>> {
        let code = Code { sections: vec![(0x100, bytes.to_vec())], functions: vec![0x100] };
        let around = |at| code.loop_around(0x100 + at).into_iter().map(|at| at - 0x100).collect();
        (0..bytes.len() as u64).map(around).collect()
    }

    #[test]
    fn a_loop_is_what_jumps_lead_back_to() {
        // nop; call; test; jne to the call; ret
        let bytes = [0x90, 0xe8, 0, 0, 0, 0, 0x85, 0xc0, 0x75, 0xf7, 0xc3];
        let (none, call): (Vec<u64>, Vec<u64>) = (vec![], vec![1, 6, 8]);
        let (test, jump) = (vec![6, 1, 8], vec![8, 1, 6]);
        let mut expected = vec![none.clone()];
        expected.extend([vec![call; 5], vec![test; 2], vec![jump; 2], vec![none]].concat());
        assert_eq!(loops(&bytes), expected);
        // A loop that is left by a jump, and one instruction that jumps to itself.
        assert_eq!(
            loops(&[0x74, 0x02, 0xeb, 0xfc, 0xc3]),
            [[0, 2], [0, 2], [2, 0], [2, 0]]
                .map(Vec::from)
                .into_iter()
                .chain([vec![]])
                .collect::<Vec<_>>()
        );
        assert_eq!(loops(&[0xeb, 0xfe]), [vec![0], vec![0]]);
    }
}
