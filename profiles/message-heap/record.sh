#!/bin/sh
# Builds both sides, records them, ten runs each in turns, and simulates their
# branches with callgrind.
#
#   usage: record.sh DIR
#
# See ../record.sh for what it needs and where it runs. $RUNS says how many runs a side.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# = 1 ] || { echo "usage: record.sh DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
stage=/data/local/tmp/message-heap
"$here/build.sh" "$out/symbols"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for side in before after; do # both dispatch the same messages in the same order
	"$out/symbols$stage/$side/message-heap" 100000 >"$scratch/$side" 2>/dev/null
done
cmp "$scratch/before" "$scratch/after"

export CALLGRIND=300000 KALLSYMS=symbols/kallsyms
"$here/../record.sh" $stage "$out" --runs "${RUNS:-10}" --work messages \
	--before $stage/before/message-heap --after $stage/after/message-heap
