#!/usr/bin/env bash
# Compares what the crates offer with the newest release, a tag v*, by cargo-semver-checks, which is installed in the user's cache.
# Fails if a change needs another version than the crates have.
set -euo pipefail
cd "$(dirname "$0")/.."
release=$(git tag --list 'v[0-9]*' --sort=-version:refname | head -1)
if [ -z "$release" ]; then
    echo "semver: there is no release to compare with: git has no tag v*"
    exit 0
fi
version=0.51.0
tools=${FERROWAVE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ferrowave}/cargo-semver-checks-$version
checks=$tools/bin/cargo-semver-checks
# Its own profile optimizes for the speed of large checks and takes minutes more to compile.
[ -x "$checks" ] || CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
    cargo install --quiet --locked cargo-semver-checks --version "$version" --root "$tools"
echo "semver: compared with $release"
# The build script compiles the kernels of both versions: those of gfx1100 are few. The feature `prebuilt` needs files that git has not.
export FERROWAVE_GPUS=gfx1100
"$checks" semver-checks --workspace --default-features --baseline-rev "$release"
