#!/usr/bin/env bash
# Rows of AMD's libraries in a report on the emulator: Debian's rocBLAS and hipBLASLt compute products in processes of their own,
# and all that they launch is modelled.
#
#   report.sh sample|full
set -euo pipefail
. "$(dirname "$0")/common.sh"

debian libhipblaslt1-bench librocblas4-tests libomp5
libraries
program=$(artifacts --test report | grep -oE '"executable":"[^"]*/ferrowave"' | tail -1 | cut -d'"' -f4)
cp "$program" "$ours/ferrowave"
[ "$form" = sample ] && sizes=256 || sizes=256,512x96x1000,1024
for machine in MI100 MI210; do
    for type in f32 f16; do
        [ "$type" = f32 ] && kernel=naive || kernel=mfma_wide
        out=$inside/report-$machine-$type
        run_in_debian "FERROWAVE_CACHE=$inside/cache" "$inside/ferrowave" report --gpus "$machine" --sizes "$sizes" --estimate 2048 \
            --type "$type" --kernels $kernel --out "$out" > "$work/$machine-$type.log" 2>&1 || true
        python3 - "$debian$out/results.json" "$sizes" "$type" <<'PY'
import json, sys
file, sizes, type = sys.argv[1:]
try:
    rows = json.load(open(file))["rows"]
except OSError as error:
    sys.exit(print(f"failed {type}: {error}"))
for library in ["rocBLAS", "hipBLASLt"]:
    for size in [*sizes.split(","), "2048"]:
        extents = [int(extent) for extent in (size.split("x") * 3)[:3]]
        found = [row for row in rows if row["kernel"] == library
                 and [row["problem"][name] for name in "mnk"] == extents]
        good = (len(found) == 1 and found[0]["estimated"] == (size == "2048") and found[0]["outcome"]["passed"] != found[0]["estimated"]
                and found[0]["launched"] and found[0]["modelled"]["seconds"] > 0)
        print(f"passed {library} {type} {size}" if good else f"failed {library} {type} {size}: {found}")
PY
    done > "$work/$machine"
    results "$machine" "$work/$machine"
done
finish
