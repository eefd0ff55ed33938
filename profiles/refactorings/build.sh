#!/bin/sh
# Builds the five programs before and after their refactoring, checks that the
# functions of unchanged.h are the same bytes at the same addresses, and prints
# the build IDs.
#
#   usage: build.sh [DIR]
#
# The binaries go to DIR/WHAT/symbols (default: the directory of this script),
# under the path from which record.sh runs them:
# data/local/tmp/refactorings/WHAT/{before,after}/WHAT.
# Needs gcc and g++.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
headers=$(cd "$here/../known-slowdown" && pwd) # freestanding.h

# See build.sh of known-slowdown; -fno-toplevel-reorder keeps the functions in
# the order of the source.
flags="-Wall -Wextra -O2 -fno-omit-frame-pointer -static -nostdlib -fno-builtin
	-fno-stack-protector -fno-pie -no-pie -fcf-protection=none -fno-asynchronous-unwind-tables
	-fno-tree-vectorize -fno-tree-loop-distribute-patterns -fno-shrink-wrap -fno-schedule-insns2
	-fno-toplevel-reorder -falign-functions=64 -I$here -I$headers
	-ffile-prefix-map=$here=/usr/src/refactorings -ffile-prefix-map=$headers=/usr/src/known-slowdown
	-Wl,--build-id=sha1"

# unchanged prints the address, size and bytes of the functions of unchanged.h.
unchanged() {
	for function in parse_page score_page count_page; do
		objdump -d "$1" | awk -v name="$function" '
			/>:$/ { inside = $2 ~ "[<0-9]" name "[P>]" }
			inside && /^ / { sub(/\t[^\t]*$/, ""); print name, $0 }'
	done
}

cd "$here"
for what in rename inline split lambda removed-path; do
	for side in before after; do
		binary=$out/$what/symbols/data/local/tmp/refactorings/$what/$side/$what
		mkdir -p "${binary%/*}"
		case $what in
		lambda) compiler="g++ -std=gnu++17 -fno-exceptions -fno-rtti -g" source=lambda/lambda.cc ;;
		inline) compiler="gcc -std=gnu11 -g0" source=inline/inline.c ;; # no word of the inlined function
		*) compiler="gcc -std=gnu11 -g" source=$what/$(echo $what | tr - _).c ;;
		esac
		define=
		if [ $side = after ]; then
			define=-DAFTER
		fi
		# shellcheck disable=SC2086 # the flags are words
		$compiler $flags $define -o "$binary" $source
		echo "$what/$side: build id $(readelf -n "$binary" | awk '/Build ID:/ { print $3 }'), $(wc -c <"$binary") bytes"
	done
	before=$(unchanged "$out/$what/symbols/data/local/tmp/refactorings/$what/before/$what")
	after=$(unchanged "$out/$what/symbols/data/local/tmp/refactorings/$what/after/$what")
	[ -n "$before" ] && [ "$before" = "$after" ] || {
		echo "build.sh: $what: functions of unchanged.h differ" >&2
		exit 1
	}
done
