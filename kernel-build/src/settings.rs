//! What cargo and its manifest say about a crate of kernels.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use cargo_metadata::{MetadataCommand, Package, TargetKind};
use ferrowave_gpu::Gpu;
use serde::Deserialize;

use crate::{LaunchBounds, Toolchain};

/// The table `package.metadata.gpu-amdgpu` in `Cargo.toml`.
const TABLE: &str = "gpu-amdgpu";

/// A crate that may contain kernels.
#[derive(Clone, Debug)]
pub struct KernelCrate {
    /// Its package's name.
    pub name: String,
    /// The directory of its manifest.
    pub dir: PathBuf,
    /// The target directory of its workspace.
    pub target_dir: PathBuf,
    /// Whether it depends on `ferrowave-host` without the feature `emulator`, so that its programs load the emulator's
    /// library.
    pub loads_emulator: bool,
    /// The settings in its manifest.
    pub settings: Settings,
}

/// Settings of a crate of kernels, from `package.metadata.gpu-amdgpu` in its manifest. Settings that are not there are
/// empty.
///
/// ```toml
/// [package.metadata.gpu-amdgpu]
/// gpus = ["gfx90a", "gfx942"]
/// llvm-args = ["-amdgpu-unroll-threshold-private=40000"]
///
/// [package.metadata.gpu-amdgpu.launch-bounds]
/// softmax = 256
/// transpose = { threads = 256, waves-per-simd = 2 }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// GPUs to build for by default.
    pub gpus: Vec<Gpu>,
    /// Launch bounds by kernel, on all GPUs.
    pub launch_bounds: Vec<(String, LaunchBounds)>,
    /// Options for LLVM.
    pub llvm_args: Vec<String>,
}

/// Why a directory is not a crate of kernels.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrateError {
    /// cargo can't read the manifest, or finds none.
    #[error("{messages}")]
    Cargo {
        /// cargo's message, unchanged.
        messages: String,
    },
    /// The manifest is a workspace's and has no package.
    #[error("{} is a workspace without a package of its own; choose one of its packages: {}", dir.display(), packages.join(", "))]
    NoPackage {
        /// Its directory.
        dir: PathBuf,
        /// The workspace's packages.
        packages: Vec<String>,
    },
    /// The package has programs only, but no library.
    #[error(
        "package `{package}` has no library, and kernels are in a `#![no_std]` library (src/lib.rs)"
    )]
    NoLibrary {
        /// The package.
        package: String,
    },
    /// The manifest's table is not valid.
    #[error("{}: package.metadata.{TABLE}: {reason}", manifest.display())]
    Settings {
        /// The manifest.
        manifest: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl KernelCrate {
    /// Finds the crate whose manifest is in `dir` or, as for cargo, in a directory above it.
    ///
    /// # Errors
    /// If there is no crate, it has no library, or its table is not valid.
    pub fn find(dir: &Path, toolchain: &Toolchain) -> Result<Self, CrateError> {
        let mut command = MetadataCommand::new();
        command
            .cargo_path(toolchain.cargo())
            .current_dir(dir)
            .env("RUSTC", toolchain.rustc())
            .no_deps();
        let metadata = command.exec().map_err(|error| CrateError::Cargo {
            messages: match error {
                cargo_metadata::Error::CargoMetadata { stderr } => {
                    let text = stderr.trim_end();
                    text.strip_prefix("error: ").unwrap_or(text).to_owned()
                }
                other => other.to_string(),
            },
        })?;
        // A workspace also has packages elsewhere. The paths may differ in symbolic links.
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let dir = real(dir);
        let package = metadata
            .packages
            .iter()
            .filter_map(|package| {
                Some((real(package.manifest_path.parent()?.as_std_path()), package))
            })
            .filter(|(own, _)| dir.starts_with(own))
            .max_by_key(|(own, _)| own.components().count());
        let (_, package) = package.ok_or_else(|| CrateError::NoPackage {
            dir: metadata.workspace_root.clone().into(),
            packages: metadata
                .workspace_packages()
                .iter()
                .map(|package| package.name.to_string())
                .collect(),
        })?;
        Self::of(package, metadata.target_directory.as_std_path())
    }

    fn of(package: &Package, target_dir: &Path) -> Result<Self, CrateError> {
        let is_library = |kind: &TargetKind| {
            matches!(
                kind,
                TargetKind::Lib | TargetKind::RLib | TargetKind::CDyLib | TargetKind::DyLib
            )
        };
        if !package
            .targets
            .iter()
            .any(|target| target.kind.iter().any(is_library))
        {
            return Err(CrateError::NoLibrary {
                package: package.name.to_string(),
            });
        }
        let manifest = package.manifest_path.as_std_path();
        let settings =
            Settings::read(&package.metadata).map_err(|reason| CrateError::Settings {
                manifest: manifest.to_owned(),
                reason,
            })?;
        Ok(KernelCrate {
            name: package.name.to_string(),
            dir: manifest.parent().unwrap_or(manifest).to_owned(),
            target_dir: target_dir.to_owned(),
            loads_emulator: package.dependencies.iter().any(|dependency| {
                dependency.name == "ferrowave-host"
                    && !dependency.uses_default_features
                    && !dependency
                        .features
                        .iter()
                        .any(|feature| feature == "emulator")
            }),
            settings,
        })
    }
}

/// The table as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Table {
    gpus: Vec<String>,
    launch_bounds: BTreeMap<String, serde_json::Value>,
    llvm_args: Vec<String>,
}

