//! The page of the ladder, `docs/ladder.md`, against the files that it describes.

use std::{collections::HashMap, fs, path::Path};

/// Lines of code of a step's file: without comments and empty lines.
fn lines_of_code(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/steps")
        .join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let lines = text.lines().map(str::trim);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    code.map(String::from).collect()
}

/// How many of these lines the others do not have, each as often as it stands there.
fn new_lines(lines: &[String], before: &[String]) -> usize {
    let mut left = HashMap::<&str, usize>::new();
    for line in before {
        *left.entry(line).or_default() += 1;
    }
    let is_new = |line: &&String| match left.get_mut(line.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    lines.iter().filter(is_new).count()
}

#[test]
fn the_page_lists_each_step_and_counts_its_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("../docs/ladder.md")).expect("the page");
    // | `file` | `file before` | lines | new | …
    let rows = page.lines().filter(|line| line.starts_with("| `s"));
    let mut seen = Vec::new();
    for row in rows {
        let cells: Vec<_> = row
            .split('|')
            .map(|cell| cell.trim().trim_matches('`'))
            .collect();
        let (file, before) = (cells[1], cells[2]);
        let code = lines_of_code(file);
        let before = if before.is_empty() {
            Vec::new()
        } else {
            lines_of_code(before)
        };
        let new = new_lines(&code, &before);
        assert_eq!(
            (cells[3], cells[4]),
            (code.len().to_string().as_str(), new.to_string().as_str()),
            "lines and new lines of {file}"
        );
        seen.push(file.to_owned());
    }
    let files = fs::read_dir(root.join("src/steps")).expect("the steps");
    let names = files.map(|file| file.expect("an entry").file_name().into_string());
    let mut steps: Vec<_> = names
        .map(|name| name.expect("a name in UTF-8"))
        .filter(|name| name.starts_with('s') && name.ends_with(".rs"))
        .collect();
    steps.sort();
    seen.sort();
    assert_eq!(seen, steps, "each step has a row");
}
