//! Every crate that is published has what a package needs, and needs nothing outside of its package. `make packages` builds
//! from the packages; this finds most mistakes in a second.

use std::{
    fs,
    path::{Component, Path, PathBuf},
    process::Command,
};

use ferrowave_kernel_build::Toolchain;
use serde_json::Value;

/// Crates of tests, and the Python module, which is in the wheel.
const PRIVATE: [&str; 3] = [
    "ferrowave-browser",
    "ferrowave-python",
    "ferrowave-test-support",
];

fn root() -> PathBuf {
    let cli = Path::new(env!("CARGO_MANIFEST_DIR"));
    cli.parent().expect("the workspace").to_owned()
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(root())
        .output();
    let output = output.expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn text<'a>(package: &'a Value, field: &str) -> &'a str {
    package[field].as_str().unwrap_or_default()
}

fn directory(package: &Value) -> &Path {
    let manifest = Path::new(text(package, "manifest_path"));
    manifest.parent().expect("a directory")
}

/// The workspace's packages, as cargo sees them.
fn packages() -> Vec<Value> {
    let metadata = cargo(&[
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version",
        "1",
    ]);
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

fn published() -> Vec<Value> {
    let mut packages = packages();
    packages.retain(|package| !PRIVATE.contains(&text(package, "name")));
    packages
}

#[test]
fn manifests_have_what_a_registry_asks_for() {
    let names: Vec<_> = packages()
        .iter()
        .map(|package| text(package, "name").to_owned())
        .collect();
    for package in packages() {
        let name = text(&package, "name");
        assert_eq!(package["version"], env!("CARGO_PKG_VERSION"), "{name}");
        if PRIVATE.contains(&name) {
            assert_eq!(package["publish"], Value::Array(vec![]), "{name}");
            continue;
        }
        assert_eq!(package["publish"], Value::Null, "{name}");
        for field in ["description", "license", "repository", "readme"] {
            assert!(!text(&package, field).is_empty(), "{name}: {field}");
        }
        for field in ["keywords", "categories"] {
            let words = package[field].as_array().expect("a list");
            assert!((1..=5).contains(&words.len()), "{name}: {field}");
        }
        let release = format!("={}", env!("CARGO_PKG_VERSION"));
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let other = text(dependency, "name");
            if !names.iter().any(|name| name == other) {
                continue;
            }
            // Packages leave out paths without a version. Dev-dependencies form circles, in which none could be the first.
            let expected = match dependency["kind"].as_str() {
                Some("dev") => "*",
                _ => &release,
            };
            assert_eq!(text(dependency, "req"), expected, "{name} → {other}");
        }
    }
}

/// The files of a package.
fn files(package: &Value) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = cargo(&[
        "package",
        "--list",
        "--allow-dirty",
        "--offline",
        "--package",
        text(package, "name"),
    ])
    .lines()
    .map(PathBuf::from)
    .collect();
    files.sort();
    files
}

/// The paths in a source file by which the compiler includes other files.
fn included(source: &str) -> Vec<&str> {
    let marks = [
        "include_str!(\"",
        "include_bytes!(\"",
        "include!(\"",
        "#[path = \"",
    ];
    let mut paths = Vec::new();
    for mark in marks {
        for (at, _) in source.match_indices(mark) {
            paths.extend(source[at + mark.len()..].split('"').next());
        }
    }
    paths
}

/// Resolves `..` by name: a package has no links.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir if normal.file_name().is_some() => {
                normal.pop();
            }
            component => normal.push(component),
        }
    }
    normal
}

#[test]
fn packages_contain_all_that_they_use() {
    let mut checked = 0;
    for package in published() {
        let (name, directory) = (text(&package, "name"), directory(&package));
        let files = files(&package);
        for license in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(files.contains(&license.into()), "{name}: {license}");
            let [own, whole] = [directory, &root()].map(|place| fs::read(place.join(license)));
            assert_eq!(own.expect("a license"), whole.expect("a license"), "{name}");
        }
        for file in &files {
            let is_source = file.extension().is_some_and(|extension| extension == "rs");
            // Modules of tests may use the repository.
            if !is_source
                || file.components().any(|part| part.as_os_str() == "tests")
                || file.ends_with("tests.rs")
            {
                continue;
            }
            let source = fs::read_to_string(directory.join(file)).expect("a source file");
            let source = source
                .split("#[cfg(test)]\nmod ")
                .next()
                .unwrap_or_default();
            for path in included(source) {
                let path = normal(&file.parent().unwrap_or(file).join(path));
                assert!(
                    files.contains(&path),
                    "{name}: {} uses {}, which is not in the package; a link to it may be",
                    file.display(),
                    path.display()
                );
                checked += 1;
            }
            let outside = "env!(\"CARGO_MANIFEST_DIR\"), \"/..";
            assert!(!source.contains(outside), "{name}: {}", file.display());
        }
    }
    assert!(checked > 20, "{checked}");
}

#[test]
fn paths_are_found_and_resolved() {
    let source = "#[path = \"../a.rs\"]\nmod a;\nconst B: &str = include_str!(\"b.txt\");";
    assert_eq!(included(source), ["b.txt", "../a.rs"]);
    assert_eq!(normal(Path::new("src/x/../y")), Path::new("src/y"));
    assert_eq!(normal(Path::new("src/../../y")), Path::new("../y"));
}

/// The emulator's build script cannot read `rust-toolchain.toml`, which is not in its package.
#[test]
fn the_emulators_build_script_names_the_pinned_toolchain() {
    let script = fs::read_to_string(root().join("emulator/core/build.rs")).expect("the script");
    let channel = Toolchain::TESTED_CHANNEL;
    let constant = format!("const CHANNEL: &str = {channel:?};");
    assert!(script.contains(&constant), "{constant}");
}
