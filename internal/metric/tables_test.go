package metric

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTables reads tables of values: CSV, JSON lines, JSON arrays.
func TestTables(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{
			"runs and values of each",
			"run,frame_ms,battery\n# a comment\n1,16.5,99\n1,17,99\n2,16.25,98\n2,,98\n2,x,98\n2,1\n",
			`CSV with columns of values: 10 read
lost 1: a cell that is no number, first line 7
lost 1: a row with another number of cells than the first, first line 8

 | frame_ms: ms × 1e+06 = nanoseconds, lower (a time)
  run 0 1: [1.65e+07 1.7e+07]
  run 1 2: [1.625e+07]

 | battery:  × 1 = , unknown (neither its name nor its unit tells)
  run 0 1: [99 99]
  run 1 2: [98 98 98]
`,
		},
		{
			"subjects, other separators, quotes",
			"test;iteration;id;rx Mbit/s;note\n\"16 KB; big\";0;7;200;a\n32 KB;0;8;100;b\n32 KB;1;9;99,5;c\n32 KB;1;9;98;c\n32 KB;1;9;98;c\n32 KB;1;9;98;c\n32 KB;1;9;98;c\n32 KB;1;9;98;c\n32 KB;1;9;98;c\n32 KB;1;9;98;c\n",
			`CSV with columns of values: 10 read
lost 1: a cell that is no number, first line 4
warning: each iteration counts as a run
warning: column note is left out: it is no number, and its name says not what it is for

16 KB; big | rx Mbit/s: Mbit/s × 1e+06 = bits/second, higher (a rate)
  run 0 0: [2e+08]

32 KB | rx Mbit/s: Mbit/s × 1e+06 = bits/second, higher (a rate)
  run 0 0: [1e+08]
  run 1 1: [9.8e+07 9.8e+07 9.8e+07 9.8e+07 9.8e+07 9.8e+07 9.8e+07]
`,
		},
		{
			"one value a row, with its unit",
			"name\tmetric\tvalue\tunit\nload\tlatency\t5\tms\nload\tlatency\t4000\tus\nload\tsize\t3\tKiB\nload\tlatency\t1\tMB\n",
			`CSV with columns of values: 4 read
lost 1: a value in another unit than others of its metric, first line 5

load | latency: ms × 1e+06 = nanoseconds, lower (a time)
  run 0 : [5e+06 4e+06]

load | size: KiB × 1024 = bytes, unknown (neither its name nor its unit tells)
  run 0 : [3072]
`,
		},
		{
			"JSON lines",
			`{"run": 1, "query": "q1", "elapsed_ms": 5.5, "tags": {"a": 1}, "ok": true}
{"run": 1, "query": "q2", "elapsed_ms": 6}

{"run": 2, "query": "q1", "elapsed_ms": null}
{"run": 2, "elapsed_ms": 7, "new_ms": 1}
{"run": 2, "query": "q1", "elapsed_ms": 8
`,
			`JSON lines with columns of values: 5 read
lost 1: a line that is no JSON object, first line 6
warning: column ok is left out: it is no number, and its name says not what it is for

q1 | elapsed_ms: ms × 1e+06 = nanoseconds, lower (a time)
  run 0 1: [5.5e+06]

q2 | elapsed_ms: ms × 1e+06 = nanoseconds, lower (a time)
  run 0 1: [6e+06]

 | elapsed_ms: ms × 1e+06 = nanoseconds, lower (a time)
  run 0 2: [7e+06]

 | new_ms: ms × 1e+06 = nanoseconds, lower (a time)
  run 0 2: [1e+06]
`,
		},
		{
			"github-action-benchmark's own form",
			`[{"name": "My Memory", "unit": "MB", "value": 100, "range": "3"}, {"name": "CPU load", "unit": "Percent", "value": 50}, 5]`,
			``,
		},
		{
			"github-action-benchmark's own form, whole",
			`[{"name": "My Memory", "unit": "MB", "value": 100, "extra": "x"}, {"name": "CPU load", "unit": "Percent", "value": 50}]`,
			`JSON array of records: 2 read
warning: column extra is left out: it is no number, and its name says not what it is for

My Memory | : MB × 1e+06 = bytes, lower (its name says memory)
  run 0 : [1e+08]

CPU load | : Percent × 1 = percent, unknown (neither its name nor its unit tells)
  run 0 : [50]
`,
		},
		{
			"one number a line",
			"# frames\n1.5\n\n2 # slow\n",
			`one number a line: 2 read

 | value:  × 1 = , unknown (neither its name nor its unit tells)
  run 0 : [1.5 2]
`,
		},
	} {
		s, err := read(t, "test", []byte(tt.text))
		if err != nil {
			if tt.want != "" {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		_, got, _ := strings.Cut(describe(s), "\n")
		_, got, _ = strings.Cut(got, "\n")
		first, _, _ := strings.Cut(describe(s), "\n")
		got = strings.ReplaceAll(first+"\n"+got, "  each: \n", "")
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestNotTables refuses tables in which nothing says that it is measured.
func TestNotTables(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"name,count,share\nwork,12,50.0\nidle,12,50.0\n", "closest to CSV with columns of values (2 of 2 lines, but no name of a column ends in a unit"},
		{"name,city\nAnn,Paris\nBob,Rome\n", `which starts "name,city"; profdiff reads`},
		{`{"level":"info","msg":"x","n":1}` + "\n" + `{"level":"info","msg":"y","n":2}` + "\n", "closest to JSON lines with columns of values (2 of 2 lines"},
		{`{"nodes": [{"id": 1}], "startTime": 1}` + "\n", "but one is too few to tell"},
		{"1,2\n3,4\n", "looks like text of an unknown format"},
		{"frame_ms\n", "looks like text of an unknown format"},
		{"5\n", "closest to one number a line (1 of 1 lines, but one is too few to tell)"},
		{"5\nx\n", "closest to one number a line (1 of 2 lines, but others are no number)"},
		{"", "is empty"},
	} {
		if s, err := read(t, "test", []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, %v, want %s", tt.text, s, err, tt.want)
		}
	}
}

// TestTooLarge counts values that no number holds in the unit of the metric.
func TestTooLarge(t *testing.T) {
	s, err := read(t, "test", []byte("run,frame_ms\n1,1e308\n2,5\n2,5\n2,1e400\n"))
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Metrics[0].N(); n != 2 || len(s.Lost) != 2 || len(s.Metrics[0].Runs) != 1 {
		t.Errorf("%d values, lost %v", n, s.Lost)
	}
}

// TestTooMany refuses more values than are kept, whatever the format.
func TestTooMany(t *testing.T) {
	if testing.Short() {
		t.Skip("reads ten million values")
	}
	for name, text := range map[string]string{
		"go test -bench":             "BenchmarkA 1" + strings.Repeat(" 1 ns/op", 1000) + "\n",
		"one number a line":          "1\n",
		"CSV with columns of values": "1\n",
	} {
		head := ""
		if strings.HasPrefix(name, "CSV") {
			head = "frame_ms\n"
		}
		data := head + strings.Repeat(text, (maxValues+maxValues/100)/max(1, strings.Count(text, "ns/op")))
		if s, err := read(t, "test", []byte(data)); err == nil || !strings.Contains(err.Error(), "more than 10000000 values") {
			t.Errorf("%s: got %v, %v", name, s, err)
		}
	}
}
