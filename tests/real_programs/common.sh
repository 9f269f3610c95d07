# Shared by the suites: each SUITE.sh sources this file with `set -euo pipefail`, and is called with `sample` or `full`.
#
#   debian PACKAGE...            unpacks packages of Debian's suite sid into $debian, without root, installing nothing
#   foreign ARCH PACKAGE...      unpacks packages of another architecture, and sets $foreign to their folder
#   folder                       makes the folder $ours in $debian, which is removed at the end, and sets $inside to its path there
#   libraries                    builds this checkout's libraries and copies them to $ours
#   run_in_debian PROGRAM ARG... runs a program from $debian with these libraries; NAME=VALUE may precede it; it is ended
#                                after $time_limit seconds (600 by default)
#   google_tests PROGRAM ARG...  lists the cases of a GoogleTest program in the form that run_cases takes
#   run_cases LIST [OPTION...]   runs cases of test programs from $debian, see cases.py
#   draw SEED COUNT PATTERN      draws lines by a seed, see draw.py
#   excluded DEVICE FILE         removes the names in SUITE.excluded from the file, and sets $excluded to their number
#   browsers                     sets $browsers to those in which pages are tested, Chromium first, and $axe to axe-core's script
#   browser NAME                 sets $browser to a command that runs one of them, with a profile in $ours
#   results DEVICE FILE          prints each failure and a line for the device; the file has a line «passed NAME»,
#                                «skipped NAME» or «failed NAME: why» for each case
#   finish                       ends the suite, with an error if a case failed on any device
#
# Each line of SUITE.excluded has a device or *, a pattern of names (as in bash's [[ ]]), and after # the reason.
# Downloads stay in $cache, also for other checkouts. The files of a run are in $work.

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
# The number of programs that run at a time.
workers=$(nproc)
# The command before chroot, if the user is not root.
root=()

# Ends the suite with a message, but without an error.
not_run() {
    echo "$suite: not run: $1"
    exit 0
}

# A mark is kept for each unpacked archive and each requested package, so that an interrupted call resumes, and a call
# with nothing to do needs no server. A new package is resolved together with all earlier ones, so that all packages in
# the folder come from one state of the suite.
debian() {
    unpack amd64 "$debian" "$@"
    [ "$(id -u)" = 0 ] || root=(unshare --map-root-user)
    "${root[@]}" chroot "$debian" /usr/bin/true 2> /dev/null || not_run "needs root or user namespaces, for a chroot"
}

foreign() {
    foreign=$cache/debian-$1
    mkdir -p "$foreign"
    unpack "$1" "$foreign" "${@:2}"
}

# unpack ARCH FOLDER PACKAGE...
unpack() {
    local architecture=$1 debian=$2
    shift 2
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
            -o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture" -o APT::Sandbox::User=root)
        "${get[@]}" update
        local wanted=(coreutils $(ls "$apt/asked") "$@")
        # One line per archive: 'URI' NAME SIZE HASH. Only archives without a mark are fetched.
        "${get[@]}" install --print-uris "${wanted[@]}" | grep "^'" > "$apt/archives.list"
        local fetch=()
        while read -r uri deb rest; do
            # A package is fetched as NAME=VERSION. In file names, apt writes the colon of an epoch as %3a.
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
        [ -L "$debian/$package" ] || [ -e "$debian/$package" ] || ln -s "usr/$package" "$debian/$package"
    done
    mkdir -p "$debian"/{dev,tmp}
    [ -e "$debian/dev/null" ] || : > "$debian/dev/null"
    exec 7>&-
}

# Builds test targets and prints cargo's messages, which name the files. Packages, features and profile (unless
# $CARGO_PROFILE names another) are those of `make test`, so that its build is reused, and so are the GPUs of our kernels unless
# $gpus names others. Options select targets.
artifacts() {
    (cd "$repository" && FERROWAVE_GPUS=${gpus:-gfx908,gfx90a,gfx942,gfx950,gfx1100,gfx1201} cargo test --quiet --workspace --no-run \
        ${CARGO_PROFILE:+--profile "$CARGO_PROFILE"} --message-format json "$@")
}

