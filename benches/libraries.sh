#!/usr/bin/env bash
# Our kernels beside those of AMD's libraries in the timing model: modelled µs of the same products, and their ratio.
#
#   benches/libraries.sh sample|full [TYPE...]     40 products a type, drawn by a seed; `sample` takes 6 of them
#   GPU="RX 9070 XT" SIZES="256 16x4096x4096" benches/libraries.sh full f16
#
# The libraries are Debian's hipBLASLt and rocBLAS; the ratio is that of the faster one. GPU is MI100, MI210 (the default), RX 7900
# XTX or RX 9070 XT, for which they have kernels, or Radeon 8060S, for which hipBLASLt has some.
#
# A line has tabs between its columns. All kernels that a library launches for a product count; a tile of theirs is named.
# Matrices are row-major. Ours is the kernel that is chosen. Nothing is computed: launches are estimated.
set -euo pipefail
. "$(dirname "$0")/../tests/real_programs/common.sh"
gpu=${GPU:-MI210}
# A report needs a kernel of ours.
declare -A kernels
case $gpu in
MI100 | MI210) kernels=([any]=split_k) ;;
"RX 7900 XTX" | "RX 9070 XT" | "Radeon 8060S") kernels=([any]=wmma_split_k [f32]=fma_split_k_64x64) ;;
*) echo "GPU is MI100, MI210, RX 7900 XTX, RX 9070 XT or Radeon 8060S, not $gpu" >&2; exit 2 ;;
esac
[ "$gpu" != "Radeon 8060S" ] || gpus=gfx1151
types=("${@:2}")
[ "${#types[@]}" -gt 0 ] || types=(f16 bf16 f32)
debian libhipblaslt1-bench librocblas4-bench libomp5
libraries
ferrowave=$(artifacts --test report | grep -oE '"executable":"[^"]*/ferrowave"' | tail -1 | cut -d'"' -f4)
cp "$ferrowave" "$ours/ferrowave"

# Products of at most 2³² multiplications.
sizes() {
    python3 - "$1" "$([ "$form" = sample ] && echo 6 || echo 40)" <<'PY'
import random, sys
random.seed(sys.argv[1])
drawn = []
while len(drawn) < int(sys.argv[2]):
    size = [int(2 ** random.uniform(4, 12)) for _ in range(3)]
    if random.random() < 0.75:
        size = [max(16, extent // 16 * 16) for extent in size]
    if size[0] * size[1] * size[2] <= 1 << 32:
        drawn.append("x".join(map(str, size)))
print(" ".join(drawn))
PY
}

printf '%s\t' type size hipBLASLt kernel 'bound by' rocBLAS kernel 'bound by' ours kernel
echo theirs/ours
for type in "${types[@]}"; do
    log=$work/$type
    estimated=$(tr ' ' , <<< "${SIZES:-$(sizes "$type")}")
    time_limit=3600 run_in_debian "FERROWAVE_CACHE=$inside/cache" "$inside/ferrowave" report --gpus "$gpu" --type "$type" \
        --estimate "$estimated" --kernels "${kernels[$type]:-${kernels[any]}}" --out "$inside/$type" > "$log.theirs" 2>&1 ||
        { echo "$type: the libraries' report failed: $(tail -n 1 "$log.theirs")" >&2; exit 1; }
    "$ferrowave" tune --gpu "$gpu" --type "$type" --check "$estimated" --best 1 > "$log.ours"
    python3 - "$ours/$type/results.json" "$log.ours" "$type" "$estimated" <<'PY'
import json, re, sys

file, ours, type, sizes = sys.argv[1:]
rows = [row for row in json.load(open(file))["rows"] if row["kernel"] in ("hipBLASLt", "rocBLAS")]
theirs = {(row["kernel"], *(row["problem"][name] for name in "mnk")): row for row in rows}
chosen = {}
for line in open(ours):
    if found := re.match(r" *(\d+)×(\d+)×(\d+) +(\S+) +\d+ +\S+ +(\S+)", line):
        chosen[tuple(map(int, found.groups()[:3]))] = (found[4], float(found[5]))
for size in sizes.split(","):
    extents = tuple(int(extent) for extent in (size.split("x") * 3)[:3])
    columns, times = [type, size], []
    for library in ("hipBLASLt", "rocBLAS"):
        row = theirs.get((library, *extents))
        if row is None:
            columns += ["–"] * 3
            continue
        time = 1e6 * row["modelled"]["seconds"]
        names = [re.search(r"MT[\dx]+", name) for name in row["launched"]]
        tiles = [name[0] for name in names if name]
        times.append(time)
        columns += [f"{time:.1f}", tiles[0] if tiles else row["launched"][0], row["modelled"]["bound_by"]]
    kernel, time = chosen.get(extents, ("–", None))
    columns += [f"{time:.1f}" if time else "–", kernel, f"{min(times) / time:.2f}" if times and time else "–"]
    print("\t".join(columns))
PY
done
