//! The recorded process: loads a target, runs rounds on it, and sends their records to the main
//! program. The target may end it at any moment, so it keeps nothing that is not in the record area
//! or on the pipe.
//!
//! Usage: `interlap-harness JOB.json`, with the pipe for frames as standard output. The target's
//! own output goes to standard error. `interlap-harness --alone JOB.json FRAMES` runs without a
//! main program, and writes frames to a file. `--debug JOB.json [FRAMES]` does so for debuggers,
//! which may stop at any step. `--bench LIBRARY` prints the cost of a timebox,
//! `--bench-rounds JOB` that of the calls of rounds alone.

mod bench;
mod callers;
mod clock;
mod controlled;
mod disturb;
mod drain;
mod exceptions;
mod fault;
mod forked;
mod library;
mod marker;
mod model_state;
mod native;
mod parts;
mod pipe;
mod prepared;
mod record;
mod rr;
mod scenario;
mod stacks;
mod timebox;
mod workload;

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use interlap::core::plan::{Engine, Job, OWN_FAILURE};
use interlap::trace::area::{Ended, Stage};
use interlap::trace::frame::{
    Bye, CodeRange, Frame, Growth, Hello, Problem, RoundEnd, TRACE_VERSION,
};

use crate::clock::Clock;
use crate::disturb::Disturber;
use crate::library::Target;
use crate::native::{Pool, Setting};
use crate::pipe::Pipe;
use crate::record::Area;
use crate::workload::Shape;

/// Time between two checks of the process's memory.
const MEMORY_CHECKS: Duration = Duration::from_millis(2);

fn main() -> ExitCode {
    // A panic on a pooled thread would leave the others waiting for ever.
    std::panic::set_hook(Box::new(|panic| {
        controlled::release();
        if fault::is_restricted() {
            fault::end_for(Ended::Restricted);
        }
        eprintln!("{OWN_FAILURE} {panic}");
        std::process::abort();
    }));
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let done = match &words[..] {
        [job] => run_attended(Path::new(job)),
        [flag, job] if flag == "--debug" => run_debugged(Path::new(job), Path::new("/dev/null")),
        [flag, job, frames] if flag == "--debug" => run_debugged(Path::new(job), Path::new(frames)),
        [flag, job, frames] if flag == "--alone" => run_alone(Path::new(job), Path::new(frames)),
        [bench, library] if bench == "--bench" => {
            bench::run(Path::new(library)).map_err(io::Error::other)
        }
        [bench, job] if bench == "--bench-rounds" => {
            read_job(Path::new(job)).and_then(|job| bench::rounds(&job).map_err(io::Error::other))
        }
        _ => Err(io::Error::other("started by `interlap`; takes the path of a job")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{OWN_FAILURE} {error}");
            ExitCode::from(2)
        }
    }
}

fn read_job(path: &Path) -> io::Result<Job> {
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

/// Runs a job for the main program.
fn run_attended(job: &Path) -> io::Result<()> {
    let job = read_job(job)?;
    let mut pipe = take_standard_output()?;
    let last = match run(&job, &mut pipe, wait_for_go_ahead) {
        Ok(last) => last,
        Err(Failure::Target(problem)) if may_restart(&problem) => {
            rustix::stdio::dup2_stdout(pipe.file())?;
            return Err(restart());
        }
        Err(Failure::Target(problem)) => Frame::Problem(problem),
        Err(Failure::Own(error)) => return Err(error),
    };
    pipe.send(&last)
}

/// Runs a job for a debugger.
fn run_debugged(job: &Path, frames: &Path) -> io::Result<()> {
    marker::set_debugged();
    run_alone(job, frames)
}

/// Runs a job without a main program.
fn run_alone(job: &Path, frames: &Path) -> io::Result<()> {
    let job = read_job(job)?;
    std::fs::create_dir_all(&job.directory)?;
    match run(&job, &mut Pipe::into_file(frames)?, empty_standard_input) {
        Err(Failure::Target(problem)) if may_restart(&problem) => Err(restart()),
        Ok(Frame::Problem(problem)) | Err(Failure::Target(problem)) => {
            Err(io::Error::other(problem.to_string()))
        }
        Ok(_) => {
            eprintln!("interlap-harness: round {} came to its end", job.round_first);
            Ok(())
        }
        Err(Failure::Own(error)) => Err(error),
    }
}

/// Tunables of the C library, and the one that reserves static thread-local storage for libraries:
/// enough for every allocator in Debian.
const TUNABLES: &str = "GLIBC_TUNABLES";
const STORAGE: (&str, u32) = ("glibc.rtld.optional_static_tls", 1 << 16);

/// Whether the target could be loaded with more static thread-local storage.
fn may_restart(problem: &Problem) -> bool {
    let set = std::env::var(TUNABLES).is_ok_and(|tunables| tunables.contains(STORAGE.0));
    library::lacks_static_storage(&problem.what) && !set
}

/// Executes this program anew with more static thread-local storage; returns only an error.
fn restart() -> io::Error {
    let storage = format!("{}={}", STORAGE.0, STORAGE.1);
    let tunables = match std::env::var(TUNABLES) {
        Ok(others) => format!("{others}:{storage}"),
        Err(_) => storage,
    };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return error,
    };
    let words = std::env::args_os().skip(1);
    std::process::Command::new(program).args(words).env(TUNABLES, tunables).exec()
}

