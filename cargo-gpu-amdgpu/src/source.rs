//! The input of commands that show kernels.

use std::path::Path;

use clap::Args;
use ferrowave_gpu::Gpu;
use ferrowave_launch::Failure;

use crate::{
    object::{Product, read},
    project::{Project, ProjectOptions},
};

/// The input of a command that shows kernels: the crate in the current directory, or a file.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct SourceOptions {
    /// Only these GPUs, separated by commas [default: the manifest's, or gfx942; all of a file].
    #[arg(long, value_name = "GPUS", value_delimiter = ',')]
    pub(crate) gpu: Vec<Gpu>,
    #[command(flatten)]
    pub(crate) project: ProjectOptions,
}

impl SourceOptions {
    /// The code objects of the file or, without one, of the crate, which is built first.
    pub(crate) fn objects(&self, file: Option<&Path>) -> Result<Vec<Product>, Failure> {
        match file {
            Some(file) => read(file, &self.gpu),
            None => {
                let project = Project::find(&self.project)?;
                project.build(&project.gpus(&self.gpu))
            }
        }
    }
}
