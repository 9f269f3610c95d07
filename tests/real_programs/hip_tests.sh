#!/usr/bin/env bash
# AMD's tests of HIP itself (github.com/ROCm/hip-tests), each case in a process of its own. Debian does not package them:
# FERROWAVE_HIP_TESTS names a checkout. What AMD leaves out on Linux is left out here, too (`config_amd_linux`).
#
# FERROWAVE_HIP_UNITS has the units to run, folders of `catch/unit`; by default a sample runs a few, the long form all that
# need neither graphics nor another compiler.
#
# FERROWAVE_HIP_GPU has the GPU, gfx90a by default. FERROWAVE_HIP_DEVICES has their number, 1 by default: some cases need 2.
#
#   FERROWAVE_HIP_TESTS=DIRECTORY hip_tests.sh sample|full
set -euo pipefail
. "$(dirname "$0")/common.sh"

tests=${FERROWAVE_HIP_TESTS:-}
[ -d "$tests/catch/unit" ] || not_run "needs a checkout of AMD's hip-tests, named by FERROWAVE_HIP_TESTS"
# Some cases start other programs by a shell.
debian clang clang-tools dash llvm lld g++ libamdhip64-dev libboost-dev libhiprtc6
llvm=$(basename "$(ls -d "$debian"/usr/lib/llvm-* | sort -V | tail -1)")
debian "rocm-device-libs-${llvm#llvm-}"
libraries
# Processes that share memory find each other in /proc, which is mounted only for them.
mkdir -p "$debian/proc"
in_debian=("${root[@]}" unshare --mount sh -c 'mount --rbind /proc "$0/proc" && exec "$@"' "$debian" "${in_debian[@]:${#root[@]}}")

gpu=${FERROWAVE_HIP_GPU:-gfx90a}
FERROWAVE_DEVICE=emulator:$gpu
for ((device = 1; device < ${FERROWAVE_HIP_DEVICES:-1}; device++)); do FERROWAVE_DEVICE+=,$gpu; done
export FERROWAVE_DEVICE
if [ "$form" = sample ]; then
    units="event errorHandling executionControl occupancy vector_types"
else
    units=$(cd "$tests/catch/unit" && ls -d -- */ | tr -d / | grep -vxE 'g\+\+|gcc|c_compilation|gl_interop|vulkan_interop')
fi
units=${FERROWAVE_HIP_UNITS:-$units}

