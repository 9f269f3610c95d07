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
    /// One stream's up to a moment.
    Until {
        /// The stream.
        stream: usize,
        /// The first moment that it does not wait for.
        moment: u64,
    },
}

struct Fault {
    stream: usize,
    moment: u64,
    failure: Failure,
}

#[derive(Default)]
struct State {
    /// Counts launches and events, so that an event knows what came before it.
    moment: u64,
    faults: Vec<Fault>,
}

/// The faults of one device that nobody was told of yet.
#[derive(Default)]
pub(super) struct Faults(Mutex<State>);

impl Faults {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // Whole between statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new moment, later than all before.
    pub(super) fn next_moment(&self) -> u64 {
        let mut state = self.state();
        state.moment += 1;
        state.moment
    }

    pub(super) fn add(&self, stream: usize, failure: Failure) {
        let moment = self.next_moment();
        self.state().faults.push(Fault {
            stream,
            moment,
            failure,
        });
    }

    /// Reports what failed of the work that is waited for, once: the first failure stands for the others.
    pub(super) fn report(&self, waits: Waits) -> Result<(), Failure> {
        let reported: Vec<Fault> = self
            .state()
            .faults
            .extract_if(.., |fault| match waits {
                Waits::Device => true,
                Waits::Stream(stream) => fault.stream == stream,
                Waits::Until { stream, moment } => fault.stream == stream && fault.moment < moment,
            })
            .collect();
        let others = reported.len().saturating_sub(1);
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
        faults.add(16, Failure::value("a"));
        let event = faults.next_moment();
        faults.add(16, Failure::value("b"));
        faults.add(32, Failure::value("c"));
        faults.add(32, Failure::value("d"));
        assert_eq!(texts(&faults, Waits::Stream(48)), None);
        let until = Waits::Until {
            stream: 16,
            moment: event,
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
}
