#!/usr/bin/env bash
# A report's page in Chromium, light and dark, as wide as a phone and as a desktop: axe-core finds nothing, nothing is wider
# than the window, and the page's controls work.
#
#   page.sh sample|full
set -euo pipefail
. "$(dirname "$0")/common.sh"
axe=4.14.1

debian chromium fonts-dejavu-core
# Chromium needs /proc and /dev, which are mounted only for it.
namespace=(unshare --mount --pid --fork)
[ "$(id -u)" = 0 ] || namespace+=(--map-root-user)
mkdir -p "$debian/proc"
"${namespace[@]}" mount -t proc proc "$debian/proc" 2> /dev/null || not_run "needs to mount /proc in a namespace, for Chromium"
if [ ! -e "$cache/axe-$axe.js" ]; then
    curl --fail --silent --show-error --output "$work/axe.tgz" "https://registry.npmjs.org/axe-core/-/axe-core-$axe.tgz"
    tar -xzf "$work/axe.tgz" -C "$work" package/axe.min.js
    mv "$work/package/axe.min.js" "$cache/axe-$axe.js"
fi
libraries
# These tests depend on the program.
program=$(artifacts --test report | grep -oE '"executable":"[^"]*/ferrowave"' | tail -1 | cut -d'"' -f4)
"$program" report --sizes 64,96 --estimate 512 --gpus gfx942 --out "$work/report" > "$work/report.txt"
python3 "$here/page.py" "$work/report/report.html" "$cache/axe-$axe.js" > "$ours/page.html"
folder=${ours#"$debian"}
for scheme in dark light; do
    # Blink's numbers are 0 for dark and 1 for light.
    timeout --kill-after=5 300 "${namespace[@]}" sh -c \
        'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"' \
        "$debian" /usr/bin/env HOME="$folder" /usr/lib/chromium/chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --blink-settings=preferredColorScheme="$([ $scheme = light ] && echo 1 || echo 0)" --window-size=1400,1000 \
        --virtual-time-budget=60000 --dump-dom "file://$folder/page.html" > "$work/$scheme.html" 2> "$work/$scheme.log" || true
    grep -E '^(passed|failed) ' "$work/$scheme.html" > "$work/$scheme" || true
    grep -qx 'done' "$work/$scheme.html" || echo "failed the rest: the page's script did not end" >> "$work/$scheme"
    results "$scheme" "$work/$scheme"
done
finish
