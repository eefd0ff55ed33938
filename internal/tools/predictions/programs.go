package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// sides of a pair.
var sides = [2]string{"before", "after"}

// A pair is one program before and after a change.
type pair struct {
	name, title, language string
	library               string   // whose code was changed, or "" for what was written for this table
	unit                  string   // of work
	text                  bool     // the program reads the file text
	asked                 []string // flags that profdiff asks for when it has none
	build                 string   // for a shell: builds $side to $out; see build
}

const (
	gcc = `gcc -O2 -g -w -o "$out" `
	gpp = `gcc -O2 -g -c -o "$out.o" program.c && g++ -O2 -g -w $([ $side = before ] || echo -DAFTER -isystem "$debian/usr/include") -o "$out" "$out.o" `
	// Cargo has built all programs in Rust.
	rust   = `cp "$rust/release/$name-$side" "$out"`
	golang = `go build -o "$out" go/$name.go go/$name-$side.go go/program.go`
)

var pairs = []pair{
	{
		name: "lz4", language: "C", library: "lz4 1.10.0", unit: "byte", text: true,
		title: "decompressing text, `LZ4_FAST_DEC_LOOP` 0 → 1",
		build: gcc + `-DLZ4_FAST_DEC_LOOP=$([ $side = before ] && echo 0 || echo 1) -I"$lz4" c/lz4.c program.c "$lz4/lz4.c"`,
	},
	{
		name: "inflate", language: "C", library: "zlib 1.3.1, libdeflate 1.23", unit: "byte", text: true,
		asked: []string{"--function", "inflate_fast=deflate_decompress_bmi2"},
		title: "decompressing text, zlib → libdeflate",
		build: gcc + `-I"$zlib" -I"$libdeflate" c/inflate-$side.c program.c $(ls "$zlib"/*.c | grep -v /gz) ` +
			`$([ $side = before ] || ls "$libdeflate"/lib/*.c "$libdeflate"/lib/x86/*.c)`,
	},
	{
		name: "csv", language: "C", unit: "byte",
		title: "counting fields of CSV, comparisons → a table of states",
		build: gcc + `c/csv.c c/csv-$side.c program.c`,
	},
	{
		name: "numbers", language: "C++", library: "fast_float 3.9.0, glibc 2.36", unit: "number",
		asked: []string{"--function", "__GI_____strtod_l_internal=_ZN10fast_float19from_chars_advancedIdEENS_17from_chars_resultEPKcS3_RT_NS_13parse_optionsE.isra.0"},
		title: "parsing numbers, `strtod` → `fast_float::from_chars`",
		build: gpp + `cpp/numbers.cpp`,
	},
	{
		name: "lookup", language: "C++", library: "Boost 1.81, libstdc++ 12", unit: "lookup",
		title: "hash table, `std::unordered_map` → `boost::unordered_flat_map`",
		build: gpp + `cpp/lookup.cpp`,
	},
	{
		name: "boxes", language: "C++", unit: "box",
		title: "rays and boxes, leaving early → minima and maxima",
		build: gpp + `cpp/boxes.cpp`,
	},
	{
		name: "distance", language: "Rust", library: "edit-distance 2.1.0, strsim 0.11.1", unit: "cell",
		asked: []string{"--function", "_ZN13edit_distance13edit_distance17hb038e8abb45a390eE=_ZN6strsim11levenshtein17hbd3cbe5de050e7baE"},
		title: "Levenshtein distance, edit-distance → strsim", build: rust,
	},
	{
		name: "postings", language: "Rust", unit: "word",
		asked: []string{"--function", "_ZN15postings_before9documents17h74a3ff0917deead3E=_ZN14postings_after9documents17h9aa4729eed2fa57dE"},
		title: "set bits of a bitmap, each bit → `trailing_zeros`", build: rust,
	},
	{
		name: "sessions", language: "Rust", unit: "lookup",
		asked: []string{"--function", "_ZN15sessions_before3sum17h5b293d3e8372db91E=_ZN14sessions_after3sum17h6977a41684843ca3E"},
		title: "hash table, linear probing → two slots", build: rust,
	},
	{
		name: "sort", language: "Go", library: "Go's `sort` and `slices`", unit: "element",
		asked: []string{"--function", "sort.partition_func=slices.partitionOrdered[go.shape.int64]"},
		title: "nearly sorted times, `sort.Slice` → `slices.Sort`", build: golang,
	},
	{
		name: "tokens", language: "Go", unit: "byte", text: true,
		asked: []string{"--function", "main.tokens=main.main"},
		title: "counting tokens, comparisons → tables", build: golang,
	},
	{
		name: "orders", language: "Go", unit: "order",
		title: "order book, pointers → columns", build: golang,
	},
	{
		name: "trial", language: "C", unit: "byte",
		title: "none of the twelve, to try this program with",
		build: gcc + `$([ $side = before ] || echo -DAFTER) c/trial.c program.c`,
	},
}

// crates says where cargo keeps the sources of crates.
const crates = `
set -eu
crate() { echo "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"$1"; }
zlib=$(crate libz-sys-1.1.20)/src/zlib
libdeflate=$(crate libdeflate-sys-1.23.1)/libdeflate
lz4=$(crate lz4-sys-1.11.1+lz4-1.10.0)/liblz4/lib
`

// fetch has cargo fetch the crates and apt-get Debian's packages, and makes the text that
// programs read: their sources.
const fetch = `
[ -d "$debian" ] || {
	mkdir -p "$debian.part/packages"
	(cd "$debian.part/packages" && apt-get download -q libboost1.81-dev=1.81.0-5+deb12u1 libfast-float-dev=3.9.0-1)
	for package in "$debian.part"/packages/*.deb; do
		dpkg -x "$package" "$debian.part"
	done
	mv "$debian.part" "$debian"
}
cargo fetch --quiet --locked --manifest-path rust/Cargo.toml
cargo build --quiet --release --locked --manifest-path rust/Cargo.toml --target-dir "$rust"
[ -e "$text" ] || cat "$zlib"/*.c "$zlib"/*.h "$libdeflate"/lib/*.[ch] "$lz4"/lz4*.c | head -c 1000000 >"$text"
`

// build builds both sides of all pairs: DIR/PAIR/SIDE.
func (s *settings) build(ctx context.Context) error {
	src := filepath.Join(s.dir, "src/testdata")
	env := append(os.Environ(), "debian="+filepath.Join(s.dir, "debian"), "rust="+filepath.Join(s.dir, "rust"),
		"text="+filepath.Join(s.dir, "text"))
	shell := func(script string, more ...string) error {
		cmd := exec.CommandContext(ctx, "sh", "-c", crates+script)
		cmd.Dir, cmd.Env = src, append(env, more...)
		_, err := output(cmd)
		return err
	}
	guard := filepath.Join(s.dir, "guard")
	if err := shell(fetch); err != nil {
		return err
	}
	if err := shell(`gcc -O2 -o "$out" guard.c`, "out="+guard); err != nil {
		return err
	}
	for i := range s.pairs {
		p := &s.pairs[i]
		if err := os.MkdirAll(s.path(p, ""), 0o755); err != nil {
			return err
		}
		for _, side := range sides {
			out := s.path(p, side)
			if exists(out) {
				continue
			}
			if err := shell(p.build, "name="+p.name, "side="+side, "out="+out); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return nil
}
