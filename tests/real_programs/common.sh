# What the suites share: each SUITE.sh sources this file with `set -euo pipefail`, and is called with `sample` or `full`.
#
#   debian PACKAGE...            unpacks packages of Debian's suite sid into $debian, without root, installing nothing
#   libraries                    builds this checkout's libraries and lays them out in the folder $ours
#   run_in_debian PROGRAM ARG... runs a program from $debian on them; NAME=VALUE may stand before it, and $time_limit
#                                (seconds, 600 at first) ends it
#   google_tests PROGRAM ARG...  lists the cases of a program with Google's tests, as run_cases takes them
#   run_cases LIST [OPTION...]   runs cases of test programs from $debian, see cases.py
#   draw SEED COUNT PATTERN      draws lines by a seed, see draw.py
#   excluded DEVICE FILE         takes those names out of the file that SUITE.excluded has, and sets $excluded to how many
#   results DEVICE FILE          names each failure and prints the device's line; the file has a line «passed NAME»,
#                                «skipped NAME» or «failed NAME: why» for each case
#   finish                       ends the suite, with an error if a case of any device failed
#
# SUITE.excluded has in each line a device or *, a pattern of names (as in bash's [[ ]]), and behind # the reason.
# What is downloaded stays in $cache, for other checkouts too; what a run leaves is in $work.

suite=$(basename "$0" .sh)
form=${1:-}
[ "$form" = sample ] || [ "$form" = full ] || { echo "usage: $0 sample|full" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ferrowave/real-programs
debian=$cache/debian
work=${CARGO_TARGET_DIR:-$repository/target}/real-programs/$suite
rm -rf "$work"
mkdir -p "$cache" "$work"
work=$(cd "$work" && pwd)
# How many programs may run at a time.
workers=$(nproc)
# What goes before chroot, where the user is not root.
root=()

# Ends the suite: a line for people, success for CI.
not_run() {
    echo "$suite: not run: $1"
    exit 0
}

# Each archive that has been unpacked has a mark, each package that was asked for another: an interrupted call is taken
# up where it ended, and one that has nothing to do asks no server. A new package is resolved together with all earlier
# ones, so that those in the folder always come from one state of the suite.
debian() {
    command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null || not_run "needs apt-get and dpkg-deb"
    local mirror apt=$debian/.apt package missing=no uri deb rest
    mkdir -p "$apt"/{asked,unpacked}
    exec 7> "$apt/lock"
    flock 7
    for package; do
        [ -e "$apt/asked/$package" ] || missing=yes
    done
    if [ "$missing" = yes ]; then
        mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -E '/debian/?$' | head -1 || true)
        [ -n "$mirror" ] || not_run "needs a Debian mirror among apt's sources"
        rm -rf "$apt/archives"
        mkdir -p "$apt"/{lists,archives}/partial
        : > "$apt/status"
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror sid main" > "$apt/sources.list"
        local get=(apt-get -qq -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=-
            -o Dir::State::lists="$apt/lists" -o Dir::State::status="$apt/status" -o Dir::Cache::archives="$apt/archives"
            -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o Debug::NoLocking=1 -o APT::Install-Recommends=0
            -o APT::Architecture=amd64 -o APT::Sandbox::User=root)
        "${get[@]}" update
        local wanted=(coreutils $(ls "$apt/asked") "$@")
        # One line an archive: 'URI' NAME SIZE HASH. Only those without a mark are fetched.
        "${get[@]}" install --print-uris "${wanted[@]}" | grep "^'" > "$apt/archives.list"
        local fetch=()
        while read -r uri deb rest; do
            # A package is fetched as NAME=VERSION; apt writes the colon of an epoch as %3a in names of files.
            [ -e "$apt/unpacked/$deb" ] || fetch+=("$(cut -d_ -f1,2 <<< "$deb" | sed 's/_/=/; s/%3a/:/')")
        done < "$apt/archives.list"
        if [ "${#fetch[@]}" -gt 0 ]; then
            (cd "$apt/archives" && "${get[@]}" download "${fetch[@]}")
            for deb in "$apt"/archives/*.deb; do
                dpkg-deb --extract "$deb" "$debian"
                : > "$apt/unpacked/$(basename "$deb")"
                rm "$deb"
            done
        fi
        for package; do
            : > "$apt/asked/$package"
        done
        rm -rf "$apt/lists" "$apt/archives"
    fi
    for package in lib lib64 bin; do
        [ -e "$debian/$package" ] || ln -s "usr/$package" "$debian/$package"
    done
    mkdir -p "$debian"/{dev,tmp}
    [ -e "$debian/dev/null" ] || : > "$debian/dev/null"
    exec 7>&-
    [ "$(id -u)" = 0 ] || root=(unshare --map-root-user)
    "${root[@]}" chroot "$debian" /usr/bin/true 2> /dev/null || not_run "needs root or user namespaces, for a chroot"
}

# Builds what `make test` has built already, and prints cargo's messages, which name the files: its selection of packages is
# the same, and so are their features and their profile, unless $CARGO_PROFILE names another. Options choose among targets.
artifacts() {
    (cd "$repository" && FERROWAVE_GPUS=gfx908,gfx90a,gfx942,gfx950 cargo test --quiet --workspace --no-run \
        ${CARGO_PROFILE:+--profile "$CARGO_PROFILE"} --message-format json "$@")
}

# Builds the libraries, and lays them out in a folder of this run as their clients ask for them.
libraries() {
    local messages library file names name inside lib=/usr/lib/x86_64-linux-gnu
    mkdir -p "$debian/tmp"
    # Its name is no suite's: rocBLAS looks for its files beside the first library whose path has `rocblas` in it.
    ours=$(mktemp -d "$debian/tmp/ours.XXXXXX")
    trap 'rm -rf "$ours"' EXIT
    chmod 755 "$ours"
    # The tests of that name need the libraries.
    messages=$(artifacts --test shared_library)
    for library in libamdhip64 librocm_smi64; do
        file=$(grep -oE "\"[^\"]*/$library\.so\"" <<< "$messages" | tail -1 | tr -d '"')
        case $library in
        libamdhip64) names=(libamdhip64.so libamdhip64.so.{5,6,7} libhiprtc.so{,.6,.7}) ;;
        librocm_smi64) names=(librocm_smi64.so librocm_smi64.so.1 librocm_smi64.so.7) ;;
        esac
        cp "$file" "$ours/${names[0]}"
        for name in "${names[@]:1}"; do
            ln -s "${names[0]}" "$ours/$name"
        done
    done
    inside=${ours#"$debian"}
    in_debian=("${root[@]}" chroot "$debian" /usr/bin/env "TMPDIR=$inside"
        "LD_LIBRARY_PATH=$inside:$lib/blas:$lib/lapack")
}

