//! Launch options of the command line.

use std::path::Path;

use clap::Args;

use crate::{Failure, KernelArgument, KernelCall, KernelLaunch, Shape};

/// How to launch a kernel from a code object.
#[derive(Debug, Args)]
#[group(skip)]
pub struct LaunchOptions {
    /// Number of workgroups along x, y and z.
    #[arg(long, value_name = "X,Y,Z")]
    grid: Option<Shape>,
    /// Work-items per workgroup along x, y and z.
    #[arg(long, value_name = "X,Y,Z")]
    block: Option<Shape>,
    /// Dynamic LDS per workgroup, in bytes [default: 0].
    #[arg(long, value_name = "BYTES")]
    lds: Option<u32>,
    /// The kernel's next argument. `f32=1.5` is a value, `value:PATH` a value with a file's bytes, for example a
    /// struct. `zeros:64xf32`, `random:4x16xf32`, `uninit:64xf32` (uninitialized) and `file:PATH` (a NumPy array if the
    /// name ends in `.npy`) are buffers. If the code object has the parameters' types, as with `cargo gpu-amdgpu
    /// build`, integers do not match floats; a buffer of u8 matches any type.
    #[arg(long = "arg", value_name = "ARGUMENT")]
    arguments: Vec<KernelArgument>,
    /// Seed of random data.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

impl LaunchOptions {
    /// The first given option that only applies to launches.
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

    /// The launch that these options describe.
    ///
    /// # Errors
    /// If the grid or the block is missing.
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
            call: KernelCall {
                grid,
                block,
                lds_bytes: self.lds.unwrap_or(0),
                arguments: &self.arguments,
                seed: self.seed,
            },
        })
    }
}
