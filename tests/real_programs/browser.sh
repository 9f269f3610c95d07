#!/usr/bin/env bash
# The emulator's page in Chromium, and in the long form in Firefox, light and dark, as wide as a phone and as a desktop: the ladder runs
# there, with checks, a modelled time and right products; bad input is answered as on the command line; axe-core finds nothing. From a
# server that isolates the page, launches run on several threads and tell the same.
#
#   browser.sh sample|full
set -euo pipefail
. "$(dirname "$0")/common.sh"
browsers
folder
# These folders are those of `make test`.
FERROWAVE_GPUS=gfx908,gfx90a,gfx942,gfx950,gfx1100,gfx1201 "$repository/browser/build.sh"
cp "${CARGO_TARGET_DIR:-$repository/target}/browser/index.html" "$ours"
exec 8< <(exec python3 "$repository/browser/serve.py" "$ours" --port 0 2> "$work/server.log")
server=$!
trap 'kill "$server" || true; rm -rf "$ours"' EXIT
read -r served <&8 || { cat "$work/server.log"; exit 1; }
for name in "${browsers[@]}"; do
    browser "$name"
    timeout --kill-after=5 1800 python3 "$here/browser.py" "$form" "file://$inside/index.html" "${served}index.html" "$axe" "$work" \
        "$name" "${browser[@]}" > "$work/$name" || echo "failed the rest: the test ended with $?" >> "$work/$name"
    results "$name" "$work/$name"
done
finish
