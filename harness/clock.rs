//! The clock of timeboxes: a fenced time stamp counter, CLOCK_MONOTONIC where the counter cannot
//! be trusted, or under rr a number that every stamp raises.
//!
//! A box may be too wide, never too narrow. So the opening stamp is read before any memory access
//! of the call (`rdtsc; lfence`), and the closing one after all of its stores are visible to other
//! processors (`mfence; lfence; rdtsc`): without the `mfence` a store may still wait in the store
//! buffer when the box is closed, and another thread's honest "empty" looks like a lie. A locked
//! instruction in its place, which orders memory as well and costs half, is not enough: on an AMD
//! EPYC it gave false "empty" answers of a correct deque within a few rounds, presumably because
//! the instruction retires before the stores ahead of it have left the buffer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use interlap::core::plan;
use interlap::core::tsc;
use interlap::trace::frame::ClockInfo;

use crate::controlled;

/// A source of time stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    Tsc,
    /// On AMD's processors `mfence` waits for everything before it and holds back everything after
    /// it (AMD64 Architecture Programmer's Manual, volume 2, "Serializing Instructions"), so that
    /// the `lfence` behind it is not needed.
    TscAmd,
    Monotonic,
    /// The steps of the controlled engine.
    Steps,
    /// A number that every stamp raises: no two stamps are equal.
    Counter,
}

/// The last stamp of [`Clock::Counter`].
static COUNTER: AtomicU64 = AtomicU64::new(0);

impl Clock {
    /// The clock that a plan asks for, and its description.
    pub fn choose(wish: plan::Clock) -> (Clock, ClockInfo) {
        let refused = match wish {
            plan::Clock::Tsc | plan::Clock::Steps | plan::Clock::Counter => None,
            plan::Clock::Monotonic => Some("CLOCK_MONOTONIC was asked for".to_string()),
            plan::Clock::Auto => tsc::refusal().or_else(skew),
        };
        let (clock, used, unit) = match refused {
            None => (Clock::of_counter(), plan::Clock::Tsc, nanoseconds_per_cycle()),
            Some(_) => (Clock::Monotonic, plan::Clock::Monotonic, 1.0),
        };
        (clock, ClockInfo { clock: used, refused, nanoseconds_per_unit: unit })
    }

    /// The clock that a plan asks for under rr.
    pub fn choose_recorded(wish: plan::Clock) -> (Clock, ClockInfo) {
        if wish != plan::Clock::Auto {
            return Clock::choose(wish);
        }
        let info =
            ClockInfo { clock: plan::Clock::Counter, refused: None, nanoseconds_per_unit: 0.0 };
        (Clock::Counter, info)
    }

    /// The description of the controlled engine's clock.
    pub fn steps() -> ClockInfo {
        ClockInfo { clock: plan::Clock::Steps, refused: None, nanoseconds_per_unit: 0.0 }
    }

    fn of_counter() -> Clock {
        if tsc::is_amd() { Clock::TscAmd } else { Clock::Tsc }
    }

    /// A stamp from before all that follows.
    #[inline(always)]
    pub fn open(self) -> u64 {
        match self {
            Clock::Tsc | Clock::TscAmd => arch::rdtsc_then_fence(),
            Clock::Monotonic => {
                let stamp = monotonic();
                arch::drain_stores();
                stamp
            }
            Clock::Steps => controlled::stamp(),
            Clock::Counter => count(),
        }
    }

    /// A stamp from after all that precedes it, stores included.
    #[inline(always)]
    pub fn close(self) -> u64 {
        match self {
            Clock::Tsc => arch::fence_then_rdtsc(),
            Clock::TscAmd => arch::amd_fence_then_rdtsc(),
            Clock::Monotonic => {
                arch::drain_stores();
                monotonic()
            }
            Clock::Steps => controlled::stamp(),
            Clock::Counter => count(),
        }
    }

