//! `cargo gpu-amdgpu new`

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, ValueEnum};
use ferrowave_kernel_build::Toolchain;
use ferrowave_launch::{Failure, print};

/// Create a crate with a kernel, a program that launches it, and a test.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The new crate's directory; the last part is the crate's name.
    path: PathBuf,
    /// Ferrowave's sources, for the host library that launches the kernels: a directory or the URL of a git repository
    /// [default: the directory that this command was installed from, or else the release in cargo's registry].
    #[arg(long, value_name = "PATH-OR-URL")]
    ferrowave: Option<String>,
    /// What the crate contains.
    #[arg(long, value_enum, default_value_t = Template::Saxpy)]
    template: Template,
}

/// What a new crate contains.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Template {
    /// One kernel of a few lines: y ← a·x + y.
    Saxpy,
    /// The tutorial's crate: softmax, which reduces rows through LDS, and a transpose.
    Softmax,
}

impl Template {
    /// The files and their contents.
    fn files(self) -> [(&'static str, &'static str); 9] {
        match self {
            Template::Saxpy => [
                ("Cargo.toml", include_str!("templates/Cargo.toml.in")),
                (
                    "rust-toolchain.toml",
                    include_str!("templates/rust-toolchain.toml.in"),
                ),
                (".gitignore", include_str!("templates/gitignore.in")),
                (".cargo/config.toml", CONFIGURATION),
                ("src/lib.rs", include_str!("templates/lib.rs.in")),
                ("src/kernels.rs", include_str!("templates/kernels.rs.in")),
                ("src/host.rs", include_str!("templates/host.rs.in")),
                ("src/main.rs", include_str!("templates/main.rs.in")),
                ("tests/saxpy.rs", include_str!("templates/tests.rs.in")),
            ],
            Template::Softmax => [
                (
                    "Cargo.toml",
                    include_str!("templates/softmax/Cargo.toml.in"),
                ),
                (
                    "rust-toolchain.toml",
                    include_str!("templates/rust-toolchain.toml.in"),
                ),
                (".gitignore", include_str!("templates/gitignore.in")),
                (".cargo/config.toml", CONFIGURATION),
                ("src/lib.rs", include_str!("templates/softmax/lib.rs.in")),
                (
                    "src/kernels.rs",
                    include_str!("templates/softmax/kernels.rs.in"),
                ),
                ("src/host.rs", include_str!("templates/softmax/host.rs.in")),
                ("src/main.rs", include_str!("templates/softmax/main.rs.in")),
                (
                    "tests/kernels.rs",
                    include_str!("templates/softmax/tests.rs.in"),
                ),
            ],
        }
    }
}

/// Where programs of the crate find the emulator's library.
const CONFIGURATION: &str = include_str!("templates/config.toml.in");

/// The text of the crate's name and dependencies: a placeholder in the templates, the real text in the example.
const NAME: [&str; 2] = ["name = \"@NAME@\"", "name = \"softmax\""];
const CRATE: [&str; 2] = ["@CRATE@::", "use softmax::"];
const HOST: [&str; 2] = ["@FERROWAVE_HOST@", "path = \"../../host\""];
const PANIC: [&str; 2] = ["@FERROWAVE_PANIC@", "path = \"../../kernel-build/panic\""];

