#!/bin/sh
# Builds both sides and records them, ten runs each in turns.
#
#   usage: record.sh [--system-wide] DIR
#
# DIR becomes a folder that `profdiff diff DIR` compares. Needs root and perf, and some
# 500 MB in /data/local/tmp, from where the programs run under a host name of their own.
# perf runs in DIR: a recording names no machine and none of its folders. profdiff is
# $PROFDIFF (default: from PATH), $RUNS says how many runs a side.
#
# --system-wide records all processes of the machine, also those of the kernel that
# write to the disk: such a recording is to look at, not to keep.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
small=--recorder-arg=-z wide=
if [ "${1-}" = --system-wide ]; then
	small='' wide=$1 # perf 6.1 loses records where it compresses many at once
	shift
fi
[ $# = 1 ] || { echo "usage: record.sh [--system-wide] DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
profdiff=$(realpath "$(command -v "${PROFDIFF:-profdiff}")")
stage=/data/local/tmp/snapshot-merge
images=$stage/images

made=$stage # the topmost directory that is not there yet
while [ ! -e "${made%/*}/" ]; do
	made=${made%/*}
done
[ ! -e $stage ] || { echo "record.sh: $stage exists" >&2; exit 1; }
trap 'rm -rf "$made"' EXIT
trap 'exit 1' HUP INT PIPE TERM
"$here/build.sh" "$out/symbols"
mkdir -p $images
cp -r "$out/symbols$stage/before" "$out/symbols$stage/after" $stage

for side in before after; do # both merge to the same image
	$stage/before/snapshot-merge prepare $images 6000
	SNAPSHOT_MERGE_CHECK=1 $stage/$side/snapshot-merge merge $images >$stage/printed.$side
done
cmp $stage/printed.before $stage/printed.after

cd "$out"
# shellcheck disable=SC2086 # $wide and $small are one word or none
unshare --uts sh -c 'hostname perf-lab; exec "$@"' - "$profdiff" record -o . $wide \
	--runs "${RUNS:-10}" --work operations -e cpu-clock -c 500009 \
	$small --recorder-arg=--buildid-mmap \
	--prepare "$stage/before/snapshot-merge prepare $images" \
	--before "$stage/before/snapshot-merge merge $images" \
	--after "$stage/after/snapshot-merge merge $images"

rm -rf symbols/.build-id # the same files as those under data/
"$here/../message-heap/trim-kallsyms.sh" before/*.data after/*.data >kallsyms.trimmed
mv kallsyms.trimmed kallsyms
chmod 644 before/*.data after/*.data
