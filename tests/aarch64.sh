#!/usr/bin/env bash
# Builds the tests of the emulator for 64-bit ARM and runs them in qemu, which takes 20 minutes on two cores. Programs are static, with Rust's own linker, so that no cross compiler is needed; qemu is Debian's,
# unpacked in the user's cache.
#
#   tests/aarch64.sh [PACKAGE...]
set -euo pipefail
packages=("$@")
[ $# -gt 0 ] || packages=(ferrowave-gpu ferrowave-code-object ferrowave-isa ferrowave-inspect ferrowave-emulator ferrowave-access-cost
    ferrowave-check ferrowave-timing ferrowave-profile ferrowave-browser)
set -- full
. "$(dirname "$0")/real_programs/common.sh"
cd "$repository"
debian qemu-user
libraries=$debian/usr/lib/x86_64-linux-gnu
qemu=("$debian/lib64/ld-linux-x86-64.so.2" --library-path "$libraries" "$debian/usr/bin/qemu-aarch64")
"${qemu[@]}" --version | head -1
rustup --quiet target add aarch64-unknown-linux-musl
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER="${qemu[*]}"
# The kernels are compiled by the host, for GPUs of both families.
export FERROWAVE_GPUS=gfx942,gfx1100
# The skipped test runs itself as a child, which the host's kernel cannot start.
cargo test --no-fail-fast --lib --tests --target aarch64-unknown-linux-musl "${packages[@]/#/--package=}" -- \
    --skip exec::tests::matrix_sums::settings
