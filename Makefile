# `make report` and `make test` are all that a fresh machine needs, with rustup, a C linker and make.

# Tests cover the kernels of every GPU; a plain build makes those of one.
TEST_GPUS := gfx908,gfx90a,gfx942,gfx950

.PHONY: report test test-all sanitize fuzz real-programs real-programs-all bench toolchain

## Builds everything, runs every kernel and compares them, in the terminal and in target/report.
report: toolchain
	cargo run --release --quiet -- report --out target/report

## Everything that a change must pass. What the host leaves out of kernels/ is linted for the GPU that has most of it.
## The comments of cargo-gpu-amdgpu are help texts, and no rustdoc.
test: export FERROWAVE_GPUS := $(TEST_GPUS)
test: toolchain
	cargo fmt --all --check
	cargo fmt --manifest-path examples/softmax/Cargo.toml --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTFLAGS='-Ctarget-cpu=gfx950 --cfg=ferrowave_gpu="gfx950"' cargo clippy -p ferrowave-kernels -p ferrowave-panic --lib \
		--target amdgcn-amd-amdhsa -Zbuild-std=core -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --exclude cargo-gpu-amdgpu --no-deps --quiet
	cargo test --workspace

## The same and what takes longer: sweeps over more shapes, mutations of kernels, fuzzing.
test-all: export FERROWAVE_GPUS := $(TEST_GPUS)
test-all: test sanitize fuzz real-programs-all
	cargo test --workspace -- --ignored

## The memory that host threads share as other hosts access it, by Rust's atomics: Miri follows them (the moves of x86-64 it
## does not), and the emulator compiles for 64-bit ARM.
sanitize: toolchain
	rustup component add miri
	rustup target add aarch64-unknown-linux-gnu
	MIRIFLAGS=-Zmiri-permissive-provenance cargo miri test --target-dir target/miri -p ferrowave-emulator --lib -- \
		memory:: --skip exec::tests --skip hip::
	cargo check -p ferrowave-emulator --target aarch64-unknown-linux-gnu

## A minute of each fuzz target.
fuzz: toolchain
	code-object/fuzz/run.sh

## Real programs on the emulator: AMD's own libraries, llama.cpp, tinygrad and cubecl with their own tests, HIP programs in
## C++, IREE. A sample of them, and the long form.
real-programs: toolchain
	tests/real_programs/run.sh sample

real-programs-all: toolchain
	tests/real_programs/run.sh full

## The emulator's speed.
bench: toolchain
	cargo bench

# Reads rust-toolchain.toml. Needed where rustup does not install by itself (RUSTUP_AUTO_INSTALL=0).
toolchain:
	@command -v rustup > /dev/null || { \
		echo "rustup is missing: see https://rustup.rs, or your system's package of that name" >&2; exit 1; }
	rustup toolchain install
