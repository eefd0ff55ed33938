#!/bin/sh
# Builds both sides of message_heap.c and prints their build IDs.
#
#   usage: build.sh [DIR]
#
# The binaries go to DIR (default: symbols), under the path from which
# record.sh runs them: DIR/data/local/tmp/message-heap/{before,after}/message-heap.
# The compiler is $CC (default: gcc).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/symbols}
cc=${CC:-gcc}

# -static                    no shared library has to be shipped to name a frame
# -ffile-prefix-map          no directory of the building machine in the DWARF
# -falign-functions=64       with both comparators shorter than 64 bytes, every
#                            other function keeps its address in both builds
# For gcc:
# -fno-if-conversion         the jumps of the source stay jumps
# -fno-ipa-ra                callers do not depend on the registers that a callee
#                            happens to use: they are the same bytes in both builds
# -fno-schedule-insns2       the frame is taken down last, so that a walk along
#                            the frame pointers seldom loses the caller
flags="-std=c11 -Wall -Wextra -O2 -g -fno-omit-frame-pointer -static
	-ffile-prefix-map=$here=/usr/src/message-heap -falign-functions=64 -Wl,--build-id=sha1"
case $($cc --version) in
*clang*) ;;
*) flags="$flags -fno-if-conversion -fno-ipa-ra -fno-schedule-insns2" ;;
esac

# jumps lists the conditional jumps of message_compare.
jumps() {
	objdump -d --no-show-raw-insn "$1" |
		awk '/<message_compare>:$/ { inside = 1; next } /^$/ { inside = 0 }
			inside && $2 ~ /^j/ && $2 != "jmp" { print $2 }'
}

cd "$here"
for side in before after; do
	binary=$out/data/local/tmp/message-heap/$side/message-heap
	define=
	if [ $side = after ]; then
		define=-DMESSAGE_COMPARE_BRANCHLESS
	fi
	mkdir -p "${binary%/*}"
	# shellcheck disable=SC2086 # the flags are words
	$cc $flags $define -o "$binary" message_heap.c
	found=$(jumps "$binary" | tr '\n' ' ')
	case $side:$found in
	before:) echo "build.sh: before: message_compare has no conditional jump" >&2; exit 1 ;;
	after:?*) echo "build.sh: after: message_compare has conditional jumps: $found" >&2; exit 1 ;;
	esac
	echo "$side: build id $(readelf -n "$binary" | awk '/Build ID:/ { print $3 }')," \
		"$(wc -c <"$binary") bytes, conditional jumps in message_compare: ${found:-none}"
done
