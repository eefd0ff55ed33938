#!/bin/sh
# Records one run of a program with perf and prints a line of YAML about it.
#
#   usage: record-run.sh BINARY FILE NAME
#
# Writes FILE, which NAME stands for in the line. Needs root: the run has a host
# name of its own and is recorded in the directory of the binary, so that the
# recording names no machine and no other directory; and it goes before others
# on a shared machine.
set -eu

binary=$1 file=$2 name=$3

fail() {
	echo "record-run.sh: $name: $*" >&2
	exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT PIPE TERM

cd "${binary%/*}"
recording=${file##*/}
load=$(cut -d' ' -f1 /proc/loadavg)
nice -n -20 unshare --uts sh -c "hostname perf-lab
	exec perf record -q -N -e cpu-clock -F 997 --call-graph fp -o '$recording' -- '$binary'" \
	>"$scratch/output" 2>"$scratch/times" || fail "$(cat "$scratch/times")"
mv "$recording" "$file"
chmod 644 "$file"
perf report --stats -i "$file" >"$scratch/stats" 2>/dev/null
! grep -q LOST "$scratch/stats" || fail "samples were lost"
seconds() {
	awk -v name="$1_us" '$1 == name { printf "%.6f", $2 / 1000000 }' "$scratch/times"
}
echo "  - {file: $name," \
	"ops: $(awk '$1 == "ops" { print $2 }' "$scratch/output")," \
	"checksum: $(awk '$1 == "checksum" { print $2 }' "$scratch/output")," \
	"user_seconds: $(seconds user), system_seconds: $(seconds system), load: $load," \
	"samples: $(awk '/SAMPLE events:/ && !n++ { print $3 }' "$scratch/stats")," \
	"bytes: $(wc -c <"$file"), sha256: $(sha256sum <"$file" | cut -d' ' -f1)}"