/// Rust's own crates and keywords.
const RESERVED: [&str; 53] = [
    "Self",
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "core",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc_macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "unsafe",
    "use",
    "where",
    "while",
];

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let path = &options.path;
    let name = path.file_name().map(|name| name.to_string_lossy());
    let name =
        name.ok_or_else(|| Failure::usage(format!("`{}` does not end in a name", path.display())))?;
    check_name(&name)?;
    let ferrowave = match &options.ferrowave {
        Some(given) => Sources::given(given)?,
        None => Sources::installed(),
    };
    if fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()) || path.is_file() {
        return Err(Failure::usage(format!(
            "`{}` exists already",
            path.display()
        )));
    }
    let crate_name = name.replace('-', "_");
    for (file, template) in options.template.files() {
        let mut text = template.replace("@CHANNEL@", Toolchain::TESTED_CHANNEL);
        for (marks, value) in [
            (NAME, format!("name = {}", toml_string(&name))),
            (HOST, ferrowave.dependency("host")),
            (PANIC, ferrowave.dependency("kernel-build/panic")),
        ] {
            for mark in marks {
                text = text.replace(mark, &value);
            }
        }
        for mark in CRATE {
            text = text.replace(
                mark,
                &mark
                    .replace("@CRATE@", &crate_name)
                    .replace("softmax", &crate_name),
            );
        }
        let to = path.join(file);
        fs::create_dir_all(to.parent().unwrap_or(path))
            .and_then(|()| fs::write(&to, text))
            .map_err(|error| {
                Failure::failed(format!("`{}` cannot be written: {error}", to.display()))
            })?;
    }
    print(&format_args!(
        "made `{}`; in it:\n\
         \x20 cargo gpu-amdgpu test    builds the kernels and tests them, on the emulator without a GPU\n\
         \x20 cargo run                runs the program\n\
         \x20 src/kernels.rs           has the kernels\n",
        path.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Whether the name is valid for a cargo package and for a Rust crate.
fn check_name(name: &str) -> Result<(), Failure> {
    let first = |c: char| c.is_ascii_alphabetic();
    let rest = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let complaint = if !name.starts_with(first) || !name.chars().all(rest) {
        "a crate's name has letters, digits, `-` and `_`, and begins with a letter"
    } else if RESERVED.contains(&name.replace('-', "_").as_str()) {
        "it is a keyword or one of Rust's own crates"
    } else if matches!(name, "build" | "deps" | "examples" | "incremental") {
        "cargo has a directory of that name beside the program"
    } else if matches!(
        name.replace('_', "-").as_str(),
        "ferrowave-host" | "ferrowave-panic"
    ) {
        "the new crate depends on a crate with this name"
    } else {
        return Ok(());
    };
    Err(Failure::usage(format!(
        "`{name}` can't be a crate's name: {complaint}"
    )))
}

/// Where Ferrowave's crates come from.
#[derive(Debug)]
enum Sources {
    /// The URL of a git repository.
    Repository(String),
    /// A directory.
    Directory(PathBuf),
    /// This command's release, in cargo's registry.
    Release,
}

impl Sources {
    fn given(given: &str) -> Result<Self, Failure> {
        if given.contains("://") {
            return Ok(Self::Repository(given.to_owned()));
        }
        let root = Path::new(given);
        if !has_sources(root) {
            return Err(Failure::usage(format!(
                "--ferrowave {given}: no sources of Ferrowave are there (there is no host/Cargo.toml); name a directory with \
                 them, or the URL of a git repository"
            )));
        }
        let root = std::path::absolute(root).map_err(Failure::failed)?;
        Ok(Self::Directory(root))
    }

    /// The sources that this program was compiled from, if they are a whole repository and still exist.
    fn installed() -> Self {
        installed_from().map_or(Self::Release, |root| Self::Directory(root.to_owned()))
    }

    /// The crate in a directory of the sources, as a dependency in a manifest.
    fn dependency(&self, directory: &str) -> String {
        match self {
            Self::Repository(url) => format!("git = {}", toml_string(url)),
            Self::Directory(root) => {
                let path = root.join(directory).display().to_string();
                format!("path = {}", toml_string(&path))
            }
            // The library that this command provides has the interface of this release.
            Self::Release => format!("version = \"={}\"", env!("CARGO_PKG_VERSION")),
        }
    }
}

/// The repository that this program was compiled from, if it still exists. A package from a registry is not in one.
pub(crate) fn installed_from() -> Option<&'static Path> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().filter(|root| has_sources(root))
}

/// Whether Ferrowave's sources are in a directory.
fn has_sources(root: &Path) -> bool {
    root.join("host/Cargo.toml").is_file()
}

/// A TOML string. JSON's escapes are valid in TOML.
fn toml_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cargos() {
        for name in ["softmax", "my-kernels", "a_1", "Rows"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in [
            "1a",
            "a b",
            "é",
            "-a",
            "fn",
            "core",
            "proc-macro",
            "a.b",
            "ferrowave-host",
            "Self",
            "deps",
        ] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn repositories_are_not_directories() {
        let sources = Sources::given("https://example.org/f.git").expect("a URL");
        assert_eq!(
            sources.dependency("host"),
            r#"git = "https://example.org/f.git""#
        );
        assert!(Sources::given("/nowhere").is_err());
        let release = Sources::Release.dependency("host");
        assert_eq!(
            release,
            format!("version = \"={}\"", env!("CARGO_PKG_VERSION"))
        );
    }
}
