//! The file that a page has opened.

use std::sync::Arc;

use ferrowave_code_object::{CodeObject, Kernel, code_objects};
use ferrowave_gpu::{Gpu, Product};
use ferrowave_inspect::{ArgumentSummary, KernelSummary};
use ferrowave_timing::Parameters;
use serde::Serialize;

/// A code object of the file.
pub(crate) struct Object {
    /// Its name in the bundle.
    entry: Option<String>,
    /// The object, or why it cannot be read.
    pub(crate) object: Result<CodeObject, String>,
}

/// What the page shows of a code object.
#[derive(Debug, Serialize)]
pub(crate) struct ObjectSummary<'a> {
    entry: Option<&'a str>,
    /// Why the object cannot be read.
    error: Option<&'a str>,
    /// The target that it was compiled for.
    target: Option<String>,
    /// The GPUs that run it.
    gpus: Vec<GpuSummary>,
    kernels: Vec<&'a str>,
}

/// A GPU that runs a code object.
#[derive(Debug, Serialize)]
struct GpuSummary {
    gpu: &'static str,
    /// The products whose time is modelled.
    machines: Vec<&'static str>,
}

/// A kernel in one of the code objects.
#[derive(Debug, Serialize)]
pub(crate) struct Described {
    /// The number of the code object.
    object: usize,
    #[serde(flatten)]
    summary: KernelSummary,
    /// Arguments to begin with, as text.
    suggested: Vec<String>,
}

/// The code objects of a file, in its order; an error if none of them can be read.
pub(crate) fn open(bytes: &[u8]) -> Result<Vec<Object>, String> {
    let found = code_objects(bytes).map_err(|error| error.to_string())?;
    let objects = found.into_iter().map(|found| Object {
        object: CodeObject::parse_shared(Arc::from(&*found.bytes))
            .map_err(|error| error.to_string()),
        entry: found.entry,
    });
    let objects: Vec<_> = objects.collect();
    match objects.first().map(|first| &first.object) {
        Some(Err(error)) if objects.iter().all(|other| other.object.is_err()) => Err(error.clone()),
        _ => Ok(objects),
    }
}

impl Object {
    pub(crate) fn summary(&self) -> ObjectSummary<'_> {
        let object = self.object.as_ref().ok();
        ObjectSummary {
            entry: self.entry.as_deref(),
            error: self.object.as_ref().err().map(String::as_str),
            target: object.map(|object| object.target().to_string()),
            gpus: object.map_or_else(Vec::new, gpus),
            kernels: object.map_or_else(Vec::new, |object| {
                let kernels = object.kernels().iter();
                kernels.map(|kernel| &*kernel.metadata.name).collect()
            }),
        }
    }
}

fn gpus(object: &CodeObject) -> Vec<GpuSummary> {
    let gpus = Gpu::ALL.into_iter();
    gpus.filter(|&gpu| object.target().runs_on(gpu))
        .map(|gpu| GpuSummary {
            gpu: gpu.name(),
            machines: Parameters::MACHINES
                .into_iter()
                .filter(|machine| machine.gpu() == gpu)
                .map(Product::name)
                .collect(),
        })
        .collect()
}

/// Describes a kernel in each code object that has it, for workgroups of `workgroup_size` or else the largest.
pub(crate) fn describe(
    objects: &[Object],
    name: &str,
    workgroup_size: Option<u32>,
    dynamic_lds_bytes: u32,
) -> Result<Vec<Described>, String> {
    let readable = objects.iter().enumerate();
    let readable =
        readable.filter_map(|(index, object)| Some((index, object.object.as_ref().ok()?)));
    let found = readable.filter_map(|(index, object)| Some((index, object, object.kernel(name)?)));
    found
        .map(|(index, object, kernel)| {
            let size = size(kernel, workgroup_size)?;
            let summary = KernelSummary::of(object, kernel, size, dynamic_lds_bytes)?;
            Ok(Described {
                object: index,
                suggested: summary.arguments.iter().map(suggested).collect(),
                summary,
            })
        })
        .collect()
}

fn size(kernel: &Kernel, given: Option<u32>) -> Result<u32, String> {
    let largest = kernel.metadata.max_flat_workgroup_size;
    match given {
        None => Ok(largest),
        Some(size) if (1..=largest).contains(&size) => Ok(size),
        Some(size) => Err(format!(
            "{size} work-items, but `{}` takes 1 to {largest}",
            kernel.metadata.name
        )),
    }
}

/// An argument that fits the parameter as far as its type is known.
fn suggested(argument: &ArgumentSummary) -> String {
    let type_name = argument.type_name.as_deref().unwrap_or_default();
    let pointee = type_name
        .trim_start_matches("*const ")
        .trim_start_matches("*mut ")
        .trim_start_matches("const ")
        .trim_end_matches(['*', ' ']);
    let element = match pointee {
        "float" | "f32" => "f32",
        "double" | "f64" => "f64",
        "half" | "_Float16" | "__half" | "f16" => "f16",
        "int" | "i32" => "i32",
        "unsigned int" | "uint" | "u32" => "u32",
        "long" | "i64" | "isize" => "i64",
        "unsigned long" | "ulong" | "size_t" | "u64" | "usize" => "u64",
        "short" | "i16" => "i16",
        "unsigned short" | "ushort" | "u16" => "u16",
        "char" | "signed char" | "i8" => "i8",
        "unsigned char" | "uchar" | "bool" | "u8" => "u8",
        _ => "",
    };
    match (argument.kind.as_str(), element, argument.size_bytes) {
        ("buffer", "", _) => "zeros:4096xu8".to_owned(),
        ("buffer", element, _) if type_name.contains("const") => format!("random:1024x{element}"),
        ("buffer", element, _) => format!("zeros:1024x{element}"),
        (_, "", 4) => "u32=1024".to_owned(),
        (_, "", 8) => "u64=0".to_owned(),
        (_, "", _) => "value:FILE".to_owned(),
        (_, element @ ("f16" | "f32" | "f64" | "i8" | "u8"), _) => format!("{element}=1"),
        (_, element, _) => format!("{element}=1024"),
    }
}