    /// As `open`, but later than `last`, so that the stamps of one thread strictly increase. Waits
    /// for that: to add to the stamp would narrow the box.
    #[inline(always)]
    pub fn open_after(self, last: u64) -> u64 {
        loop {
            let stamp = self.open();
            if stamp > last {
                return stamp;
            }
        }
    }
}

/// Sequentially consistent, so that no access of a call is seen outside its box.
#[inline(always)]
fn count() -> u64 {
    COUNTER.fetch_add(1, Ordering::SeqCst) + 1
}

#[cfg(target_arch = "x86_64")]
mod arch {
    use core::arch::x86_64::{_mm_lfence, _mm_mfence, _rdtsc};

    #[inline(always)]
    pub fn rdtsc_then_fence() -> u64 {
        // SAFETY: every x86-64 processor has rdtsc and the fences; they touch no memory.
        unsafe {
            let stamp = _rdtsc();
            _mm_lfence();
            stamp
        }
    }

    /// Waits until all stores are visible and everything before has been done.
    #[inline(always)]
    pub fn drain_stores() {
        // SAFETY: as above.
        unsafe {
            _mm_mfence();
            _mm_lfence();
        }
    }

    #[inline(always)]
    pub fn fence_then_rdtsc() -> u64 {
        drain_stores();
        // SAFETY: as above.
        unsafe { _rdtsc() }
    }

    #[inline(always)]
    pub fn amd_fence_then_rdtsc() -> u64 {
        // SAFETY: as above.
        unsafe {
            _mm_mfence();
            _rdtsc()
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod arch {
    pub fn drain_stores() {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }

    pub fn rdtsc_then_fence() -> u64 {
        unreachable!("tsc::refusal refuses the counter on other processors")
    }

    pub fn fence_then_rdtsc() -> u64 {
        unreachable!("tsc::refusal refuses the counter on other processors")
    }

    pub fn amd_fence_then_rdtsc() -> u64 {
        unreachable!("tsc::refusal refuses the counter on other processors")
    }
}

fn monotonic() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec to write to; CLOCK_MONOTONIC exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// For display only: stamps are compared as cycles. quanta calibrates the counter against the
/// system's clock; its own readings are unfenced and not used for boxes.
fn nanoseconds_per_cycle() -> f64 {
    const CYCLES: u64 = 1 << 40;
    quanta::Clock::new().delta_as_nanos(0, CYCLES) as f64 / CYCLES as f64
}

/// Passes a stamp back and forth between two threads: a received one must not be in the receiver's
/// future. Finds counters that disagree though the kernel trusts them.
fn skew() -> Option<String> {
    const PASSES: u64 = 2_000;
    // On a busy machine each pass may take a time slice.
    const TIME: Duration = Duration::from_millis(50);
    let started = Instant::now();
    let stamp = AtomicU64::new(0);
    let turn = AtomicU64::new(0);
    let behind = AtomicU64::new(0);
    let play = |me: u64| {
        for pass in (me..PASSES).step_by(2) {
            while turn.load(Ordering::Acquire) != pass {
                if started.elapsed() > TIME {
                    return;
                }
                std::thread::yield_now();
            }
            // Not `open`: its reading may come before the turn is seen.
            let now = Clock::Tsc.close();
            behind.fetch_max(stamp.load(Ordering::Acquire).saturating_sub(now), Ordering::AcqRel);
            stamp.store(Clock::Tsc.close(), Ordering::Release);
            turn.store(pass + 1, Ordering::Release);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| play(1));
        play(0);
    });
    match behind.into_inner() {
        0 => None,
        cycles => Some(format!("the processors' counters differ by {cycles} cycles")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_one_thread_strictly_increase() {
        for clock in [Clock::of_counter(), Clock::Monotonic, Clock::Counter] {
            let mut last = 0;
            for _ in 0..10_000 {
                let start = clock.open_after(last);
                let end = clock.close();
                assert!(last < start && start <= end, "{clock:?}");
                last = end;
            }
        }
    }
}
