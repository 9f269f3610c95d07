#!/usr/bin/env bash
# The test programs of rocRAND, rocFFT, rocSOLVER and rocSPARSE, and of hipRAND, hipFFT, hipSOLVER and hipSPARSE, which call
# them. Cases are drawn by a seed, evenly from the functions, without the large cases that AMD runs daily.
#
# FERROWAVE_MATH_GPUS has the GPUs, "gfx90a gfx908" by default, FERROWAVE_MATH_CASES the cases of a library in the long form.
set -euo pipefail
. "$(dirname "$0")/common.sh"
debian lib{rocrand1,hiprand1,rocfft0,hipfft0,rocsolver0,hipsolver0,rocsparse1,hipsparse1}-tests
libraries

cases() {
    local library=$1 program
    for program in "$debian/usr/libexec/rocm/lib$library-tests"/*test*; do
        [[ $program == */run-tests ]] || google_tests "${program#"$debian"}" "${arguments[@]}"
    done
}

for device in ${FERROWAVE_MATH_GPUS:-gfx90a gfx908}; do
    export FERROWAVE_DEVICE=emulator:$device
    for library in rocrand1 hiprand1 rocfft0 hipfft0 rocsolver0 hipsolver0 rocsparse1 hipsparse1; do
        arguments=()
        # These programs draw their cases by a seed, which would be another one for each call.
        [[ $library != *fft0 ]] || arguments=(--seed 1)
        options=(--case-seconds 300 "${arguments[@]/#/--argument=}")
        count=$([ "$form" = sample ] && echo 10 || echo "${FERROWAVE_MATH_CASES:-300}")
        if [ "$library" = rocsparse1 ]; then
            # It reads its cases from a file; reading all of it takes minutes.
            python3 "$here/gentest_data.py" "$debian/usr/share/librocsparse1-tests/data/rocsparse_test.data" quick "$count" "$device" \
                > "$ours/rocsparse" 2> "$work/$device-rocsparse.drawn"
            options+=(--argument=--data --argument="${ours#"$debian"}/rocsparse")
            google_tests /usr/libexec/rocm/librocsparse1-tests/rocsparse-test --data "${ours#"$debian"}/rocsparse" > "$work/cases"
        else
            # The part of a name up to the first parameter is the function.
            cases "$library" | grep -v ' daily_' | draw "$device" "$count" '^[^ ]* [^/]*[^.]*\.[^/]*' > "$work/cases"
        fi
        excluded "$device" "$work/cases"
        run_cases "$work/cases" "${options[@]}" > "$work/$device-$library"
        results "$device, $library" "$work/$device-$library"
    done
done
finish
