//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"profdiff/internal/input/inputtest"
)

var (
	hostileFor  = flag.Duration("hostile", 0, "try hostile inputs for so long, and at least as many as without")
	hostileOnly = flag.Int("hostile-input", -1, "try only the hostile input of this number")
)

// hostileInputs calls each with the number of each hostile input that is to be tried. A number makes the same input on
// each machine: those that are tried by each change are as many everywhere, and a time adds more where there is time.
func hostileInputs(t *testing.T, all, short, long int, each func(seed uint64)) (n int) {
	t.Helper()
	if *hostileOnly >= 0 {
		each(uint64(*hostileOnly))
		return 1
	}
	switch {
	case *longMode:
		all = long
	case testing.Short():
		all = short
	}
	for start := time.Now(); n < all || time.Since(start) < *hostileFor; n++ {
		if each(uint64(n)); n%500 == 499 {
			t.Logf("%d inputs in %v", n+1, time.Since(start).Round(time.Second))
		}
	}
	return n
}

// TestHostile gives hostile inputs of each kind to every command that reads. An input at which one
// ends badly is kept in the folder for temporary files, with its number.
func TestHostile(t *testing.T) {
	given := t.TempDir()
	other, third := filepath.Join(given, "other"), filepath.Join(given, "third")
	for _, path := range []string{other, third} {
		if err := os.WriteFile(path, []byte("main;function_1 10\nmain;function_2;function_3 20\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	codes := make(map[string]map[int]int) // by kind
	inputs := hostileInputs(t, 308, 56, 5000, func(seed uint64) {
		h := inputtest.NewHostile(seed)
		root, dir := t.TempDir(), t.TempDir()
		defer os.RemoveAll(root)
		defer os.RemoveAll(dir)
		size := len(h.Data)
		for name, data := range h.Files {
			size += len(data)
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		if err := os.WriteFile(in, h.Data, 0o666); err != nil {
			t.Fatal(err)
		}
		if codes[h.Kind] == nil {
			codes[h.Kind] = make(map[int]int)
		}
		bad := t.Failed()
		try := func(args []string) int {
			var stdin io.Reader = strings.NewReader("")
			if slices.Contains(args, "worker") {
				stdin = bytes.NewReader(h.Data)
			}
			code := surviveWith(t, fmt.Sprintf("hostile input %d (%s): profdiff %q", seed, h.Kind, args), dir, args, size, stdin)
			os.RemoveAll(out)
			return code
		}
		beside := besideRecordings(h.Kind, other, third, in, out)
		for _, args := range beside {
			codes[h.Kind][try(args)]++
		}
		for i, args := range [][]string{
			{"show", in, "-o", out, "--symfs", root},
			{"convert", in, "-o", out, "--symfs", root},
			{"diff", in, other, "-o", out},
			{"show", in, "-o", out, "--format", "json", "--by", "dso"},
			{"convert", in, "-o", out, "--to", "folded"},
			{"diff", other, in, "--html", out},
			{"dump", in, "-o", out},
			{"branches", in, "-o", out, "--symfs", root},
			{"report", "--from", in, "-o", out},
			{"show", in, "-o", out, "--by", "thread", "--each-thread"},
			{"convert", in, "-o", out, "--to", "otlp"},
			{"fleet", "ingest", in, "--release", "r", "--out", out},
		} {
			if i > 2 && (int(seed)/len(codes)+i)%3 != 0 {
				continue // a third of the others at a time
			}
			code := try(args)
			if len(beside) == 0 && (args[0] == "show" || args[0] == "convert" || args[0] == "diff") {
				codes[h.Kind][code]++
			}
		}
		if t.Failed() && !bad {
			kept := filepath.Join(os.TempDir(), fmt.Sprintf("profdiff-hostile-%d", seed))
			t.Logf("kept as %s: %v, %v", kept, os.CopyFS(kept, os.DirFS(dir)), os.CopyFS(kept, os.DirFS(root)))
		}
	})
	t.Logf("%d inputs", inputs)
	for _, kind := range slices.Sorted(maps.Keys(codes)) {
		t.Logf("%s: exit codes %v", kind, codes[kind])
		// Of a kind of which nothing is read, no reader is tested. A page has nothing that can be drawn, and
		// a batch is signed.
		if codes[kind][exitOK] == 0 && kind != "page" && kind != inputtest.Specs && !testing.Short() && *hostileOnly < 0 {
			t.Errorf("%s: no input was read", kind)
		}
	}
}

// besideRecordings are the commands that take a kind of input that is no recording.
func besideRecordings(kind, other, third, in, out string) [][]string {
	switch kind {
	case inputtest.Manifest:
		return [][]string{{"fleet", "ingest", "--manifest", in, "--out", out}, {"fleet", "plan", "--manifest", in, "-o", out}}
	case inputtest.Specs:
		return [][]string{{"fleet", "worker", "--out", out}}
	case inputtest.Budget:
		return [][]string{{"check", other, third, "--budget", in, "--report-only"}}
	case inputtest.Categories:
		return [][]string{{"show", other, "--categories", in, "--by", "category", "-o", out}, {"show", other, "--regions", in, "-o", out}}
	case inputtest.Renamed:
		return [][]string{{"show", other, "--proguard-mapping", in, "-o", out}, {"fleet", "ingest", other, "--release", "r", "--proguard-mapping", "r=" + in, "--out", out}}
	case inputtest.Kallsyms:
		return [][]string{{"show", "../../profiles/known-slowdown/slow10/01.data", "--kallsyms", in, "-o", out}}
	case inputtest.Metrics, inputtest.PerfStat:
		return [][]string{{"diff", in, in, "-o", out}, {"show", in, "-o", out}}
	}
	return nil
}

// TestHostileStores damages files of stores of fleets, and their ends more often than the rest: there says a Parquet file where what is.
func TestHostileStores(t *testing.T) {
	made := t.TempDir()
	for i := range 6 {
		text := fmt.Sprintf("main;parse;read %d\nmain;parse %d\nmain;write 300\n", 100+10*i, 200+i)
		if err := os.WriteFile(filepath.Join(made, fmt.Sprintf("%d.folded", i)), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var manifest strings.Builder
	manifest.WriteString("path,release,device,time\n")
	for i := range 6 {
		fmt.Fprintf(&manifest, "%d.folded,r%d,d%d,2026-11-2%d\n", i, i%2, i/2, i)
	}
	list, store := filepath.Join(made, "list.csv"), filepath.Join(made, "store")
	if err := os.WriteFile(list, []byte(manifest.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	for _, args := range [][]string{{"fleet", "ingest", "--manifest", list, "--out", store, "--batch", "1"}, {"fleet", "compact", store}} {
		if code := execute(context.Background(), args, strings.NewReader(""), &said, &said); code != exitOK {
			t.Fatalf("%q: %s", args, &said)
		}
	}
	codes := make(map[int]int)
	inputs := hostileInputs(t, 60, 15, 1000, func(seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 21))
		dir := t.TempDir()
		defer os.RemoveAll(dir)
		in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		if err := os.CopyFS(in, os.DirFS(store)); err != nil {
			t.Fatal(err)
		}
		var files []string
		size := 0
		if err := filepath.WalkDir(in, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files = append(files, path)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for range 1 + rng.IntN(3) {
			path := files[rng.IntN(len(files))]
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data = damageStored(rng, data)
			size += len(data)
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		bad := t.Failed()
		for _, args := range [][]string{
			{"fleet", "show", in, "-o", out},
			{"fleet", "show", in, "-o", out, "--release", "r1"},
			{"fleet", "compare", in, "-o", out, "--engine", "profdiff"},
			{"fleet", "compare", in, "--engine", "profdiff", "--html", out},
			{"fleet", "sql", in, "-o", out},
			{"fleet", "compact", in},
			{"fleet", "delete", in, "--device", "d1"},
		} {
			codes[survive(t, fmt.Sprintf("hostile store %d: profdiff %q", seed, args), dir, args, size)]++
			os.Remove(out)
		}
		if t.Failed() && !bad {
			kept := filepath.Join(os.TempDir(), fmt.Sprintf("profdiff-hostile-store-%d", seed))
			t.Logf("kept as %s: %v", kept, os.CopyFS(kept, os.DirFS(in)))
		}
	})
	t.Logf("%d stores: exit codes %v", inputs, codes)
	if *hostileOnly < 0 && (codes[exitOK] == 0 || codes[exitInput] == 0) {
		t.Error("nothing was read, or nothing was refused")
	}
}

// damageStored damages a file: a Parquet file by its rows, its footer, or the length of its footer.
func damageStored(rng *rand.Rand, data []byte) []byte {
	const tail = 8
	if len(data) == 0 {
		return []byte("PAR1")
	}
	if !bytes.HasSuffix(data, []byte("PAR1")) || len(data) < 2*tail || rng.IntN(3) == 0 {
		return mutate(rng, data)
	}
	size := int(binary.LittleEndian.Uint32(data[len(data)-tail:]))
	if size == 0 || size > len(data)-2*tail { // damaged already
		return mutate(rng, data)
	}
	footer := bytes.Clone(data[len(data)-tail-size : len(data)-tail])
	rest := data[:len(data)-tail-size]
	switch rng.IntN(8) {
	case 0:
		size = int(rng.Uint32())
	case 1: // lists and structs of Thrift in each other
		footer = bytes.Repeat([]byte{[]byte{0x1c, 0x19, 0x29, 0xfc, 0x2b}[rng.IntN(5)]}, 1+rng.IntN(1<<16))
		size = len(footer)
	default:
		for range 1 + rng.IntN(4) {
			footer[rng.IntN(len(footer))] = byte(rng.Uint32())
		}
		if rng.IntN(4) == 0 { // numbers that go on
			i := rng.IntN(len(footer))
			footer = append(append(footer[:i:i], bytes.Repeat([]byte{0xff}, 1+rng.IntN(12))...), footer[i:]...)
			size = len(footer)
		}
	}
	return append(binary.LittleEndian.AppendUint32(append(rest[:len(rest):len(rest)], footer...), uint32(size)), "PAR1"...)
}