/// Why a job could not be done.
enum Failure {
    /// The target cannot be used, and why.
    Target(Problem),
    Own(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Own(error)
    }
}

/// Loads the target, sends the first frame, calls `wait` and runs the rounds; gives the last frame.
fn run(job: &Job, pipe: &mut Pipe, wait: fn() -> io::Result<()>) -> Result<Frame, Failure> {
    let (controlled, recorded) = (job.plan.engine == Engine::Controlled, rr::is_present());
    if job.plan.engine == Engine::Rr && !recorded {
        let problem = "the harness was to run under rr, but does not";
        return Err(Failure::Target(problem.to_string().into()));
    }
    let reserved = if controlled { controlled::RESERVED_MIB } else { 0 };
    fault::limit(job.plan.memory_mib_max + reserved);
    fault::install();
    forked::watch();
    let target = match controlled {
        true => controlled::load(&job.library, &job.plan),
        false => {
            Target::load(&job.library, job.plan.model.as_deref()).map(|target| (target, Vec::new()))
        }
    };
    let (target, uninstrumented) = target.map_err(Failure::Target)?;
    let (clock, clock_info) = match (controlled, recorded) {
        (true, _) => (Clock::Steps, Clock::steps()),
        (false, true) => Clock::choose_recorded(job.plan.clock),
        (false, false) => Clock::choose(job.plan.clock),
    };
    let code = code_range(&job.library);
    let mut area = Area::create()?;
    fault::watch(&area);
    stacks::note_target(code);
    if !controlled && !recorded {
        stacks::answer();
    }
    pipe.send(&Frame::Hello(Box::new(Hello {
        version: TRACE_VERSION,
        plan: job.plan.clone(),
        target: target.info.clone(),
        clock: clock_info,
        area_fd: Some(area.descriptor()),
        process: Some(std::process::id()),
        code,
        warnings: controlled::warning(&uninstrumented).into_iter().collect(),
        unhooked: uninstrumented,
    })))?;
    wait()?;
    if recorded {
        rr::end_with_reader_of(pipe.descriptor());
    }
    let last = match controlled {
        true => {
            let base = code.map_or(0, |code| code.base);
            controlled::rounds(job, &target, base, &mut area, pipe)?
        }
        false => rounds(job, &target, (clock, recorded), &mut area, pipe)?,
    };
    Ok(last)
}

