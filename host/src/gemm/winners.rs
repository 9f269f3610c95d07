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
        cache::{self, Cache, Mode, Winner},
        checksum,
    },
};
use crate::hip::Context;
use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

/// The winners of a device, and what is done with them.
#[derive(Debug)]
pub(super) struct Winners {
    mode: Mode,
    cache: Mutex<Cache>,
}

impl Winners {
    /// The winners for a device and a code object.
    pub(super) fn new(
        context: &Context,
        machine: &Machine,
        code_object: &[u8],
    ) -> Result<Self, GemmError> {
        let mode = Mode::from_environment().map_err(GemmError::Tuning)?;
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
                Cache::open(cache::folder().as_deref(), &machine.gpu, &identity)
            }
        };
        Ok(Self {
            mode,
            cache: Mutex::new(cache),
        })
    }

    fn with_cache<R>(&self, run: impl FnOnce(&mut Cache) -> R) -> R {
        run(&mut self.cache.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a problem without a winner is measured before it is computed the first time.
    pub(super) fn measures(&self) -> bool {
        self.mode == Mode::On
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
        let key = cache::key(problem, is_aligned(problem, addresses).is_ok());
        let winner = self.with_cache(|cache| cache.winner(&key));
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
        let key = cache::key(problem, is_aligned(problem, None).is_ok());
        self.with_cache(|cache| {
            cache.keep(key, winner)?;
            Ok(cache.path().map(PathBuf::from))
        })
    }

    /// What is wrong with the file, if something is.
    pub(super) fn note(&self) -> Option<String> {
        self.with_cache(|cache| cache.note().map(str::to_owned))
    }
}
