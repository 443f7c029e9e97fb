//! Finds the atomic accesses and fences of a hooked library, by the hooks that it calls.
//! The compiler makes each of them a call of a function whose name says what it does.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail};
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, OpKind, Register};
use object::{Architecture, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable};
use object::{RelocationTarget, SectionKind};

use super::symbols::{Source, SourceLines};
use crate::core::memory_order::{Ordered, OrderedAccess, WeakenedAccess, Weakening};

/// The line of an access: its source without folders, and its number.
pub type Line = (String, u32);

/// The accesses of a library. A compare-exchange is there as one that succeeds.
pub struct Atomics {
    /// By an address of their code, as the harness reports it.
    accesses: BTreeMap<u64, (Ordered, Line)>,
}

impl Atomics {
    /// # Errors
    /// If the library cannot be read.
    pub fn find(library: &Path) -> io::Result<Atomics> {
        let calls = calls(library)?;
        let mut lines = SourceLines::for_library(library);
        let addresses: Vec<u64> = calls.keys().copied().collect();
        let line = |source: &Source| {
            let name = source.file.file_name().unwrap_or_default();
            (name.to_string_lossy().into_owned(), source.line)
        };
        let sources = lines.sources(&addresses).into_iter();
        let lines =
            sources.map(|source| source.filter(|of| of.is_own && !of.is_glue).map(|of| line(&of)));
        let accesses = calls.into_iter().zip(lines);
        let accesses = accesses.filter_map(|((at, of), line)| Some((at, (of, line?))));
        Ok(Atomics { accesses: accesses.collect() })
    }

    /// The line of an access; none where it is not the target's own.
    pub fn line(&self, address: u64) -> Option<&Line> {
        self.accesses.get(&address).map(|(_, line)| line)
    }

    /// All accesses, in the order of their addresses.
    pub fn all(&self) -> impl Iterator<Item = (u64, Ordered, &Line)> {
        self.accesses.iter().map(|(at, (of, line))| (*at, *of, line))
    }

    /// The accesses of that kind at the line of the weakening.
    fn weakened(&self, weakening: &Weakening) -> Vec<WeakenedAccess> {
        let place = &weakening.place;
        let of = if place.of == Ordered::Failure { Ordered::Compare } else { place.of };
        let here = self.accesses.iter().filter(|(_, (kind, line))| {
            *kind == of && line.0 == place.file && line.1 == place.line
        });
        let access = |at: u64| OrderedAccess { address: at, of: place.of, order: place.order };
        let to = weakening.to;
        here.map(|(at, _)| WeakenedAccess { access: access(*at), to }).collect()
    }
}

/// The accesses of a library that these weaken.
///
/// # Errors
/// If one of them weakens none.
pub fn weakened(library: &Path, weakenings: &[Weakening]) -> Result<Vec<WeakenedAccess>> {
    if weakenings.is_empty() {
        return Ok(Vec::new());
    }
    let atomics = Atomics::find(library).with_context(|| library.display().to_string())?;
    let mut all = Vec::new();
    for weakening in weakenings {
        let here = atomics.weakened(weakening);
        if here.is_empty() {
            let place = &weakening.place;
            bail!(
                "--weaken {weakening}: the target has no {} at {}:{}; `interlap orders` lists the \
                 lines of its atomic accesses",
                place.of,
                place.file,
                place.line
            );
        }
        all.extend(here);
    }
    Ok(all)
}

/// What a hook does; none: nothing that has an order here.
fn hook(name: &str) -> Option<Ordered> {
    if name == "__tsan_atomic_thread_fence" {
        return Some(Ordered::Fence);
    }
    let (bits, what) = name.strip_prefix("__tsan_atomic")?.split_once('_')?;
    bits.parse::<u32>().ok()?;
    Some(match what {
        "load" => Ordered::Load,
        "store" => Ordered::Store,
        what if what.starts_with("compare_exchange") => Ordered::Compare,
        _ => Ordered::Update,
    })
}

