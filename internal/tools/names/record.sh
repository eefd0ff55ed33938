#!/bin/sh
# Records programs that others wrote, each twice with a change between, with frame pointers
# and with --call-graph dwarf, for the comparison of names with those of perf (main.go).
#
#   usage: record.sh DIR [PROGRAM...]
#
# Sources and packages are fetched by name with apt-get, cargo, go, npm; everything is made
# in DIR, but Debian's packages, which are installed. What is in DIR already is not made
# again: DIR/PROGRAM/{a,b}-{fp,dwarf}.data. Needs a Debian-like machine, root, perf, and for
# some programs cargo, go, node, java and two versions of Python ($PYTHON_A, $PYTHON_B).
#
# Address randomisation is off, because perf loses stacks with it where a process executes
# another program.
set -eu

all='zstd eigen cc1plus clang ripgrep esbuild python node-basic node-jit java perl mawk lua pigz'

[ $# -gt 0 ] || { echo "usage: record.sh DIR [PROGRAM...]" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || eval "set -- $all"

python_a=${PYTHON_A:-$HOME/.pyenv/versions/3.12.1/bin/python3}
python_b=${PYTHON_B:-$HOME/.pyenv/versions/3.13.0/bin/python3}

# package NAME...: installs Debian's packages that are missing.
package() {
	for name; do
		dpkg-query -W -f '${db:Status-Abbrev}' "$name" 2>/dev/null | grep -q '^ii' && continue
		[ -e "$dir/updated" ] || { apt-get update -q; touch "$dir/updated"; }
		DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$name"
	done
}

# source NAME: unpacks Debian's source package, and prints its folder.
source() {
	sources=$dir/sources
	set -- "$1" "$sources/$1"
	if [ ! -d "$2" ]; then
		mkdir -p "$2" "$sources/lists/partial"
		grep -qs . "$sources/list" ||
			echo "deb-src http://deb.debian.org/debian $(. /etc/os-release && echo "$VERSION_CODENAME") main" >"$sources/list"
		options="-o Dir::Etc::sourcelist=$sources/list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$sources/lists -o APT::Sandbox::User=root"
		{
			# shellcheck disable=SC2086
			[ -e "$sources/updated" ] || apt-get $options update -q && touch "$sources/updated"
			# shellcheck disable=SC2086
			(cd "$2" && apt-get $options source -q --only-source "$1")
		} >&2
	fi
	(cd "$2"/*/ && pwd)
}

# large: a large file that others wrote, the same for all programs that read one.
large() {
	npm_package typescript 5.4.5 >/dev/null
	echo "$dir/sources/npm/typescript-5.4.5/node_modules/typescript/lib/typescript.js"
}

# npm_package NAME VERSION: installs it below sources, and prints the folder of the package.
npm_package() {
	folder=$dir/sources/npm/$1-$2
	[ -d "$folder" ] || npm install --silent --no-fund --no-audit --prefix "$folder" "$1@$2" >&2
	echo "$folder/node_modules/$1"
}

# Each function makes what is needed in its folder, which is the working directory, and sets
# the commands a and b.

zstd_() { # C: another level of compression
	src=$(source libzstd)
	make -s -C "$src/programs" zstd CFLAGS='-O2 -g' HAVE_LZMA=0 HAVE_ZLIB=0 HAVE_LZ4=0
	cp "$src/programs/zstd" zstd
	a="./zstd -q -b3 -i1 $(large)"
	b="./zstd -q -b5 -i1 $(large)"
}

eigen_() { # C++ with heavy templates: another compiler
	src=$(source eigen3)
	[ -e dense_a ] || g++ -O2 -g -DNDEBUG -w -I"$src" "$src/bench/dense_solvers.cpp" -o dense_a
	[ -e dense_b ] || clang++ -O2 -g -DNDEBUG -w -I"$src" "$src/bench/dense_solvers.cpp" -o dense_b
	a="timeout 2 ./dense_a"
	b="timeout 2 ./dense_b"
}

cc1plus_() { # C++, stripped but for what plugins need, in a child of a child: more optimization
	src=$(source nlohmann-json3)
	unit="-I$src/single_include -I$src/tests/thirdparty/doctest -w -c -o unit.o $src/tests/src/unit-udt.cpp"
	a="timeout 4 g++ -O0 $unit"
	b="timeout 4 g++ -O1 $unit"
}

clang_() { # C++ in shared libraries of a hundred megabytes: more optimization
	src=$(source nlohmann-json3)
	unit="-I$src/single_include -I$src/tests/thirdparty/doctest -w -c -o unit.o $src/tests/src/unit-udt.cpp"
	a="timeout 4 clang++ -O0 $unit"
	b="timeout 4 clang++ -O1 $unit"
}

ripgrep_() { # Rust: a release and the one before
	for version in 13.0.0 14.1.0; do
		cargo install -q --root "rg-$version" ripgrep --version "$version" --locked --config profile.release.strip=false
	done
	set -- "$(large)"
	files=
	for n in $(seq 40); do
		ln -sf "$1" "large$n.js"
		files="$files large$n.js"
	done
	arguments="-j1 -c -i $(quote '\w+\s+\w+Declaration[A-Z]\w+\s*\(') $files"
	a="rg-13.0.0/bin/rg $arguments"
	b="rg-14.1.0/bin/rg $arguments"
}

esbuild_() { # Go, in threads: without and with minification
	GOBIN=$PWD go install github.com/evanw/esbuild/cmd/esbuild@v0.21.5
	a="./esbuild --log-level=error --outfile=out.js $(large)"
	b="./esbuild --log-level=error --minify --sourcemap --outfile=out.js $(large)"
}

python_() { # Python with -X perf: another version
	arguments="-X perf -m timeit -n 10 -r 1 -s 'import dis, io, _pydecimal' 'dis.dis(_pydecimal, file=io.StringIO())'"
	a="$python_a $arguments"
	b="$python_b $arguments"
}

node_basic_() { # Node with --perf-basic-prof: a program with and without an option
	terser=$(npm_package terser 5.31.0)
	npm_package acorn 8.12.0 >/dev/null
	text=$dir/sources/npm/acorn-8.12.0/node_modules/acorn/dist/acorn.js
	a="node --perf-basic-prof $terser/bin/terser $text -o out.js"
	b="node --perf-basic-prof $terser/bin/terser $text -c -m -o out.js"
}

node_jit_() { # Node with --perf-prof, its jitdump put into the recording: another version of a program
	for version in 8.0.0 8.12.0; do
		npm_package acorn "$version" >/dev/null
	done
	a="node --perf-prof --interpreted-frames-native-stack $dir/sources/npm/acorn-8.0.0/node_modules/acorn/bin/acorn --ecma2020 --silent $(large)"
	b="node --perf-prof --interpreted-frames-native-stack $dir/sources/npm/acorn-8.12.0/node_modules/acorn/bin/acorn --ecma2020 --silent $(large)"
}

java_() { # Java with a perf map: javac with and without debugging information
	src=$(source libcommons-lang3-java)
	find "$src/src/main/java" -name '*.java' >files
	javac="java -XX:+UnlockDiagnosticVMOptions -XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit -m jdk.compiler/com.sun.tools.javac.Main -encoding UTF-8 -nowarn -proc:none -d out"
	a="$javac @files"
	b="$javac -g -Xlint:all -Xmaxwarns 0 @files"
}

perl_() { # stripped, with Debian's package of its debug information, and plugins: another digest
	package perl perl-debug
	a="/usr/bin/perl -MPod::Text -MDigest::SHA -MStorable -e $(quote 'my @f = glob("/usr/share/perl/5.*/pod/*.pod /usr/share/perl/5.*/CPAN*.pm /usr/share/perl/5.*/*.pm"); my $d = Digest::SHA->new(256); for (@f[0..30]) { my $o; my $p = Pod::Text->new; $p->output_string(\$o); $p->parse_file($_); utf8::encode($o); $d->add("\Q$o" x 40) } print $d->hexdigest')"
	b=$(printf %s "$a" | sed 's/new(256)/new(512)/')
}

mawk_() { # stripped here, its debug information beside it: another program in awk
	src=$(source mawk)
	(cd "$src" && ./configure --quiet CFLAGS='-O2 -g' && make -s mawk) >/dev/null
	cp "$src/mawk" mawk
	mkdir -p .debug
	objcopy --only-keep-debug mawk .debug/mawk.debug
	strip --strip-all mawk
	(cd .debug && objcopy --add-gnu-debuglink=mawk.debug ../mawk)
	a="./mawk $(quote '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) s += n[w]; print s }') $(large) $(large) $(large) $(large) $(large) $(large)"
	b="./mawk $(quote '{ gsub(/[a-z]+/, "<&>"); for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) s += n[w]; print s }') $(large) $(large) $(large)"
}

lua_() { # static-PIE: another version
	for version in 5.3 5.4; do
		src=$(source "lua$version")
		echo '#define DEB_HOST_MULTIARCH "."' >"$src/src/lua$version-deb-multiarch.h" # else made by debian/rules
		files=$(find "$src/src" -name '*.c' ! -name luac.c)
		# shellcheck disable=SC2086
		gcc -O2 -static-pie -fPIE -DLUA_COMPAT_5_3 -DLUA_USE_POSIX -I"$src/src" -o "lua$version" $files -lm 2>gcc.err
	done
	cp "$(dirname "$0")/../pairs/testdata/lua.lua" .
	a="./lua5.3 -e $(quote 'for i = 1, 6 do dofile("lua.lua") end')"
	b="./lua5.4 -e $(quote 'for i = 1, 6 do dofile("lua.lua") end')"
}

pigz_() { # Debian's, stripped, with threads, its work in the libraries zlib and glibc: another level
	package pigz
	a="pigz -k -c -p 2 -6 $(large) $(large) $(large)"
	b="pigz -k -c -p 2 -8 $(large) $(large) $(large)"
}

# quote ARGUMENT: as the shell reads it.
quote() {
	printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
}

# record NAME FREQUENCY CALL_GRAPH COMMAND
record() {
	[ ! -e "$1.data" ] || return 0
	printf '  %s: %s\n' "$1" "$4"
	eval "setarch -R perf record -q -e cpu-clock -F $2 --call-graph $3 -k mono -o $1.part -- $4" >"$1.out" 2>"$1.err" ||
		[ $? = 124 ] || { tail "$1.err" >&2; return 1; } # 124: timeout ended it
	mv "$1.part" "$1.data"
}

for program; do
	name=$(echo "$program" | tr - _)
	mkdir -p "$dir/$program"
	cd "$dir/$program"
	for wanted in a-fp a-dwarf b-fp b-dwarf; do
		[ -e "$wanted.data" ] || wanted=
		[ -n "$wanted" ] || break
	done
	[ -z "$wanted" ] || continue
	echo "$program"
	"${name}_"
	for side in a b; do
		eval "command=\$$side"
		record $side-fp 997 fp "$command"
		record $side-dwarf 199 dwarf "$command"
	done
	if [ "$program" = node-jit ]; then
		for recording in a-fp a-dwarf b-fp b-dwarf; do
			perf inject -j -i "$recording.data" -o "$recording-injected.data"
		done
	fi
done
