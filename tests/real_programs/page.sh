#!/usr/bin/env bash
# A report's page in Chromium, light and dark, as wide as a phone and as a desktop: axe-core finds nothing, nothing is wider
# than the window, and the page's controls work.
#
#   page.sh sample|full
set -euo pipefail
. "$(dirname "$0")/common.sh"
chromium
libraries
# These tests depend on the program.
program=$(artifacts --test report | grep -oE '"executable":"[^"]*/ferrowave"' | tail -1 | cut -d'"' -f4)
"$program" report --sizes 64,96 --estimate 512 --gpus gfx942 --out "$work/report" > "$work/report.txt"
python3 "$here/page.py" "$work/report/report.html" "$axe" > "$ours/page.html"
folder=${ours#"$debian"}
for scheme in dark light; do
    # Blink's numbers are 0 for dark and 1 for light.
    timeout --kill-after=5 300 "${chromium[@]}" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$folder/profile" --blink-settings=preferredColorScheme="$([ $scheme = light ] && echo 1 || echo 0)" \
        --window-size=1400,1000 --virtual-time-budget=60000 --dump-dom "file://$folder/page.html" \
        > "$work/$scheme.html" 2> "$work/$scheme.log" || true
    grep -E '^(passed|failed) ' "$work/$scheme.html" > "$work/$scheme" || true
    grep -qx 'done' "$work/$scheme.html" || echo "failed the rest: the page's script did not end" >> "$work/$scheme"
    results "$scheme" "$work/$scheme"
done
finish
