#!/usr/bin/env bash
# hipBLASLt's hipblaslt-bench, which compares its products with the CPU's.
set -euo pipefail
. "$(dirname "$0")/common.sh"
debian libhipblaslt1-bench libomp5
libraries

program=/usr/libexec/rocm/libhipblaslt1-bench/hipblaslt-bench

# m n k: one tile and less, edges on each side, sizes that split k, and large ones.
sizes=(
    "1 1 1" "16 16 16" "17 13 9" "32 32 32" "33 65 31" "64 64 64" "63 64 128" "100 36 50" "128 128 128" "129 127 130"
    "1 256 256" "256 1 256" "256 256 1" "2 300 7" "300 5 64" "96 96 1024" "31 33 1000" "192 320 80" "255 257 64"
    "256 256 256" "257 129 511" "384 128 384" "16 16 4096" "400 400 40" "512 64 128" "64 512 100" "500 100 250"
    "128 640 96" "512 512 512" "777 333 222"
)
declare -A types=(
    [f16]="-r f16_r" [bf16]="-r bf16_r" [f32]="-r f32_r"
    [i8]="--a_type i8_r --b_type i8_r --c_type i32_r --d_type i32_r --compute_type i32_r --scale_type i32_r"
)

# Runs one product, and prints its result. The line after the titles has the values; the last two are the tolerances within
# which the product equals the CPU's, or «failed».
product() {
    local type m n k a b log values
    read -r type m n k a b <<< "$1"
    log="$work/${FERROWAVE_DEVICE#*:}-${1// /-}.log"
    # shellcheck disable=SC2086 # Several arguments.
    time_limit=120 run_in_debian "$program" -v -i 1 -j 0 -m "$m" -n "$n" -k "$k" --transA "$a" --transB "$b" \
        ${types[$type]} > "$log" 2>&1 || { echo "failed $1: ended with $?"; return; }
    values=$(grep -A1 ',norm_error,atol,rtol$' "$log" | tail -1 || true)
    # The library may have no kernel for this GPU.
    if grep -q -e 'Is supported 0' -e 'NO solution found' "$log"; then
        echo "skipped $1"
    elif [[ $values =~ ,([^,]+),([0-9][^,]*),([0-9][^,]*)$ ]]; then
        echo "passed $1"
        rm "$log"
    else
        echo "failed $1: norm of the error, tolerances: $(awk -F, '{ print $(NF - 2), $(NF - 1), $NF }' <<< "$values")"
    fi
}

# A device, and the number of products in a sample.
for drawn in gfx90a=48 gfx908=48 gfx1100=24 gfx1151=24 gfx1201=24; do
    device=${drawn%=*}
    export FERROWAVE_DEVICE=emulator:$device
    for type in f16 bf16 f32 i8; do
        for size in "${sizes[@]}"; do
            for transposes in "N N" "N T" "T N" "T T"; do
                echo "$type $size $transposes"
            done
        done
    done > "$work/all"
    if [ "$form" = sample ]; then
        draw "$device" "${drawn#*=}" '^[^ ]* ' < "$work/all" > "$work/cases"
    else
        cp "$work/all" "$work/cases"
    fi
    excluded "$device" "$work/cases"
    : > "$work/$device"
    while read -r line; do
        while [ "$(jobs -rp | wc -l)" -ge "$workers" ]; do wait -n; done
        product "$line" >> "$work/$device" &
    done < "$work/cases"
    wait
    results "$device" "$work/$device"
done
finish
