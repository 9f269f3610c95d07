//! Failed work, kept until a call that waits for its stream reports it.

use std::sync::{Mutex, PoisonError};

use super::error::Failure;

/// The work that a call waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waits {
    /// All work of the device.
    Device,
    /// The work of a stream.
    Stream(usize),
    /// The work of a stream up to an event.
    Until {
        /// The stream.
        stream: usize,
        /// The event's position in the device's order of submission.
        sequence: u64,
    },
}

struct Fault {
    stream: usize,
    /// The failed work's position in the device's order of submission.
    sequence: u64,
    failure: Failure,
}

/// Maximum number of kept faults, so that a program that never waits does not fill memory. Further faults are counted.
const MAX_FAULTS: usize = 64;

#[derive(Default)]
struct State {
    faults: Vec<Fault>,
    /// Number of faults that were not kept.
    others: usize,
}

/// The unreported faults of a device.
#[derive(Default)]
pub(super) struct Faults(Mutex<State>);

impl Faults {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // A poisoned lock is ignored: the state is valid between statements.
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

    /// The fault of a stream, for its callbacks.
    pub(super) fn of_stream(&self, stream: usize) -> Option<Failure> {
        let state = self.state();
        let fault = state.faults.iter().find(|fault| fault.stream == stream);
        fault.map(|fault| fault.failure.clone())
    }

    /// Discards all faults.
    pub(super) fn clear(&self) {
        *self.state() = State::default();
    }

    /// Reports the faults of the awaited work once. The first fault is returned; the others are only counted.
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
        // Streams run concurrently. The first fault is that of the work submitted first.
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
