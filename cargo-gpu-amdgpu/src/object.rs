//! Code objects in files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ferrowave_code_object::{CodeObject, Kernel, code_objects, nearest};
use ferrowave_gpu::Gpu;
use ferrowave_launch::{Failure, read_file};

/// A code object and its file.
#[derive(Debug)]
pub(crate) struct Product {
    pub(crate) path: PathBuf,
    pub(crate) object: CodeObject,
}

/// The code objects in a code object, bundle or HIP program, only for `gpus` unless that is empty.
pub(crate) fn read(path: &Path, gpus: &[Gpu]) -> Result<Vec<Product>, Failure> {
    let file = path.display();
    let bytes = read_file(path).map_err(|error| {
        // It may be a kernel's name.
        let hint = match path.components().count() == 1 && path.extension().is_none() {
            true => format!("; if it is a kernel, write --kernel {file}"),
            false => String::new(),
        };
        Failure::failed(format!("{file}: {error}{hint}"))
    })?;
    let found =
        code_objects(&bytes).map_err(|error| Failure::failed(format!("{file}: {error}")))?;
    let mut products = Vec::new();
    let mut others = Vec::new();
    for found in &found {
        let what = found.entry.as_deref().unwrap_or("code object");
        match CodeObject::parse(&found.bytes) {
            Ok(object) if gpus.is_empty() || gpus.contains(&object.target().gpu) => {
                products.push(Product {
                    path: path.to_owned(),
                    object,
                });
            }
            Ok(object) => others.push(object.target().to_string()),
            Err(error) => others.push(format!("{what} ({error})")),
        }
    }
    if products.is_empty() {
        let asked = match gpus {
            [] => "a GPU that this program knows".to_owned(),
            gpus => gpus
                .iter()
                .map(|gpu| gpu.name())
                .collect::<Vec<_>>()
                .join(", "),
        };
        return Err(Failure::failed(match others.is_empty() {
            true => format!("{file}: it holds no code object"),
            false => format!(
                "{file}: it holds no code object for {asked}, only: {}",
                others.join(", ")
            ),
        }));
    }
    Ok(products)
}

/// Kernels with their code objects: all, or those with a name.
pub(crate) fn kernels<'a>(
    products: &'a [Product],
    name: Option<&str>,
) -> Result<Vec<(&'a CodeObject, &'a Kernel)>, Failure> {
    let all = products.iter().flat_map(|product| {
        product
            .object
            .kernels()
            .iter()
            .map(|kernel| (&product.object, kernel))
    });
    let Some(name) = name else {
        return Ok(all.collect());
    };
    let chosen: Vec<_> = all
        .clone()
        .filter(|(_, kernel)| kernel.metadata.name == name)
        .collect();
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let mut names: Vec<_> = all
        .map(|(_, kernel)| kernel.metadata.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    let meant = nearest(name, names.iter().copied());
    Err(Failure::usage(format!(
        "no kernel `{name}`; {}kernels are {}",
        meant.map_or_else(String::new, |meant| format!("did you mean `{meant}`? ")),
        names.join(", ")
    )))
}

/// Writes a file, and creates the directories above it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    // An unchanged file keeps its modification time.
    if fs::read(path).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    let dir = path.parent().unwrap_or(path);
    fs::create_dir_all(dir)
        .and_then(|()| fs::write(path, bytes))
        .map_err(|error| {
            Failure::failed(format!("`{}` cannot be written: {error}", path.display()))
        })
}
