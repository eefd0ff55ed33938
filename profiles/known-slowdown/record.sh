#!/bin/sh
# Builds the four builds and records them, 20 runs of same and 10 of each other in one
# interleaved order, then counts their instructions with callgrind.
#
#   usage: record.sh DIR
#
# Writes DIR/{same,slow10,slow30,half}/NN.data, DIR/callgrind/BUILD.out, DIR/symbols and the
# notes of `profdiff record`, DIR/recordings/{slow10,slow30,half}/recording.yaml. See
# ../record.sh for what it needs and where it runs. Runs go before other programs. $RUNS
# says how many runs a side, an even number.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# = 1 ] || { echo "usage: record.sh DIR" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
runs=${RUNS:-10}
stage=/data/local/tmp/known-slowdown
"$here/build.sh" "$out/symbols"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for build in same slow10 slow30 half; do # all answer the same requests
	"$out/symbols$stage/$build/known-slowdown" 1000 2>/dev/null >"$scratch/printed.$build"
	cmp "$scratch/printed.same" "$scratch/printed.$build"
done

# record NAME BEFORE AFTER RUNS records what is missing of so many runs a side.
warmup=1
record() {
	mkdir -p "$out/recordings/$1"
	ln -sfn ../../symbols "$out/recordings/$1/symbols"
	nice -n -20 "$here/../record.sh" $stage "$out/recordings/$1" --runs "$4" --warmup $warmup --work ops \
		--before "$stage/$2/known-slowdown" --after "$stage/$3/known-slowdown"
}

# Ten blocks, each with a run of slow10 and of slow30, each beside one of same, and every
# other one with two of half. profdiff record draws which run of a pair is first.
export KALLSYMS=
block=1
while [ "$block" -le "$runs" ]; do
	record slow10 same slow10 "$block"
	record slow30 same slow30 "$block"
	if [ $((block % 2)) = 0 ]; then
		record half half half $((block / 2))
	fi
	[ $block = 1 ] || warmup=0 # all builds have run
	block=$((block + 1))
done
export CALLGRIND=100
record slow10 same slow10 "$runs" # has all runs: only callgrind is missing
mv "$out/recordings/slow10/callgrind" "$out/callgrind"

# move RECORDING SIDE BUILD FACTOR OFFSET moves run N of a side to BUILD/(FACTOR·N+OFFSET).data.
move() {
	mkdir -p "$out/$3"
	for file in "$out/recordings/$1/$2"/*.data; do
		number=$(basename "$file" .data)
		to=$3/$(printf %02d $(($4 * ${number#0} + $5))).data
		mv "$file" "$out/$to"
		sed -i "s|file: $2/$number.data\$|file: $to|" "$out/recordings/$1/recording.yaml"
	done
}
move slow10 before same 2 -1
move slow10 after slow10 1 0
move slow30 before same 2 0
move slow30 after slow30 1 0
move half before half 2 -1
move half after half 2 0

"$here/../message-heap/trim-kallsyms.sh" "$out"/*/*.data >"$out/symbols/kallsyms"
for recording in "$out"/recordings/*; do
	rm -rf "$recording/before" "$recording/after" "$recording/symbols" "$recording/kallsyms"
done
