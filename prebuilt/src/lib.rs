//! Compiled kernels: a directory with a code object for each GPU, compressed in the XZ format, and a list of these files'
//! SHA-256 and that of the sources they were compiled from.
//!
//! The list has a line for each: `toolchain NAME`, `code-object GPU SHA-256`, `source CRATE SHA-256`.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use lzma_rust2::{XzOptions, XzReader, XzWriter};
use sha2::{Digest, Sha256};

/// The code objects of this package. The repository does not have them; `make packages` writes them.
pub const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/code-objects");

const LIST: &str = "list.txt";

/// As the command `xz` has by default. Higher levels make the files 1 % smaller.
const LEVEL: u32 = 6;

/// Why prebuilt kernels cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum PrebuiltError {
    /// A file or directory cannot be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The list cannot be read.
    List {
        /// The list.
        path: PathBuf,
        /// The line that is wrong or missing.
        line: String,
    },
    /// There is no code object for a GPU.
    UnknownGpu {
        /// The GPU.
        gpu: String,
        /// The GPUs that there are code objects for.
        known: Vec<String>,
    },
    /// A code object's file is not the one that was written.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The SHA-256 in the list.
        listed: String,
        /// The file's SHA-256.
        found: String,
    },
    /// The kernels were compiled from other sources.
    OtherSources {
        /// The crate whose sources differ.
        name: String,
    },
}

impl std::fmt::Display for PrebuiltError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File { path, source } if source.kind() == io::ErrorKind::NotFound => write!(
                f,
                "prebuilt kernels: {} is missing; only the package from a registry has it. In the repository, `make packages` \
                 writes it, or leave the feature `prebuilt` off",
                path.display()
            ),
            Self::File { path, source } => {
                write!(f, "prebuilt kernels: {}: {source}", path.display())
            }
            Self::List { path, line } => {
                write!(
                    f,
                    "prebuilt kernels: {}: wrong or missing: {line}",
                    path.display()
                )
            }
            Self::UnknownGpu { gpu, known } => write!(
                f,
                "prebuilt kernels: there are none for {gpu}, only for {}",
                known.join(", ")
            ),
            Self::Damaged {
                path,
                listed,
                found,
            } => write!(
                f,
                "prebuilt kernels: {} is damaged: its SHA-256 is {found}, expected {listed}",
                path.display()
            ),
            Self::OtherSources { name } => write!(
                f,
                "prebuilt kernels: they were compiled from other sources of ferrowave-{name} than these; `make packages` \
                 compiles them again, or leave the feature `prebuilt` off"
            ),
        }
    }
}

impl std::error::Error for PrebuiltError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// A directory of compiled kernels.
#[derive(Clone, Debug)]
pub struct Prebuilt {
    directory: PathBuf,
    toolchain: String,
    code_objects: BTreeMap<String, String>,
    sources: BTreeMap<String, String>,
}

impl Prebuilt {
    /// Reads the list of a directory.
    ///
    /// # Errors
    /// If there is none, or it is not complete.
    pub fn open(directory: &Path) -> Result<Self, PrebuiltError> {
        let path = directory.join(LIST);
        let text = String::from_utf8_lossy(&read(&path)?).into_owned();
        let wrong = |line: &str| PrebuiltError::List {
            path: path.clone(),
            line: line.to_owned(),
        };
        let mut prebuilt = Self {
            directory: directory.to_owned(),
            toolchain: String::new(),
            code_objects: BTreeMap::new(),
            sources: BTreeMap::new(),
        };
        for line in text.lines() {
            let (kind, rest) = line.split_once(' ').ok_or_else(|| wrong(line))?;
            if kind == "toolchain" {
                prebuilt.toolchain = rest.to_owned();
                continue;
            }
            let hashes = match kind {
                "code-object" => &mut prebuilt.code_objects,
                "source" => &mut prebuilt.sources,
                _ => return Err(wrong(line)),
            };
            let (name, hash) = rest.split_once(' ').ok_or_else(|| wrong(line))?;
            hashes.insert(name.to_owned(), hash.to_owned());
        }
        if prebuilt.toolchain.is_empty() {
            return Err(wrong("toolchain NAME"));
        }
        Ok(prebuilt)
    }

