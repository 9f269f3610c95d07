//! Finds and loads a vendor's library.

use std::{
    env,
    path::{Path, PathBuf},
};

use super::{Vendor, VendorError};
use crate::{dynamic::Dynamic, hip::Source};

/// A loaded library.
pub(super) struct Found {
    vendor: Vendor,
    library: Dynamic,
}

/// The library that the environment variable names, or the first candidate that can be loaded.
pub(super) fn find(vendor: Vendor, hip: &Source) -> Result<Found, VendorError> {
    if let Some(path) = env::var_os(vendor.variable()).filter(|path| !path.is_empty()) {
        return at(vendor, Path::new(&path));
    }
    let take = |library| Ok::<_, VendorError>(Found { vendor, library });
    Dynamic::first(candidates(vendor, hip), take)
        .map_err(|(_, tried)| VendorError::NotFound { vendor, tried })
}

/// The library with a path or name.
pub(super) fn at(vendor: Vendor, path: &Path) -> Result<Found, VendorError> {
    match Dynamic::open(path.as_os_str()) {
        Ok(library) => Ok(Found { vendor, library }),
        Err(reason) => Err(VendorError::Named {
            vendor,
            path: path.to_owned(),
            reason,
        }),
    }
}

/// The library's candidates, those in the HIP library's folder first: two releases of ROCm conflict in one process.
fn candidates(vendor: Vendor, hip: &Source) -> Vec<PathBuf> {
    let names = vendor.library_names();
    let folder = match hip {
        Source::Library(path) => path.parent().filter(|path| !path.as_os_str().is_empty()),
        Source::Emulator => None,
    };
    let beside = folder.into_iter().flat_map(|folder| {
        let paths = names.iter().map(|name| folder.join(name));
        paths.filter(|path| path.exists())
    });
    beside.chain(Dynamic::candidates(names)).collect()
}

impl Found {
    /// A function.
    ///
    /// # Safety
    /// `F` is its type.
    pub(super) unsafe fn function<F: Copy>(&self, name: &'static str) -> Result<F, VendorError> {
        // SAFETY: as the caller promises.
        let function = unsafe { self.library.function(name) };
        function.ok_or_else(|| VendorError::MissingFunction {
            vendor: self.vendor,
            library: self.library.path().to_owned(),
            function: name,
        })
    }
}

/// Makes a struct of a library's functions, each with its field, its name in the library and its arguments.
macro_rules! functions {
    ($(#[$meta:meta])* $table:ident { $($(#[$note:meta])* $field:ident: $name:literal, fn($($argument:ty),*);)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        struct $table {
            $($(#[$note])* $field: unsafe extern "C" fn($($argument),*) -> i32,)*
        }

        impl $table {
            fn of(library: &super::library::Found) -> Result<Self, super::VendorError> {
                Ok($table {
                    // SAFETY: the types are those of the library's headers.
                    $($field: unsafe { library.function($name) }?,)*
                })
            }
        }
    };
}

pub(super) use functions;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_the_hip_library_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let beside = folder.path().join("librocblas.so.4");
        std::fs::write(&beside, "").unwrap();
        let hip = Source::Library(folder.path().join("libamdhip64.so.6"));
        let names = Dynamic::candidates(Vendor::RocBlas.library_names());
        let expected: Vec<_> = [beside].into_iter().chain(names).collect();
        assert_eq!(candidates(Vendor::RocBlas, &hip), expected);
        let by_name = Source::Library("libamdhip64.so.7".into());
        assert_eq!(candidates(Vendor::RocBlas, &by_name), expected[1..]);
    }
}
