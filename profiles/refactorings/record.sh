#!/bin/sh
# Records the five programs before and after with perf, eight runs a side each in
# ABBA order, then counts their instructions with callgrind.
#
#   usage: record.sh [DIR]
#
# Writes DIR/WHAT/{before,after}/01.data to 08.data,
# DIR/WHAT/callgrind/{before,after}.out and DIR/WHAT/symbols/kallsyms (default:
# the directory of this script). Prints one line of YAML a run. Needs root and
# the binaries that build.sh has put under WHAT/symbols/; they run from
# /data/local/tmp.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
runs=8
callgrind_pages=100
stage=/data/local/tmp/refactorings
refactorings="rename inline split lambda removed-path"

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
for what in $refactorings; do
	for side in before after; do
		[ ! -e "$out/$what/$side" ] || fail "$out/$what/$side exists: give another directory"
		[ -x "$here/$what/symbols$stage/$what/$side/$what" ] || fail "no binary of $what/$side: run build.sh"
	done
done

made=$stage # the topmost directory that is not there yet
while [ ! -e "${made%/*}/" ]; do
	made=${made%/*}
done
trap 'rm -rf "$made"' EXIT
trap 'exit 1' HUP INT PIPE TERM
mkdir -p "$out" $stage
out=$(cd "$out" && pwd)
for what in $refactorings; do
	mkdir -p "$out/$what/callgrind" "$out/$what/symbols"
	cp -r "$here/$what/symbols$stage/." $stage
done

# ---- recordings -----------------------------------------------------------

# run WHAT SIDE NUMBER records one run.
run() {
	file=$2/$(printf %02d "$3").data
	"$here/../known-slowdown/record-run.sh" "$stage/$1/$2/$1" "$out/$1/$file" "$file"
}

for what in $refactorings; do
	echo "# $what, load before: $(cat /proc/loadavg)"
	for side in before after; do
		mkdir -p "$out/$what/$side"
		"$stage/$what/$side/$what" >/dev/null 2>&1 # the first run reads the binary from the disk
	done
	number=1
	while [ $number -le $runs ]; do
		case $((number % 2)) in
		1) first=before second=after ;;
		0) first=after second=before ;;
		esac
		run "$what" $first $number
		run "$what" $second $number
		number=$((number + 1))
	done
	echo "# $what, load after: $(cat /proc/loadavg)"
done

# ---- kernel names, instructions -------------------------------------------

for what in $refactorings; do
	"$here/../message-heap/trim-kallsyms.sh" "$out/$what"/*/*.data >"$out/$what/symbols/kallsyms"
	for side in before after; do
		valgrind -q --tool=callgrind --callgrind-out-file="$out/$what/callgrind/$side.out" \
			"$stage/$what/$side/$what" $callgrind_pages >/dev/null 2>&1
		chmod 644 "$out/$what/callgrind/$side.out"
	done
done
