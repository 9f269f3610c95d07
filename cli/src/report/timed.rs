//! Times on a GPU.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use ferrowave::{
    gemm::{Gemm, Operands, Plan},
    vendor::VendorProduct,
};

use super::results::Measured;
use crate::cli::Failure;

/// Runs before the timed ones last at least so long, so that clocks have risen, and caches of instructions and of
/// addresses are filled.
const WARM_UP: Duration = Duration::from_millis(300);
/// The GPU is waited for about so often in that time.
const ROUND: Duration = Duration::from_millis(10);
/// The calls of a library between two events last about so long.
const CALLS: Duration = Duration::from_millis(2);
/// The least and the most of those calls.
const CALL_COUNTS: [usize; 2] = [4, 1000];
/// The clock is read so often.
const CLOCK_INTERVAL: Duration = Duration::from_millis(10);

/// What is timed.
pub(crate) enum Timed<'a> {
    /// One of Ferrowave's kernels: its own time on the GPU.
    Kernel(&'a Gemm, Plan),
    /// A vendor's library: the time of many calls, divided by their number, since it has no times of its own.
    Library(VendorProduct<'a>),
}

impl Timed<'_> {
    /// Computes the product once.
    pub(crate) fn once(&self, operands: Operands<'_>) -> Result<Duration, Failure> {
        match self {
            Timed::Kernel(gemm, plan) => gemm.run_plan(plan, operands).map_err(Failure::failed),
            Timed::Library(product) => product.run(operands).map_err(Failure::failed),
        }
    }

    /// The time of one of many products one behind the other.
    fn many(&self, operands: &mut [Operands<'_>], runs: usize) -> Result<Duration, Failure> {
        let time = match self {
            Timed::Kernel(gemm, plan) => gemm
                .run_many(plan, operands, runs)
                .map_err(Failure::failed)?,
            Timed::Library(product) => product.run_many(operands, runs).map_err(Failure::failed)?,
        };
        Ok(time.div_f64(runs.max(1) as f64))
    }

    /// Warms up with all copies of the operands and then takes samples, each with the next copies. `clock` tells the
    /// engine clock in Hz, if it is known.
    pub(crate) fn measure(
        &self,
        operands: &mut [Operands<'_>],
        samples: u32,
        clock: impl Fn() -> Option<f64> + Sync,
    ) -> Result<Option<Measured>, Failure> {
        let mut one = self.many(operands, operands.len())?;
        let (warmed, clock_hz) = watching(clock, || {
            let begin = Instant::now();
            while begin.elapsed() < WARM_UP {
                one = self.many(operands, lasting(ROUND, one, [1, 10_000]))?;
            }
            Ok::<_, Failure>(())
        });
        warmed?;
        let calls = lasting(CALLS, one, CALL_COUNTS);
        let mut times = Vec::new();
        for sample in 0..samples as usize {
            times.push(match self {
                Timed::Kernel(..) => {
                    let copy = sample % operands.len();
                    self.once(operands[copy].reborrow())?
                }
                Timed::Library(_) => self.many(operands, calls)?,
            });
        }
        Ok(summary(times, clock_hz))
    }
}

/// How many runs last about `time` if one takes `one`.
fn lasting(time: Duration, one: Duration, [least, most]: [usize; 2]) -> usize {
    let one = one.max(Duration::from_nanos(1));
    ((time.as_secs_f64() / one.as_secs_f64()).ceil() as usize).clamp(least, most)
}

/// The result of `work`, and the clock at which it ended: the median of the second half of what `clock` told meanwhile.
fn watching<T>(
    clock: impl Fn() -> Option<f64> + Sync,
    work: impl FnOnce() -> T,
) -> (T, Option<f64>) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut clocks = Vec::new();
            while !done.load(Ordering::Relaxed) {
                // A system that does not tell will not tell later.
                clocks.push(clock()?);
                thread::sleep(CLOCK_INTERVAL);
            }
            let mut end = clocks.split_off(clocks.len() / 2);
            end.sort_unstable_by(f64::total_cmp);
            end.get(end.len() / 2).copied()
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        (result, watch.join().ok().flatten())
    })
}

fn summary(mut times: Vec<Duration>, clock_hz: Option<f64>) -> Option<Measured> {
    times.sort_unstable();
    let (fastest, slowest) = (times.first()?, times.last()?);
    Some(Measured {
        median_seconds: times[times.len() / 2].as_secs_f64(),
        fastest_seconds: fastest.as_secs_f64(),
        slowest_seconds: slowest.as_secs_f64(),
        samples: times.len() as u32,
        clock_hz,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn the_median_and_the_ends() {
        let times = [5, 1, 9].map(Duration::from_secs).to_vec();
        let measured = summary(times, Some(2e9)).unwrap();
        assert_eq!(measured.median_seconds, 5.0);
        assert_eq!(
            (measured.fastest_seconds, measured.slowest_seconds),
            (1.0, 9.0)
        );
        assert_eq!((measured.samples, measured.clock_hz), (3, Some(2e9)));
        assert_eq!(summary(Vec::new(), None), None);
    }

    #[test]
    fn the_clock_is_that_at_the_end() {
        let reads = AtomicU32::new(0);
        // Low at first.
        let clock = || match reads.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => Some(1e8),
            _ => Some(2.1e9),
        };
        let wait = || {
            while reads.load(Ordering::Relaxed) < 8 {
                thread::sleep(CLOCK_INTERVAL);
            }
            7
        };
        assert_eq!(watching(clock, wait), (7, Some(2.1e9)));
        assert_eq!(watching(|| None, || 7), (7, None));
    }

    #[test]
    fn counts_follow_from_times() {
        let micros = Duration::from_micros;
        assert_eq!(lasting(CALLS, micros(100), CALL_COUNTS), 20);
        assert_eq!(lasting(CALLS, micros(10_000), CALL_COUNTS), 4);
        assert_eq!(lasting(CALLS, Duration::ZERO, CALL_COUNTS), 1000);
    }
}
