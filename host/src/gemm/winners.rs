//! The kernel for a problem: a measured winner of the device, or what [`choose`] takes.

use super::{
    access::is_aligned,
    choose::{Choice, Decision, NoKernel, choose},
    error::GemmError,
    machine::Machine,
    operands::Addresses,
    plan::Plan,
    problem::Problem,
    tuned::{
        cache::{self, Cache, Winner},
        checksum,
    },
};
use crate::{hip::Context, tuning::Mode};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The winners of a device, and what is done with them.
#[derive(Debug)]
pub(super) struct Winners {
    mode: Mode,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    cache: Cache,
    /// Problems that could not be measured, and why.
    failed: BTreeMap<String, String>,
}

impl Winners {
    /// The winners for a device and a code object, as the environment says.
    pub(super) fn new(
        context: &Context,
        machine: &Machine,
        code_object: &[u8],
    ) -> Result<Self, GemmError> {
        let mode = Mode::from_environment().map_err(GemmError::Tuning)?;
        Self::open(
            mode,
            cache::folder().as_deref(),
            context,
            machine,
            code_object,
        )
    }

    /// The same in a folder.
    pub(super) fn open(
        mode: Mode,
        folder: Option<&Path>,
        context: &Context,
        machine: &Machine,
        code_object: &[u8],
    ) -> Result<Self, GemmError> {
        let cache = match mode {
            Mode::Off => Cache::default(),
            Mode::Read | Mode::On => {
                let device = context.device();
                let driver = match device.is_emulated() {
                    true => "emulated".to_owned(),
                    false => format!("HIP runtime {}", device.api().runtime_version()?),
                };
                let identity = format!(
                    "{} ({}, {} compute units), {driver}, kernels {:08x}",
                    device.properties().name,
                    machine.gpu,
                    machine.compute_units,
                    checksum(code_object)
                );
                Cache::open(folder, &machine.gpu, &identity)
            }
        };
        Ok(Self {
            mode,
            state: Mutex::new(State {
                cache,
                ..State::default()
            }),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a problem without a winner is measured before it is computed the first time. One that could not be measured
    /// is not measured again.
    pub(super) fn measures(&self, problem: &Problem) -> bool {
        self.mode == Mode::On && !self.state().failed.contains_key(&key(problem, None))
    }

    /// Notes that a problem could not be measured.
    pub(super) fn failed(&self, problem: &Problem, error: &GemmError) {
        let failed = &mut self.state().failed;
        failed.insert(key(problem, None), error.to_string());
    }

    /// The kernel for a problem: the winner that was measured on this device, or else what [`choose`] takes.
    ///
    /// # Errors
    /// As [`choose`].
    pub(super) fn choice(
        &self,
        problem: &Problem,
        machine: &Machine,
        addresses: Option<&Addresses>,
    ) -> Result<Choice, NoKernel> {
        let choice = choose(problem, machine, addresses)?;
        let winner = self.state().cache.winner(&key(problem, addresses));
        let fits = |winner: &Winner| {
            let plan = Plan::with_parts(winner.kernel, problem, machine, winner.parts);
            let can_read = |plan: &Plan| addresses.is_none_or(|a| plan.check_addresses(a).is_ok());
            plan.as_ref().is_ok_and(can_read)
        };
        Ok(match winner.filter(fits) {
            Some(Winner {
                kernel,
                parts,
                time,
            }) => Choice {
                kernel,
                parts,
                decision: Decision::Measured { time, second: None },
                ..choice
            },
            None => choice,
        })
    }

    /// Keeps a winner. Returns the file; `None` if nothing is kept in a file.
    ///
    /// # Errors
    /// Why it is not kept in the file.
    pub(super) fn keep(
        &self,
        problem: &Problem,
        winner: Winner,
    ) -> Result<Option<PathBuf>, String> {
        let cache = &mut self.state().cache;
        cache.keep(key(problem, None), winner)?;
        Ok(cache.path().map(PathBuf::from))
    }

    /// What is wrong with the file, and which problems could not be measured.
    pub(super) fn note(&self) -> Option<String> {
        let state = self.state();
        let failed = state.failed.iter();
        let failed = failed.map(|(key, error)| {
            format!("{key} was not tuned, and is computed by the kernel that was expected to be best: {error}")
        });
        let notes: Vec<_> = state
            .cache
            .note()
            .map(str::to_owned)
            .into_iter()
            .chain(failed)
            .collect();
        (!notes.is_empty()).then(|| notes.join("\n"))
    }
}

/// The key of a problem's winner. Without addresses, matrices begin where whole buffers do.
fn key(problem: &Problem, addresses: Option<&Addresses>) -> String {
    cache::key(problem, is_aligned(problem, addresses).is_ok())
}
