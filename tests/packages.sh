#!/usr/bin/env bash
# Makes the packages of all crates in target/package, with the kernels of all GPUs in ferrowave-prebuilt. Then builds and runs
# programs from them alone, outside of the repository and without a network: the library on the pinned nightly and on stable
# Rust, both commands, a new crate of kernels.
#
# STABLE names another stable toolchain of rustup than `stable`.
set -euo pipefail
cd "$(dirname "$0")/.."
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS FERROWAVE_GPUS FERROWAVE_DEVICE FERROWAVE_HIP_LIBRARY FERROWAVE_KERNELS
target=${CARGO_TARGET_DIR:-target}
most_bytes=10000000
channel=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
stable=${STABLE:-stable}
rustup run "$stable" rustc --version > /dev/null 2>&1 || rustup toolchain install "$stable" --profile minimal

step() { echo "packages: $*" >&2; }
fail() { echo "packages: $*" >&2; exit 1; }

step "the kernels of all GPUs"
rm -rf prebuilt/code-objects
FERROWAVE_GPUS=gfx908,gfx90a,gfx942,gfx950,gfx1100,gfx1101,gfx1102,gfx1150,gfx1151,gfx1200,gfx1201 cargo run --quiet --example prebuilt
step "the packages"
rm -rf "$target"/package/*.crate
# --allow-dirty, because git does not have the code objects. A package notes whether other files differed from its commit.
cargo package --workspace --exclude ferrowave-test-support --exclude ferrowave-python --exclude ferrowave-browser --no-verify --allow-dirty --quiet 2> /dev/null ||
    cargo package --workspace --exclude ferrowave-test-support --exclude ferrowave-python --exclude ferrowave-browser --no-verify --allow-dirty
for crate in "$target"/package/*.crate; do
    bytes=$(stat --format %s "$crate")
    [ "$bytes" -le "$most_bytes" ] || fail "$crate: $bytes bytes, crates.io takes $most_bytes"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
registry=$work/registry
cargo vendor --locked --quiet --versioned-dirs "$registry" > /dev/null
# What Rust's own library depends on: `-Zbuild-std` asks the registry for it. The component rust-src has it.
cp -rn "$(rustc --print sysroot)"/lib/rustlib/src/rust/library/vendor/* "$registry"
for crate in "$target"/package/*.crate; do
    tar xzf "$crate" -C "$registry"
    printf '{"files":{},"package":"%s"}' "$(sha256sum "$crate" | cut -d' ' -f1)" > "$registry/$(basename "$crate" .crate)/.cargo-checksum.json"
done
mkdir "$work/cargo"
cat > "$work/cargo/config.toml" <<TOML
[source.crates-io]
replace-with = "packages"
[source.packages]
directory = "$registry"
[net]
offline = true
TOML
listing() { (cd "$registry" && find ferrowave-* cargo-gpu-amdgpu-* -type f -printf '%p %s %t\n' -o -printf '%p\n' | sort); }
listing > "$work/before"
commit=$(git describe --always --abbrev=12 --exclude='*')
# The rest runs outside of the repository, with a cargo that knows these packages only.
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_HOME=$work/cargo CARGO_TARGET_DIR=$work/target FERROWAVE_CACHE=$work/cache
page=$PWD/docs/library.md
cd "$work"

# A program, in a repository of its own, that computes the first product of docs/library.md and prints what it contains.
program() {
    mkdir -p "$1/src"
    printf '[package]\nname = "%s"\nedition = "2024"\n\n[dependencies]\n%s\n' "$1" "$2" > "$1/Cargo.toml"
    {
        echo 'fn main() -> Result<(), Box<dyn std::error::Error>> {'
        echo 'println!("commit {:?}", ferrowave::embedded::COMMIT);'
        echo 'println!("gpus {:?}", ferrowave::embedded::gpus());'
        awk '/^```rust/ { inside = 1; next } /^```/ && inside { exit } inside { sub(/^# /, ""); print }' "$page"
        echo '}'
    } > "$1/src/main.rs"
    git -C "$1" init --quiet
    git -C "$1" -c user.name=a -c user.email=a@example.org commit --quiet --allow-empty -m caller
}

step "a program on $channel: every library, kernels compiled for gfx908"
others=$(cd "$registry" && ls -d ferrowave-*-[0-9]* | sed 's/-[0-9][0-9.]*$//' | grep -v -e '-cli$')
program nightly "ferrowave = \"0.1\"
$(for name in $others; do echo "$name = \"0.1\""; done)"
(
    cd nightly
    export FERROWAVE_GPUS=gfx908
    cargo "+$channel" build --quiet
    "$CARGO_TARGET_DIR/debug/nightly" | tee said
    grep -q "^commit Some(\"$commit" said || fail "the library does not name its commit, $commit"
    grep -q '^gpus \[Gfx908\]$' said || fail "the library has kernels of other GPUs"
    [ -z "$(cargo "+$channel" build 2>&1 | grep Compiling)" ] || fail "a second build compiles again"
)

step "the commands"
FERROWAVE_GPUS=gfx908 cargo "+$channel" install --quiet --debug --root "$work/installed" ferrowave-cli
cargo "+$channel" install --quiet --debug --root "$work/installed" cargo-gpu-amdgpu
PATH=$work/installed/bin:$PATH
ferrowave run --device gfx908 --kernel naive --m 100 --n 50 --k 30 2>&1 | grep correct
(
    unset CARGO_TARGET_DIR
    cargo gpu-amdgpu new saxpy
    cd saxpy
    grep -q '^ferrowave-host = { version = ' Cargo.toml || fail "the new crate does not depend on the release"
    cargo gpu-amdgpu test
)
library=$(ls "$FERROWAVE_CACHE/emulator/release/libamdhip64.so")

step "a program on stable Rust, without rustup, with prebuilt kernels"
program stable 'ferrowave = { version = "0.1", default-features = false, features = ["prebuilt"] }'
(
    cd stable
    export CARGO_TARGET_DIR=$work/stable-target
    PATH=$(dirname "$(rustup which --toolchain "$stable" cargo)"):/usr/bin:/bin
    rustc --version
    cargo build --quiet
    FERROWAVE_HIP_LIBRARY=$library "$CARGO_TARGET_DIR/debug/stable" | tee said
    grep -q '^gpus \[Gfx908, Gfx90a, Gfx942, Gfx950, Gfx1100, Gfx1101, Gfx1102, Gfx1150, Gfx1151, Gfx1200, Gfx1201\]$' said || fail "not the kernels of all GPUs are embedded"
    grep -q "^commit Some(\"$commit" said || fail "the library does not name its commit, $commit"
    if FERROWAVE_HIP_LIBRARY=/nonexistent.so "$CARGO_TARGET_DIR/debug/stable" > said 2>&1; then
        fail "a program without the emulator ran without HIP"
    fi
    tail -1 said
)

listing | diff "$work/before" - || fail "the builds wrote into the packages"

step "what is refused"
(
    cd stable
    export CARGO_TARGET_DIR=$work/stable-target
    object=$(ls -d "$registry"/ferrowave-prebuilt-*)/code-objects/kernels.gfx942.elf.xz
    printf x | dd of="$object" bs=1 seek=5000 conv=notrunc status=none
    cargo "+$stable" build > said 2>&1 && fail "a damaged code object is embedded"
    grep -q 'kernels.gfx942.elf.xz is damaged: its SHA-256 is' said || { cat said; fail "a damaged code object is not said to be"; }
)
program plain 'ferrowave = "0.1"'
(
    cd plain
    cargo "+$stable" build > said 2>&1 && fail "the emulator is built by stable Rust"
    grep -q 'features = \["prebuilt"\]' said || { cat said; fail "stable Rust is not told of prebuilt kernels"; }
)
step "all packages build and work"
