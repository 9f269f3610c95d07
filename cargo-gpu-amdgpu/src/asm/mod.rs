//! `cargo gpu-amdgpu asm`

mod diff;
mod listing;
mod loops;

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use ferrowave_code_object::{CodeObject, Kernel};
use ferrowave_inspect::{CodeLine, code};
use ferrowave_launch::{Failure, print};

use crate::{
    object::{self, Product},
    source::SourceOptions,
};

/// Print the instructions of kernels under the source lines that they come from, with their loops.
///
/// A loop is the code from the target of a backward branch to the branch. Its instructions are counted at its head.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A code object, offload bundle or HIP program [default: the crate in the current directory].
    file: Option<PathBuf>,
    /// Only this kernel.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Print the differences from the instructions in this code object or bundle, for example of an earlier build.
    #[arg(long, value_name = "FILE")]
    diff: Option<PathBuf>,
    #[command(flatten)]
    source: SourceOptions,
}

/// A kernel's instructions.
struct Code<'a> {
    object: &'a CodeObject,
    kernel: &'a Kernel,
    lines: Vec<CodeLine>,
}

impl<'a> Code<'a> {
    fn new(object: &'a CodeObject, kernel: &'a Kernel) -> Result<Self, Failure> {
        let lines = code(object, kernel.code.clone()).map_err(Failure::failed)?;
        Ok(Code {
            object,
            kernel,
            lines,
        })
    }

    fn name(&self) -> &str {
        &self.kernel.metadata.name
    }
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    // Read first, because building may replace the file.
    let before = match &options.diff {
        Some(file) => Some(object::read(file, &options.source.gpu)?),
        None => None,
    };
    let products = options.source.objects(options.file.as_deref())?;
    let mut texts = Vec::new();
    for (object, kernel) in object::kernels(&products, options.kernel.as_deref())? {
        let now = Code::new(object, kernel)?;
        texts.push(match &before {
            Some(before) => diff::write(counterpart(before, &now)?.as_ref(), &now),
            None => listing::write(&now),
        });
    }
    if let Some(before) = &before {
        texts.extend(gone(before, &products, options.kernel.as_deref()));
    }
    print(&texts.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// The kernel with the same name and GPU in another build.
fn counterpart<'a>(before: &'a [Product], now: &Code<'_>) -> Result<Option<Code<'a>>, Failure> {
    let gpu = now.object.target().gpu;
    before
        .iter()
        .filter(|product| product.object.target().gpu == gpu)
        .find_map(|product| Some((&product.object, product.object.kernel(now.name())?)))
        .map(|(object, kernel)| Code::new(object, kernel))
        .transpose()
}

/// Messages for kernels that only the other build has.
fn gone(before: &[Product], now: &[Product], only: Option<&str>) -> Vec<String> {
    let still = |object: &CodeObject, name: &str| {
        let same = now
            .iter()
            .filter(|product| product.object.target().gpu == object.target().gpu);
        same.clone().next().is_none() || same.clone().any(|p| p.object.kernel(name).is_some())
    };
    let mut texts = Vec::new();
    for product in before {
        for kernel in product.object.kernels() {
            let name = kernel.metadata.name.as_str();
            if only.is_none_or(|only| only == name) && !still(&product.object, name) {
                let gpu = product.object.target().gpu;
                texts.push(format!("{name} on {gpu}: only in the other build\n"));
            }
        }
    }
    texts
}
