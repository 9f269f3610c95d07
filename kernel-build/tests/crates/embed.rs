//! A build script that embeds kernels, run by its own cargo as for a user.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use ferrowave_kernel_build::{Build, EmbedError, Policy, Toolchain};

use crate::support::Fixture;

/// The crate `embedding`, ready to be built.
struct Embedding {
    fixture: Fixture,
}

impl Embedding {
    fn new(test: &str) -> Self {
        let fixture = Fixture::new(test);
        let kernel_build = Path::new(env!("CARGO_MANIFEST_DIR"));
        let workspace = kernel_build.parent().expect("a workspace");
        let dir = kernel_build.to_str().expect("a UTF-8 path");
        fixture.edit("embedding/Cargo.toml", "@kernel-build@", dir);
        // The script sets nothing, so the manifest must.
        fixture.edit(
            "kernels/Cargo.toml",
            "[workspace]",
            "[workspace]\n[package.metadata.gpu-amdgpu]\ngpus = [\"gfx942\"]\nlaunch-bounds = { scale = 256 }",
        );
        // The workspace's lock file, so that new releases of dependencies do not matter.
        fs::copy(
            workspace.join("Cargo.lock"),
            fixture.root.join("embedding/Cargo.lock"),
        )
        .expect("copies");
        Embedding { fixture }
    }

    fn cargo(&self, arguments: &[&str]) -> Output {
        let toolchain = Toolchain::find(&self.fixture.root).expect("a toolchain");
        Command::new(toolchain.cargo())
            .args(arguments)
            .current_dir(self.fixture.root.join("embedding"))
            .env("RUSTC", toolchain.rustc())
            .env(
                "CARGO_TARGET_DIR",
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("embedding-target"),
            )
            // Must not reach the kernels' build: no GPU has this CPU flag.
            .env("RUSTFLAGS", "-Ctarget-cpu=x86-64-v2")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .output()
            .expect("cargo runs")
    }

    /// Runs the program. Returns the size and byte sum of the embedded code object, and whether cargo compiled
    /// anything.
    fn run(&self) -> (String, bool) {
        let output = self.cargo(&["run", "--color=never"]);
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{messages}");
        (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            messages.contains("Compiling fixture-embedding"),
        )
    }
}

#[test]
fn a_build_script_embeds_kernels_and_follows_their_sources() {
    let embedding = Embedding::new("embed");
    let (first, _) = embedding.run();
    assert!(first.len() > 3, "{first}");
    // The first build writes the kernels' lock file, which is then newer than the script, so that cargo runs it once
    // more.
    assert_eq!(embedding.run().0, first);
    assert_eq!(embedding.run(), (first.clone(), false), "nothing changed");

    embedding.fixture.edit("common/src/lib.rs", "3.0", "9.0");
    let (edited, compiled) = embedding.run();
    assert!(compiled);
    assert_ne!(edited, first);

    // Policy violations and compile errors end the script, each with its own message.
    embedding.fixture.edit(
        "kernels/Cargo.toml",
        "[features]",
        "[features]\ndefault = [\"flat\"]",
    );
    let check_fails = |parts: &[&str]| {
        let output = embedding.cargo(&["build", "--color=never"]);
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success());
        for part in parts {
            assert!(messages.contains(part), "{part:?} not in {messages}");
        }
    };
    check_fails(&["kernel `chase` for gfx942 has 1 flat_ instruction, first `flat_load_dword"]);
    embedding
        .fixture
        .edit("kernels/Cargo.toml", "[\"flat\"]", "[\"broken\"]");
    check_fails(&["error[E0308]: mismatched types", "  --> src/lib.rs:"]);
    embedding
        .fixture
        .edit("kernels/Cargo.toml", "default = [\"broken\"]", "");
    assert_eq!(embedding.run().0, edited);
}

#[test]
fn outside_a_build_script_embedding_is_refused() {
    // Cargo sets OUT_DIR for tests only in packages with a build script, which this one does not have.
    assert_eq!(std::env::var_os("OUT_DIR"), None);
    let error = Build::new("kernels")
        .embed("kernels", Policy::STRICT)
        .expect_err("no OUT_DIR");
    assert!(
        matches!(error, EmbedError::NoBuildScript("OUT_DIR")),
        "{error:?}"
    );
}
