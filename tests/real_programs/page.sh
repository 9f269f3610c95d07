#!/usr/bin/env bash
# A report's page in Chromium, and in the long form in Firefox, light and dark, as wide as a phone and as a desktop: axe-core finds
# nothing, nothing is wider than the window, and the page's controls work.
#
#   page.sh sample|full
set -euo pipefail
. "$(dirname "$0")/common.sh"
browsers
folder
# These tests depend on the program.
program=$(artifacts --test report | grep -oE '"executable":"[^"]*/ferrowave"' | tail -1 | cut -d'"' -f4)
"$program" report --sizes 64,96 --estimate 512 --gpus gfx942 --out "$work/report" > "$work/report.txt"
for name in "${browsers[@]}"; do
    browser "$name"
    timeout --kill-after=5 900 python3 "$here/page.py" "$work/report/report.html" "$axe" "$ours" "$inside" "$work" "$name" "${browser[@]}" \
        > "$work/$name" || echo "failed the rest: the test ended with $?" >> "$work/$name"
    results "$name" "$work/$name"
done
finish