run_in_debian() {
    timeout --kill-after=5 "${time_limit:-600}" "${in_debian[@]}" "$@"
}

# Lines are suites, and with two spaces before them cases, behind which # begins a comment.
google_tests() {
    run_in_debian "$@" --gtest_list_tests 2> /dev/null |
        awk -v program="$1" '/^[^ ]+\.( *#.*)?$/ { suite = $1 } /^  [^ ]/ && suite && suite $1 !~ /DISABLED_/ { print program, suite $1 }'
}

run_cases() {
    local list=$1
    shift
    python3 "$here/cases.py" --workers "$workers" --logs "$(mktemp -d "$work/${FERROWAVE_DEVICE#*:}.XXX")" "$@" "$list" -- "${in_debian[@]}"
}

draw() {
    python3 "$here/draw.py" "$@"
}

excluded() {
    local device=$1 file=$2 name on pattern reason
    excluded=0
    [ -e "$here/$suite.excluded" ] || return 0
    local patterns=()
    while read -r on pattern reason; do
        [ "$on" = "$device" ] || [ "$on" = "*" ] || continue
        patterns+=("$pattern")
    done < <(grep -v '^ *\(#\|$\)' "$here/$suite.excluded")
    while IFS= read -r name; do
        for pattern in "${patterns[@]}"; do
            # shellcheck disable=SC2053 # It is a pattern.
            if [[ $name == $pattern ]]; then
                excluded=$((excluded + 1))
                continue 2
            fi
        done
        echo "$name"
    done < "$file" > "$file.left"
    mv "$file.left" "$file"
}

excluded=0 any_failed=no
results() {
    local device=$1 file=$2 passed failed skipped
    passed=$(grep -c '^passed ' "$file" || true)
    failed=$(grep -c '^failed ' "$file" || true)
    skipped=$(grep -c '^skipped ' "$file" || true)
    grep -vE '^(passed|skipped) ' "$file" | sed "s/^/$suite $device: /" || true
    [ "$skipped" = 0 ] && skipped= || skipped=", $skipped skipped by the suite"
    echo "$suite $device: $passed passed, $failed failed, $excluded excluded$skipped"
    # No case at all is no success.
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ] || any_failed=yes
}

finish() {
    [ "$any_failed" = no ] || { echo "$suite: what failed is in $work"; exit 1; }
}