/// Bounds in the long form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Bounds {
    threads: u32,
    waves_per_simd: Option<u32>,
}

impl Settings {
    fn read(metadata: &serde_json::Value) -> Result<Self, String> {
        let Some(table) = metadata.get(TABLE) else {
            return Ok(Self::default());
        };
        let table = Table::deserialize(table).map_err(|error| error.to_string())?;
        let mut settings = Settings {
            llvm_args: table.llvm_args,
            ..Self::default()
        };
        for name in table.gpus {
            let gpu: Gpu = name.parse().map_err(|error| format!("gpus: {error}"))?;
            if !settings.gpus.contains(&gpu) {
                settings.gpus.push(gpu);
            }
        }
        for (kernel, value) in table.launch_bounds {
            let bounds = match &value {
                serde_json::Value::Number(_) => u32::deserialize(&value).map(LaunchBounds::threads),
                _ => Bounds::deserialize(&value).map(|bounds| {
                    let threads = LaunchBounds::threads(bounds.threads);
                    match bounds.waves_per_simd {
                        Some(waves) => threads.min_waves_per_eu(waves),
                        None => threads,
                    }
                }),
            };
            let bounds = bounds.map_err(|error| {
                format!(
                    "launch-bounds.{kernel} is {value}, expected 256 or {{ threads = 256, waves-per-simd = 2 }} ({error})"
                )
            })?;
            settings.launch_bounds.push((kernel, bounds));
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_are_read_and_slips_are_named() {
        let read = |table| Settings::read(&json!({ "gpu-amdgpu": table }));
        assert_eq!(Settings::read(&json!(null)), Ok(Settings::default()));
        let settings = read(json!({
            "gpus": ["gfx90a", "gfx942", "gfx90a"],
            "llvm-args": ["-x"],
            "launch-bounds": { "a": 64, "b": { "threads": 256, "waves-per-simd": 2 } },
        }));
        let bounds = vec![
            ("a".to_owned(), LaunchBounds::threads(64)),
            (
                "b".to_owned(),
                LaunchBounds::threads(256).min_waves_per_eu(2),
            ),
        ];
        assert_eq!(
            settings,
            Ok(Settings {
                gpus: vec![Gpu::Gfx90a, Gpu::Gfx942],
                launch_bounds: bounds,
                llvm_args: vec!["-x".to_owned()],
            })
        );
        for (table, complaint) in [
            (json!({ "gpus": ["gfx1"] }), "unknown GPU `gfx1`"),
            (
                json!({ "launch-bound": {} }),
                "unknown field `launch-bound`",
            ),
            (
                json!({ "launch-bounds": { "a": "many" } }),
                "launch-bounds.a is \"many\", expected 256 or",
            ),
            (
                json!({ "launch-bounds": { "a": -1 } }),
                "launch-bounds.a is -1",
            ),
            (
                json!({ "launch-bounds": { "a": { "waves-per-simd": 1 } } }),
                "missing field `threads`",
            ),
        ] {
            let error = read(table).expect_err(complaint);
            assert!(error.contains(complaint), "{error}");
        }
    }
}
