//! What an instruction does is in its row: no file of the emulator outside this crate has a mnemonic in quotes, or the
//! beginning of one. Tests may.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

const TABLES: [&str; 2] = [include_str!("../cdna.txt"), include_str!("../rdna.txt")];

/// The emulator's crates, and those above it that read instructions.
const CRATES: [&str; 9] = [
    "emulator/core",
    "emulator/access-cost",
    "emulator/check",
    "emulator/timing",
    "emulator/profile",
    "emulator/hip",
    "inspect",
    "launch",
    "browser",
];

/// All mnemonics, and their beginnings up to an underscore: the first with it (`ds_`), the others without (`v_mfma`).
fn beginnings() -> BTreeSet<&'static str> {
    let rows = TABLES.iter().flat_map(|table| table.lines());
    let names = rows
        .skip_while(|line| !line.starts_with("[sop1]"))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| name.contains('_') && !name.starts_with(['[', '#']));
    let mut all = BTreeSet::new();
    for name in names {
        let mut ends = name.match_indices('_').map(|(at, _)| at);
        all.extend(ends.next().map(|at| &name[..=at]));
        all.extend(ends.map(|at| &name[..at]));
        all.insert(name);
    }
    all
}

/// The text in quotes of a line of code.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    let code = match line.trim_start().starts_with("//") {
        true => "",
        false => line,
    };
    code.split('"').skip(1).step_by(2)
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
    {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str());
        match name.expect("a name in UTF-8") {
            "tests" | "tests.rs" => {}
            _ if path.is_dir() => files(&path, found),
            name if name.ends_with(".rs") => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn no_mnemonic_is_in_quotes_elsewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let beginnings = beginnings();
    assert!(
        ["v_add_f32", "v_mfma", "ds_"]
            .iter()
            .all(|name| beginnings.contains(name))
    );
    let mut sources = Vec::new();
    for name in CRATES {
        files(&root.join(name).join("src"), &mut sources);
    }
    assert!(sources.len() > 200, "{} files", sources.len());
    let mut wrong = Vec::new();
    for path in sources {
        let text = fs::read_to_string(&path).expect("a source");
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (number, line) in (1..).zip(code.lines()) {
            let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let mut words =
                quoted(line).flat_map(|text| text.split(move |letter| !is_part(letter)));
            let is_known = |word: &str| beginnings.contains(word);
            let known = |word: &&str| is_known(word) || is_known(word.trim_end_matches('_'));
            if let Some(word) = words.find(known) {
                wrong.push(format!("{}:{number}: {word}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
