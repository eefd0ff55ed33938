#!/bin/sh
# Builds a program before and after its refactoring, records both, eight runs each in
# turns, and counts their instructions with callgrind.
#
#   usage: record.sh WHAT DIR
#
# WHAT is rename, inline, split, lambda or removed-path. See ../record.sh for what it needs
# and where it runs. Runs go before other programs. $RUNS says how many runs a side.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# = 2 ] || { echo "usage: record.sh WHAT DIR" >&2; exit 2; }
what=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
stage=/data/local/tmp/refactorings/$what

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$here/build.sh" "$scratch"
rm -rf "$out/symbols"
cp -r "$scratch/$what/symbols" "$out/symbols"
for side in before after; do # both come to the same
	"$out/symbols$stage/$side/$what" 100 2>/dev/null | grep -E '^(ops|checksum) ' >"$scratch/$side"
done
cmp "$scratch/before" "$scratch/after"

export CALLGRIND=100 KALLSYMS=symbols/kallsyms
nice -n -20 "$here/../record.sh" "$stage" "$out" --runs "${RUNS:-8}" --work ops \
	--before "$stage/before/$what" --after "$stage/after/$what"
