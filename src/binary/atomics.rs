//! Finds the atomic accesses and fences of a hooked library, by the hooks that it calls.
//! The compiler makes each of them a call of a function whose name says what it does.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::CStr;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, bail};
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use object::{Architecture, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable};
use object::{RelocationTarget, SectionKind};

use super::symbols::{Source, SourceLines};
use crate::core::memory_order::{MemoryOrder, Ordered, OrderedAccess, WeakenedAccess, Weakening};
use crate::core::system_library::is_system;

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
        let bytes = fs::read(library)?;
        let calls = calls(&object::File::parse(&*bytes).map_err(io::Error::other)?)?.at;
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
        let accesses = accesses.filter_map(|((at, of), line)| Some((at, (of.of, line?))));
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

/// Whether all atomic accesses and fences of a library, and of those that it needs, are
/// sequentially consistent. No where that is not seen.
pub fn all_seq_cst(library: &Path) -> io::Result<bool> {
    let bytes = fs::read(library)?;
    let file = object::File::parse(&*bytes).map_err(io::Error::other)?;
    let is_alone = needed(&file).is_some_and(|all| all.iter().all(|name| is_system(name)));
    let calls = calls(&file)?;
    Ok(is_alone && !calls.are_more && calls.at.values().all(|call| call.is_seq_cst))
}

/// The libraries that a library needs.
fn needed(file: &object::File) -> Option<Vec<String>> {
    const NEEDED: u64 = 1;
    let dynamic = file.section_by_name(".dynamic")?.data().ok()?;
    let names = file.section_by_name(".dynstr")?.data().ok()?;
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let entries = dynamic.chunks_exact(16).map(|of| (number(&of[..8]), number(&of[8..])));
    let name = |at: u64| {
        let name = CStr::from_bytes_until_nul(names.get(at as usize..)?).ok()?;
        Some(name.to_string_lossy().into_owned())
    };
    entries.filter(|(tag, _)| *tag == NEEDED).map(|(_, at)| name(at)).collect()
}

/// A function that code with hooks calls in place of an atomic access or a fence.
#[derive(Clone)]
struct Hook {
    of: Ordered,
    /// Its arguments that are orders; none: they are not all in registers.
    orders: Option<Range<usize>>,
}

/// Where arguments are passed (System V ABI, AMD64, section 3.2.3).
const ARGUMENTS: [[Register; 2]; 6] = [
    [Register::EDI, Register::RDI],
    [Register::ESI, Register::RSI],
    [Register::EDX, Register::RDX],
    [Register::ECX, Register::RCX],
    [Register::R8D, Register::R8],
    [Register::R9D, Register::R9],
];

/// What a hook does; none: nothing that has an order here.
fn hook(name: &str) -> Option<Hook> {
    if name == "__tsan_atomic_thread_fence" {
        return Some(Hook { of: Ordered::Fence, orders: Some(0..1) });
    }
    let (bits, what) = name.strip_prefix("__tsan_atomic")?.split_once('_')?;
    // A value of so many bits is passed in two registers.
    let wide = usize::from(bits.parse::<u32>().ok()? > 64);
    let (of, orders) = match what {
        "load" => (Ordered::Load, 1..2),
        "store" => (Ordered::Store, 2 + wide..3 + wide),
        "compare_exchange_val" => (Ordered::Compare, 3 + 2 * wide..5 + 2 * wide),
        what if what.starts_with("compare_exchange") => (Ordered::Compare, 3 + wide..5 + wide),
        _ => (Ordered::Update, 2 + wide..3 + wide),
    };
    Some(Hook { of, orders: Some(orders).filter(|orders| orders.end <= ARGUMENTS.len()) })
}

/// The constants among the arguments of the next call.
#[derive(Clone, Copy, Default)]
struct Arguments([Option<u64>; ARGUMENTS.len()]);

impl Arguments {
    fn are_seq_cst(&self, hook: &Hook) -> bool {
        let is_seq_cst = |order: &Option<u64>| {
            order.is_some_and(|of| MemoryOrder::from_number(of as u32) == Some(MemoryOrder::SeqCst))
        };
        hook.orders.clone().is_some_and(|orders| self.0[orders].iter().all(is_seq_cst))
    }

    /// An instruction was executed.
    fn follow(&mut self, of: &Instruction) {
        if matches!(of.mnemonic(), Mnemonic::Call | Mnemonic::Jmp | Mnemonic::Ret) {
            *self = Arguments::default();
        }
        if of.op0_kind() != OpKind::Register {
            return;
        }
        let place = ARGUMENTS.iter().position(|names| names.contains(&of.op0_register()));
        if let Some(place) = place {
            let constant = (of.mnemonic() == Mnemonic::Mov).then(|| of.try_immediate(1).ok());
            self.0[place] = constant.flatten();
        }
    }
}

/// A call of a hook.
struct Call {
    of: Ordered,
    /// Its orders are constants, and sequentially consistent.
    is_seq_cst: bool,
}

#[derive(Default)]
struct Calls {
    /// By an address of each in the library's file.
    at: BTreeMap<u64, Call>,
    /// The address of a hook is taken, so that there may be more.
    are_more: bool,
}

