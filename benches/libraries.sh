#!/usr/bin/env bash
# Our kernels beside those of AMD's libraries in the timing model: modelled µs of the same products, and their ratio.
#
#   benches/libraries.sh sample|full [TYPE...]     40 products a type, drawn by a seed; `sample` takes 6 of them
#   GPU="RX 9070 XT" SIZES="256x256x256 16x4096x4096" benches/libraries.sh full f16
#
# The libraries are Debian's hipBLASLt and rocBLAS; the faster of the two counts. hipBLASLt has no f64. GPU is MI100, MI210 (the
# default), RX 7900 XTX or RX 9070 XT, for which they have kernels.
#
# All kernels that a library launches for a product count, the last one is named. Matrices are row-major; the libraries' are
# column-major, so that they compute the transposed product of the same memory. Ours is the kernel that is chosen.
set -euo pipefail
. "$(dirname "$0")/../tests/real_programs/common.sh"
declare -A devices=([MI100]=gfx908 [MI210]=gfx90a ["RX 7900 XTX"]=gfx1100 ["RX 9070 XT"]=gfx1201)
gpu=${GPU:-MI210}
[ -v "devices[$gpu]" ] || { echo "GPU is MI100, MI210, RX 7900 XTX or RX 9070 XT, not $gpu" >&2; exit 2; }
types=("${@:2}")
[ "${#types[@]}" -gt 0 ] || types=(f16 bf16 f32)
# Of A, B and C, and of the sums.
declare -A operands=([f16]=f16_r [bf16]=bf16_r [f32]=f32_r [f64]=f64_r [i8]=i8_r)
declare -A results=([f16]=f16_r [bf16]=bf16_r [f32]=f32_r [f64]=f64_r [i8]=i32_r)
declare -A sums=([f16]=f32_r [bf16]=f32_r [f32]=f32_r [f64]=f64_r [i8]=i32_r)
for type in "${types[@]}"; do
    [ -v "operands[$type]" ] || { echo "a type is ${!operands[*]}, not $type" >&2; exit 2; }
done
debian libhipblaslt1-bench librocblas4-bench libomp5
libraries
ferrowave=$(artifacts --test report | grep -oE '"executable":"[^"]*/ferrowave"' | tail -1 | cut -d'"' -f4)

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

# library LOG PROGRAM OPTION...: runs a library's benchmark of the product.
library() {
    local log=$1 program=$2
    shift 2
    FERROWAVE_TIMING=$gpu FERROWAVE_DEVICE=emulator:${devices[$gpu]} run_in_debian "/usr/libexec/rocm/$program" -i 1 -j 0 \
        -m "$n" -n "$m" -k "$k" --a_type "${operands[$type]}" --b_type "${operands[$type]}" \
        --c_type "${results[$type]}" --d_type "${results[$type]}" --compute_type "${sums[$type]}" "$@" > "$log" 2>&1 ||
        echo "$type $size: $program failed: $log" >&2
}

echo "type  size  hipBLASLt [µs]  rocBLAS [µs]  ours [µs]  theirs/ours  our kernel  their kernel"
for type in "${types[@]}"; do
    for size in ${SIZES:-$(sizes "$type")}; do
        IFS=x read -r m n k <<< "$size"
        log=$work/$type-$size
        : > "$log.hipblaslt"
        [ "$type" = f64 ] || library "$log.hipblaslt" libhipblaslt1-bench/hipblaslt-bench --scale_type "${sums[$type]}"
        library "$log.rocblas" librocblas4-bench/rocblas-bench -f gemm_ex
        "$ferrowave" profile --device "${devices[$gpu]}" --timing="$gpu" --m "$m" --n "$n" --k "$k" --type "$type" \
            > "$log.ours" 2>&1 || { echo "$type $size ours failed: $log.ours"; continue; }
        python3 - "$gpu" "$type" "$size" "$log" <<'PY'
import re, sys

gpu, kind, size, log = sys.argv[1:]
units = {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6}
# The benchmarks fill the matrices, and look for NaN.
other = "fill_kernel|hipblaslt_init|rocblas_init|check_numerics"


def library(name):
    """The time of all kernels of a library's product, and the name of the last one."""
    total, last, modelled = 0.0, "", None
    for line in open(f"{log}.{name}", errors="replace"):
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
        if not re.search(other, kernel):
            total, last = total + time, kernel
    return (total, last) if last else None


both = [library("hipblaslt"), library("rocblas")]
report = open(f"{log}.ours").read()
ours = re.search(r"^kernel (\S+),", report, re.M)[1]
found = re.search(r"modelled time\s+([\d.]+) (\S+) at the highest", report)
mine = float(found[1]) * units[found[2]]
theirs, name = min(filter(None, both), default=(float("nan"), "none"))
tile = re.search(r"MT[\dx]+", name)
times = "  ".join(f"{found[0]:.1f}" if found else "–" for found in both)
print(f"{kind}  {size}  {times}  {mine:.1f}  {theirs / mine:.2f}  {ours}  {tile[0] if tile else name}")
PY
    done
done
