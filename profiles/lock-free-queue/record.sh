#!/bin/sh
# Builds both sides and records them, ten runs each in turns: what they do on the
# CPU, or with --off-cpu, in shorter runs, where their threads wait, too.
#
#   usage: record.sh [--off-cpu] DIR
#
# See ../record.sh for what it needs and where it runs. $RUNS says how many runs a side.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
messages=1000000
off=
if [ "${1-}" = --off-cpu ]; then
	messages=40000
	off=$1
	shift
fi
[ $# = 1 ] || { echo "usage: record.sh [--off-cpu] DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
stage=/data/local/tmp/lock-free-queue
"$here/build.sh" "$out/symbols"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for side in before after; do # both dispatch the same messages
	"$out/symbols$stage/$side/lock-free-queue" 20000 >"$scratch/$side"
done
cmp "$scratch/before" "$scratch/after"

# shellcheck disable=SC2086 # $off is one word or none
"$here/../record.sh" $stage "$out" $off --runs "${RUNS:-10}" --work messages \
	--recorder-arg=-z --recorder-arg=--buildid-mmap \
	--before "$stage/before/lock-free-queue $messages" \
	--after "$stage/after/lock-free-queue $messages"
