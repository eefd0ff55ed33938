#!/bin/sh
# Builds a program with two releases of a library, and records both, ten runs each in drawn order.
#
#   usage: record.sh WHAT DIR
#
# WHAT is lua or sqlite; internal/tools/pairs fetches the sources with cargo and builds them.
# See ../record.sh for what it needs besides and where it runs. $RUNS says how many runs a side.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# = 2 ] || { echo "usage: record.sh WHAT DIR" >&2; exit 2; }
what=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
stage=/data/local/tmp/releases/$what

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
go -C "$here/../../internal/tools" run ./pairs -o "$scratch" -build "$what"
rm -rf "$out/symbols"
for side in before after; do
	version=old
	if [ $side = after ]; then
		version=new
	fi
	mkdir -p "$out/symbols$stage/$side"
	cp "$scratch/$what/$version/$what" "$out/symbols$stage/$side"
done
arguments=
if [ "$what" = lua ]; then
	cp "$scratch/lua/lua.lua" "$out/symbols$stage"
	arguments=" $stage/lua.lua"
fi
"$here/../record.sh" "$stage" "$out" --runs "${RUNS:-10}" --recorder-arg=-z \
	--before "$stage/before/$what$arguments" --after "$stage/after/$what$arguments"
rm -f "$out/symbols$stage/lua.lua"

# The programs are kept with what the recordings name.
profdiff=$(command -v "${PROFDIFF:-profdiff}")
for side in before after; do
	binary=$out/symbols$stage/$side/$what
	for recording in "$out/$side"/*.data; do
		"$profdiff" convert --to json -o - --symfs "$out/symbols" "$recording" 2>/dev/null
	done | tr ',{' '\n\n' | sed -n 's/.*"system_name": *"\(.*\)".*/\1/p' | sort -u >"$scratch/names"
	go -C "$here/../../internal/tools" run ./slim "$binary" "$scratch/slim" <"$scratch/names"
	mv "$scratch/slim" "$binary"
done
