//! The options of `exec` and `env`, as the environment variables that they stand for.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt as _,
    path::PathBuf,
    process::Command,
    str::FromStr,
};

use clap::Args;
use ferrowave_gpu::{Product, Specifications};
use ferrowave_hip::{
    DEVICE_VARIABLE, TRACE_VARIABLE,
    check::CHECK_VARIABLE,
    check_trace, devices_named, environment_devices,
    profile::PROFILE_VARIABLE,
    timing::{ESTIMATE_VARIABLE, TIMING_VARIABLE},
};
use ferrowave_launch::check::CheckList;

use super::Library;
use crate::cli::Failure;

/// How the emulator runs the program.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Settings {
    /// The GPU to emulate, or several with commas between: gfx942, MI250X [default: FERROWAVE_DEVICE, or else gfx942].
    #[arg(long, value_name = "GPU")]
    gpu: Option<Gpus>,
    /// Check each launch: memory, lds, races, waits, hazards, registers, with commas between, or all. With findings, the
    /// program's exit code is 3.
    #[arg(long, value_name = "CHECKS")]
    check: Option<CheckList>,
    /// Model the time of each launch on a machine: MI210, MI300X, or auto for the emulated GPU's.
    #[arg(long, value_name = "MACHINE")]
    timing: Option<Machine>,
    /// Run launches only as far as --timing needs. What they write is no result.
    #[arg(long, requires = "timing")]
    estimate: bool,
    /// Write HIP calls (api), the work of streams (launches), or both to standard error, or to a file that is named too.
    #[arg(long, value_name = "WHAT")]
    trace: Option<OsString>,
    /// Write a page, a listing and JSON of each kernel to this folder.
    #[arg(long, value_name = "FOLDER")]
    profile: Option<PathBuf>,
}

#[derive(Clone, Debug)]
struct Gpus {
    text: String,
    rows: Vec<&'static Specifications>,
}

impl FromStr for Gpus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The library takes these for its default, because they choose another device elsewhere.
        let rows = devices_named(text)
            .filter(|_| !text.is_empty() && text != "auto" && !text.starts_with("hip:"));
        let rows = rows.ok_or_else(|| {
            format!(
                "allowed are {}, or several with commas between",
                Product::names()
            )
        })?;
        Ok(Gpus {
            text: text.to_owned(),
            rows,
        })
    }
}

#[derive(Clone, Debug)]
struct Machine(String);

impl FromStr for Machine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text == "auto" || text.parse::<Product>().is_ok() {
            true => Ok(Machine(text.to_owned())),
            false => Err(format!("allowed are auto and {}", Product::names())),
        }
    }
}

impl Settings {
    /// Launches on a machine are modelled, and written to a folder.
    pub(crate) fn modelled(machine: Product, folder: PathBuf) -> Self {
        Settings {
            gpu: Some(Gpus {
                text: machine.to_string(),
                rows: vec![machine.specifications()],
            }),
            check: None,
            timing: Some(Machine(machine.to_string())),
            estimate: false,
            trace: None,
            profile: Some(folder),
        }
    }

    /// The GPUs to emulate.
    ///
    /// # Errors
    /// If they are those of FERROWAVE_DEVICE, and it names none.
    pub(crate) fn gpus(&self) -> Result<Vec<&'static Specifications>, Failure> {
        match &self.gpu {
            Some(gpus) => Ok(gpus.rows.clone()),
            None => environment_devices().map_err(Failure::usage),
        }
    }
}

/// What to set, in order. The library path is to be put before the old one.
///
/// # Errors
/// If an option is wrong, or the library path cannot hold the folder.
pub(crate) fn variables(
    settings: &Settings,
    library: &Library,
) -> Result<Vec<(&'static str, OsString)>, Failure> {
    settings.gpus()?;
    let folder = library.folder.as_os_str();
    // ld.so(8): both separate folders, and `$` starts a name like `$ORIGIN`.
    if let Some(byte) = folder.as_bytes().iter().find(|byte| b":;$".contains(byte)) {
        return Err(Failure::failed(format!(
            "{}: a folder with `{}` in its name cannot be on the library path; FERROWAVE_CACHE names another",
            library.folder.display(),
            char::from(*byte)
        )));
    }
    let file = OsString::from(library.folder.join(super::library::HIP_NAMES[0]));
    let mut variables = vec![
        (LIBRARY_PATH, folder.to_owned()),
        // tinygrad's name for the library itself.
        ("HIP_PATH", file.clone()),
        ("TRITON_LIBHIP_PATH", file),
    ];
    if let Some(trace) = &settings.trace {
        check_trace(trace).map_err(Failure::usage)?;
    }
    let own = [
        (
            DEVICE_VARIABLE,
            settings.gpu.as_ref().map(|gpus| gpus.text.clone().into()),
        ),
        (
            CHECK_VARIABLE,
            settings
                .check
                .as_ref()
                .map(|checks| checks.to_string().into()),
        ),
        (
            TIMING_VARIABLE,
            settings
                .timing
                .as_ref()
                .map(|machine| machine.0.clone().into()),
        ),
        (ESTIMATE_VARIABLE, settings.estimate.then(|| "1".into())),
        (TRACE_VARIABLE, settings.trace.clone()),
        (
            PROFILE_VARIABLE,
            settings.profile.clone().map(OsString::from),
        ),
    ];
    variables.extend(
        own.into_iter()
            .filter_map(|(name, value): (_, Option<OsString>)| Some((name, value?))),
    );
    Ok(variables)
}

/// Sets the variables for a command. What the library path was comes after the new folder.
pub(crate) fn set(command: &mut Command, variables: Vec<(&'static str, OsString)>) {
    for (variable, value) in variables {
        match env::var_os(variable).filter(|old| variable == LIBRARY_PATH && !old.is_empty()) {
            Some(old) => {
                let mut both = value;
                both.push(":");
                both.push(old);
                command.env(variable, both);
            }
            None => drop(command.env(variable, value)),
        }
    }
}

/// The variable of the library path, to which a folder is added; the others are replaced.
pub(crate) const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// A word of a POSIX shell with exactly these bytes.
pub(crate) fn quoted(text: &OsStr) -> Vec<u8> {
    let mut word = vec![b'\''];
    for &byte in text.as_bytes() {
        match byte {
            b'\'' => word.extend(b"'\\''"),
            other => word.push(other),
        }
    }
    word.push(b'\'');
    word
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_quoted_words_as_they_were() {
        for text in [
            "plain",
            "",
            "two words",
            "it's",
            "'",
            "$HOME `x` \\ \"\n*",
            "-n",
            "é\u{1}",
        ] {
            let mut script = b"printf %s ".to_vec();
            script.extend(quoted(OsStr::new(text)));
            let output = Command::new("sh")
                .arg("-c")
                .arg(OsStr::from_bytes(&script))
                .output()
                .unwrap();
            assert_eq!(output.stdout, text.as_bytes(), "{text}");
        }
    }
}