    /// The compiler that made the code objects.
    pub fn toolchain(&self) -> &str {
        &self.toolchain
    }

    /// The code object for the GPU that LLVM calls `gpu`, if its file's SHA-256 is the listed one.
    ///
    /// # Errors
    /// If there is none, or its contents are others.
    pub fn code_object(&self, gpu: &str) -> Result<Vec<u8>, PrebuiltError> {
        let listed = self
            .code_objects
            .get(gpu)
            .ok_or_else(|| PrebuiltError::UnknownGpu {
                gpu: gpu.to_owned(),
                known: self.code_objects.keys().cloned().collect(),
            })?;
        let path = self.directory.join(file_name(gpu));
        let compressed = read(&path)?;
        let found = hex(Sha256::digest(&compressed).as_slice());
        if found != *listed {
            return Err(PrebuiltError::Damaged {
                path,
                listed: listed.clone(),
                found,
            });
        }
        let mut bytes = Vec::new();
        XzReader::new(compressed.as_slice(), false)
            .read_to_end(&mut bytes)
            .map_err(|source| PrebuiltError::File { path, source })?;
        Ok(bytes)
    }

    /// Checks that the code objects were compiled from the sources in `directory`, the directory of the crate that the list
    /// calls `name`.
    ///
    /// # Errors
    /// If they were compiled from others, or these cannot be read.
    pub fn check_source(&self, name: &str, directory: &Path) -> Result<(), PrebuiltError> {
        let same = self.sources.get(name) == Some(&source_hash(directory)?);
        same.then_some(())
            .ok_or_else(|| PrebuiltError::OtherSources {
                name: name.to_owned(),
            })
    }
}

/// Writes a directory of code objects, each with its GPU's name, and the list. `sources` are the directories of the crates
/// that they were compiled from, by name.
///
/// # Errors
/// If a file cannot be read or written.
pub fn write(
    directory: &Path,
    toolchain: &str,
    code_objects: &[(&str, &[u8])],
    sources: &[(&str, &Path)],
) -> Result<(), PrebuiltError> {
    let put = |name: &str, bytes: &[u8]| {
        let path = directory.join(name);
        fs::create_dir_all(directory)
            .and_then(|()| fs::write(&path, bytes))
            .map_err(|source| PrebuiltError::File { path, source })
    };
    let mut list = format!("toolchain {toolchain}\n");
    for (gpu, bytes) in code_objects {
        let name = file_name(gpu);
        let compressed = compress(bytes).map_err(|source| PrebuiltError::File {
            path: directory.join(&name),
            source,
        })?;
        put(&name, &compressed)?;
        let hash = hex(Sha256::digest(&compressed).as_slice());
        let _ = writeln!(list, "code-object {gpu} {hash}");
    }
    for (name, directory) in sources {
        let _ = writeln!(list, "source {name} {}", source_hash(directory)?);
    }
    put(LIST, list.as_bytes())
}

fn file_name(gpu: &str) -> String {
    format!("kernels.{gpu}.elf.xz")
}

fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(LEVEL))?;
    writer.write_all(bytes)?;
    writer.finish()
}

fn read(path: &Path) -> Result<Vec<u8>, PrebuiltError> {
    fs::read(path).map_err(|source| PrebuiltError::File {
        path: path.to_owned(),
        source,
    })
}

/// The SHA-256 of the names, lengths and contents of all files in a crate's `src`, in the order of their names.
fn source_hash(directory: &Path) -> Result<String, PrebuiltError> {
    let root = directory.join("src");
    let mut names = Vec::new();
    list_files(&root, "", &mut names).map_err(|source| PrebuiltError::File {
        path: root.clone(),
        source,
    })?;
    names.sort();
    let mut hasher = Sha256::new();
    for name in names {
        let bytes = read(&root.join(&name))?;
        hasher.update(format!("{name}\n{}\n", bytes.len()));
        hasher.update(bytes);
    }
    Ok(hex(hasher.finalize().as_slice()))
}

