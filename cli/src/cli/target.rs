//! What `check` and `profile` run: products of Ferrowave's kernels, or any kernel of a code object.

use std::path::PathBuf;

use clap::Args;
use ferrowave::{
    gemm::{Gemm, Machine, Plan, choose, kernel_named},
    hip::{Context, Device},
};
use ferrowave_launch::{LaunchOptions, note};
use ferrowave_shared::{Kernel, catalogue::CATALOGUE};

use super::{
    Failure, code_object,
    product::{References, complaint, compute},
    request::{ProductOptions, TypeOption, extent},
};

/// The name for all kernels.
const ALL: &str = "all";

#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Options {
    /// The kernel: as `ferrowave list` names it, `all` for every kernel that computes the product, or one of
    /// --code-object [default: the one that fits the product best].
    #[arg(long)]
    kernel: Option<String>,
    /// Rows of A and C.
    #[arg(long, default_value_t = 256, value_parser = extent)]
    m: i64,
    /// Columns of B and C.
    #[arg(long, default_value_t = 256, value_parser = extent)]
    n: i64,
    /// Columns of A, rows of B.
    #[arg(long, default_value_t = 256, value_parser = extent)]
    k: i64,
    #[command(flatten)]
    element: TypeOption,
    #[command(flatten)]
    product: ProductOptions,
    /// Launch a kernel of this code object or offload bundle instead.
    #[arg(long, value_name = "FILE", requires = "kernel")]
    code_object: Option<PathBuf>,
    #[command(flatten)]
    launch: LaunchOptions,
}

/// What can be launched.
pub(crate) struct Target<'a> {
    options: &'a Options,
    context: Context,
    /// What launches are planned for.
    machine: Machine,
}

impl<'a> Target<'a> {
    pub(crate) fn new(options: &'a Options, device: &Device) -> Result<Self, Failure> {
        let context = Context::new(device).map_err(Failure::failed)?;
        Ok(Target {
            options,
            machine: Machine::of(device),
            context,
        })
    }

    /// Plans products for a machine with this number of compute units instead of the device's.
    pub(crate) fn plan_for(&mut self, compute_units: u32) {
        self.machine.compute_units = compute_units;
    }

    /// Launches and waits. Products are compared with the reference.
    pub(crate) fn launch(&self) -> Result<(), Failure> {
        let options = self.options;
        match (&options.code_object, &options.kernel) {
            (Some(file), Some(kernel)) => options.launch.launch(file, kernel)?.run(&self.context),
            _ => self.products(),
        }
    }

    fn products(&self) -> Result<(), Failure> {
        let options = self.options;
        if let Some(option) = options.launch.given() {
            return Err(Failure::usage(format!("{option} needs --code-object FILE")));
        }
        let device = self.context.device();
        let machine = &self.machine;
        let (m, n, k) = (options.m, options.n, options.k);
        let request = options
            .product
            .request(options.element.of(&machine.gpu), m, n, k);
        let problem = request.check().map_err(Failure::usage)?;
        let plan = |kernel| Plan::new(kernel, &problem, machine);
        let kernels: Vec<&'static Kernel> = match options.kernel.as_deref() {
            Some(ALL) => CATALOGUE
                .iter()
                .filter(|kernel| kernel.computes(problem.types()) && plan(kernel).is_ok())
                .collect(),
            Some(name) => {
                vec![kernel_named(name, problem.types(), &machine.gpu).map_err(Failure::usage)?]
            }
            None => {
                let choice = choose(&problem, machine, None).map_err(Failure::usage)?;
                vec![choice.kernel]
            }
        };
        if kernels.is_empty() {
            return Err(Failure::usage(format!(
                "no kernel computes this product of {} on {}",
                problem.types().name(),
                machine.gpu
            )));
        }
        let plans: Result<Vec<_>, _> = kernels.iter().map(|kernel| plan(kernel)).collect();
        let plans = plans.map_err(Failure::usage)?;
        let gemm = Gemm::new(&self.context, code_object(device)?).map_err(Failure::failed)?;
        let gemm = gemm.planned_for(machine.clone());
        let references = References::new(options.launch.seed);
        for plan in &plans {
            let name = plan.kernel().variant.name();
            note(&format!("kernel {name}, {m} x {n} x {k}"));
            let outcome = compute(&gemm, plan, &references)?;
            if let Some(complaint) = complaint(&outcome.verdict) {
                return Err(Failure::failed(format!("{name}: {complaint}")));
            }
        }
        Ok(())
    }
}