# The programs stay in the cache: the compiler takes hours for all of them.
root_of_tests=$debian/tmp/hip_tests
[ "$gpu" = gfx90a ] || root_of_tests+=-$gpu
inside=${root_of_tests#"$debian"}
mkdir -p "$root_of_tests"
cp -ru "$tests/catch" "$root_of_tests"
bitcode=$(cd "$debian" && echo usr/lib/"$llvm"/lib/clang/*/amdgcn/bitcode)
includes="-I$inside/catch/include -I$inside/catch/kernels -I$inside/catch/external/Catch2 -I$inside/catch/external/picojson"
# The tests expect that atomic operations reach the host's memory, as AMD's compiler of that time took for granted.
compiler=(clang++ -x hip --rocm-path=/usr "--rocm-device-lib-path=/$bitcode" "--offload-arch=$gpu" -std=c++17 -O1 -w
    -fatomic-fine-grained-memory -D__HIP_PLATFORM_AMD__)

# Compiles a file of a folder of `catch`, if it is newer than the object. A file that does not compile has no object.
compile() {
    local folder=$root_of_tests/catch/$1 source=$2 object=$root_of_tests/$1/${2%.*}.o
    [ "$object" -nt "$folder/$source" ] && return
    mkdir -p "$(dirname "$object")"
    # As the unit's CMakeLists.txt has them; those of NVIDIA's compiler are left out.
    local options
    options=$(grep -oE "set_source_files_properties\($source PROPERTIES COMPILE_(FLAGS|OPTIONS) [^)]*" "$folder/CMakeLists.txt" 2> /dev/null |
        grep -vE 'arch|--expt|--default-stream' | sed 's/.*COMPILE_[A-Z]* //; s/"//g' || true)
    # shellcheck disable=SC2086 # Several options.
    run_in_debian env -C "${folder#"$debian"}" "${compiler[@]}" $options $includes -I. -c "$source" -o "${object#"$debian"}" \
        > "$object.log" 2>&1 || echo "$1/$source does not compile"
}

# Runs the lines of standard input as calls of a function, some at a time.
each() {
    local line
    while IFS= read -r line; do
        while [ "$(jobs -rp | wc -l)" -ge "$workers" ]; do wait -n || true; done
        "$@" "$line" &
    done
    wait
}

# Compiles kernels that programs load from a file, «FILE SOURCE OPTION...», as the unit's CMakeLists.txt names them.
module() {
    local unit=$1 name source options folder=$root_of_tests/unit/$1
    read -r name source options <<< "$2"
    [ "$folder/$name" -nt "$root_of_tests/catch/unit/$unit/$source" ] && return
    # shellcheck disable=SC2086 # Several options.
    run_in_debian env -C "$inside/catch/unit/$unit" "${compiler[@]}" $options --cuda-device-only --no-gpu-bundle-output $includes \
        "$source" -o "${folder#"$debian"}/$name" 2> /dev/null || echo "unit/$unit/$source does not compile"
}

# Links a file of a unit to a program, with what the unit's files share.
program() {
    local unit=$1 name=$2 folder=$root_of_tests/unit/$1 objects=() common
    [ -e "$folder/$name.o" ] && [ "$folder/$name" -ot "$folder/$name.o" ] || return 0
    objects=("$root_of_tests"/{hipTestMain/{main,hip_test_context,hip_test_features},kernels/Set}.o "$folder/$name.o")
    for common in "$folder"/*{[cC]ommon,DriverContext}.o; do
        [ ! -e "$common" ] || objects+=("$common")
    done
    run_in_debian clang++ --hip-link --rocm-path=/usr "--offload-arch=$gpu" "${objects[@]#"$debian"}" -o "${folder#"$debian"}/$name" \
        -l:libamdhip64.so.6 -l:libhiprtc.so.6 -lpthread -ldl -lrt > "$folder/$name.log" 2>&1 || echo "unit/$unit/$name does not link"
}

# Links a program that cases start, «PROGRAM FILE», as the unit's CMakeLists.txt names them.
started_program() {
    local unit=$1 name file folder=$root_of_tests/unit/$1
    read -r name file <<< "$2"
    file=$folder/${file%.*}.o
    [ -e "$file" ] && [ "$folder/$name" -ot "$file" ] || return 0
    run_in_debian clang++ --hip-link --rocm-path=/usr "--offload-arch=$gpu" "${file#"$debian"}" -o "${folder#"$debian"}/$name" \
        -l:libamdhip64.so.6 -l:libhiprtc.so.6 -lpthread -ldl > "$folder/$name.log" 2>&1 || echo "unit/$unit/$name does not link"
}

# Links a library that cases load, «FILE SOURCE», as the unit's CMakeLists.txt names them.
library() {
    local unit=$1 name source folder=$root_of_tests/unit/$1
    read -r name source <<< "$2"
    [ "$folder/$name" -nt "$root_of_tests/catch/unit/$unit/$source" ] && return
    # shellcheck disable=SC2086 # Several options.
    run_in_debian env -C "$inside/catch/unit/$unit" "${compiler[@]}" $includes -fPIC -shared "$source" -o "${folder#"$debian"}/$name" \
        -l:libamdhip64.so.6 -lpthread > "$folder/$name.log" 2>&1 || echo "unit/$unit/$source does not compile"
}

# Runs a case, «UNIT PROGRAM CASE», and prints its result.
run_case() {
    local unit name case log status=0
    read -r unit name case <<< "$1"
    log=$work/$unit-$name-$(tr -c '[:alnum:]\n' _ <<< "$case").log
    # A comma has a meaning in Catch's patterns.
    time_limit=120 run_in_debian env -C "$inside/unit/$unit" HOME=/tmp "./$name" "${case//,/\\,}" > "$log" 2>&1 || status=$?
    if grep -q HIP_SKIP_THIS_TEST "$log"; then
        echo "skipped $1"
    elif [ "$status" = 0 ]; then
        echo "passed $1"
        rm "$log"
    else
        echo "failed $1: ended with $status"
    fi
}

printf '%s\n' main.cc hip_test_context.cc hip_test_features.cc | each compile hipTestMain
echo Set.cpp | each compile kernels
# AMD's tests have the list of their GPU from the preprocessor, too.
left_out=$work/left_out
run_in_debian clang -E -P -undef -w -x c "-D$gpu" "$inside/catch/hipTestMain/config/config_amd_linux" > "$left_out"
for unit in $units; do
    folder=$root_of_tests/unit/$unit
    (cd "$root_of_tests/catch/unit/$unit" && ls -- *.cc) | each compile "unit/$unit"
    tr -s '[:space:]' ' ' < "$root_of_tests/catch/unit/$unit/CMakeLists.txt" | sed 's/--genco /\n&/g; s/${[A-Z_]*}//g' |
        sed -nE 's|^--genco ([^()]* )?[^ ()]*/([[:alnum:]_]+\.c[cp]+) ([^()]* )?-o ([^ ()]*/)?([[:alnum:]_]+\.[[:alnum:]]+).*|\5 \2 \1|p' |
        sort -u | each module "$unit"
    sed -nE 's/^ *add_executable\(([[:alnum:]_]+) EXCLUDE_FROM_ALL ([[:alnum:]_]+\.cc)\).*/\1 \2/p' \
        "$root_of_tests/catch/unit/$unit/CMakeLists.txt" | each started_program "$unit"
    tr -s '[:space:]' ' ' < "$root_of_tests/catch/unit/$unit/CMakeLists.txt" | sed 's/add_custom_target/\n&/g' |
        sed -nE 's|^add_custom_target.(lib[[:alnum:]]+\.so) [^()]*/([[:alnum:]]+\.cc).*|\1 \2|p' | sort -u | each library "$unit"
    # Headers and settings that cases read.
    (cd "$root_of_tests/catch/unit/$unit" && find . -name '*.h' -o -name '*.json') |
        (cd "$root_of_tests/catch/unit/$unit" && xargs -r cp --parents -t "$folder")
    names=$(cd "$root_of_tests/catch/unit/$unit" && { grep -l TEST_CASE -- *.cc || true; } | sed 's/\.cc$//')
    [ -z "$names" ] || each program "$unit" <<< "$names"
    for name in $names; do
        [ -x "$folder/$name" ] || continue
        run_in_debian "${folder#"$debian"}/$name" --list-test-names-only 2> /dev/null | sed -n "s|^\([A-Za-z].*\)|$unit $name \1|p" || true
    done > "$work/listed"
    while read -r line; do
        grep -qF "\"${line#* * }\"" "$left_out" || echo "$line"
    done < "$work/listed" >> "$work/cases"
done
excluded "$gpu" "$work/cases"
each run_case < "$work/cases" > "$work/$gpu"
results "$gpu" "$work/$gpu"
finish
