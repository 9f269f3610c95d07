//! Kernels that failed: kept until a call that waits for their stream reports them.

use std::sync::{Mutex, PoisonError};

use super::error::Failure;

/// Which work a call waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waits {
    /// All of the device's.
    Device,
    /// One stream's.
    Stream(usize),
    /// One stream's up to an event.
    Until {
        /// The stream.
        stream: usize,
        /// The event's number among the device's work.
        sequence: u64,
    },
}

struct Fault {
    stream: usize,
    /// The number of the work that failed among the device's work.
    sequence: u64,
    failure: Failure,
}

/// Faults that are kept at most; a program that never waits must not fill memory. More are counted.
const MAX_FAULTS: usize = 64;

#[derive(Default)]
struct State {
    faults: Vec<Fault>,
    /// Those that were not kept.
    others: usize,
}

/// The faults of one device that no call has reported yet.
#[derive(Default)]
pub(super) struct Faults(Mutex<State>);

impl Faults {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // Valid between statements, even after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, stream: usize, sequence: u64, failure: Failure) {
        let mut state = self.state();
        if state.faults.len() >= MAX_FAULTS {
            state.others += 1;
            return;
        }
        state.faults.push(Fault {
            stream,
            sequence,
            failure,
        });
    }

    /// Whether a stream has failed, as its callbacks are told.
    pub(super) fn of_stream(&self, stream: usize) -> Option<Failure> {
        let state = self.state();
        let fault = state.faults.iter().find(|fault| fault.stream == stream);
        fault.map(|fault| fault.failure.clone())
    }

    /// Forgets all.
    pub(super) fn clear(&self) {
        *self.state() = State::default();
    }

    /// Reports what failed of the work that is waited for, once: the first failure stands for the others.
    pub(super) fn report(&self, waits: Waits) -> Result<(), Failure> {
        let mut state = self.state();
        let mut reported: Vec<Fault> = state
            .faults
            .extract_if(.., |fault| match waits {
                Waits::Device => true,
                Waits::Stream(stream) => fault.stream == stream,
                Waits::Until { stream, sequence } => {
                    fault.stream == stream && fault.sequence < sequence
                }
            })
            .collect();
        // Streams run side by side: the first is the one that was submitted first.
        reported.sort_by_key(|fault| fault.sequence);
        let mut others = reported.len().saturating_sub(1);
        if !reported.is_empty() && matches!(waits, Waits::Device) {
            others += std::mem::take(&mut state.others);
        }
        drop(state);
        let Some(mut first) = reported.into_iter().next() else {
            return Ok(());
        };
        if others > 0 {
            let launches = if others == 1 { "launch" } else { "launches" };
            first.failure.detail += &format!("\n  and {others} later {launches} failed");
        }
        Err(first.failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(faults: &Faults, waits: Waits) -> Option<String> {
        faults.report(waits).err().map(|failure| failure.detail)
    }

    #[test]
    fn a_fault_is_told_once_to_who_waits_for_it() {
        let faults = Faults::default();
        faults.add(16, 1, Failure::value("a"));
        faults.add(16, 3, Failure::value("b"));
        faults.add(32, 5, Failure::value("d"));
        faults.add(32, 4, Failure::value("c"));
        assert_eq!(texts(&faults, Waits::Stream(48)), None);
        let until = Waits::Until {
            stream: 16,
            sequence: 2,
        };
        assert_eq!(texts(&faults, until).as_deref(), Some("a"));
        assert_eq!(texts(&faults, until), None);
        assert_eq!(
            texts(&faults, Waits::Stream(32)).as_deref(),
            Some("c\n  and 1 later launch failed")
        );
        assert_eq!(texts(&faults, Waits::Device).as_deref(), Some("b"));
        assert_eq!(texts(&faults, Waits::Device), None);
    }

    #[test]
    fn faults_that_nobody_waits_for_are_counted() {
        let faults = Faults::default();
        for sequence in 0..1000 {
            faults.add(16, sequence, Failure::value(sequence));
        }
        assert_eq!(
            texts(&faults, Waits::Device).as_deref(),
            Some("0\n  and 999 later launches failed")
        );
        assert_eq!(texts(&faults, Waits::Device), None);
    }
}
