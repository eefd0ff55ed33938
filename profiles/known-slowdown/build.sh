#!/bin/sh
# Builds known_slowdown.c four times, checks that the builds differ in the two
# constants alone, and prints their build IDs.
#
#   usage: build.sh [DIR]
#
# The binaries go to DIR (default: symbols), under the path from which
# record.sh runs them: DIR/data/local/tmp/known-slowdown/BUILD/known-slowdown.
# Needs gcc.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/symbols}

# -static -nostdlib          no library has to be shipped to name a frame
# -ffile-prefix-map          no directory of the building machine in the DWARF
# -fno-shrink-wrap -fno-schedule-insns2
#                            the frame is set up first and taken down last, so
#                            that a walk along the frame pointers seldom loses
#                            the caller
# -fno-tree-loop-distribute-patterns
#                            no calls of memset and memcpy
flags="-std=gnu11 -Wall -Wextra -O2 -g -fno-omit-frame-pointer -static -nostdlib -fno-builtin
	-fno-stack-protector -fno-pie -no-pie -fcf-protection=none -fno-asynchronous-unwind-tables
	-fno-tree-vectorize -fno-tree-loop-distribute-patterns -fno-shrink-wrap -fno-schedule-insns2
	-falign-functions=64 -ffile-prefix-map=$here=/usr/src/known-slowdown -Wl,--build-id=sha1"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cd "$here"
for build in same slow10 slow30 half; do
	case $build in
	same) define= ;;
	slow10) define=-DDIGEST_ROUNDS=2200 ;;
	slow30) define=-DDIGEST_ROUNDS=2600 ;;
	half) define=-DSMOOTH_SAMPLES=800 ;;
	esac
	binary=$out/data/local/tmp/known-slowdown/$build/known-slowdown
	mkdir -p "${binary%/*}"
	# shellcheck disable=SC2086 # the flags are words
	gcc $flags $define -o "$binary" known_slowdown.c
	objcopy -O binary --only-section=.text "$binary" "$scratch/$build.text"
	nm -nS "$binary" >"$scratch/$build.symbols"
	cmp -s "$scratch/same.symbols" "$scratch/$build.symbols" || {
		echo "build.sh: $build: functions are not where they are in same" >&2
		exit 1
	}
	echo "$build: build id $(readelf -n "$binary" | awk '/Build ID:/ { print $3 }')," \
		"$(wc -c <"$binary") bytes," \
		"$({ cmp -l "$scratch/same.text" "$scratch/$build.text" || true; } | wc -l) bytes of code differ from same"
done