/// The calls of hooks: an address of each in the library's file, and what it does.
fn calls(library: &Path) -> io::Result<BTreeMap<u64, Ordered>> {
    let bytes = fs::read(library)?;
    let file = object::File::parse(&*bytes).map_err(io::Error::other)?;
    let mut found = BTreeMap::new();
    if file.architecture() != Architecture::X86_64 {
        return Ok(found);
    }
    let slots = slots(&file);
    let sections = file.sections().filter(|section| section.kind() == SectionKind::Text);
    let texts: Vec<(u64, &[u8])> = sections
        .map(|section| Ok((section.address(), section.data().map_err(io::Error::other)?)))
        .collect::<io::Result<_>>()?;
    for (address, code) in &texts {
        for call in Decoder::with_ip(64, code, *address, DecoderOptions::NONE) {
            let of = match call.code() {
                Code::Call_rm64 => slot(&call).and_then(|slot| slots.get(&slot)),
                Code::Call_rel32_64 => stub(&texts, call.near_branch_target())
                    .and_then(|jump| slot(&jump))
                    .and_then(|slot| slots.get(&slot)),
                _ => None,
            };
            if let Some(of) = of {
                found.insert(call.next_ip() - 1, *of);
            }
        }
    }
    Ok(found)
}

/// Where the loader puts the addresses of hooks.
fn slots(file: &object::File) -> HashMap<u64, Ordered> {
    let (Some(relocations), Some(symbols)) =
        (file.dynamic_relocations(), file.dynamic_symbol_table())
    else {
        return HashMap::new();
    };
    let of = |target: RelocationTarget| {
        let RelocationTarget::Symbol(index) = target else { return None };
        hook(symbols.symbol_by_index(index).ok()?.name().ok()?)
    };
    relocations.filter_map(|(at, relocation)| Some((at, of(relocation.target())?))).collect()
}

/// The slot whose address is called or jumped to.
fn slot(instruction: &Instruction) -> Option<u64> {
    let is_slot =
        instruction.op0_kind() == OpKind::Memory && instruction.memory_base() == Register::RIP;
    is_slot.then(|| instruction.memory_displacement64())
}

/// The jump of the stub at this address, if that is what is there: the way to functions of other
/// libraries in code that was compiled without `-fno-plt`.
fn stub(texts: &[(u64, &[u8])], at: u64) -> Option<Instruction> {
    let is_in =
        |(address, code): &&(u64, &[u8])| (*address..address + code.len() as u64).contains(&at);
    let (address, code) = texts.iter().find(is_in)?;
    let code = &code[(at - address) as usize..];
    let mut instructions = Decoder::with_ip(64, code, at, DecoderOptions::NONE).into_iter();
    let first = instructions.next()?;
    let jump = if first.code() == Code::Endbr64 { instructions.next()? } else { first };
    (jump.code() == Code::Jmp_rm64).then_some(jump)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const SOURCE: &str = "#include <atomic>
std::atomic<long> a;
extern \"C\" long run(long x) {
    a.store(x, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    a.compare_exchange_strong(x, 1, std::memory_order_acq_rel, std::memory_order_acquire);
    a.fetch_add(1);
    return a.load(std::memory_order_acquire);
}
";

    /// With and without a procedure linkage table.
    #[test]
    fn accesses_are_found_with_their_lines() {
        let room = tempfile::tempdir().expect("a folder");
        std::fs::write(room.path().join("a.cpp"), SOURCE).expect("room");
        for plt in ["-fno-plt", "-fplt"] {
            let gpp = |arguments: &[&str]| {
                let run = Command::new("g++").args(arguments).current_dir(room.path()).status();
                assert!(run.expect("g++").success(), "{arguments:?}");
            };
            gpp(&["-g", "-O2", "-fPIC", "-fsanitize=thread", "-Wno-tsan", "-c", "a.cpp", plt]);
            // Linked without the run-time library of a race detector.
            gpp(&["-shared", "-o", "a.so", "a.o"]);
            let found = Atomics::find(&room.path().join("a.so")).expect("a library");
            assert!(found.all().all(|(_, _, (file, _))| file == "a.cpp"));
            let mut all: Vec<_> = found.all().map(|(_, of, (_, line))| (*line, of)).collect();
            all.sort();
            use Ordered::{Compare, Fence, Load, Store, Update};
            let wanted = [(4, Store), (5, Fence), (6, Compare), (7, Update), (8, Load)];
            assert_eq!(all, wanted, "{plt}");
        }
    }
}