folder() {
    mkdir -p "$debian/tmp"
    # Must not contain a suite's name: rocBLAS looks for its files beside the first library with `rocblas` in its path.
    ours=$(mktemp -d "$debian/tmp/ours.XXXXXX")
    trap 'rm -rf "$ours"' EXIT
    chmod 755 "$ours"
    inside=${ours#"$debian"}
}

# Builds the libraries, and copies them to a folder of this run under the names that programs look for.
libraries() {
    local messages library file names name lib=/usr/lib/x86_64-linux-gnu
    folder
    # These tests depend on the libraries.
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
    in_debian=("${root[@]}" chroot "$debian" /usr/bin/env "TMPDIR=$inside"
        "LD_LIBRARY_PATH=$inside:$lib/blas:$lib/lapack")
}

run_in_debian() {
    timeout --kill-after=5 "${time_limit:-600}" "${in_debian[@]}" "$@"
}

# Lines are suites or, indented by two spaces, cases. A # starts a comment.
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
            # shellcheck disable=SC2053 # A pattern.
            if [[ $name == $pattern ]]; then
                excluded=$((excluded + 1))
                continue 2
            fi
        done
        echo "$name"
    done < "$file" > "$file.left"
    mv "$file.left" "$file"
}

# A sample is tested in Chromium only. Browsers need /proc and /dev, which are mounted only for them. What they start ends with them.
browsers() {
    local version=4.14.1
    browsers=(chromium)
    [ "$form" = sample ] || browsers+=(firefox)
    debian "${browsers[@]/#firefox/firefox-esr}" fonts-dejavu-core
    browser_root=(unshare --mount --pid --fork --kill-child)
    [ "$(id -u)" = 0 ] || browser_root+=(--map-root-user)
    mkdir -p "$debian/proc"
    "${browser_root[@]}" mount -t proc proc "$debian/proc" 2> /dev/null || not_run "needs to mount /proc in a namespace, for browsers"
    browser_root+=(sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"' "$debian" /usr/bin/env)
    axe=$cache/axe-$version.js
    if [ ! -e "$axe" ]; then
        curl --fail --silent --show-error --output "$work/axe.tgz" "https://registry.npmjs.org/axe-core/-/axe-core-$version.tgz"
        tar -xzf "$work/axe.tgz" -C "$work" package/axe.min.js
        mv "$work/package/axe.min.js" "$axe"
    fi
}

browser() {
    local profile=$inside/$1
    mkdir -p "$ours/$1"
    browser=("${browser_root[@]}" "HOME=$profile" "TMPDIR=$profile")
    case $1 in
    chromium) browser+=(/usr/lib/chromium/chromium "--user-data-dir=$profile") ;;
    firefox)
        # Any port that is free.
        echo 'user_pref("marionette.port", 0);' > "$ours/$1/user.js"
        browser+=(/usr/lib/firefox-esr/firefox-esr --profile "$profile")
        ;;
    esac
}

excluded=0 any_failed=no
results() {
    local device=$1 file=$2 passed failed skipped
    passed=$(grep -c '^passed ' "$file" || true)
    failed=$(grep -c '^failed ' "$file" || true)
    skipped=$(grep -c '^skipped ' "$file" || true)
    grep -vE '^(passed|skipped) ' "$file" | sed "s/^/$suite $device: /" || true
    # run.sh repeats these.
    grep '^failed ' "$file" | sed "s/^/$suite $device: /" >> "$work/failed" || true
    [ "$skipped" = 0 ] && skipped= || skipped=", $skipped skipped by the suite"
    echo "$suite $device: $passed passed, $failed failed, $excluded excluded$skipped"
    # Without any case, the suite fails.
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ] || any_failed=yes
}

finish() {
    [ "$any_failed" = no ] || { echo "$suite: what failed is in $work"; exit 1; }
}
