package ingest

import (
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// bpftraceOf is what bpftrace prints around a map.
func bpftraceOf(entries ...string) string {
	return "Attaching 2 probes...\n\n\n" + strings.Join(entries, "\n") + "\n\n"
}

func TestBpftrace(t *testing.T) {
	one := func(w int64) run.FoldedSum { return run.FoldedSum{Weight: w, Count: w} }
	for _, tt := range []struct {
		name, text string
		want       map[string]map[string]run.FoldedSum // by event and stack
		warning    string
	}{
		{
			"one key", bpftraceOf("@[\n    g+4\n    main+14\n]: 3", "@[\n    main+20\n]: 5"),
			map[string]map[string]run.FoldedSum{"samples": {"main;g": one(3), "main": one(5)}},
			"",
		},
		{
			"kernel below user", bpftraceOf("@[\n    vfs_read+187\n    do_syscall_64+113\n, \n    read+13\n    main+14\n, cat]: 2", "@[, \n    main+20\n, cat]: 7"),
			map[string]map[string]run.FoldedSum{"samples": {"main;read;do_syscall_64;vfs_read": one(2), "main": one(7)}},
			"",
		},
		{
			// That the second part is of the kernel is known from another entry.
			"user below kernel in the key", bpftraceOf("@[\n    read+13\n    main+14\n, \n    vfs_read+187\n]: 1", "@[\n    read+13\n    main+14\n, \n    vfs_read+187\n    el0t_64_sync+120\n]: 2"),
			map[string]map[string]run.FoldedSum{"samples": {"main;read;vfs_read": one(1), "main;read;el0t_64_sync;vfs_read": one(2)}},
			"",
		},
		{
			"names and other parts", bpftraceOf("@cpu[0, \n    f+1\n]: 2", "@cpu[1, ]: 8", "@us[12, comm, \n    f+1\n    main+2\n]: 4"),
			map[string]map[string]run.FoldedSum{"@cpu": {"f": one(2), "": one(8)}, "@us": {"main;f": one(4)}},
			"",
		},
		{
			// As versions from 0.22 print a stack without frames.
			"empty stack with a line", bpftraceOf("@[\n, \n    f+1\n, a]: 4", "@[\n    vfs_read+1\n    entry_SYSCALL_64+2\n, \n, a]: 5"),
			map[string]map[string]run.FoldedSum{"samples": {"f": one(4), "entry_SYSCALL_64;vfs_read": one(5)}},
			"",
		},
		{
			"no white space at ends of lines", bpftraceOf("@[,\n    f+1\n, a]: 4", "@[\n    do_syscall_64+1\n,\n    f+1\n, a]: 5"),
			map[string]map[string]run.FoldedSum{"samples": {"f": one(4), "f;do_syscall_64": one(5)}},
			"",
		},
		{
			"mode perf", bpftraceOf("@[\n\tffffffff816b96c8 ksys_read+40\n\tffffffff81000130 unheard_of+118\n, \n\t7feb4c6b42ad __libc_read+13 (/usr/lib/libc.so.6)\n\t557d5671f1f9 0x557d5671f1f9 ([unknown])\n]: 3"),
			map[string]map[string]run.FoldedSum{"samples": {"[unknown];__libc_read;unheard_of;ksys_read": one(3)}},
			"",
		},
		{
			"mode raw", bpftraceOf("@[\nffffffff816b96c8\nffffffff81000130\n, \n7feb4c6b42ad\n]: 3"),
			map[string]map[string]run.FoldedSum{"samples": {"[unknown];[kernel.kallsyms];[kernel.kallsyms]": one(3)}},
			"",
		},
		{
			"symbols", bpftraceOf("@[\n    std::vector<int, A>::operator[](unsigned long)+23\n    operator+(A, B)+5\n    0x5565bbdde165\n    f+34@./main.c:22\n    main+1 [inlined]\n]: 1"),
			map[string]map[string]run.FoldedSum{"samples": {"main;f;[unknown];operator+(A, B);std::vector<int, A>::operator[](unsigned long)": one(1)}},
			"",
		},
		{
			"stats", bpftraceOf("@[\n    f+1\n]: count 4, average 25, total 100\n"),
			map[string]map[string]run.FoldedSum{"samples": {"f": {Weight: 100, Count: 4}}},
			"",
		},
		{
			"other maps", bpftraceOf("@c[cat]: 45", "@h: \n[32, 64)               2 |@@      |\n[64, 128)              5 |@@@@@@@@|\n", "@hu[\n    f+1\n]: \n[0]                    1 |@@@@@@@@|\n", "@k: \n    f+1\n    main+2\n", "@n: 93", "@neg[\n    f+1\n]: -3", "@s[\n    f+1\n]: 2"),
			map[string]map[string]run.FoldedSum{"@s": {"f": one(2)}},
			"left out maps that count no stacks: @c: has no stacks, @h: has no stacks, @hu: its values are no numbers of samples, and 3 more",
		},
		{
			"lost stack", bpftraceOf("ERROR: failed to look up stack id -17 (pid -1): -2\n@[, ]: 1", "@[\n    do_idle+1\nERROR: failed to look up stack id 3 (pid 7): -2\n, ]: 2"),
			map[string]map[string]run.FoldedSum{"samples": {"": one(1), "do_idle": one(2)}},
			"2 stacks were lost",
		},
		{
			"printed twice", bpftraceOf("@[\n    f+1\n]: 1", "@[\n    g+1\n]: 4", "", "@[\n    f+1\n]: 2", "@[\n    g+1\n]: 4"),
			map[string]map[string]run.FoldedSum{"samples": {"f": one(3), "g": one(8)}},
			"@ was printed more than once",
		},
		{
			// Two processes can have stacks that look the same.
			"equal keys", bpftraceOf("@[\n    f+1\n]: 1", "@[\n    g+1\n]: 4", "@[\n    f+1\n]: 9"),
			map[string]map[string]run.FoldedSum{"samples": {"f": one(10), "g": one(4)}},
			"",
		},
		{
			"sums", bpftraceOf("@bytes[\n    f+1\n]: 4096000000"),
			map[string]map[string]run.FoldedSum{"@bytes": {"f": one(4096000000)}},
			"values of @bytes sum to 4096000000: if they are no sample counts",
		},
		{
			"CR LF", strings.ReplaceAll(bpftraceOf("@[\n    f+1\n    main+1\n, a]: 4"), "\n", "\r\n"),
			map[string]map[string]run.FoldedSum{"samples": {"main;f": one(4)}},
			"",
		},
		{
			"invalid UTF-8", bpftraceOf("@[\n    f\xff+1\n]: 4"),
			map[string]map[string]run.FoldedSum{"samples": {"f\ufffd": one(4)}},
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ingesttest.Read(t, readBpftrace, []byte(tt.text), &reading.Options{})
			got := make(map[string]map[string]run.FoldedSum)
			for i := range r.Events {
				got[r.Events[i].Name] = r.Folded(i)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("stacks (-want +got):\n%s", d)
			}
			if got := strings.Join(ingesttest.ReaderWarnings(r), "\n"); !strings.Contains(got, tt.warning) || tt.warning == "" && got != "" {
				t.Errorf("warnings %q, want %q", got, tt.warning)
			}
			if f := detected([]byte(tt.text)); f != Bpftrace {
				t.Errorf("is taken for %q", f)
			}
		})
	}
}

