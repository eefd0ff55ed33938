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
