//! Reads the files that a command line names.

use std::{
    fs::{File, FileType},
    io::{self, Read as _},
    path::Path,
};

/// The most bytes that are read from what is not a regular file, such as a pipe, which may have no end.
const MOST_PIPED_BYTES: u64 = 1 << 30;

/// Reads a file, or a pipe such as a shell's `<(…)`.
///
/// # Errors
/// If it cannot be read, is a device (`/dev/zero` has no end), or is a pipe with more than 1 GiB.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let kind = file.metadata()?.file_type();
    let mut bytes = Vec::new();
    if kind.is_file() || kind.is_dir() {
        file.read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    if is_device(kind) {
        return Err(io::Error::other("it is a device, not a file"));
    }
    file.take(MOST_PIPED_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MOST_PIPED_BYTES {
        true => Err(io::Error::other(format!(
            "it has no end after {MOST_PIPED_BYTES} bytes, the most that is read of what is no file"
        ))),
        false => Ok(bytes),
    }
}

#[cfg(unix)]
fn is_device(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: FileType) -> bool {
    false
}

/// Reads a file of text as [`read_file`] does.
///
/// # Errors
/// As [`read_file`], and if it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_file(path)?).map_err(|error| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("it is no text: {}", error.utf8_error()),
        )
    })
}
