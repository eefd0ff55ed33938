#!/bin/sh
# Records the four builds with perf, 20 runs of same and 10 of each other in one
# interleaved order, then counts their instructions with callgrind.
#
#   usage: record.sh [DIR]
#
# Writes DIR/{same,slow10,slow30,half}/NN.data, DIR/callgrind/BUILD.out and
# DIR/symbols/kallsyms (default: the directory of this script). Prints one line
# of YAML a run. Needs root and the binaries that build.sh has put under
# symbols/; they run from /data/local/tmp.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
callgrind_requests=100
stage=/data/local/tmp/known-slowdown
builds="same slow10 slow30 half"

fail() {
	echo "record.sh: $*" >&2
	exit 1
}

# ---- checks ---------------------------------------------------------------

for tool in perf valgrind unshare hostname awk sha256sum; do
	command -v $tool >/dev/null || fail "$tool is missing"
done
[ "$(id -u)" = 0 ] || fail "must run as root"
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 1 ] ||
	fail "kernel stacks are not allowed: sysctl kernel.perf_event_paranoid=-1"
[ "$(cat /proc/sys/kernel/kptr_restrict)" = 0 ] ||
	fail "kernel addresses are hidden: sysctl kernel.kptr_restrict=0"
[ ! -e $stage ] || fail "$stage exists"
for build in $builds; do
	[ -x "$here/symbols$stage/$build/known-slowdown" ] || fail "no binary of $build: run build.sh"
	[ ! -e "$out/$build" ] || fail "$out/$build exists: give another directory"
done

made=$stage # the topmost directory that is not there yet
while [ ! -e "${made%/*}/" ]; do
	made=${made%/*}
done
scratch=$(mktemp -d)
trap 'rm -rf "$made" "$scratch"' EXIT
trap 'exit 1' HUP INT PIPE TERM
mkdir -p "$out/callgrind" "$out/symbols" $stage
out=$(cd "$out" && pwd)
cp -r "$here/symbols$stage/." $stage
for build in $builds; do
	mkdir "$out/$build"
	echo 0 >"$scratch/$build"
	$stage/$build/known-slowdown >/dev/null 2>&1 # the first run reads the binary from the disk
done

# ---- recordings -----------------------------------------------------------

# Ten blocks, each with one run of the three changed builds between two of same.
# Every other block is the one before it backwards, so that no build comes
# earlier than another on average.
order() {
	for round in 1 2 3 4 5; do
		case $((round % 3)) in
		1) set -- slow10 slow30 half ;;
		2) set -- slow30 half slow10 ;;
		0) set -- half slow10 slow30 ;;
		esac
		echo same "$1" "$2" "$3" same same "$3" "$2" "$1" same
	done
}

echo "# load before: $(cat /proc/loadavg)"
for build in $(order); do
	number=$(($(cat "$scratch/$build") + 1))
	echo $number >"$scratch/$build"
	file=$build/$(printf %02d $number).data
	"$here/record-run.sh" $stage/$build/known-slowdown "$out/$file" "$file"
done
echo "# load after: $(cat /proc/loadavg)"

# ---- kernel names, instructions -------------------------------------------

"$here/../message-heap/trim-kallsyms.sh" "$out"/*/*.data >"$out/symbols/kallsyms"
echo "# symbols/kallsyms: $(wc -l <"$out/symbols/kallsyms") of $(wc -l </proc/kallsyms) lines"

for build in $builds; do
	valgrind -q --tool=callgrind --callgrind-out-file="$out/callgrind/$build.out" \
		$stage/$build/known-slowdown $callgrind_requests >/dev/null 2>&1
	chmod 644 "$out/callgrind/$build.out"
	awk -v build=$build '/^summary:/ { print "# callgrind/" build ".out: " $0 }' "$out/callgrind/$build.out"
done
