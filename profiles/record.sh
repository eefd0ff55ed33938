#!/bin/sh
# Records the sides of a case study, and counts their instructions and branches.
#
#   usage: record.sh /STAGE DIR FLAGS OF profdiff record
#
# DIR/symbols has the binaries as STAGE/BUILD/PROGRAM, as the build.sh of the case study
# puts them there. They are copied to STAGE and run from there under a host name of their
# own, and perf runs in DIR: a recording names no machine and none of its folders. DIR
# becomes a folder that `profdiff diff DIR` compares. Called again with --runs N, it
# records what is missing. Needs root and perf. profdiff is $PROFDIFF (default: from PATH).
#
# With $CALLGRIND, the arguments for a short run, valgrind runs every build, too:
# DIR/callgrind/BUILD.out. The names of the kernel go to $KALLSYMS (default: kallsyms), a
# file in DIR, or if that is empty, nowhere.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
case ${1-} in /*) ;; *) set -- ;; esac
[ $# -gt 2 ] || { echo "usage: record.sh /STAGE DIR FLAGS" >&2; exit 2; }
stage=$1
out=$(cd "$2" && pwd)
shift 2
profdiff=$(realpath "$(command -v "${PROFDIFF:-profdiff}")")

made=$stage # the topmost directory that is not there yet
while [ ! -e "${made%/*}/" ]; do
	made=${made%/*}
done
[ ! -e "$stage" ] || { echo "record.sh: $stage exists" >&2; exit 1; }
trap 'rm -rf "$made"' EXIT
trap 'exit 1' HUP INT PIPE TERM
mkdir -p "$stage"
cp -r "$out/symbols$stage/." "$stage"

cd "$out"
unshare --uts sh -c 'hostname perf-lab; exec "$@"' - "$profdiff" record -o . -e cpu-clock -c 1003009 "$@"
rm -rf symbols/.build-id # the same files as those under data/
if [ -n "${KALLSYMS-kallsyms}" ]; then
	"$here/message-heap/trim-kallsyms.sh" before/*.data after/*.data >kallsyms.trimmed
	rm -f kallsyms
	mv kallsyms.trimmed "${KALLSYMS-kallsyms}"
fi
chmod 644 before/*.data after/*.data

if [ -n "${CALLGRIND:-}" ]; then
	mkdir -p callgrind
	for program in "$stage"/*/*; do
		build=$(basename "${program%/*}")
		rm -rf callgrind/recording
		"$profdiff" record -q -o callgrind/recording --with callgrind --runs 1 --warmup 0 \
			--before "$program $CALLGRIND" --after "$program $CALLGRIND"
		mv callgrind/recording/before/01.out "callgrind/$build.out"
		chmod 644 "callgrind/$build.out"
	done
	rm -rf callgrind/recording
fi
