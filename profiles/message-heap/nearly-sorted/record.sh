#!/bin/sh
# Builds both sides and records them, ten runs each in turns.
#
#   usage: record.sh DIR
#
# See ../../record.sh for what it needs and where it runs. $RUNS says how many runs a side.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# = 1 ] || { echo "usage: record.sh DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
name=nearly-sorted
stage=/data/local/tmp/$name
"$here/build.sh" "$out/symbols"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for side in before after; do # both dispatch the same messages in the same order
	"$out/symbols$stage/$side/$name" 100000 >"$scratch/$side"
done
cmp "$scratch/before" "$scratch/after"

"$here/../../record.sh" $stage "$out" --runs "${RUNS:-10}" --work messages \
	--recorder-arg=-z --recorder-arg=--buildid-mmap \
	--before "$stage/before/$name" --after "$stage/after/$name"
