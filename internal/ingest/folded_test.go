package ingest

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

func TestFolded(t *testing.T) {
	one := func(w int64) run.FoldedSum { return run.FoldedSum{Weight: w, Count: w} }
	for _, tt := range []struct {
		name, text string
		want       map[string]run.FoldedSum
		warning    string
	}{
		{"plain", "main;f;g 10\nmain;f 5\nmain;f;g 1\n", map[string]run.FoldedSum{"main;f;g": one(11), "main;f": one(5)}, ""},
		{"no end of line", "main 10", map[string]run.FoldedSum{"main": one(10)}, ""},
		{"CR LF", "main;f 10\r\n\r\nmain 2\r\n", map[string]run.FoldedSum{"main;f": one(10), "main": one(2)}, ""},
		{"comments", "# of perf\n\n#\nmain 1\n", map[string]run.FoldedSum{"main": one(1)}, ""},
		{"byte order mark", "\ufeffmain 1\n", map[string]run.FoldedSum{"main": one(1)}, ""},
		{"spaces", "main loop;f(int, char)  3 \n", map[string]run.FoldedSum{"main loop;f(int, char)": one(3)}, ""},
		{"escapes", `a\;b;c\\d;e\tf;g\x;h\ 3` + "\n", map[string]run.FoldedSum{`a\;b;c\\d;e\tf;g\\x;h\\`: one(3)}, ""},
		{"columns", "a;b\t100\t4\nb\t6\t2\n", map[string]run.FoldedSum{"a;b": {Weight: 100, Count: 4}, "b": {Weight: 6, Count: 2}}, ""},
		{"tabs", "a;b\t7\n", map[string]run.FoldedSum{"a;b": one(7)}, ""},
		{"fraction", "m;a 1.5\nb 2.5\nc 3.0\n", map[string]run.FoldedSum{"m;a": one(2), "b": one(2), "c": one(3)}, "2 weights with a fraction were rounded"},
		{"exponent", "m;a 1e3\n", map[string]run.FoldedSum{"m;a": one(1000)}, ""},
		{"zero", "a 0\nm;b 1\n", map[string]run.FoldedSum{"m;b": one(1)}, ""},
		{"annotations", "a;read_[k];jit_[j];in_[i];in2_[i];c1_[1];int_[0];unknown_[k] 2\n", map[string]run.FoldedSum{"a;read;jit;in;in2;c1;int;[kernel.kallsyms]": one(2)}, ""},
		{"unknown", "a;[libc.so];unknown;libx.so[+1f];*[kernel.kallsyms][+ffffffff8104f45a];[unknown];0x7f12 2\n", map[string]run.FoldedSum{
			"a;[libc.so];[unknown];[libx.so];[kernel.kallsyms];[unknown];[unknown]": one(2),
		}, ""},
		{"periods", "m;a 20000000\n", map[string]run.FoldedSum{"m;a": one(20000000)}, "weights sum to 20000000: if they are no sample counts"},
		{"invalid UTF-8", "a\xff;b 1\n", map[string]run.FoldedSum{"a\ufffd;b": one(1)}, ""},
		{"ends with ;", "a; 1\na;b 2\n", map[string]run.FoldedSum{"a": one(1), "a;b": one(2)}, ""},
		{"numbers in names", "thread 1;f 2\nmain 1\n", map[string]run.FoldedSum{"thread 1;f": one(2), "main": one(1)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ingesttest.Read(t, readFolded, []byte(tt.text), &reading.Options{})
			if d := cmp.Diff(tt.want, r.Folded(0)); d != "" {
				t.Errorf("stacks (-want +got):\n%s", d)
			}
			if got := strings.Join(ingesttest.ReaderWarnings(r), "\n"); !strings.Contains(got, tt.warning) || tt.warning == "" && got != "" {
				t.Errorf("warnings %q, want %q", got, tt.warning)
			}
			if f := detected([]byte(tt.text)); f != Folded {
				t.Errorf("is taken for %v", f)
			}
		})
	}
}

