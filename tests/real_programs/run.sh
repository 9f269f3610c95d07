#!/usr/bin/env bash
# Runs AMD's own libraries, llama.cpp, tinygrad and cubecl with their own tests on the emulator: a sample of them, or all
# that a machine can in some hours. Each suite is a script beside this one; without names, all of them run, but for cubecl in
# a sample: building it takes minutes.
#
#   tests/real_programs/run.sh sample|full [SUITE...]
set -euo pipefail
cd "$(dirname "$0")"

form=${1:-}
[ "$form" = sample ] || [ "$form" = full ] || { sed -n '2,6p' "$0" >&2; exit 2; }
shift
all=
for script in *.sh; do
    [[ $script == common.sh || $script == run.sh ]] || all+="${script%.sh} "
done
suites=("$@")
[ $# -gt 0 ] || read -ra suites <<< "$all"
[ $# -gt 0 ] || [ "$form" = full ] || suites=("${suites[@]/cubecl/}")

summary=() failed=no
for suite in ${suites[@]}; do
    [[ " $all" == *" $suite "* ]] || { echo "no suite is called $suite; there are: $all" >&2; exit 2; }
    began=$SECONDS
    "./$suite.sh" "$form" || { failed=yes; summary+=("$suite: failed"); }
    summary+=("$suite: $((SECONDS - began)) s")
done
printf '%s\n' "${summary[@]}"
[ "$failed" = no ]
