//! Where the emulator's libraries are, and a folder with all names under which programs look for them.

use std::{
    fs,
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    io,
    os::unix::{ffi::OsStrExt as _, fs::symlink},
    path::{Path, PathBuf},
};

use ferrowave_kernel_build::user_cache;
use ferrowave_launch::{HIP_LIBRARY as HIP, library_places};

use crate::{child::path_of_this_program, cli::Failure};

/// The names of HIP's library. ROCm 5, 6 and 7 have a soname each. ROCm 6 and 7 also have the functions that compile at run
/// time in a library of their own.
pub(crate) const HIP_NAMES: [&str; 7] = [
    HIP,
    "libamdhip64.so.5",
    "libamdhip64.so.6",
    "libamdhip64.so.7",
    "libhiprtc.so",
    "libhiprtc.so.6",
    "libhiprtc.so.7",
];
/// The files of the other libraries, and their names. There is no `libhsa-runtime64.so.1`: programs that are linked with it need
/// functions that the emulator lacks.
const OTHERS: [(&str, &[&str]); 2] = [
    (
        "librocm_smi64.so",
        &[
            "librocm_smi64.so",
            "librocm_smi64.so.1",
            "librocm_smi64.so.7",
        ],
    ),
    ("libhsa_runtime64.so", &["libhsa-runtime64.so"]),
];

/// The emulator as a shared library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Library {
    /// The library's file.
    pub(crate) file: PathBuf,
    /// A folder with links to it that have all its names. It holds nothing else, so that the library path leads to no
    /// other library.
    pub(crate) folder: PathBuf,
}

impl Library {
    /// Finds the library, and makes the folder.
    ///
    /// # Errors
    /// If the library is in none of the places, or the folder cannot be made.
    pub(crate) fn find() -> Result<Self, Failure> {
        let program = path_of_this_program().map_err(|error| {
            Failure::failed(format!("the path of ferrowave is unknown: {error}"))
        })?;
        let places = library_places(&program);
        let found = places.iter().find(|place| place.join(HIP).is_file());
        let place = found.ok_or_else(|| {
            let places: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
            Failure::failed(format!(
                "{HIP} is not there; it is looked for in {}. In a checkout, `cargo build --release -p \
                 ferrowave-libamdhip64 -p ferrowave-librocm-smi64 -p ferrowave-libhsa-runtime64` builds it",
                places.join(" and ")
            ))
        })?;
        let cache = user_cache().ok_or_else(|| {
            Failure::failed(format!(
                "there is no folder for the names of {HIP}: none of FERROWAVE_CACHE, XDG_CACHE_HOME and HOME names one"
            ))
        })?;
        let library = Library {
            file: place.join(HIP),
            folder: cache.join("hip").join(name_of(place)),
        };
        library.make_links(place).map_err(|error| {
            Failure::failed(format!(
                "{}: the names of {HIP} cannot be put there: {error}; FERROWAVE_CACHE names another folder",
                library.folder.display()
            ))
        })?;
        Ok(library)
    }

    fn make_links(&self, place: &Path) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        for name in HIP_NAMES {
            link(&self.file, &self.folder.join(name))?;
        }
        // The other libraries are optional.
        for (file, names) in OTHERS {
            let file = place.join(file);
            for name in names {
                match file.is_file() {
                    true => link(&file, &self.folder.join(name))?,
                    false => drop(fs::remove_file(self.folder.join(name))),
                }
            }
        }
        Ok(())
    }
}

/// A name for the folder of links to libraries in `place`: short and plain, whatever characters the place has.
fn name_of(place: &Path) -> String {
    let hasher = BuildHasherDefault::<DefaultHasher>::new();
    format!("{:016x}", hasher.hash_one(place.as_os_str().as_bytes()))
}

/// Makes `link` lead to `file`. Other processes may use it at the same time, so it is replaced in one step.
fn link(file: &Path, link: &Path) -> io::Result<()> {
    if fs::read_link(link).is_ok_and(|to| to == file) {
        return Ok(());
    }
    let new = link.with_extension(format!("{}.new", std::process::id()));
    let _ = fs::remove_file(&new);
    symlink(file, &new)?;
    fs::rename(&new, link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_leads_elsewhere_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("libamdhip64.so.6");
        for target in ["/somewhere/else", "/here", "/here"] {
            link(Path::new(target), &at).unwrap();
            assert_eq!(fs::read_link(&at).unwrap(), Path::new(target));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