/// Runs the rounds of the job, with this clock, `recorded` by rr or not; gives the last frame.
fn rounds(
    job: &Job,
    target: &Target,
    (clock, recorded): (Clock, bool),
    area: &mut Area,
    pipe: &mut Pipe,
) -> io::Result<Frame> {
    if let Err(what) = scenario::check(&job.plan, &target.operations) {
        return Ok(Frame::Problem(what.into()));
    }
    // rr switches threads in the middle of calls by itself, and no two run at the same instant.
    let disturber = (!recorded).then(|| Disturber::start(job.plan.seed));
    let (seed, directory) = (job.plan.seed, job.directory.as_path());
    let setting = Setting { seed, clock, directory, disturber: disturber.as_ref(), recorded };
    let mut pool = Pool::new(job.plan.pin && !recorded, recorded);
    let (started, time_max) = (Instant::now(), job.milliseconds_max.map(Duration::from_millis));
    let mut frames = Vec::new();
    let mut memory = Memory::new(job);
    for round in
        (job.round_first..job.round_end.unwrap_or(u64::MAX)).step_by(job.round_step as usize)
    {
        let shape = Shape::draw(&job.plan, &target.operations, &target.info, round);
        let outlet = (&mut frames, &mut *pipe);
        let done = native::run_round(target, area, &mut pool, &shape, &setting, outlet);
        let (drained, begun) = match done {
            Ok(done) => (done.drained, done.in_parts),
            Err(problem) => return Ok(Frame::Problem(problem.into())),
        };
        area.set_stage(Stage::Sent);
        if !begun {
            interlap::trace::frame::write(&mut frames, &Frame::Round(shape.start()))?;
        }
        send_rest(&shape, drained, area, &mut frames, pipe)?;
        let grown = memory.check(round);
        if grown.is_some() || time_max.is_some_and(|max| started.elapsed() > max) {
            return Ok(Frame::Bye(Bye::new(Some(round + 1), grown)));
        }
    }
    Ok(Frame::Bye(Bye::new(None, None)))
}

/// Sends the records of a round whose beginning is in `frames` or was sent.
fn send_rest(
    shape: &Shape,
    drained: bool,
    area: &mut Area,
    frames: &mut Vec<u8>,
    pipe: &mut Pipe,
) -> io::Result<()> {
    area.send(frames, pipe)?;
    let end = RoundEnd::new(shape.round, drained);
    interlap::trace::frame::write(frames, &Frame::End(end))?;
    pipe.write(frames)
}

/// Measures how much the process grows.
struct Memory {
    round_first: u64,
    round_step: u64,
    growth_bytes_max: u64,
    first: Option<(u64, u64)>,
    checked: Instant,
}

impl Memory {
    fn new(job: &Job) -> Memory {
        let growth_bytes_max = (job.plan.memory_mib_max << 20) / 4;
        let (round_first, round_step) = (job.round_first, job.round_step);
        Memory { round_first, round_step, growth_bytes_max, first: None, checked: Instant::now() }
    }

    /// To be called after each round: how much the process has grown, if that is too much.
    fn check(&mut self, round: u64) -> Option<Growth> {
        if self.first.is_some() && self.checked.elapsed() < MEMORY_CHECKS {
            return None;
        }
        self.checked = Instant::now();
        let (now, rounds) =
            (fault::anonymous_bytes(), (round - self.round_first) / self.round_step + 1);
        let (bytes_first, rounds_first) = *self.first.get_or_insert((now, rounds));
        let bytes = now.saturating_sub(bytes_first);
        let grown = bytes > self.growth_bytes_max;
        grown.then_some(Growth { bytes, descriptors: 0, rounds: rounds - rounds_first })
    }
}

/// Makes standard output the pipe for frames, under another number; the target's output goes to
/// standard error.
fn take_standard_output() -> io::Result<Pipe> {
    let pipe = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 100)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    // A larger pipe lets the threads run on while the main program checks; a refusal is harmless.
    let _ = rustix::pipe::fcntl_setpipe_size(&pipe, 1 << 20);
    Ok(Pipe::new(File::from(pipe)))
}

/// Waits until the main program has opened the record area and closes our standard input, which is
/// then empty for the target.
fn wait_for_go_ahead() -> io::Result<()> {
    io::copy(&mut io::stdin(), &mut io::sink())?;
    empty_standard_input()
}

fn empty_standard_input() -> io::Result<()> {
    let nothing = File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(nothing)?;
    Ok(())
}

/// Where the target's code is mapped, to find the source line of a crash.
fn code_range(library: &Path) -> Option<CodeRange> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let path = library.to_str()?;
    let ranges: Vec<(u64, u64, bool)> = maps
        .lines()
        .filter(|line| line.ends_with(path))
        .filter_map(|line| {
            let (range, rest) = line.split_once(' ')?;
            let (start, end) = range.split_once('-')?;
            let hex = |text: &str| u64::from_str_radix(text, 16).ok();
            Some((hex(start)?, hex(end)?, rest.starts_with("r-x")))
        })
        .collect();
    let (start, end, _) = ranges.iter().find(|(.., executable)| *executable)?;
    Some(CodeRange { base: ranges[0].0, start: *start, end: *end })
}
