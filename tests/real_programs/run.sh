#!/usr/bin/env bash
# Runs the tests of AMD's libraries, llama.cpp, tinygrad and cubecl, HIP programs in C++ and IREE on the emulator, compares the
# disassembler with LLVM's, has AMD's libraries in reports, and tests pages in Chromium and Firefox: a sample of them, or as many
# as run in some hours. Each suite is a script beside this one. Without names all suites run, except that a sample leaves out
# `cubecl`, `disassembly`, `hip_tests`, `magma` and `math`, which take long to fetch, to build or to run.
#
#   tests/real_programs/run.sh sample|full [SUITE...]
#
# FERROWAVE_SUITES_UNTIL is a time in seconds since 1970: suites that would begin later are left out.
set -euo pipefail
shopt -s extglob
cd "$(dirname "$0")"

form=${1:-}
[ "$form" = sample ] || [ "$form" = full ] || { sed -n '2,9p' run.sh >&2; exit 2; }
shift
all=
for script in *.sh; do
    [[ $script == common.sh || $script == run.sh ]] || all+="${script%.sh} "
done
suites=("$@")
[ $# -gt 0 ] || read -ra suites <<< "$all"
[ $# -gt 0 ] || [ "$form" = full ] || suites=("${suites[@]/#@(cubecl|disassembly|hip_tests|magma|math)/}")

summary=() failed=no
for suite in ${suites[@]}; do
    [[ " $all" == *" $suite "* ]] || { echo "no suite is called $suite; there are: $all" >&2; exit 2; }
    if [ -n "${FERROWAVE_SUITES_UNTIL:-}" ] && [ "$(date +%s)" -gt "$FERROWAVE_SUITES_UNTIL" ]; then
        summary+=("$suite: not run: FERROWAVE_SUITES_UNTIL is over")
        continue
    fi
    began=$SECONDS
    "./$suite.sh" "$form" || {
        failed=yes
        summary+=("$suite: failed" "$(head -n 10 "${CARGO_TARGET_DIR:-../../target}/real-programs/$suite/failed" 2> /dev/null || true)")
    }
    summary+=("$suite: $((SECONDS - began)) s")
done
printf '%s\n' "${summary[@]}"
[ "$failed" = no ]
