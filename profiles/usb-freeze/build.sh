#!/bin/sh
# Builds both sides of usb_freeze.c.
#
#   usage: build.sh [DIR]
#
# The binaries go to DIR (default: symbols), under the path from which record.sh runs
# them: DIR/data/local/tmp/usb-freeze/{before,after}/usb-freeze. The compiler is $CC
# (default: gcc).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-$here/symbols}"
out=$(cd "${1:-$here/symbols}" && pwd)

# -static                      no shared library has to be shipped to name a frame
# -fno-optimize-sibling-calls  callers stay on the stack
# -ffile-prefix-map            no directory of the building machine in the DWARF
cd "$here"
for side in before after; do
	binary=$out/data/local/tmp/usb-freeze/$side/usb-freeze
	define=
	if [ $side = after ]; then
		define=-DCOPY_BEFORE_RETURN
	fi
	mkdir -p "${binary%/*}"
	${CC:-gcc} -std=c11 -Wall -Wextra -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls \
		-static -pthread -ffile-prefix-map="$here"=/usr/src/usb-freeze -Wl,--build-id=sha1 \
		$define -o "$binary" usb_freeze.c
done
