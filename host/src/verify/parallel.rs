//! Independent tasks on several threads.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// The number of threads that this computer runs at a time.
pub(super) fn available() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The results of `task(0)` to `task(count - 1)`, in this order. Which thread runs a task makes no difference to its
/// result.
pub(super) fn in_order<T: Send>(
    count: usize,
    threads: usize,
    task: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let threads = threads.min(count);
    if threads <= 1 {
        return (0..count).map(task).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut results = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return results;
            }
            results.push((number, task(number)));
        }
    };
    let mut results: Vec<_> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut results = work();
        for other in others {
            match other.join() {
                Ok(more) => results.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_unstable_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_for_every_number_of_threads() {
        let squares: Vec<_> = (0..1000).map(|number| number * number).collect();
        for threads in [0, 1, 2, 7, 2000] {
            assert_eq!(in_order(1000, threads, |number| number * number), squares);
        }
        assert!(in_order(0, 4, |number| number).is_empty());
    }
}
