#!/bin/sh
# Builds the program and records both sides, ten runs each in turns.
#
#   usage: record.sh DIR
#
# DIR becomes a folder that `profdiff diff DIR` compares, with the start times of each run
# in DIR/values. $RUNS says how many runs a side; for the rest see ../../record.sh.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# = 1 ] || { echo "usage: record.sh DIR" >&2; exit 2; }
stage=/data/local/tmp/renderer-start
mkdir -p "$1/values/before" "$1/values/after"
"$here/build.sh" "$1/symbols"

# A process has no sample before its first period is over: most live for half a
# millisecond, so the period is a tenth of one. Each run writes its values, so none is run
# without being recorded.
"$here/../../record.sh" $stage "$1" --runs "${RUNS:-10}" --warmup 0 --work starts -c 100003 \
	--recorder-arg=-z --recorder-arg=--buildid-mmap \
	--prepare "$stage/before/renderer-start prepare $stage/installs" \
	--before "$stage/before/renderer-start run $stage/installs/before values/before" \
	--after "$stage/after/renderer-start run $stage/installs/after values/after"

# All renderers of both sides have loaded the same.
[ "$(grep -A1 'name: checksum' "$1/recording.yaml" | grep -c value)" = $((2 * ${RUNS:-10})) ]
[ "$(grep -A1 'name: checksum' "$1/recording.yaml" | grep value | sort -u | wc -l)" = 1 ]
