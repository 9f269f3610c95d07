//! The pages of the book: their links, the list of chapters, and the reference beside what `--help` says.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Component, Path, PathBuf},
    process::Command,
};

fn root() -> PathBuf {
    let cli = Path::new(env!("CARGO_MANIFEST_DIR"));
    cli.parent().expect("the workspace").to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All pages, with their paths from the workspace.
fn pages() -> BTreeMap<PathBuf, String> {
    let root = root();
    let mut names: Vec<PathBuf> = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "examples/softmax/README.md",
    ]
    .map(PathBuf::from)
    .into();
    for entry in fs::read_dir(root.join("docs")).expect("the pages") {
        let name = entry.expect("a page").file_name();
        if Path::new(&name).extension() == Some("md".as_ref()) {
            names.push(Path::new("docs").join(name));
        }
    }
    let text = |name: PathBuf| (name.clone(), read(&root.join(name)));
    names.into_iter().map(text).collect()
}

/// The lines of a page that are not code.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    page.lines().filter(move |line| {
        let fence = line.starts_with("```");
        is_code ^= fence;
        !is_code && !fence
    })
}

/// The targets of a page's links, without those to other computers.
fn links(page: &str) -> Vec<&str> {
    let mut links = Vec::new();
    for line in prose(page) {
        for (at, _) in line.match_indices("](") {
            let target = line[at + 2..].split(')').next().unwrap_or_default();
            if !target.contains("://") {
                links.push(target);
            }
        }
    }
    links
}

/// The places of a page: its headings, as Markdown names them.
fn places(page: &str) -> BTreeSet<String> {
    let headings = prose(page).filter(|line| line.starts_with('#'));
    let name = |line: &str| {
        let text = line.trim_start_matches('#').trim().to_lowercase();
        text.chars()
            .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter))
            .map(|letter| if letter == ' ' { '-' } else { letter })
            .collect()
    };
    headings.map(name).collect()
}

/// A path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                assert!(plain.pop(), "{} leaves the repository", path.display());
            }
            other => plain.push(other),
        }
    }
    plain
}

#[test]
fn links_lead_to_files_and_headings() {
    let pages = pages();
    let mut count = 0;
    for (name, text) in &pages {
        let folder = name.parent().expect("a folder");
        for link in links(text) {
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => name.clone(),
                file => plain(&folder.join(file)),
            };
            let said = format!("{}: {link}", name.display());
            assert!(root().join(&target).exists(), "{said} leads nowhere");
            if !place.is_empty() {
                let page = pages
                    .get(&target)
                    .unwrap_or_else(|| panic!("{said}: not a page"));
                assert!(places(page).contains(place), "{said}: no such heading");
            }
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn every_page_is_a_chapter() {
    let pages = pages();
    let list = Path::new("docs/SUMMARY.md");
    let chapters = links(&pages[list])
        .into_iter()
        .map(|link| plain(&Path::new("docs").join(link)));
    let chapters: BTreeSet<PathBuf> = chapters.collect();
    let pages: BTreeSet<PathBuf> = pages.into_keys().filter(|page| page != list).collect();
    assert_eq!(chapters, pages);
}

fn help(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_ferrowave"))
        .args(arguments)
        .arg("--help")
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    // Texts are broken into lines.
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The numbers that follow a text, as in «exit code 127 means that …, 126 that …, and 3 that …» up to the end of the sentence.
fn codes_after(text: &str, before: &str) -> BTreeSet<u8> {
    let mut codes = BTreeSet::new();
    for (at, _) in text.match_indices(before) {
        let sentence = text[at + before.len()..].split(". ").next();
        let words = sentence.unwrap_or_default().split(' ');
        codes.extend(words.filter_map(|word| word.trim_end_matches('.').parse::<u8>().ok()));
    }
    codes
}

#[test]
fn the_reference_has_the_commands_of_the_help() {
    let page = read(&root().join("docs/reference.md"));
    let (_, table) = page.split_once("## `ferrowave`").expect("a table");
    let (table, _) = table.split_once("\n## ").expect("an end");
    let help_text = help(&[]);
    let (_, list) = help_text.split_once("Commands: ").expect("commands");
    let (list, _) = list.split_once(" help Print this").expect("the last one");
    let mut said = Vec::new();
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let mut cells = row.split('|').map(str::trim).skip(1);
        let mut cell = || cells.next().expect("three cells");
        let (name, about, codes) = (cell().trim_matches('`').to_owned(), cell(), cell());
        said.push(format!("{name} {about}"));
        let own = help(&[&name]);
        let mut expected = codes_after(&own, "xit code");
        expected.extend(codes_after(&own, "xit with code"));
        // The page says at its beginning what these are, for all commands.
        expected.retain(|code| *code > 2);
        let words = codes.split([' ', ':']);
        let codes: BTreeSet<u8> = words.filter_map(|word| word.parse().ok()).collect();
        assert_eq!(codes, expected, "`{name}`: {own}");
    }
    assert_eq!(said.join(" "), list);
}

/// The names of environment variables in a text.
fn variables(text: &str) -> BTreeSet<&str> {
    let is_name = |letter: char| letter.is_ascii_uppercase() || letter == '_';
    text.split(|letter| !is_name(letter))
        .filter(|word| word.starts_with("FERROWAVE_") || word.starts_with("HSA_"))
        .collect()
}

#[test]
fn the_page_of_the_emulator_has_the_variables_of_the_help() {
    let page = read(&root().join("docs/emulator.md"));
    let (_, table) = page
        .split_once("## Environment variables")
        .expect("a table");
    let (table, _) = table.split_once("\n## ").expect("an end");
    let first_cells: Vec<_> = table
        .lines()
        .filter_map(|line| line.split('|').nth(1))
        .collect();
    assert_eq!(variables(&first_cells.join(" ")), variables(&help(&[])));
}

/// The code blocks of a page in a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<Vec<&'a str>> {
    let mut blocks = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if let Some(named) = line.strip_prefix("```") {
            inside = named == language;
            if inside {
                blocks.push(Vec::new());
            }
        } else if inside && let Some(block) = blocks.last_mut() {
            block.push(line);
        }
    }
    blocks
}

/// The recipes for services run the commands that were tried in a container.
#[test]
fn all_recipes_run_the_same_commands() {
    let page = read(&root().join("docs/ci.md"));
    let scripts = blocks(&page, "sh").concat();
    let services = blocks(&page, "yaml");
    assert_eq!((blocks(&page, "sh").len(), services.len()), (3, 2));
    let starts = ["          ", "    - "];
    for (service, start) in services.iter().zip(starts) {
        let commands = service.iter().filter_map(|line| line.strip_prefix(start));
        assert_eq!(commands.collect::<Vec<_>>(), scripts);
    }
}