fn list_files(directory: &Path, prefix: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            list_files(&entry.path(), &format!("{name}/"), names)?;
        } else {
            names.push(name);
        }
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with code objects of two GPUs, and the sources that they claim to be made of.
    fn written() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().expect("a directory");
        let (objects, source) = (dir.path().join("objects"), dir.path().join("crate"));
        fs::create_dir_all(source.join("src/a")).expect("creates");
        fs::write(source.join("src/lib.rs"), "mod a;").expect("writes");
        fs::write(source.join("src/a/mod.rs"), "").expect("writes");
        let files: [(&str, &[u8]); 2] = [("gfx90a", b"abc"), ("gfx942", b"")];
        write(&objects, "rustc 1", &files, &[("crate", &source)]).expect("writes");
        (dir, objects, source)
    }

    #[test]
    fn what_is_written_is_read() {
        let (_dir, objects, source) = written();
        let prebuilt = Prebuilt::open(&objects).expect("a list");
        assert_eq!(prebuilt.toolchain(), "rustc 1");
        for (gpu, bytes) in [("gfx90a", b"abc".as_slice()), ("gfx942", b"")] {
            assert_eq!(prebuilt.code_object(gpu).expect("a code object"), bytes);
        }
        prebuilt
            .check_source("crate", &source)
            .expect("the same sources");
    }

    #[test]
    fn whatever_changed_is_refused() {
        let (_dir, objects, source) = written();
        let prebuilt = Prebuilt::open(&objects).expect("a list");
        let refused = |result: Result<(), PrebuiltError>, part: &str| {
            let error = result.expect_err(part).to_string();
            assert!(error.contains(part), "{error}");
        };
        let code_object = |gpu| prebuilt.code_object(gpu).map(drop);
        let file = objects.join(file_name("gfx90a"));
        fs::write(&file, compress(b"abd").expect("compresses")).expect("writes");
        refused(code_object("gfx90a"), "is damaged");
        fs::remove_file(&file).expect("removes");
        refused(code_object("gfx90a"), "is missing");
        refused(code_object("gfx908"), "only for gfx90a, gfx942");
        refused(
            prebuilt.check_source("other", &source),
            "other sources of ferrowave-other",
        );
        fs::rename(source.join("src/a"), source.join("src/b")).expect("renames");
        refused(prebuilt.check_source("crate", &source), "other sources");
        refused(prebuilt.check_source("crate", &objects), "is missing");
    }

    #[test]
    fn files_of_other_programs_are_read() {
        // `printf abc | xz`, and its `sha256sum`.
        const FILE: [u8; 60] = [
            0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00,
            0x21, 0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x02, 0x61,
            0x62, 0x63, 0x00, 0x00, 0x27, 0x76, 0x27, 0x1a, 0x4a, 0x09, 0xd8, 0x2c, 0x00, 0x01,
            0x1b, 0x03, 0x0b, 0x2f, 0xb9, 0x10, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00,
            0x00, 0x04, 0x59, 0x5a,
        ];
        let hash = "02c603276264a4635755deb73337cf24bc561bf65e48a3dd4237cde3ec35143c";
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join(file_name("gfx90a")), FILE).expect("writes");
        let list = format!("toolchain a\ncode-object gfx90a {hash}\n");
        fs::write(dir.path().join(LIST), list).expect("writes");
        let prebuilt = Prebuilt::open(dir.path()).expect("a list");
        assert_eq!(prebuilt.code_object("gfx90a").expect("reads"), b"abc");
    }

    #[test]
    fn a_list_that_is_not_one_is_refused() {
        let (_dir, objects, _) = written();
        for (text, part) in [
            ("", "toolchain NAME"),
            ("toolchain\n", "toolchain"),
            ("toolchain a\ncode-object gfx90a\n", "code-object gfx90a"),
            ("toolchain a\nobject gfx90a 00\n", "object gfx90a 00"),
        ] {
            fs::write(objects.join(LIST), text).expect("writes");
            let error = Prebuilt::open(&objects).expect_err(text).to_string();
            assert!(
                error.contains(&format!("wrong or missing: {part}")),
                "{error}"
            );
        }
        let error = Prebuilt::open(Path::new("/nonexistent")).expect_err("no directory");
        assert!(error.to_string().contains("`make packages`"), "{error}");
    }
}
