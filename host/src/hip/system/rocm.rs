//! Where ROCm's libraries are if the linker does not know.

use std::{
    cmp::Reverse,
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// Folders with ROCm's libraries, those that exist, the most wanted first:
///
/// 1. `$ROCM_PATH/lib` and `$HIP_PATH/lib`;
/// 2. `/opt/rocm/lib`, the system's default version, and `/opt/rocm/core/lib`, that of the ROCm Core SDK; then those with a
///    version in their name, newest first (ROCm's «Transition guide from legacy ROCm release stream»);
/// 3. `_rocm_sdk_core/lib` and the other packages of ROCm's wheels (TheRock's `_dist_info.py`), in the Python
///    environments `$VIRTUAL_ENV`, `$CONDA_PREFIX` and those with the program `rocm-sdk` in `$PATH`.
pub fn rocm_folders(root: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let variable = |name| variable(name).filter(|value| !value.is_empty());
    let named = ["ROCM_PATH", "HIP_PATH"].into_iter();
    let mut folders: Vec<_> = named.filter_map(variable).map(PathBuf::from).collect();
    let opt = root.join("opt");
    folders.push(opt.join("rocm"));
    folders.extend(starting_with(&opt.join("rocm"), "core"));
    folders.extend(starting_with(&opt, "rocm-"));
    let named = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter();
    let mut environments: Vec<_> = named.filter_map(variable).map(PathBuf::from).collect();
    let paths = variable("PATH").unwrap_or_default();
    let with_program = env::split_paths(&paths).filter(|path| path.join("rocm-sdk").exists());
    environments.extend(with_program.filter_map(|path| Some(path.parent()?.to_owned())));
    for python in environments
        .iter()
        .flat_map(|environment| starting_with(&environment.join("lib"), "python3"))
    {
        for packages in ["site-packages", "dist-packages"] {
            let mut wheels = starting_with(&python.join(packages), "_rocm_sdk_");
            // The core has HIP.
            wheels.sort();
            folders.extend(wheels);
        }
    }
    let mut folders: Vec<_> = folders.iter().map(|folder| folder.join("lib")).collect();
    folders.retain(|folder| folder.is_dir());
    folders
}

/// What a folder contains that starts so: without a version first, then by version, newest first.
fn starting_with(folder: &Path, start: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(Reverse<Vec<u32>>, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name();
            let version = name.to_str()?.strip_prefix(start)?;
            let numbers = version.split(|c: char| !c.is_ascii_digit());
            let mut numbers: Vec<u32> = numbers.filter_map(|n| n.parse().ok()).collect();
            if numbers.is_empty() {
                numbers.push(u32::MAX);
            }
            Some((Reverse(numbers), entry.path()))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_folders_come_first_then_opt_then_wheels() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let packages = root.join("venv/lib/python3.12/site-packages");
        let user = root.join("home/.local");
        for folder in [
            root.join("opt/rocm-6.4.1/lib"),
            root.join("opt/rocm-6.10.0/lib"),
            root.join("opt/rocm-7.0.2/lib"),
            root.join("opt/rocm-5.7.0/bin"),
            root.join("opt/rocm/lib"),
            root.join("opt/rocm/core/lib"),
            root.join("opt/rocm/core-7.14/lib"),
            root.join("mine/lib"),
            packages.join("_rocm_sdk_libraries_gfx94X_dcgpu/lib"),
            packages.join("_rocm_sdk_core/lib"),
            user.join("lib/python3.9/site-packages/_rocm_sdk_core/lib"),
            user.join("bin"),
        ] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(user.join("bin/rocm-sdk"), "").unwrap();
        let path = env::join_paths([root.join("venv/bin"), user.join("bin")]).unwrap();
        let folders = rocm_folders(root, |name| match name {
            "ROCM_PATH" => Some(root.join("mine").into()),
            "HIP_PATH" => Some(root.join("nothing").into()),
            "VIRTUAL_ENV" => Some(root.join("venv").into()),
            "PATH" => Some(path.clone()),
            _ => None,
        });
        let expected = [
            "mine",
            "opt/rocm",
            "opt/rocm/core",
            "opt/rocm/core-7.14",
            "opt/rocm-7.0.2",
            "opt/rocm-6.10.0",
            "opt/rocm-6.4.1",
            "venv/lib/python3.12/site-packages/_rocm_sdk_core",
            "venv/lib/python3.12/site-packages/_rocm_sdk_libraries_gfx94X_dcgpu",
            "home/.local/lib/python3.9/site-packages/_rocm_sdk_core",
        ];
        let expected = expected.map(|folder| root.join(folder).join("lib"));
        assert_eq!(folders, expected);
        assert_eq!(
            rocm_folders(&root.join("none"), |_| None),
            [] as [PathBuf; 0]
        );
    }
}
