//! The source files of a code object, from the `.d` file that cargo writes beside it.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::tool::{ToolError, file_error};

/// The source files of the crate and its path dependencies, and the manifests and lock files above them: those decide
/// features and versions, but are not in the `.d` file.
pub(crate) fn sources(artifact: &Path) -> Result<Vec<PathBuf>, ToolError> {
    let path = artifact.with_extension("d");
    let text = fs::read_to_string(&path).map_err(file_error(&path))?;
    let mut files: BTreeSet<PathBuf> = text.lines().flat_map(prerequisites).collect();
    let directories: BTreeSet<PathBuf> = files
        .iter()
        .flat_map(|file| file.ancestors().skip(1))
        .map(Path::to_owned)
        .collect();
    for directory in directories {
        for name in ["Cargo.toml", "Cargo.lock"] {
            let file = directory.join(name);
            if file.is_file() {
                files.insert(file);
            }
        }
    }
    Ok(files.into_iter().collect())
}

/// The files after the colon of a rule. `\ ` is a space in a name.
fn prerequisites(line: &str) -> Vec<PathBuf> {
    // The artifact's name may contain colons. The colon that ends it is followed by a space.
    let Some((_, list)) = line.split_once(": ") else {
        return Vec::new();
    };
    let mut files = Vec::new();
    let mut name = String::new();
    let mut characters = list.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek() == Some(&' ') => {
                characters.next();
                name.push(' ');
            }
            ' ' => files.extend(take(&mut name)),
            other => name.push(other),
        }
    }
    files.extend(take(&mut name));
    files
}

fn take(name: &mut String) -> Option<PathBuf> {
    (!name.is_empty()).then(|| std::mem::take(name).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_spaces_stay_whole() {
        let check = |line: &str, expected: &[&str]| {
            assert_eq!(
                prerequisites(line),
                expected.iter().map(PathBuf::from).collect::<Vec<_>>()
            );
        };
        check(
            "/t/a.elf: /c/src/lib.rs /c/src/b.rs",
            &["/c/src/lib.rs", "/c/src/b.rs"],
        );
        check(
            r"/my\ t/a.elf: /my\ c/lib.rs  /c/d.rs",
            &["/my c/lib.rs", "/c/d.rs"],
        );
        check(r"C:\t\a.elf: C:\c\lib.rs", &[r"C:\c\lib.rs"]);
        check("/t/a.elf:", &[]);
        check("", &[]);
    }
}