fn calls(file: &object::File) -> io::Result<Calls> {
    let mut found = Calls::default();
    if file.architecture() != Architecture::X86_64 {
        return Ok(Calls { are_more: true, ..found });
    }
    let slots = slots(file);
    let sections = file.sections().filter(|section| section.kind() == SectionKind::Text);
    let texts: Vec<(u64, &[u8])> = sections
        .map(|section| Ok((section.address(), section.data().map_err(io::Error::other)?)))
        .collect::<io::Result<_>>()?;
    for (address, code) in &texts {
        let is_target = targets_of_jumps(*address, code);
        let mut arguments = Arguments::default();
        for one in Decoder::with_ip(64, code, *address, DecoderOptions::NONE) {
            if is_target.contains(&one.ip()) {
                arguments = Arguments::default();
            }
            let hook = match one.code() {
                Code::Call_rm64 => slot(&one).and_then(|slot| slots.get(&slot)),
                Code::Call_rel32_64 => stub(&texts, one.near_branch_target())
                    .and_then(|jump| slot(&jump))
                    .and_then(|slot| slots.get(&slot)),
                _ => None,
            };
            if let Some(hook) = hook {
                let is_seq_cst = arguments.are_seq_cst(hook);
                found.at.insert(one.next_ip() - 1, Call { of: hook.of, is_seq_cst });
            }
            found.are_more |= takes_address(&one, &slots);
            arguments.follow(&one);
        }
    }
    Ok(found)
}

fn targets_of_jumps(address: u64, code: &[u8]) -> HashSet<u64> {
    let all = Decoder::with_ip(64, code, address, DecoderOptions::NONE).into_iter();
    let jumps = all.filter(|one| one.op0_kind() == OpKind::NearBranch64);
    jumps.map(|jump| jump.near_branch_target()).collect()
}

/// Whether an instruction reads the address of a hook, other than to go there.
fn takes_address(of: &Instruction, slots: &HashMap<u64, Hook>) -> bool {
    let reads = of.op_count() > 1 && of.op1_kind() == OpKind::Memory;
    let is_slot = of.memory_base() == Register::RIP;
    reads && is_slot && slots.contains_key(&of.memory_displacement64())
}

/// Where the loader puts the addresses of hooks.
fn slots(file: &object::File) -> HashMap<u64, Hook> {
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
    use std::path::PathBuf;
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

    /// A library of this source, without the run-time library of a race detector.
    fn compiled(room: &Path, source: &str, flags: &[&str]) -> PathBuf {
        std::fs::write(room.join("a.cpp"), source).expect("room");
        let gpp = |arguments: &[&str]| {
            let run = Command::new("g++").args(arguments).current_dir(room).status();
            assert!(run.expect("g++").success(), "{arguments:?}");
        };
        let hooked = ["-g", "-O2", "-std=c++20", "-fPIC", "-fsanitize=thread", "-Wno-tsan", "-c"];
        gpp(&[&hooked[..], &["a.cpp"], flags].concat());
        gpp(&["-shared", "-o", "a.so", "a.o"]);
        room.join("a.so")
    }

    /// With and without a procedure linkage table.
    #[test]
    fn accesses_are_found_with_their_lines() {
        let room = tempfile::tempdir().expect("a folder");
        for plt in ["-fno-plt", "-fplt"] {
            let found = Atomics::find(&compiled(room.path(), SOURCE, &[plt])).expect("a library");
            assert!(found.all().all(|(_, _, (file, _))| file == "a.cpp"));
            let mut all: Vec<_> = found.all().map(|(_, of, (_, line))| (*line, of)).collect();
            all.sort();
            use Ordered::{Compare, Fence, Load, Store, Update};
            let wanted = [(4, Store), (5, Fence), (6, Compare), (7, Update), (8, Load)];
            assert_eq!(all, wanted, "{plt}");
        }
    }

    /// One access after the other has a weaker order, or one that only a run shows.
    #[test]
    fn an_order_that_is_not_seq_cst_is_seen() {
        let room = tempfile::tempdir().expect("a folder");
        let strong = [
            "a.store(x);",
            "std::atomic_thread_fence(std::memory_order_seq_cst);",
            "for (int i = 0; i < 9; i++) while (!a.compare_exchange_weak(x, i)) a.load();",
            "wide.store({x, x});",
            "Wide w{x, 1}; wide.compare_exchange_strong(w, {1, x});",
            "x = wide.load().a;",
            "x += a.fetch_add(x ? 2 : 1) + a++;",
        ];
        let weak = [
            "a.store(x, std::memory_order_release);",
            "std::atomic_thread_fence(std::memory_order_acquire);",
            "a.compare_exchange_weak(x, 1, std::memory_order_seq_cst, std::memory_order_acquire);",
            "wide.store({x, x}, std::memory_order_relaxed);",
            "Wide w{x, 1}; wide.compare_exchange_strong(w, {1, x}, std::memory_order_acq_rel);",
            "x = wide.load(std::memory_order_acquire).a;",
            "x += a.fetch_add(1, std::memory_order_relaxed);",
            "x += a.load(x > 0 ? std::memory_order_seq_cst : std::memory_order_acquire);",
        ];
        let seen = |change: Option<&str>| {
            let body = strong.iter().map(|line| format!("    {{ {line} }}\n")).collect::<String>();
            let more = change.map_or(String::new(), |line| format!("    {{ {line} }}\n"));
            let source = format!(
                "#include <atomic>\nstruct Wide {{ long a, b; }};\nstd::atomic<long> a;\n\
                 std::atomic<Wide> wide;\nextern \"C\" long run(long x) {{\n{body}{more}    \
                 return x;\n}}\n"
            );
            let library = compiled(room.path(), &source, &["-fno-plt", "-mcx16"]);
            all_seq_cst(&library).expect("a library")
        };
        assert!(seen(None));
        for line in weak {
            assert!(!seen(Some(line)), "{line}");
        }
    }
}
