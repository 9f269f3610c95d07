#!/usr/bin/env bash
# Builds the emulator, the commands and the Python module for 64-bit ARM Linux, and runs their tests in qemu.
#
#   tests/aarch64.sh [PACKAGE...]
#
# Without packages, all but the tests of whole products (the package ferrowave), which would take hours.
#
# clang compiles and links for ARM with Debian's arm64 libraries; they, clang and qemu are unpacked in the user's cache. Tests start
# programs for ARM, so qemu is registered with the kernel: in a user namespace, where nothing else sees it (Linux 6.7 or later).
set -euo pipefail
if [ -z "${FERROWAVE_IN_NAMESPACE:-}" ]; then
    namespace=(unshare --user --map-root-user --mount)
    "${namespace[@]}" true 2> /dev/null || { echo "aarch64: not run: needs user namespaces"; exit 0; }
    FERROWAVE_IN_NAMESPACE=yes exec "${namespace[@]}" "$0" "$@"
fi
all=no packages=("${@/#/--package=}")
[ $# -gt 0 ] || all=yes packages=(--workspace --exclude ferrowave)
set -- full
. "$(dirname "$0")/real_programs/common.sh"
cd "$repository"
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc 2> /dev/null ||
    not_run "needs a binfmt_misc in a user namespace, which Linux has from 6.7 on"
debian qemu-user clang
gcc=$(ls "$debian/usr/lib/gcc/x86_64-linux-gnu" | sort -n | tail -1)
foreign arm64 libc6-dev "libgcc-$gcc-dev" dash python3 python3-numpy python3-pytest
qemu=$debian/usr/bin/qemu-aarch64
"$qemu" --version | head -1
# Programs whose ELF header names the machine 183 (0xb7). F: qemu is opened now, P: it is told a program's name.
printf '%s' ':aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$qemu"':FP' \
    > /proc/sys/fs/binfmt_misc/register
export QEMU_LD_PREFIX=$foreign

llvm=$(echo "$debian"/usr/lib/llvm-*)
linker=$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/bin/gcc-ld
mkdir -p "$work/bin"
cat > "$work/bin/cc" <<SCRIPT
#!/usr/bin/env bash
# clang for 64-bit ARM. It cannot start itself through Debian's loader, as it does to compile and link in one call.
# rustc names x86-64 by -m64: build scripts, and the crates that tests make, are linked by the system's compiler.
set -e
case " \$* " in *" -m64 "*) exec $(command -v cc) "\$@" ;; esac
clang() {
    $debian/lib64/ld-linux-x86-64.so.2 --library-path $debian/usr/lib/x86_64-linux-gnu:$llvm/lib $llvm/bin/clang \\
        --target=aarch64-linux-gnu --sysroot=$foreign -resource-dir=$(echo "$llvm"/lib/clang/*) \\
        -Wno-unused-command-line-argument "\$@"
}
objects=\$(mktemp -d)
trap 'rm -rf "\$objects"' EXIT
sources=() options=() output=()
while [ \$# -gt 0 ]; do
    case \$1 in
    -o) output=("\$1" "\$2"); shift ;;
    *.c) sources+=("\$1") ;;
    *) options+=("\$1") ;;
    esac
    shift
done
for source in "\${sources[@]}"; do
    clang "\${options[@]}" -c "\$source" -o "\$objects/\$(basename "\$source").o"
done
[ \${#sources[@]} = 0 ] || options=("\$objects"/*.o "\${options[@]}")
clang -B$linker -fuse-ld=lld "\${options[@]}" "\${output[@]}"
SCRIPT
chmod +x "$work/bin/cc"
ln -s "$foreign/usr/bin/dash" "$work/bin/sh"
rustup --quiet target add aarch64-unknown-linux-gnu
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$work/bin/cc CC_aarch64_unknown_linux_gnu=$work/bin/cc
# The kernels are compiled by the host, for GPUs of both families; the tests of `ferrowave tune` take those of gfx90a.
export FERROWAVE_GPUS=gfx90a,gfx942,gfx1100
test=(cargo test --no-fail-fast --target aarch64-unknown-linux-gnu --tests "${packages[@]}")
"${test[@]}" --no-run
if [ "$all" = yes ]; then
    blas=$foreign/usr/lib/aarch64-linux-gnu
    CARGO_BUILD_TARGET=aarch64-unknown-linux-gnu PYTHON=$foreign/usr/bin/python3 LD_LIBRARY_PATH=$blas/blas:$blas/lapack python/test.sh
fi
# From here on, `cc` and `sh` are ARM's.
export PATH=$work/bin:$PATH
# Skipped: qemu starts a child by fork where Rust asks for vfork, so that a program that does not exist is an exit code, not an error.
skipped=(child::tests::a_command_that_does_not_start_is_an_error)
# Skipped: they give children time limits of some seconds, within which one does not start in qemu.
skipped+=(a_kernel_that_hangs_is_ended_at_the_limit a_product_that_hangs_or_faults_does_not_take_the_command_with_it
    a_report_of_a_gpu_that_fails_has_no_success a_report_takes_the_gpu_with_kernels_and_labels_times_as_measured)
# Skipped: the crate of this test is compiled for the host, whose program cannot load ARM's library.
skipped+=(tutorial::every_command_runs_and_says_what_the_page_shows)
"${test[@]}" -- "${skipped[@]/#/--skip=}"
