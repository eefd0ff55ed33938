#!/bin/sh
# Records programs that others wrote, as small as tests need them: each twice, with a change
# between, and their object files in symbols/ beside the recordings.
#
#   usage: record.sh CACHE [PROGRAM...]
#
# internal/tools/names/record.sh builds the programs in CACHE and records them there, too.
# They run below /data/local/tmp under a host name of their own: a recording names no
# machine and none of its folders. Needs what that script needs, and xz. profdiff, which
# says which functions the recordings name, is $PROFDIFF (default: from PATH).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=$here/../../../../internal/tools
stage=/data/local/tmp/foreign
[ $# -gt 0 ] || { echo "usage: record.sh CACHE [PROGRAM...]" >&2; exit 2; }
"$tools/names/record.sh" "$1" mawk lua eigen node-jit
cache=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- mawk lua eigen node
profdiff=$(realpath "$(command -v "${PROFDIFF:-profdiff}")")

[ ! -e "$stage" ] || { echo "record.sh: $stage exists" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$stage" "$scratch"' EXIT
trap 'exit 1' HUP INT PIPE TERM

# record NAME FLAGS OF perf record: in the stage, as $out/NAME.data.xz.
record() {
	file=$1.data
	shift
	unshare --uts sh -c 'hostname perf-lab; exec setarch -R perf record -q -e cpu-clock "$@"' - -o "$file" "$@" >output 2>errors ||
		[ $? = 124 ] || { cat errors >&2; return 1; }
	cp "$file" "$scratch"
	xz -9e -c "$file" >"$out/$file.xz"
}

# named writes $scratch/names: the functions that the recordings name.
named() {
	for recording in "$scratch"/*.data; do
		"$profdiff" convert --to json -o - --symfs / "$recording" 2>/dev/null
	done | tr ',{' '\n\n' | sed -n 's/.*"system_name": *"\(.*\)".*/\1/p' | sort -u >"$scratch/names"
}

# keep FILE FLAGS OF slim: what the recordings need of an object file, in symbols/.
keep() {
	object=$1
	shift
	mkdir -p "$out/symbols$(dirname "$object")"
	named
	go -C "$tools" run ./slim "$@" "$object" "$out/symbols$object" <"$scratch/names"
	chmod 755 "$out/symbols$object"
}

mawk() { # stripped, with a debug file that it links to
	cp -r "$cache/mawk/mawk" "$cache/mawk/.debug" .
	text="text.js text.js text.js"
	# shellcheck disable=SC2086
	record a -g -F 299 -- ./mawk '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) s += n[w]; print s }' $text $text
	# shellcheck disable=SC2086
	record b -g -F 299 -- ./mawk '{ gsub(/[a-z]+/, "<&>"); for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) s += n[w]; print s }' $text
	mkdir -p "$out/symbols$stage/.debug"
	cp mawk "$out/symbols$stage"
	objcopy --strip-debug .debug/mawk.debug "$out/symbols$stage/.debug/mawk.debug"
	objcopy --remove-section .gnu_debuglink mawk "$out/symbols$stage/mawk" # its checksum is another
	(cd "$out/symbols$stage/.debug" && objcopy --add-gnu-debuglink=mawk.debug ../mawk)
}

lua() { # static-PIE, in two versions
	cp "$cache/lua/lua5.3" "$cache/lua/lua5.4" "$cache/lua/lua.lua" .
	record a -F 499 -- ./lua5.3 -e 'for i = 1, 6 do dofile("lua.lua") end'
	record b -F 499 -- ./lua5.4 -e 'for i = 1, 6 do dofile("lua.lua") end'
	keep "$stage/lua5.3"
	keep "$stage/lua5.4"
}

eigen() { # C++ with heavy templates and without frame pointers, by two compilers
	for compiler in g++ clang++; do
		"$compiler" -O2 -static -DNDEBUG -w -I"$(echo "$cache"/sources/eigen3/eigen3-*)" \
			"$(echo "$cache"/sources/eigen3/eigen3-*)/bench/eig33.cpp" -o "eig33-$compiler"
		record "$compiler" -F 99 --call-graph dwarf -- timeout 2 "./eig33-$compiler"
		keep "$stage/eig33-$compiler" -unwind
	done
}

node() { # JavaScript with a perf map, in two versions
	for side in a b; do
		version=8.0.0
		[ $side = a ] || version=8.12.0
		rm -rf acorn
		cp -r "$cache/sources/npm/acorn-$version/node_modules/acorn" .
		record $side -g -F 199 -- /usr/bin/node --perf-basic-prof acorn/bin/acorn --ecma2020 --silent text.js
	done
	mkdir -p "$out/symbols/tmp"
	named
	for side in a b; do # of the maps what the recordings name
		map=$(perf script -i "$scratch/$side.data" -F ip,sym,dso | sed -n 's/.*(\(\/tmp\/perf-.*\.map\))$/\1/p' | head -n 1)
		grep -F -f "$scratch/names" "$map" >"$out/symbols$map"
	done
}

for program; do
	out=$here/$program
	rm -rf "$out" "$stage"
	rm -f "$scratch"/*
	mkdir -p "$out" "$stage"
	cp "$cache/sources/npm/typescript-5.4.5/node_modules/typescript/lib/typescript.js" "$stage/text.js"
	cd "$stage"
	"$program"
done
