//! `cargo gpu-amdgpu build`

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use ferrowave_code_object::write_bundle;
use ferrowave_gpu::Gpu;
use ferrowave_launch::{Columns, Failure, print};

use crate::{
    object::{self, Product},
    project::{Project, ProjectOptions},
};

/// Compile a crate's kernels to code objects, `gpu-amdgpu/<gpu>/<crate>.elf` in the target directory.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// GPUs to build for, separated by commas [default: `package.metadata.gpu-amdgpu.gpus` in Cargo.toml, or gfx942].
    #[arg(long, value_name = "GPUS", value_delimiter = ',')]
    gpu: Vec<Gpu>,
    /// Also write an offload bundle with the code objects of all GPUs; HIP loads the right one from it [default file:
    /// `gpu-amdgpu/<crate>.hipfb` in the target directory].
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "an option with an optional value")]
    bundle: Option<Option<PathBuf>>,
    #[command(flatten)]
    project: ProjectOptions,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let project = Project::find(&options.project)?;
    let products = project.build(&project.gpus(&options.gpu))?;
    let mut table = Columns::new(&["GPU", "code object", "kernels"]);
    for product in &products {
        table.row([
            product.object.target().to_string(),
            near(&product.path).display().to_string(),
            names(product),
        ]);
    }
    print(&table)?;
    if let Some(bundle) = &options.bundle {
        let path = match bundle {
            Some(path) => path.clone(),
            None => project
                .products
                .join(format!("{}.hipfb", project.krate.name)),
        };
        let objects: Vec<_> = products
            .iter()
            .map(|product| {
                (
                    product.object.target().to_string(),
                    &**product.object.bytes(),
                )
            })
            .collect();
        object::write(&path, &write_bundle(&objects))?;
        print(&format_args!("bundle {}\n", near(&path).display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn names(product: &Product) -> String {
    let kernels = product.object.kernels().iter();
    let names: Vec<_> = kernels
        .map(|kernel| kernel.metadata.name.as_str())
        .collect();
    names.join(", ")
}

/// The path relative to the current directory, if it is below that.
fn near(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).to_owned()
}
