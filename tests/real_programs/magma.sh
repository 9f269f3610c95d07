#!/usr/bin/env bash
# MAGMA's test programs, each on two small sizes: they compare with hipBLAS's results, or look at residuals.
set -euo pipefail
. "$(dirname "$0")/common.sh"
debian libmagma-rocm-test
libraries

in_debian+=("LD_LIBRARY_PATH=${ours#"$debian"}:/usr/lib/x86_64-linux-gnu/openblas-pthread")
directory=/usr/lib/x86_64-linux-gnu/libmagma-rocm-test/testing

# Runs one program, and says how it ended. Some end with success after a result that they call failed.
program() {
    local log="$work/$1.log" status=0
    time_limit=120 run_in_debian "$directory/$1" -n 33 -n 65 -c > "$log" 2>&1 || status=$?
    if [ "$status" = 0 ] && ! grep -qE ' failed *$' "$log"; then
        echo "passed $1"
        rm "$log"
    else
        echo "failed $1: ended with $status: $(grep -E ' failed *$|Assert|rror' "$log" | tail -1 || true)"
    fi
}

export FERROWAVE_DEVICE=emulator:gfx90a
ls "$debian$directory" | grep -x 'testing_[sdcz].*' > "$work/all"
if [ "$form" = sample ]; then
    draw magma 40 '^testing_.' < "$work/all" > "$work/cases"
else
    cp "$work/all" "$work/cases"
fi
excluded gfx90a "$work/cases"
: > "$work/gfx90a"
while read -r name; do
    while [ "$(jobs -rp | wc -l)" -ge "$workers" ]; do wait -n; done
    program "$name" >> "$work/gfx90a" < /dev/null &
done < "$work/cases"
wait
results gfx90a "$work/gfx90a"
finish
