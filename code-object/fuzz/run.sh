#!/usr/bin/env bash
# Fuzzes each target for a minute, or for the given number of seconds. The corpus starts with the code objects in the
# repository's target folder, and with seeds/. Crashing inputs are kept in artifacts/.
set -euo pipefail
cd "$(dirname "$0")"
command -v cargo-fuzz > /dev/null || cargo install --locked cargo-fuzz
mkdir -p corpus/parse corpus/bundle
cp seeds/bundle/* corpus/bundle/
# File names repeat across folders, so files are named by SHA-1, like libFuzzer's own corpus.
find "${CARGO_TARGET_DIR:-../../target}" -name '*.elf' | while read -r file; do
    cp "$file" "corpus/parse/$(sha1sum < "$file" | cut -d' ' -f1)"
done
for target in parse bundle; do
    cargo fuzz run --fuzz-dir . "$target" -- -max_total_time="${1:-60}"
done
