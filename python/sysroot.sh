#!/usr/bin/env bash
# Makes a folder with the link-time files of glibc 2.28, from the zig compiler of PyPI's ziglang: what is linked with it runs
# wherever manylinux_2_28 wheels do. The system's own glibc may be newer, and a linker takes the newest version of each symbol.
#
#   sysroot.sh PYTHON FOLDER
set -euo pipefail
python=$1 folder=$2
[ ! -e "$folder/made" ] || exit 0
rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
echo 'int main(void) { return 0; }' > "$folder/program.c"
export ZIG_GLOBAL_CACHE_DIR=$folder/zig
"$python" -m ziglang cc -target x86_64-linux-gnu.2.28 "$folder/program.c" -o "$folder/program"
for file in crt1.o libc_nonshared.a libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libutil.so.1 libld.so.2; do
    found=$(find "$folder/zig/o" -name "$file")
    [ -n "$found" ] || { echo "zig made no $file" >&2; exit 1; }
    cp "$found" "$folder"
done
# gcc takes the second for programs that may be loaded anywhere, as Rust's are.
cp "$folder/crt1.o" "$folder/Scrt1.o"
echo "GROUP ( $folder/libc.so.6 $folder/libc_nonshared.a AS_NEEDED ( $folder/libld.so.2 ) )" > "$folder/libc.so"
for name in libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libutil.so.1; do
    ln -s "$name" "$folder/${name%.so.*}.so"
done
rm -rf "$folder"/{zig,program,program.c}
touch "$folder/made"
