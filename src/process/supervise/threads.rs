//! Reads what the threads of a process do from `/proc`.

use std::time::Duration;

use super::hang_decision::{State, Thread};

/// The threads of the process; none if it is gone.
pub fn of(process: u32) -> Vec<Thread> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let thread = |task: std::fs::DirEntry| {
        let number = task.file_name().to_str()?.parse().ok()?;
        parse(number, &std::fs::read_to_string(task.path().join("stat")).ok()?)
    };
    tasks.filter_map(thread).collect()
}

/// Reads a line of `stat`, see proc(5). None for a thread that has ended.
fn parse(number: u32, stat: &str) -> Option<Thread> {
    // The command's name is in parentheses and may contain anything.
    let mut words = stat.rsplit(')').next()?.split_whitespace();
    let state = match words.next()? {
        "S" | "I" => State::Sleeps,
        "D" | "T" | "t" => State::Stopped,
        "Z" | "X" | "x" => return None,
        _ => State::Runnable,
    };
    let mut times = words.skip(10).map(|word| word.parse::<u64>());
    let ticks = times.next()?.ok()? + times.next()?.ok()?;
    let per_second = rustix::param::clock_ticks_per_second();
    let processor = Duration::from_secs_f64(ticks as f64 / per_second as f64);
    Some(Thread { number, state, processor })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_and_processor_time_follow_the_name() {
        let stat = |state: &str| {
            format!("7 (a) R (b) {state} 1 7 7 0 -1 4194560 120 0 0 0 130 20 0 0 20 0 1 0 99 0 0")
        };
        let thread = parse(7, &stat("S")).expect("alive");
        let per_second = rustix::param::clock_ticks_per_second();
        assert_eq!((thread.number, thread.state), (7, State::Sleeps));
        assert_eq!(thread.processor, Duration::from_secs_f64(150.0 / per_second as f64));
        let state = |word: &str| parse(7, &stat(word)).map(|thread| thread.state);
        assert_eq!(
            ["I", "R", "D", "T"].map(state),
            [State::Sleeps, State::Runnable, State::Stopped, State::Stopped].map(Some)
        );
        assert_eq!(state("Z"), None);
    }

    #[test]
    fn the_threads_of_this_process_are_seen() {
        let own = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        let threads = of(std::process::id());
        let me = threads.iter().find(|thread| thread.number == own).expect("alive");
        assert_eq!(me.state, State::Runnable);
    }
}
