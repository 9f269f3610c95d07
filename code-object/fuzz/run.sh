#!/usr/bin/env bash
# Fuzzes each target, for a minute or as many seconds as are given. It begins with the code objects that the build has left
# in the repository's target folder, and with seeds/. What crashes a target stays in artifacts/.
set -euo pipefail
cd "$(dirname "$0")"
command -v cargo-fuzz > /dev/null || cargo install --locked cargo-fuzz
mkdir -p corpus/parse corpus/bundle
cp seeds/bundle/* corpus/bundle/
find "${CARGO_TARGET_DIR:-../../target}" -name '*.elf' -exec cp -t corpus/parse {} +
for target in parse bundle; do
    cargo fuzz run --fuzz-dir . "$target" -- -max_total_time="${1:-60}"
done