// TestBpftracePlaces checks files, addresses and names of threads.
func TestBpftracePlaces(t *testing.T) {
	text := bpftraceOf("@[profile:hz:99, \n\tffffffff816b96c8 ksys_read+40\n, \n\t7feb4c6b42ad read+13 (/usr/lib/libc.so.6)\n, 12, cat 1]: 3", "@x[a, b, \n    f+1\n]: 1")
	r := ingesttest.Read(t, readBpftrace, []byte(text), &reading.Options{UnknownOffset: true})
	type place struct {
		name, file string
		kind       run.MappingKind
		address    uint64
	}
	var got []place
	for _, l := range r.Locations {
		m := r.Mappings[l.Mapping]
		got = append(got, place{r.Functions[l.Lines[0].Function].Name, m.File, m.Kind, l.Address})
	}
	want := []place{
		{"ksys_read", "[kernel.kallsyms]", run.KernelMapping, 0xffffffff816b96c8},
		{"read", "/usr/lib/libc.so.6", run.NativeMapping, 0x7feb4c6b42ad},
		{name: "f"},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(place{})); d != "" {
		t.Errorf("locations (-want +got):\n%s", d)
	}
	threads := map[string]string{}
	for _, s := range r.Samples {
		threads[r.Events[s.Event].Name] = r.Labels[s.Labels].Thread
	}
	if d := cmp.Diff(map[string]string{"samples": "cat 1", "@x": ""}, threads); d != "" {
		t.Errorf("threads (-want +got):\n%s", d)
	}
}

func TestBpftraceErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no stacks", "@c[cat]: 45\n@n: 3\n", "has no map that counts stacks (@c: has no stacks, @n: has no stacks): give a map kstack or ustack as key, and count() as value"},
		{"negative", "@[\n    f+1\n]: -45\n", "(@: it has negative values)"},
		{"huge", "@[\n    f+1\n]: 9223372036854775808\n", "(@: its values are no numbers of samples)"},
		{"sum", "@[\n    f+1\n]: 9223372036854775807\n@[\n    g+1\n]: 9223372036854775807\n", "@: values sum to more than 2^63"},
		{"cut", "@[\n    f+1\n", "line 3: ends within a key of @"},
		{"key in a key", "@[\n    f+1\n@[\n", "line 3: a map begins within a key of @"},
		{"no part", "@s[one\ntwo]: 3\n", `line 1: "one" is no part of a key of @s`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := readBpftrace(ingesttest.Source(t, []byte(tt.text)), &reading.Options{})
			if err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestBpftraceRefused checks what is not taken for maps.
func TestBpftraceRefused(t *testing.T) {
	entry := "@[\n    f+1\n]: 3\n"
	for _, tt := range []struct{ name, text, want string }{
		{"no stacks", "@c[cat]: 45\n@n: 3\n", "bpftrace maps (2 of 2 lines, but none has a stack in its key)"},
		{"quoted", strings.Repeat("as the book says\n", 4) + entry, "bpftrace maps (3 of 7 lines, but the others are of no map)"},
		{"cut", entry + "@[\n    f+1\n", ""},
		{"no frames", "@[\n    hello\n    world\n]: 3\n", "but none has a stack in its key"},
		{"mail", "@alice: see\n@bob[1]: no\n", "but none has a stack in its key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Detect(ingesttest.Source(t, []byte(tt.text)))
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestBpftraceRecordings reads what bpftrace 0.17 printed of a program that hashes and
// reads, with symbols and stripped. The values of its maps are added up apart.
func TestBpftraceRecordings(t *testing.T) {
	values := regexp.MustCompile(`(?m)^(?:(@\w*)\[.*|.*)\]: (\d+)$`)
	opens := regexp.MustCompile(`(?m)^(@\w*)\[`)
	for file, want := range map[string][]string{
		"kstack-ustack-comm.txt": {"@"},
		"perf.txt":               {"@"},
		"maps.txt":               {"@cpu", "@s", "@us"},
	} {
		t.Run(file, func(t *testing.T) {
			data := ingesttest.ReadFile(t, filepath.Join("testdata", "bpftrace", file))
			sums := make(map[string]int64)
			name := ""
			for line := range strings.Lines(string(data)) {
				if m := opens.FindStringSubmatch(line); m != nil {
					name = m[1]
				}
				if m := values.FindStringSubmatch(line); m != nil {
					n, err := strconv.ParseInt(m[2], 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					sums[name] += n
				}
			}
			r := ingesttest.Read(t, readBpftrace, data, &reading.Options{})
			if f := detected(data); f != Bpftrace {
				t.Errorf("is taken for %q", f)
			}
			got := make(map[string]int64)
			for _, e := range r.Events {
				got[e.Name] = e.Weight
			}
			wants := make(map[string]int64)
			for _, name := range want {
				event := name
				if name == "@" {
					event = "samples"
				}
				wants[event] = sums[name]
			}
			if d := cmp.Diff(wants, got); d != "" {
				t.Errorf("weights (-want +got):\n%s", d)
			}
			for stack := range r.Folded(0) {
				// The kernel is called by the program, not the other way round.
				if i := strings.Index(stack, "main"); i > 0 && strings.Contains(stack[:i], "do_syscall_64") {
					t.Errorf("stack %s", stack)
				}
			}
		})
	}
}

func FuzzBpftrace(f *testing.F) {
	for _, text := range []string{
		"@[\n    vfs_read+187\n    do_syscall_64+113\n, \n    read+13\n    main+14\n, cat]: 2\n@[, \n    main+20\n, cat]: 7\n",
		"@cpu[0, \n\tffffffff816b96c8 ksys_read+40\n, \n\t7feb4c6b42ad read+13 (/usr/lib/libc.so.6)\n]: count 4, average 25, total 100\n@c[a]: 1\n@h: \n[0]  1 |@@|\n",
		"@[\nffffffff816b96c8\n]: 9223372036854775807\n@[\n, ]: 9223372036854775807\n@[\n    f+1\n]: -1\n",
		"@a[\n    f+1\n]: count 1, average 9, total 9223372036854775807\n@a[\n    +1\n     \n    g+1\n]: 9223372036854775806\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ingesttest.Fuzz(t, readBpftrace, data, &reading.Options{UnknownOffset: true})
		if e := recogniseBpftrace(input.Head(data)); e.Known > e.Seen || e.Known < 0 || e.Known == math.MaxInt {
			t.Errorf("%d of %d lines", e.Known, e.Seen)
		}
	})
}
