#!/usr/bin/env bash
# Our kernels beside hipBLASLt's in the timing model: modelled µs of the same products, and their ratio.
#
#   benches/hipblaslt.sh sample|full [TYPE...]     40 products a type, drawn by a seed; `sample` takes 6 of them
#   GPU="RX 9070 XT" SIZES="256x256x256 16x4096x4096" benches/hipblaslt.sh full f16
#
# GPU is MI100, MI210 (the default), RX 7900 XTX or RX 9070 XT: Debian's hipBLASLt has kernels for them.
#
# All kernels that hipBLASLt launches for a product count, the last one is named. Matrices are row-major; hipBLASLt's are
# column-major, so that it computes the transposed product of the same memory. Ours is the kernel that is chosen.
set -euo pipefail
. "$(dirname "$0")/../tests/real_programs/common.sh"
declare -A devices=([MI100]=gfx908 [MI210]=gfx90a ["RX 7900 XTX"]=gfx1100 ["RX 9070 XT"]=gfx1201)
gpu=${GPU:-MI210}
[ -v "devices[$gpu]" ] || { echo "GPU is MI100, MI210, RX 7900 XTX or RX 9070 XT, not $gpu" >&2; exit 2; }
types=("${@:2}")
[ "${#types[@]}" -gt 0 ] || types=(f16 bf16 f32)
debian libhipblaslt1-bench libomp5
libraries
ferrowave=$(artifacts --test report | grep -oE '"executable":"[^"]*/ferrowave"' | tail -1 | cut -d'"' -f4)
program=/usr/libexec/rocm/libhipblaslt1-bench/hipblaslt-bench
declare -A flags=(
    [f16]="-r f16_r" [bf16]="-r bf16_r" [f32]="-r f32_r" [f64]="-r f64_r"
    [i8]="--a_type i8_r --b_type i8_r --c_type i32_r --d_type i32_r --compute_type i32_r --scale_type i32_r"
)

# Products of at most 2³² multiplications, so that they run in minutes: they are computed, not estimated.
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

echo "type  size  hipBLASLt [µs]  ours [µs]  hipBLASLt/ours  our kernel  its kernel"
for type in "${types[@]}"; do
    for size in ${SIZES:-$(sizes "$type")}; do
        IFS=x read -r m n k <<< "$size"
        log=$work/$type-$size.log
        # shellcheck disable=SC2086 # Several arguments.
        FERROWAVE_TIMING=$gpu FERROWAVE_DEVICE=emulator:${devices[$gpu]} run_in_debian "$program" -i 1 -j 0 \
            -m "$n" -n "$m" -k "$k" --transA N --transB N ${flags[$type]} > "$log" 2>&1 || { echo "$type $size hipBLASLt failed: $log"; continue; }
        "$ferrowave" profile --device "${devices[$gpu]}" --timing="$gpu" --m "$m" --n "$n" --k "$k" --type "$type" \
            > "$log.ours" 2>&1 || { echo "$type $size ours failed: $log.ours"; continue; }
        python3 - "$gpu" "$type" "$size" "$log" "$log.ours" <<'PY'
import re, sys
gpu, kind, size, log, ours = sys.argv[1:]
theirs, name, modelled = 0.0, "", None
units = {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6}
for line in open(log, errors="replace"):
    # The first launch of a kernel has a summary, the others a line.
    if found := re.match(rf"(\S+) on {gpu} .*modelled by", line):
        modelled = found[1]
        continue
    if modelled and (found := re.match(r"\s+modelled time\s+([\d.]+) (\S+) at the highest", line)):
        time, kernel, modelled = float(found[1]) * units[found[2]], modelled, None
    elif found := re.match(rf"ferrowave: (\S+) on {gpu}: ([\d.]+) ms, modelled", line):
        time, kernel = 1e3 * float(found[2]), found[1]
    else:
        continue
    # Its program fills the matrices.
    if not re.search("fill_kernel|hipblaslt_init", kernel):
        theirs, name = theirs + time, kernel
report = open(ours).read()
kernel = re.search(r"^kernel (\S+),", report, re.M)[1]
found = re.search(r"modelled time\s+([\d.]+) (\S+) at the highest", report)
mine = float(found[1]) * units[found[2]]
tile = re.search(r"MT[\dx]+", name)
print(f"{kind}  {size}  {theirs:.1f}  {mine:.1f}  {theirs / mine:.2f}  {kernel}  {tile[0] if tile else name}")
PY
    done
done
