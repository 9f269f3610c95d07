#!/usr/bin/env bash
# Fuzzes each target, for a minute or as many seconds as are given. It begins with the code objects that the build has left
# in the repository's target folder, and with seeds/. What crashes a target stays in artifacts/.
set -euo pipefail
cd "$(dirname "$0")"
command -v cargo-fuzz > /dev/null || cargo install --locked cargo-fuzz
mkdir -p corpus/parse corpus/bundle
cp seeds/bundle/* corpus/bundle/
# Several folders hold files of one name; libFuzzer's own corpus is named by SHA-1 likewise.
find "${CARGO_TARGET_DIR:-../../target}" -name '*.elf' | while read -r file; do
    cp "$file" "corpus/parse/$(sha1sum < "$file" | cut -d' ' -f1)"
done
for target in parse bundle; do
    cargo fuzz run --fuzz-dir . "$target" -- -max_total_time="${1:-60}"
done
