#!/bin/sh
# Builds both sides and records them, ten runs each in turns, with the time that
# threads are off the CPU.
#
#   usage: record.sh DIR
#
# DIR/values/before and DIR/values/after get the latencies of each run's navigations. See
# ../record.sh for what it needs and where it runs. $RUNS says how many runs a side.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# = 1 ] || { echo "usage: record.sh DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
runs=${RUNS:-10}
stage=/data/local/tmp/usb-freeze
"$here/build.sh" "$out/symbols"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for side in before after; do # both show the same screens; this warms up, too
	"$out/symbols$stage/$side/usb-freeze" 50 >"$scratch/$side"
done
cmp "$scratch/before" "$scratch/after"

# Without --warmup: each run of a program leaves a file of values.
mkdir -p "$out/values/before" "$out/values/after"
"$here/../record.sh" $stage "$out" --off-cpu --runs "$runs" --warmup 0 --work navigations \
	--recorder-arg=-z --recorder-arg=--buildid-mmap \
	--before "$stage/before/usb-freeze 50 values/before" \
	--after "$stage/after/usb-freeze 50 values/after"
for side in before after; do
	[ "$(cd "$out/values/$side" && echo ./*)" = "$(seq -s ' ' -f ./%02g.txt "$runs")" ] ||
		{ echo "record.sh: values/$side are not those of the recordings" >&2; exit 1; }
done
