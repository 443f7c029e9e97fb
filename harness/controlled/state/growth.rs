//! Measures what the target keeps in the process between rounds: mapped memory and open files. Its
//! variables are restored for each round, so what it maps or opens once for good, it maps or opens
//! in every round. Before that exhausts anything, the process ends between two rounds, and another
//! process goes on.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::OnceLock;

use interlap::core::plan::{Job, Plan};
use interlap::trace::frame::{Bye, Frame, Growth, Problem};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, getrlimit};

use crate::controlled::core::current_round;

/// A process may use one part in so many of each limit. With checks after 1, 2, 4, ... rounds,
/// steady growth that one check just tolerates has at most doubled at the next.
const PART: u64 = 4;
/// Rounds between two checks at most. A check takes as long as a few short rounds.
const ROUNDS_MAX: u64 = 4096;

/// A bound below this would count the harness's own memory.
const BYTES_MIN: u64 = 16 << 20;
/// A higher limit of a user is likely to exceed that of the whole system.
const DESCRIPTORS_MAX: u64 = 1 << 16;
/// The processor's address space.
const ADDRESSES: u64 = 1 << 47;
/// Default of vm.max_map_count.
const MAPPINGS_MAX: u64 = 65_530;

/// What a process uses.
#[derive(Clone, Copy, Default)]
struct Holdings {
    /// All of its address space.
    mapped: u64,
    /// Private writable memory, touched or not, and shared memory that it has touched.
    bytes: u64,
    resident: u64,
    /// The lowest free descriptor.
    descriptors: u64,
}

struct Bounds {
    round_first: u64,
    round_step: u64,
    start: Holdings,
    /// How much may be used beyond `start`.
    more: Holdings,
    /// How many mappings there may be.
    mappings: u64,
}

static BOUNDS: OnceLock<Bounds> = OnceLock::new();

/// To be called once the target is loaded, before the first round.
pub fn begin(job: &Job) {
    let (round_first, round_step) = (job.round_first, job.round_step);
    let (start, more, mappings) = (Holdings::now(), most(&job.plan), mappings_max() / PART);
    let _ = BOUNDS.set(Bounds { round_first, round_step, start, more, mappings });
}

fn most(plan: &Plan) -> Holdings {
    let addresses = getrlimit(Resource::As).current.unwrap_or(ADDRESSES);
    Holdings {
        mapped: addresses.min(ADDRESSES) / PART,
        bytes: ((plan.memory_mib_max << 20) / PART).max(BYTES_MIN),
        descriptors: descriptors_max() / PART,
        ..Holdings::default()
    }
}

fn descriptors_max() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(DESCRIPTORS_MAX).min(DESCRIPTORS_MAX)
}

fn mappings_max() -> u64 {
    let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").ok();
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(MAPPINGS_MAX)
}

/// To be called after so many rounds of the process: how much it has grown, if that is too much.
pub fn check(rounds: u64) -> Option<Growth> {
    let due = rounds.is_power_of_two() || rounds.is_multiple_of(ROUNDS_MAX);
    if due { grown(rounds) } else { None }
}

/// The last frame of a process that cannot go on: the problem, or, if growth may be the cause, the
/// request that another process redo the round.
pub fn problem(problem: Problem) -> Frame {
    let round = current_round::number();
    let rounds = BOUNDS.get().map_or(0, |b| round.saturating_sub(b.round_first) / b.round_step);
    match grown(rounds).filter(|_| rounds > 0) {
        Some(growth) => Frame::Bye(Bye::new(Some(round), Some(growth))),
        None => Frame::Problem(problem),
    }
}

/// Whether the process has grown so much that a failure may not be the target's fault. Safe in a
/// signal handler: allocates nothing.
pub fn is_grown() -> bool {
    grown(0).is_some()
}

/// The memory of this process that it has touched, in bytes. Safe in a signal handler.
pub fn resident() -> u64 {
    Holdings::now().resident
}

fn grown(rounds: u64) -> Option<Growth> {
    let bounds = BOUNDS.get()?;
    let (now, start, more) = (Holdings::now(), &bounds.start, &bounds.more);
    let mapped = now.mapped.saturating_sub(start.mapped);
    let bytes = now.bytes.saturating_sub(start.bytes);
    let descriptors = now.descriptors.saturating_sub(start.descriptors);
    let page = rustix::param::page_size() as u64;
    // To count mappings takes long. Each has at least a page, so it may be needless.
    let mappings = if mapped / page > bounds.mappings { mappings() } else { 0 };
    let too_much = mapped > more.mapped
        || bytes > more.bytes
        || descriptors > more.descriptors
        || mappings > bounds.mappings;
    let bytes = if mapped > more.mapped { mapped } else { bytes };
    too_much.then_some(Growth { bytes, descriptors, rounds })
}

impl Holdings {
    fn now() -> Holdings {
        let statm = match open(c"/proc/self/statm") {
            Ok(statm) => statm,
            Err(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE) => {
                return Holdings { descriptors: descriptors_max(), ..Holdings::default() };
            }
            Err(_) => return Holdings::default(),
        };
        // The kernel gives the lowest free number.
        let descriptors = statm.as_raw_fd() as u64;
        let mut room = [0; 256];
        let read = rustix::io::read(&statm, &mut room).unwrap_or(0);
        let text = std::str::from_utf8(&room[..read]).unwrap_or_default();
        let page = rustix::param::page_size() as u64;
        let mut sizes = [0; 6];
        for (size, word) in sizes.iter_mut().zip(text.split_ascii_whitespace()) {
            *size = word.parse().unwrap_or(0) * page;
        }
        let [mapped, resident, shared, _, _, data] = sizes;
        Holdings { mapped, bytes: data + shared, resident, descriptors }
    }
}

fn mappings() -> u64 {
    let Ok(maps) = open(c"/proc/self/maps") else { return 0 };
    let (mut lines, mut room) = (0, [0; 1024]);
    while let Ok(read @ 1..) = rustix::io::read(&maps, &mut room) {
        lines += room[..read].iter().filter(|byte| **byte == b'\n').count() as u64;
    }
    lines
}

/// A direct system call: interposed functions are for the target.
fn open(path: &std::ffi::CStr) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}
