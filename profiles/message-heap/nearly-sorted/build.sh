#!/bin/sh
# Builds both sides of nearly_sorted.c, with the flags of ../build.sh.
#
#   usage: build.sh [DIR]
#
# The binaries go to DIR (default: symbols), under the path from which record.sh runs
# them: DIR/data/local/tmp/nearly-sorted/{before,after}/nearly-sorted. The compiler is
# $CC (default: gcc).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
parent=${here%/*}
mkdir -p "${1:-$here/symbols}"
out=$(cd "${1:-$here/symbols}" && pwd)
cc=${CC:-gcc}
flags="-std=c11 -Wall -Wextra -O2 -g -fno-omit-frame-pointer -static
	-ffile-prefix-map=$parent=/usr/src/message-heap -falign-functions=64 -Wl,--build-id=sha1"
case $($cc --version) in
*clang*) ;;
*) flags="$flags -fno-if-conversion -fno-ipa-ra -fno-schedule-insns2" ;;
esac

cd "$parent"
for side in before after; do
	binary=$out/data/local/tmp/nearly-sorted/$side/nearly-sorted
	define=
	if [ $side = after ]; then
		define=-DMESSAGE_COMPARE_BRANCHLESS
	fi
	mkdir -p "${binary%/*}"
	# shellcheck disable=SC2086 # the flags are words
	$cc $flags $define -o "$binary" nearly-sorted/nearly_sorted.c
done