// TestFoldedKinds checks what annotations tell of the code.
func TestFoldedKinds(t *testing.T) {
	r := ingesttest.Read(t, readFolded, []byte("main;in_[i];write_[k];java_[j];lib.so[+1f] 2\n"), &reading.Options{UnknownOffset: true})
	type frame struct {
		names   string
		file    string
		kind    run.MappingKind
		address uint64
	}
	var got []frame
	for _, l := range r.Locations {
		f := frame{file: r.Mappings[l.Mapping].File, kind: r.Mappings[l.Mapping].Kind, address: l.Address}
		for _, line := range l.Lines {
			f.names += r.Functions[line.Function].Name + " "
		}
		got = append(got, f)
	}
	want := []frame{
		{names: "in main "},
		{names: "write ", file: "[kernel.kallsyms]", kind: run.KernelMapping},
		{names: "java ", file: "[JIT]", kind: run.JITMapping},
		{names: "lib.so[+1f] ", file: "lib.so", kind: run.NativeMapping, address: 0x1f},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(frame{})); d != "" {
		t.Errorf("locations (-want +got):\n%s", d)
	}
	if e := r.Events[0]; !e.WeightSqLowerBound || e.WeightSq != 2 || e.Unit != "count" || e.Name != "samples" {
		t.Errorf("event %+v", e)
	}
}

func TestFoldedErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no weight", "a;b 1\na;b\n", `line 2: "a;b" has no weight`},
		{"no number", "a;b x\n", `line 1: "x" is no weight`},
		{"negative", "a;b -3\n", "line 1: weight -3 is negative"},
		{"NaN", "a;b NaN\n", `line 1: "NaN" is no weight`},
		{"infinite", "a;b Inf\n", `line 1: "Inf" is no weight`},
		{"huge", "a;b 9223372036854775808\n", "line 1: 9223372036854775808 exceeds 2^63"},
		{"huge fraction", "a;b 1e30\n", "line 1: weight 1e30 exceeds 2^63"},
		{"sum", "a 9223372036854775807\nb 1\n", "line 2: weights sum to more than 2^63"},
		{"difference", "a;b 1 2\n\nc 3 4\n", "every line has two weights, as difffolded.pl writes them"},
		{"long line", "a 1\n" + strings.Repeat("x", input.MaxLine+1) + " 1\n", "line 2: is longer than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := readFolded(ingesttest.Source(t, []byte(tt.text)), &reading.Options{})
			if err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestFoldedSimpleperf reads what simpleperf's stackcollapse.py makes of a recording.
func TestFoldedSimpleperf(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(filepath.Dir(ingesttest.Recording(t, "simpleperf/perf_with_jit_symbol.foldedstack")), "*.foldedstack*"))
	if len(paths) != 5 {
		t.Fatalf("files %q", paths)
	}
	for _, path := range paths {
		r := ingesttest.Read(t, readFolded, ingesttest.ReadFile(t, path), &reading.Options{})
		if got, want := r.Events[0].Weight, int64(19227293); got != want {
			t.Errorf("%s: weight %d, want %d", filepath.Base(path), got, want)
		}
		for stack := range r.Folded(0) {
			if strings.Contains(stack, "_[") || strings.Contains(stack, "[+") {
				t.Errorf("%s: stack %s", filepath.Base(path), stack)
			}
		}
	}
}

// TestFoldedRoundTrip checks that folded stacks read back as they were written.
func TestFoldedRoundTrip(t *testing.T) {
	in := "[libc.so];a\\;b;c\\\\d;e\\tf;x y 3\nmain 4\n"
	r := ingesttest.Read(t, readFolded, []byte(in), &reading.Options{})
	var out bytes.Buffer
	if err := r.WriteFolded(&out, 0, false); err != nil {
		t.Fatal(err)
	}
	if out.String() != in {
		t.Errorf("wrote %q, want %q", out.String(), in)
	}
}

func FuzzFolded(f *testing.F) {
	f.Add([]byte("a;b\\;c;d_[k];e_[i] 10\nlib.so[+1f];x\t20\t3\n"))
	f.Add([]byte("a 1 2\nb 3 4\n"))
	f.Add([]byte("a 1.5\r\n# c\n\n;; 9223372036854775807\n_[i] 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
			return // gzip is undone before
		}
		ingesttest.Fuzz(t, readFolded, data, &reading.Options{})
		r, err := readFolded(ingesttest.Source(t, data), &reading.Options{})
		if err != nil || r.Events[0].Weight == math.MaxInt64 {
			return
		}
		// What is written reads back as the same stacks, but for those that begin
		// like a comment or like gzip.
		var out bytes.Buffer
		if err := r.WriteFolded(&out, 0, false); err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(out.Bytes(), []byte("\x1f\x8b")) || bytes.HasPrefix(out.Bytes(), []byte("#")) || bytes.Contains(out.Bytes(), []byte("\n#")) {
			return
		}
		again, err := readFolded(ingesttest.Source(t, out.Bytes()), &reading.Options{})
		if err != nil {
			if strings.Contains(err.Error(), "difffolded") {
				return
			}
			t.Fatalf("wrote %q: %v", out.Bytes(), err)
		}
		if got, want := again.Events[0].Weight, r.Events[0].Weight; got != want {
			t.Errorf("wrote %q: weight %d, was %d", out.Bytes(), got, want)
		}
	})
}

