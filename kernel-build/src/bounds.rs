//! Launch bounds: limits on a kernel's workgroups, from which LLVM allocates registers.

use std::{
    fmt::Write as _,
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::Write as _,
    path::{Path, PathBuf},
};

use ferrowave_gpu::{Gpu, GpuLimits};

use crate::{
    BuildError,
    tool::{ToolError, file_error},
};

/// Limits on the workgroups that a kernel is launched with.
///
/// rustc has no attribute for them. Without them, LLVM assumes workgroups of 1024 work-items, which from gfx90a on
/// leaves at most half of the vector registers to a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchBounds {
    /// Minimum and maximum number of work-items in a workgroup (`amdgpu-flat-work-group-size`), 1 to 1024.
    pub flat_workgroup_size: (u32, u32),
    /// Minimum number of waves per SIMD, and optionally the maximum (`amdgpu-waves-per-eu`).
    pub waves_per_eu: Option<(u32, Option<u32>)>,
}

impl LaunchBounds {
    /// Bounds for workgroups of exactly this many work-items.
    pub const fn threads(flat_workgroup_size: u32) -> Self {
        LaunchBounds {
            flat_workgroup_size: (flat_workgroup_size, flat_workgroup_size),
            waves_per_eu: None,
        }
    }

    /// Asks for at least this many waves per SIMD.
    #[must_use]
    pub const fn min_waves_per_eu(mut self, waves: u32) -> Self {
        self.waves_per_eu = Some((waves, None));
        self
    }

    /// Refuses bounds that LLVM would ignore silently.
    pub(crate) fn check(&self, symbol: &str, gpu: Gpu) -> Result<(), BuildError> {
        let error = |what: &'static str, given: String, allowed: String| BuildError::LaunchBounds {
            kernel: symbol.to_owned(),
            gpu,
            what,
            given,
            allowed,
        };
        // The file for LLVM has a kernel and an attribute per line, separated by a comma.
        if symbol.is_empty() || symbol.contains(|c: char| c == ',' || c.is_whitespace()) {
            return Err(error(
                "symbol",
                format!("{symbol:?}"),
                "a name without commas and spaces".to_owned(),
            ));
        }
        let limits = GpuLimits::of(gpu);
        let (least, most) = self.flat_workgroup_size;
        if least < 1 || least > most || most > limits.max_workgroup_size {
            return Err(error(
                "workgroup size",
                format!("{least} to {most}"),
                format!(
                    "an ascending range within 1 to {}",
                    limits.max_workgroup_size
                ),
            ));
        }
        let Some((least, most)) = self.waves_per_eu else {
            return Ok(());
        };
        let most = most.unwrap_or(limits.max_waves_per_simd);
        if least < 1 || least > most || most > limits.max_waves_per_simd {
            return Err(error(
                "waves per SIMD",
                format!("{least} to {most}"),
                format!(
                    "an ascending range within 1 to {}",
                    limits.max_waves_per_simd
                ),
            ));
        }
        Ok(())
    }

    fn write_csv(&self, symbol: &str, csv: &mut String) {
        let (least, most) = self.flat_workgroup_size;
        // Writing to a string does not fail.
        let _ = writeln!(csv, "{symbol},amdgpu-flat-work-group-size={least},{most}");
        if let Some((least, most)) = self.waves_per_eu {
            let _ = write!(csv, "{symbol},amdgpu-waves-per-eu={least}");
            if let Some(most) = most {
                let _ = write!(csv, ",{most}");
            }
            csv.push('\n');
        }
    }
}

/// Writes the file from which LLVM's pass `forceattrs` reads the bounds, and `features` of the same kernels if there are any.
///
/// The file's name is a hash of its contents. It is among the compiler's arguments, so that cargo compiles again
/// exactly when the bounds change.
pub(crate) fn write_csv(
    bounds: &[(&str, LaunchBounds)],
    features: &str,
    dir: &Path,
) -> Result<Option<PathBuf>, BuildError> {
    if bounds.is_empty() {
        return Ok(None);
    }
    let mut csv = String::new();
    for (symbol, bounds) in bounds {
        bounds.write_csv(symbol, &mut csv);
        if !features.is_empty() {
            // Writing to a string does not fail.
            let _ = writeln!(csv, "{symbol},target-features={features}");
        }
    }
    // The hasher's keys are fixed, so a toolchain always gives the same name. Another toolchain's name costs one
    // compilation.
    let mut hasher = DefaultHasher::new();
    csv.hash(&mut hasher);
    let name = format!("ferrowave-launch-bounds-{:016x}.csv", hasher.finish());
    // rustc splits LLVM's arguments at spaces and does not know quotes.
    let temporary = std::env::temp_dir();
    let dir = [dir, &temporary]
        .into_iter()
        .find(|dir| !dir.to_string_lossy().contains(char::is_whitespace))
        .ok_or_else(|| BuildError::SpaceInPath {
            target_dir: dir.to_owned(),
            temporary: temporary.clone(),
        })?;
    let path = dir.join(name);
    if fs::read_to_string(&path).is_ok_and(|present| present == csv) {
        return Ok(Some(path));
    }
    // Written atomically, because another build may be reading the file of the same name.
    let write = || -> Result<(), ToolError> {
        let mut file = tempfile::NamedTempFile::new_in(dir).map_err(file_error(dir))?;
        file.write_all(csv.as_bytes()).map_err(file_error(&path))?;
        file.persist(&path)
            .map_err(|error| file_error(&path)(error.error))?;
        Ok(())
    };
    write()?;
    Ok(Some(path))
}
