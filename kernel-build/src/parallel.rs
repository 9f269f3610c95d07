//! Runs jobs on several threads.

use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

/// Runs jobs on at most `threads` threads. The results are in the order of the jobs. After an error no other job begins.
pub(crate) fn in_parallel<T: Sync, R: Send, E: Send>(
    jobs: &[T],
    threads: usize,
    run: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || {
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(number) else { break };
            let result = run(job);
            if result.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            done.push((number, result));
        }
        done
    };
    let mut results = thread::scope(|scope| {
        let threads = 0..threads.min(jobs.len()).max(1);
        let threads: Vec<_> = threads.map(|_| scope.spawn(work)).collect();
        let results = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        results.collect::<Vec<_>>()
    });
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_an_error_ends_the_work() {
        let square = |&number: &u32| Ok::<_, ()>(number * number);
        for threads in [0, 1, 3, 9] {
            assert_eq!(in_parallel(&[3, 1, 2], threads, square), Ok(vec![9, 1, 4]));
        }
        assert_eq!(in_parallel(&[], 2, square), Ok(vec![]));
        let begun = AtomicUsize::new(0);
        let result = in_parallel(&[0, 1, 2], 1, |&number| {
            begun.fetch_add(1, Ordering::Relaxed);
            if number == 1 { Err("one") } else { Ok(number) }
        });
        assert_eq!((result, begun.into_inner()), (Err("one"), 2));
    }
}
