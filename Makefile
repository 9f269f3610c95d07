# `make report` and `make test` need only rustup, a C linker and make.

# Tests cover the kernels of all CDNA GPUs, of one with RDNA 3 and of one with RDNA 4; a plain build compiles those of one GPU.
TEST_GPUS := gfx908,gfx90a,gfx942,gfx950,gfx1100,gfx1201

# The systems that `make platforms` checks.
PLATFORMS := aarch64-unknown-linux-gnu aarch64-apple-darwin x86_64-apple-darwin x86_64-pc-windows-msvc

.PHONY: report test test-all test-aarch64 docs browser platforms wheel test-python test-gpu sanitize fuzz real-programs real-programs-all packages semver bench toolchain

## Builds everything, runs all kernels and compares them, in the terminal and in target/report.
report: toolchain
	cargo run --release --quiet -- report --out target/report

## Everything that a change must pass. Clippy and rustdoc build kernels of their own, and take those of gfx1100, which are few.
## Device code of kernels/, which a host build leaves out, is linted for gfx950, which has most of it. rustdoc skips
## cargo-gpu-amdgpu, whose doc comments are help texts.
test: export FERROWAVE_GPUS := $(TEST_GPUS)
test: toolchain
	cargo fmt --all --check
	cargo fmt --manifest-path examples/softmax/Cargo.toml --check
	cargo fmt --manifest-path examples/bugs/Cargo.toml --check
	cargo fmt --manifest-path cli/calibration/Cargo.toml --check
	FERROWAVE_GPUS=gfx1100 cargo clippy --workspace --all-targets -- -D warnings
	RUSTFLAGS='-Ctarget-cpu=gfx950 --cfg=ferrowave_gpu="gfx950" --cfg=ferrowave_family="cdna"' cargo clippy -p ferrowave-kernels -p ferrowave-panic --lib \
		--target amdgcn-amd-amdhsa -Zbuild-std=core -- -D warnings
	FERROWAVE_GPUS=gfx1100 RUSTDOCFLAGS='-D warnings' cargo doc --workspace --exclude cargo-gpu-amdgpu --no-deps --quiet
	cargo test --workspace

## `make test` and the longer tests: sweeps over more shapes, mutations of kernels, fuzzing.
test-all: export FERROWAVE_GPUS := $(TEST_GPUS)
test-all: test platforms test-aarch64 docs sanitize fuzz test-python wheel packages semver real-programs-all
	cargo test --workspace -- --ignored

## The book in target/docs/book, from the pages in docs/ and elsewhere, with the crates' documentation and the emulator's page; mdbook
## is installed in the user's cache. Checks all links.
docs: export FERROWAVE_GPUS := $(TEST_GPUS)
docs: browser
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --exclude cargo-gpu-amdgpu --no-deps --quiet
	docs/build.sh

## The emulator's page in target/browser/index.html.
browser: toolchain
	browser/build.sh

## The emulator, both commands and the Python module compile for other systems. Only checked: nothing is linked or run. The build
## script takes the kernels of gfx1100, which are few.
platforms: toolchain
	rustup target add $(PLATFORMS)
	FERROWAVE_GPUS=gfx1100 cargo check --config 'build.warnings="deny"' --target-dir target/platforms $(PLATFORMS:%=--target %) \
		-p ferrowave-hip -p ferrowave-cli -p cargo-gpu-amdgpu -p ferrowave-python

## The tests of the emulator, the commands and the Python module as programs for 64-bit ARM, in qemu. Takes hours.
test-aarch64: toolchain
	tests/aarch64.sh

## A wheel of the Python module, the commands and the libraries, in target/wheel/dist, and its test without Rust. x86-64 Linux.
wheel: toolchain
	python/wheel.sh

## The packages of all crates, in target/package, and a test that builds and runs programs and both commands from them alone.
packages: toolchain
	tests/packages.sh

## What the crates offer, compared with the newest release, by cargo-semver-checks.
semver: toolchain
	tests/semver.sh

## The Python module (python/), on NumPy arrays. Needs Python 3.11 or later.
test-python: toolchain
	python/test.sh

## The kernels on a GPU: FERROWAVE_DEVICE, or else hip:0. Fails with the reason if there is none.
test-gpu: export FERROWAVE_DEVICE ?= hip:0
test-gpu: toolchain
	cargo run --release --quiet -- selftest --out target/selftest.json
	cargo test --release --package ferrowave --test products

## The path of shared memory for hosts other than x86-64, which uses Rust's atomics: Miri checks it (it cannot check the moves
## of x86-64).
sanitize: toolchain
	rustup component add miri
	MIRIFLAGS=-Zmiri-permissive-provenance cargo miri test --target-dir target/miri -p ferrowave-emulator --lib -- \
		memory:: --skip exec::tests --skip hip::

## One minute of each fuzz target.
fuzz: toolchain
	code-object/fuzz/run.sh

## Real programs on the emulator: the test suites of AMD's libraries, llama.cpp, tinygrad and cubecl; HIP programs in C++; IREE.
## `real-programs` runs a sample, `real-programs-all` more.
real-programs: toolchain
	tests/real_programs/run.sh sample

real-programs-all: toolchain
	tests/real_programs/run.sh full

## The emulator's speed.
bench: toolchain
	cargo bench

# Installs what rust-toolchain.toml names, also where rustup does not do so by itself (RUSTUP_AUTO_INSTALL=0).
toolchain:
	@command -v rustup > /dev/null || { \
		echo "rustup is missing: see https://rustup.rs, or your system's package of that name" >&2; exit 1; }
	rustup toolchain install
