#!/bin/sh
# Builds both sides, records them, six runs each in turns, and simulates their branches with
# callgrind.
#
#   usage: record.sh DIR
#
# What is decompressed is the source of liblzma itself, packed by xz. See ../record.sh for
# what this needs and where it runs. $RUNS says how many runs a side; $LIBLZMA is the crate
# liblzma-sys 0.4.9.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# = 1 ] || { echo "usage: record.sh DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
stage=/data/local/tmp/xz-decoder
input=/data/local/tmp/xz-decoder.xz # stays where it is while the programs are staged

scratch=$(mktemp -d)
trap 'rm -rf "$scratch" $input' EXIT
if [ -z "${LIBLZMA-}" ]; then
	(cd "$scratch" && cargo init -q --name fetch && cargo add -q liblzma-sys@=0.4.9 && cargo fetch -q)
	LIBLZMA=$(cd "$scratch" && cargo metadata --format-version 1 |
		sed 's/.*"manifest_path":"\([^"]*liblzma-sys-0.4.9\)\/Cargo.toml".*/\1/')
fi
export LIBLZMA
"$here/build.sh" "$out/symbols"
mkdir -p "${input%/*}"
cat "$LIBLZMA"/xz/src/liblzma/*/*.[ch] | xz -6 >$input

for side in before after; do # both decompress the same
	"$out/symbols$stage/$side/decode" $input 1 >"$scratch/$side"
done
cmp "$scratch/before" "$scratch/after"

export CALLGRIND="$input 1"
"$here/../record.sh" $stage "$out" --runs "${RUNS:-6}" --recorder-arg=-z --recorder-arg=--buildid-mmap \
	--before "$stage/before/decode $input 40" --after "$stage/after/decode $input 40"
gzip -9 -n "$out"/callgrind/*.out
