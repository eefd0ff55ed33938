#!/bin/sh
# Builds renderer_start.c, once: the sides differ in a permission bit of a file.
#
#   usage: build.sh [DIR]
#
# The binary goes to DIR (default: symbols), under the paths from which record.sh runs it:
# DIR/data/local/tmp/renderer-start/{before,after}/renderer-start. The compiler is $CC
# (default: gcc).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-$here/symbols}"
out=$(cd "${1:-$here/symbols}" && pwd)/data/local/tmp/renderer-start

# -static                      no shared library has to be shipped to name a frame
# -fno-optimize-sibling-calls  callers stay on the stack
# -ffile-prefix-map            no directory of the building machine in the DWARF
cd "$here"
mkdir -p "$out/before" "$out/after"
${CC:-gcc} -std=c11 -Wall -Wextra -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	-static -ffile-prefix-map="$here"=/usr/src/renderer-start -Wl,--build-id=sha1 \
	-o "$out/before/renderer-start" renderer_start.c
# In the repository after/ is a link to before/, which is not to be written through.
cp --remove-destination "$out/before/renderer-start" "$out/after"