// BenchmarkFolded reads folded stacks of 20 MB.
func BenchmarkFolded(b *testing.B) {
	var text bytes.Buffer
	stacks := ingesttest.Stacks()
	for i := 0; text.Len() < 20<<20; i++ {
		s := stacks[i%len(stacks)]
		for j := len(s) - 1; j >= 0; j-- {
			fmt.Fprintf(&text, "std::pair<int, symbol_%d>::method(int);", s[j])
		}
		fmt.Fprintf(&text, "leaf %d\n", 1+i%100)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readFolded(ingesttest.Source(b, text.Bytes()), &reading.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestFoldedDepth reads stacks of the most frames that there may be, and of more.
func TestFoldedDepth(t *testing.T) {
	deep := strings.Repeat("a;", maxDepth-1)
	if r := ingesttest.Read(t, readFolded, []byte(deep+"b 1\n"), &reading.Options{}); r.Accounting.Out != 1 {
		t.Error(r.Accounting)
	}
	_, err := readFolded(ingesttest.Source(t, []byte("a;b 1\n"+deep+"b;c 1\n")), &reading.Options{})
	if err == nil || !strings.Contains(err.Error(), "line 2: the stack has more than 65536 frames") {
		t.Error(err)
	}
}

// TestAsyncProfiler reads what async-profiler wrote with -o collapsed,ann,threads: no sample gets lost, threads are threads,
// and a method is one function, compiled or not.
func TestAsyncProfiler(t *testing.T) {
	data := ingesttest.ReadFile(t, filepath.Join("testdata", "async-threads.collapsed"))
	var sum int64
	for line := range strings.Lines(string(data)) {
		n, err := strconv.ParseInt(strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	r := ingesttest.Read(t, readFolded, data, &reading.Options{TID: true})
	if e := r.Events[0]; e.Samples != sum || e.Weight != sum {
		t.Errorf("%d samples that weigh %d, want %d", e.Samples, e.Weight, sum)
	}
	threads := make(map[string]bool)
	for _, l := range r.Labels[1:] {
		threads[l.Thread] = true
		if l.TID <= 0 {
			t.Errorf("thread %q is %d", l.Thread, l.TID)
		}
	}
	for _, name := range []string{"primes", "strings", "holder-1", "parker-2"} {
		if !threads[name] {
			t.Errorf("no thread %s in %v", name, threads)
		}
	}
	for _, f := range r.Functions {
		if strings.Contains(f.Name, "_[") || strings.Contains(f.Name, "tid=") || strings.Contains(f.Name, "0x0") || strings.HasPrefix(f.Name, "java/") {
			t.Errorf("function %q", f.Name)
		}
	}
	for _, row := range r.Group(run.ByFunction) {
		if strings.HasPrefix(row.Name, "Work.") && row.DSO != "[JIT]" {
			t.Errorf("%s is in %q", row.Name, row.DSO)
		}
	}
}

func TestFoldedThread(t *testing.T) {
	for _, tt := range []struct{ line, stack, thread string }{
		{"[pool 1 tid=7];f_[j];g 2", "f;g", "pool 1"},
		{"[tid=7];f 2", "f", ""},
		{"[tid=x];f 2", "[tid=x];f", ""},
		{"[unknown];f 2", "[unknown];f", ""},
		{"[a;tid=7];f 2", "[a;tid=7];f", ""},
		{"~f /lib/f.js:3_[j];java/util/A$$Lambda$7.0x00007fb578000a08.run_[0];B.<init>_[i] 2", "~f /lib/f.js:3;java.util.A$$Lambda.run;B.<init>", ""},
	} {
		r := ingesttest.Read(t, readFolded, []byte(tt.line+"\n"), &reading.Options{})
		sums := ingesttest.Sums(t, r, "samples")
		if _, ok := sums[tt.stack]; !ok || r.Labels[r.Samples[0].Labels].Thread != tt.thread {
			t.Errorf("%s: got %v of thread %q", tt.line, sums, r.Labels[r.Samples[0].Labels].Thread)
		}
	}
}
