//! The options of a launch.

use std::path::Path;

use clap::Args;

use crate::{Failure, KernelArgument, KernelLaunch, Shape};

/// How to launch a kernel of a code object.
#[derive(Debug, Args)]
#[group(skip)]
pub struct LaunchOptions {
    /// Workgroups along x, y and z.
    #[arg(long, value_name = "X,Y,Z")]
    grid: Option<Shape>,
    /// Work-items of a workgroup along x, y and z.
    #[arg(long, value_name = "X,Y,Z")]
    block: Option<Shape>,
    /// LDS on top of the kernel's own, in bytes [default: 0].
    #[arg(long, value_name = "BYTES")]
    lds: Option<u32>,
    /// The kernel's next argument: `f32=1.5` by value, or a buffer: `zeros:64xf32`, `random:4x16xf32`, `uninit:64xf32` (as
    /// an allocation is before it is written) or `file:PATH`, NumPy's if it ends in `.npy`. `value:PATH` is a
    /// file's bytes by value, such as a struct. Where the code object has the types of parameters, as those that
    /// `cargo gpu-amdgpu build` makes do, integers are not taken for floats; a buffer of u8 is of bytes, whatever they are.
    #[arg(long = "arg", value_name = "ARGUMENT")]
    arguments: Vec<KernelArgument>,
    /// Seed of random data.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

impl LaunchOptions {
    /// The name of an option that is only for launches, if one is given.
    pub fn given(&self) -> Option<&'static str> {
        [
            ("--grid", self.grid.is_some()),
            ("--block", self.block.is_some()),
            ("--lds", self.lds.is_some()),
            ("--arg", !self.arguments.is_empty()),
        ]
        .into_iter()
        .find_map(|(name, given)| given.then_some(name))
    }

    /// The launch of a kernel of a file that they describe.
    ///
    /// # Errors
    /// If there is no grid or no block.
    pub fn launch<'a>(
        &'a self,
        file: &'a Path,
        kernel: &'a str,
    ) -> Result<KernelLaunch<'a>, Failure> {
        let missing = |name: &str, what: &str| {
            Failure::usage(format!("{name} X,Y,Z is missing: {what} along x, y and z"))
        };
        let grid = self.grid.ok_or_else(|| missing("--grid", "workgroups"))?;
        let block = self
            .block
            .ok_or_else(|| missing("--block", "work-items of a workgroup"))?;
        Ok(KernelLaunch {
            file,
            kernel,
            grid,
            block,
            lds_bytes: self.lds.unwrap_or(0),
            arguments: &self.arguments,
            seed: self.seed,
        })
    }
}
