#!/bin/sh
# Builds both sides and records them, ten runs each in ABBA order: what they do on the
# CPU, or with --off-cpu, in shorter runs, where their threads wait, too.
#
#   usage: record.sh [--off-cpu] DIR
#
# DIR becomes a folder that `profdiff diff DIR` compares. Needs root and perf. The
# programs run from /data/local/tmp under a host name of their own, and perf in DIR: a
# recording names no machine and none of its folders. profdiff is $PROFDIFF (default:
# from PATH), $RUNS says how many runs a side.
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
profdiff=$(realpath "$(command -v "${PROFDIFF:-profdiff}")")
stage=/data/local/tmp/lock-free-queue

made=$stage # the topmost directory that is not there yet
while [ ! -e "${made%/*}/" ]; do
	made=${made%/*}
done
[ ! -e $stage ] || { echo "record.sh: $stage exists" >&2; exit 1; }
trap 'rm -rf "$made"' EXIT
trap 'exit 1' HUP INT PIPE TERM
"$here/build.sh" "$out/symbols"
mkdir -p $stage
cp -r "$out/symbols$stage/before" "$out/symbols$stage/after" $stage

for side in before after; do # both dispatch the same messages
	$stage/$side/lock-free-queue 20000 >$stage/printed.$side
done
cmp $stage/printed.before $stage/printed.after

cd "$out"
# shellcheck disable=SC2086 # $off is one word or none
unshare --uts sh -c 'hostname perf-lab; exec "$@"' - "$profdiff" record -o . $off \
	--runs "${RUNS:-10}" --work messages -e cpu-clock -c 1003009 \
	--recorder-arg=-z --recorder-arg=--buildid-mmap \
	--before "$stage/before/lock-free-queue $messages" \
	--after "$stage/after/lock-free-queue $messages"

rm -rf symbols/.build-id # the same files as those under data/
"$here/../message-heap/trim-kallsyms.sh" before/*.data after/*.data >kallsyms.trimmed
mv kallsyms.trimmed kallsyms
chmod 644 before/*.data after/*.data
