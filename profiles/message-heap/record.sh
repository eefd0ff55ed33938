#!/bin/sh
# Records both sides with perf, ten runs each in ABBA order, then simulates
# their branches with callgrind.
#
#   usage: record.sh [DIR]
#
# Writes DIR/before/01.data to 10.data, DIR/after/01.data to 10.data,
# DIR/callgrind/{before,after}.out and DIR/symbols/kallsyms (default: the
# directory of this script). Prints one line of YAML a run. Needs root: the
# binaries, which build.sh has put under symbols/, run from /data/local/tmp and
# under a host name of their own, so that a recording names no machine.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
runs=10
callgrind_messages=300000
stage=/data/local/tmp/message-heap
host=perf-lab

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
for side in before after; do
	[ -x "$here/symbols$stage/$side/message-heap" ] || fail "no binary of $side: run build.sh"
	[ ! -e "$out/$side" ] || fail "$out/$side exists: give another directory"
done

made=$stage # the topmost directory that is not there yet
while [ ! -e "${made%/*}/" ]; do
	made=${made%/*}
done
scratch=$(mktemp -d)
trap 'rm -rf "$made" "$scratch"' EXIT
trap 'exit 1' HUP INT PIPE TERM
mkdir -p "$out/before" "$out/after" "$out/callgrind" "$out/symbols" $stage
out=$(cd "$out" && pwd)
cp -r "$here/symbols$stage/before" "$here/symbols$stage/after" $stage
cd $stage

# ---- recordings -----------------------------------------------------------

# run SIDE NUMBER records one run.
run() {
	unshare --uts sh -c "hostname $host
		exec perf record -q -N -e cpu-clock -F 997 --call-graph fp \
			-o $2.data -- $stage/$1/message-heap" \
		>"$scratch/counters" 2>"$scratch/times" || fail "$1 $2: $(cat "$scratch/times")"
	if [ ! -e "$scratch/expected" ]; then
		cp "$scratch/counters" "$scratch/expected"
		sed 's/^/# /' "$scratch/counters"
	fi
	cmp -s "$scratch/counters" "$scratch/expected" || fail "$1 $2: messages or checksum differ"
	perf report --stats -i "$2.data" >"$scratch/stats" 2>/dev/null
	! grep -q LOST "$scratch/stats" || fail "$1 $2: samples were lost"
	mv "$2.data" "$out/$1/$2.data"
	chmod 644 "$out/$1/$2.data"
	echo "  - {file: $1/$2.data," \
		"user_seconds: $(awk '$1 == "user" { print $2 }' "$scratch/times")," \
		"system_seconds: $(awk '$1 == "system" { print $2 }' "$scratch/times")," \
		"samples: $(awk '/SAMPLE events:/ && !n++ { print $3 }' "$scratch/stats")," \
		"bytes: $(wc -c <"$out/$1/$2.data")," \
		"sha256: $(sha256sum <"$out/$1/$2.data" | cut -d' ' -f1)}"
}

echo "# load before: $(cat /proc/loadavg)"
for side in before after; do # the first run of a binary reads it from the disk
	$stage/$side/message-heap >/dev/null 2>&1
done
number=1
while [ $number -le $runs ]; do
	case $((number % 2)) in
	1) first=before second=after ;;
	0) first=after second=before ;;
	esac
	run $first "$(printf %02d $number)"
	run $second "$(printf %02d $number)"
	number=$((number + 1))
done
echo "# load after: $(cat /proc/loadavg)"

# ---- kernel names, simulated branches -------------------------------------

"$here/trim-kallsyms.sh" "$out"/before/*.data "$out"/after/*.data >"$out/symbols/kallsyms"
echo "# symbols/kallsyms: $(wc -l <"$out/symbols/kallsyms") of $(wc -l </proc/kallsyms) lines"

for side in before after; do
	valgrind -q --tool=callgrind --branch-sim=yes --dump-instr=yes --collect-jumps=yes \
		--callgrind-out-file="$out/callgrind/$side.out" \
		$stage/$side/message-heap $callgrind_messages >"$scratch/counters" 2>/dev/null
	chmod 644 "$out/callgrind/$side.out"
	echo "# callgrind/$side.out: $(awk '{ printf "%s ", $0 }' "$scratch/counters")"
	awk '/^events:/ || /^summary:/ { print "#   " $0 }' "$out/callgrind/$side.out"
done
