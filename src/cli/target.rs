//! What `check` and `profile` run: products of this program's kernels, or any kernel of a code object.

use std::{path::PathBuf, str::FromStr};

use clap::Args;
use ferrowave::{
    gemm::{Gemm, Machine, Plan, choose, kernel_named},
    hip::{Context, Device},
};
use ferrowave_shared::{Kernel, catalogue::CATALOGUE};

use super::{
    Failure, code_object,
    foreign::{self, ForeignArgument},
    product::{complaint, compute},
    request::ProductOptions,
};

/// The word for every kernel that there is.
const ALL: &str = "all";

#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Options {
    /// The kernel: as `ferrowave list` names it, `all` for each that computes the product, or one of --code-object
    /// [default: the one that fits the product best].
    #[arg(long)]
    kernel: Option<String>,
    /// Rows of A and C.
    #[arg(long, default_value_t = 256)]
    m: i64,
    /// Columns of B and C.
    #[arg(long, default_value_t = 256)]
    n: i64,
    /// Columns of A, rows of B.
    #[arg(long, default_value_t = 256)]
    k: i64,
    #[command(flatten)]
    product: ProductOptions,
    /// Seed of random data.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Launch a kernel of this code object or offload bundle instead.
    #[arg(long, value_name = "FILE", requires_all = ["kernel", "grid", "block"])]
    code_object: Option<PathBuf>,
    /// Workgroups along x, y and z.
    #[arg(long, value_name = "X,Y,Z", requires = "code_object")]
    grid: Option<Shape>,
    /// Work-items of a workgroup along x, y and z.
    #[arg(long, value_name = "X,Y,Z", requires = "code_object")]
    block: Option<Shape>,
    /// LDS on top of the kernel's own, in bytes.
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 0,
        requires = "code_object"
    )]
    lds: u32,
    /// The kernel's next argument: `f32=1.5` by value, or a buffer: `zeros:64xf32`, `random:64xf32`, `uninit:64xf32` (as
    /// an allocation is before anybody writes to it) or `file:PATH`.
    #[arg(long = "arg", value_name = "ARGUMENT", requires = "code_object")]
    arguments: Vec<ForeignArgument>,
}

/// One number for each axis; those that are missing are 1.
#[derive(Clone, Copy, Debug)]
struct Shape([u32; 3]);

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut shape = [1; 3];
        let parts: Vec<_> = text.split(',').collect();
        if parts.len() > 3 {
            return Err("there are three axes at most: x,y,z".into());
        }
        for (axis, part) in shape.iter_mut().zip(parts) {
            *axis = part
                .trim()
                .parse()
                .map_err(|_| format!("`{part}` is no number of workgroups or work-items"))?;
        }
        Ok(Shape(shape))
    }
}

/// Something that can be launched.
pub(crate) struct Target<'a> {
    options: &'a Options,
    context: Context,
}

impl<'a> Target<'a> {
    pub(crate) fn new(options: &'a Options, device: &Device) -> Result<Self, Failure> {
        let context = Context::new(device).map_err(Failure::failed)?;
        Ok(Target { options, context })
    }

    /// Launches it, and waits for its end. Products are compared with the reference.
    pub(crate) fn launch(&self) -> Result<(), Failure> {
        let options = self.options;
        let (Some(file), Some(grid), Some(block), Some(kernel)) = (
            &options.code_object,
            options.grid,
            options.block,
            &options.kernel,
        ) else {
            return self.products();
        };
        let launch = foreign::Launch {
            file,
            kernel,
            grid: grid.0,
            block: block.0,
            lds_bytes: options.lds,
            arguments: &options.arguments,
            seed: options.seed,
        };
        launch.run(&self.context)
    }

    fn products(&self) -> Result<(), Failure> {
        let options = self.options;
        let device = self.context.device();
        let machine = Machine::of(device);
        let (m, n, k) = (options.m, options.n, options.k);
        let request = options.product.request(&machine.gpu, m, n, k);
        let problem = request.check().map_err(Failure::usage)?;
        let plan = |kernel| Plan::new(kernel, &problem, &machine);
        let kernels: Vec<&'static Kernel> = match options.kernel.as_deref() {
            Some(ALL) => CATALOGUE
                .iter()
                .filter(|kernel| kernel.types == problem.types() && plan(kernel).is_ok())
                .collect(),
            Some(name) => vec![kernel_named(name, problem.types()).map_err(Failure::usage)?],
            None => {
                let choice = choose(&problem, &machine, None).map_err(Failure::usage)?;
                vec![choice.kernel]
            }
        };
        if kernels.is_empty() {
            return Err(Failure::usage(format!(
                "no kernel computes this product of {} on {}",
                problem.types().input.name(),
                machine.gpu
            )));
        }
        for kernel in &kernels {
            plan(kernel).map_err(Failure::usage)?;
        }
        let gemm = Gemm::new(&self.context, code_object(device)?).map_err(Failure::failed)?;
        for kernel in kernels {
            let name = kernel.variant.name();
            eprintln!("kernel {name}, {m} x {n} x {k}");
            let outcome = compute(&gemm, kernel, &problem, options.seed)?;
            if let Some(complaint) = complaint(&outcome.verdict) {
                return Err(Failure::failed(format!("{name}: {complaint}")));
            }
        }
        Ok(())
    }
}
