#!/bin/sh
# Compiles the comparator and the heap of message_heap.c to AArch64, for llvm-mca: they are
# not run.
#
#   usage: aarch64.sh [DIR]
#
# The listings go to DIR (default: aarch64): before.s and after.s. Needs
# aarch64-linux-gnu-gcc, but no C library: only the part between "order" and "queue" is
# compiled, with the types before it. The flags are those of build.sh.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-$here/aarch64}"
out=$(cd "${1:-$here/aarch64}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cd "$scratch"
{
	printf '#include <stddef.h>\n#include <stdint.h>\n'
	sed -n '/^#define NOINLINE/,/^static void die/p' "$here/message_heap.c" | sed '$d'
	sed -n '/^\/\/ ---- order/,/^\/\/ ---- queue/p' "$here/message_heap.c"
} >message_heap.c
flags="-std=c11 -Wall -Wextra -O2 -fno-omit-frame-pointer -falign-functions=64 -ffreestanding
	-fno-if-conversion -fno-ipa-ra -fno-schedule-insns2 -fno-asynchronous-unwind-tables"
# shellcheck disable=SC2086 # the flags are words
aarch64-linux-gnu-gcc $flags -S -o "$out/before.s" message_heap.c
# shellcheck disable=SC2086
aarch64-linux-gnu-gcc $flags -DMESSAGE_COMPARE_BRANCHLESS -S -o "$out/after.s" message_heap.c
