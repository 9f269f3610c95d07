//! Loads the table of HIP functions and chooses a device.

mod choose;
mod library;
mod selector;

use std::{fmt, path::PathBuf, sync::Arc};

use ferrowave_hip_abi::Functions;
use thiserror::Error;

pub use choose::{Choice, Unusable, choose, emulated};
pub use library::{EMULATOR_VARIABLE, LIBRARY_NAMES, LIBRARY_VARIABLE};
pub use selector::{DEVICE_VARIABLE, DeviceSelector, SelectorError};

/// HIP's functions, from a library or from the emulator. Clones share the table.
#[derive(Clone)]
pub struct Api(Arc<Loaded>);

struct Loaded {
    functions: Functions,
    source: Source,
}

/// Where an [`Api`] comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A library of this name or path.
    Library(PathBuf),
    /// The emulator in this process.
    Emulator,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Library(path) => write!(f, "{}", path.display()),
            Source::Emulator => f.write_str("the built-in emulator"),
        }
    }
}

/// Why the table of functions can't be loaded.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// None of the usual names is a library that can be loaded.
    #[error(
        "no HIP library was found ({}); install ROCm 6.0 or later, or name the library in {LIBRARY_VARIABLE}",
        .tried.join("; ")
    )]
    NotFound {
        /// The system's message for each name.
        tried: Vec<String>,
    },
    /// The library that [`LIBRARY_VARIABLE`] names can't be loaded.
    #[error("{LIBRARY_VARIABLE} names `{}`, which cannot be loaded: {reason}", .path.display())]
    Named {
        /// The variable's text.
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
    /// The library lacks a function that this program calls.
    #[error(
        "`{}` lacks the function {function}{}; ROCm 6.0 or later has it",
        .library.display(),
        .version.as_ref().map_or(String::new(), |version| format!(", as it is HIP {version}"))
    )]
    MissingFunction {
        /// The library.
        library: PathBuf,
        /// Its version of HIP, such as `5.7`, if it tells.
        version: Option<String>,
        /// HIP's name of the function.
        function: &'static str,
    },
    /// This program was built without the emulator, and has no library of it.
    #[error(
        "this program was built without the emulator (feature `emulator`), and {EMULATOR_VARIABLE} does not name its \
         library; `cargo gpu-amdgpu test` builds it and sets the variable"
    )]
    NoEmulator,
    /// The library that [`EMULATOR_VARIABLE`] names is not the emulator, or cannot be loaded.
    #[error(
        "{EMULATOR_VARIABLE} names `{}`, {reason}; `cargo gpu-amdgpu test` builds the emulator's library",
        .path.display()
    )]
    NotEmulator {
        /// The variable's text.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl Api {
    /// A given table.
    ///
    /// # Safety
    /// Every function has the contract of HIP's function of that name, and stays loaded.
    pub unsafe fn from_functions(functions: Functions, source: Source) -> Self {
        Api(Arc::new(Loaded { functions, source }))
    }

    /// The HIP library: the one that [`LIBRARY_VARIABLE`] names, or else the first of [`LIBRARY_NAMES`] that can be
    /// loaded, where the system searches or in [`rocm_folders`](super::system::rocm_folders).
    ///
    /// # Errors
    /// [`LoadError::NotFound`], [`LoadError::Named`] or [`LoadError::MissingFunction`].
    pub fn library() -> Result<Self, LoadError> {
        library::load()
    }

    /// The emulator: with the feature `emulator` the one in this program, otherwise the library that
    /// [`EMULATOR_VARIABLE`] names. Its devices are added by [`Device`](super::Device).
    ///
    /// # Errors
    /// [`LoadError::NoEmulator`] or [`LoadError::NotEmulator`].
    pub fn emulator() -> Result<Self, LoadError> {
        #[cfg(feature = "emulator")]
        {
            // SAFETY: the emulator keeps HIP's contract, and its functions are part of this program.
            Ok(unsafe { Self::from_functions(ferrowave_hip::FUNCTIONS, Source::Emulator) })
        }
        #[cfg(not(feature = "emulator"))]
        library::load_emulator()
    }

    /// The functions, for calls that the layers above don't offer.
    pub fn functions(&self) -> &Functions {
        &self.0.functions
    }

    /// Where they come from.
    pub fn source(&self) -> &Source {
        &self.0.source
    }

    /// Whether the functions are an emulator's, in this process or in a library. Times are then wall-clock times of the
    /// emulation, and say nothing about a GPU.
    pub fn is_emulated(&self) -> bool {
        self.functions().ferrowaveGetLastErrorDetail.is_some()
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Api").field(&self.0.source).finish()
    }
}
