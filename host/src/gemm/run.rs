//! Products with the kernel that is best.

use super::{
    access::is_aligned,
    choose::{Choice, Decision, NoKernel},
    error::GemmError,
    group::{GroupPlan, choose_for_group},
    launch::Gemm,
    operands::{Addresses, Operands},
    plan::Plan,
    problem::Problem,
};
use ferrowave_shared::Kernel;
use std::time::Duration;

/// A product that was computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Computed {
    /// The kernel, and why it was chosen.
    pub choice: Choice,
    /// The kernel's time by the GPU's time stamps; of several launches, the time between HIP events around them. On the
    /// emulator it is wall-clock time of the emulation, which says nothing about a GPU.
    pub time: Duration,
}

/// A group of products that was computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComputedGroup {
    /// The kernel; `None` if all products are empty.
    pub kernel: Option<&'static Kernel>,
    /// The time between HIP events around the launches, as [`Computed::time`]; 0 if no product has elements.
    pub time: Duration,
}

impl Gemm {
    /// Computes the [product](Problem) with the kernel that [`choice`](Self::choice) takes, and waits for it. With `FERROWAVE_TUNING=on`, a problem is [tuned](Self::tune) before it is computed the first time.
    ///
    /// # Errors
    /// If there is no kernel for the problem on the GPU, an operand does not fit the problem, or the device fails.
    pub fn run(&self, problem: &Problem, operands: Operands<'_>) -> Result<Computed, GemmError> {
        let choice = self.tuned_choice(problem, Some(&operands.addresses()))?;
        let plan = Plan::with_parts(choice.kernel, problem, self.machine(), choice.parts)?;
        let time = self.run_plan(&plan, operands)?;
        Ok(Computed { choice, time })
    }

    /// The kernel for a problem: the winner that was measured on this device, or else what [`choose`](super::choose()) takes.
    ///
    /// # Errors
    /// As [`choose`](super::choose()).
    pub fn choice(
        &self,
        problem: &Problem,
        addresses: Option<&Addresses>,
    ) -> Result<Choice, NoKernel> {
        self.winners().choice(problem, self.machine(), addresses)
    }

    /// What is wrong with the file of measured winners, and which problems could not be measured and why, if something is.
    pub fn tuning_note(&self) -> Option<String> {
        self.winners().note()
    }

    /// The kernel that [`run`](Self::run) takes: the same as [`choice`](Self::choice), after a problem without a winner was
    /// [measured](Self::tune) if the environment asks for it (`FERROWAVE_TUNING=on`). If that fails,
    /// [`tuning_note`](Self::tuning_note) says so, and the problem is not measured again.
    ///
    /// # Errors
    /// As [`choice`](Self::choice).
    pub fn tuned_choice(
        &self,
        problem: &Problem,
        addresses: Option<&Addresses>,
    ) -> Result<Choice, NoKernel> {
        let choice = self.choice(problem, addresses)?;
        let is_empty = problem.m() == 0 || problem.n() == 0 || problem.batch() == 0;
        let is_measured = matches!(choice.decision, Decision::Measured { .. });
        let is_wanted = !is_empty && !is_measured && self.winners().measures(problem);
        // Measured operands are aligned as whole buffers are.
        if !is_wanted || is_aligned(problem, addresses) != is_aligned(problem, None) {
            return Ok(choice);
        }
        match self.tune(problem) {
            Ok(_) => self.choice(problem, addresses),
            Err(error) => {
                self.winners().failed(problem, &error);
                Ok(choice)
            }
        }
    }

    /// Computes a group of products, each as [`run`](Self::run) does, in one launch, and waits for it: see
    /// [`group`](super::group). Products may have different extents, layouts, factors, biases and operations, but have the
    /// same element types. Empty products are left out. More products than a launch has workgroups along z take several.
    ///
    /// # Errors
    /// [`GroupError`](super::GroupError) if the products are no group, there is no kernel for it, or an operand does not fit
    /// its product; nothing is computed then. Or if the device fails.
    pub fn run_group<'a>(
        &self,
        products: impl IntoIterator<Item = (Problem, Operands<'a>)>,
    ) -> Result<ComputedGroup, GemmError> {
        let products: Vec<_> = products.into_iter().collect();
        let problems: Vec<_> = products.iter().map(|(problem, _)| *problem).collect();
        match choose_for_group(&problems, self.machine())? {
            Some(kernel) => self.run_group_kernel(kernel, products),
            None => Ok(ComputedGroup {
                kernel: None,
                time: Duration::ZERO,
            }),
        }
    }

    /// The same with a given kernel.
    ///
    /// # Errors
    /// As [`run_group`](Self::run_group), and if the kernel is not for the products or the GPU, or computes no groups
    /// ([`Kernel::computes_groups`]).
    pub fn run_group_kernel<'a>(
        &self,
        kernel: &'static Kernel,
        products: impl IntoIterator<Item = (Problem, Operands<'a>)>,
    ) -> Result<ComputedGroup, GemmError> {
        let products: Vec<_> = products.into_iter().collect();
        let device = self.context().device();
        let group = GroupPlan::new(kernel, &products, self.machine(), device)?;
        Ok(ComputedGroup {
            kernel: (!group.members.is_empty()).then_some(kernel),
            time: self.launch_group(&group)?,
        })
    }
}
