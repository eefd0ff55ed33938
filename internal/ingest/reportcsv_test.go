package ingest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// TestReportCSVRecordings compares reports of simpleperf with the samples, weights and
// files of the recordings.
func TestReportCSVRecordings(t *testing.T) {
	for _, file := range []string{
		"perf_display_bitmaps.data", "aggregatable_perf1.data", "wrong_ip_callchain_perf.data",
		"perf_with_two_event_types.data", "perf_with_symbols.data", "perf_g_fp.data",
	} {
		path := ingesttest.Recording(t, "simpleperf/"+file)
		want := ingesttest.Summary(t, filepath.Base(file))
		for _, args := range []string{
			"-n", "-n --csv-separator ;", "-n --csv-separator \t", "-n --csv-separator ||", "-n --children",
			"-n --children -g --max-stack 3", "-n --raw-period", "-n --sort symbol", "-n --sort comm,tid", "-n --sort vaddr_in_file,dso",
			"-n --print-event-count", "-n --percent-limit 5",
		} {
			t.Run(file+" "+args, func(t *testing.T) {
				t.Parallel()
				out := ingesttest.Tool(t, "simpleperf", append([]string{"report", "--csv", "-i", path}, strings.Split(args, " ")...)...)
				r := ingesttest.Read(t, readReportCSV, out, &reading.Options{})
				if f := detected(out[:min(len(out), input.HeadSize)]); f != ReportCSV {
					t.Errorf("is taken for %v", f)
				}
				got := make(map[string]run.FoldedSum)
				for _, e := range r.Events {
					got[e.Name] = run.FoldedSum{Weight: e.Weight, Count: e.Samples}
					if !e.WeightSqLowerBound || e.WeightSq > float64(e.Weight)*float64(e.Weight)*(1+1e-9) {
						t.Errorf("event %+v", e)
					}
				}
				total := int64(0)
				for _, w := range want {
					total += w.Count
				}
				if r.Accounting.In != total {
					t.Errorf("%s, want %d in", &r.Accounting, total)
				}
				if strings.Contains(args, "percent-limit") {
					if r.Accounting.Dropped["not in the report"] == 0 && r.Accounting.Out != total {
						t.Errorf("%s", &r.Accounting)
					}
					return
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("events (-want +got):\n%s", d)
				}
				if len(ingesttest.ReaderWarnings(r)) > 0 {
					t.Errorf("warnings %q", r.Warnings)
				}
			})
		}
	}
}

// TestReportCSVSymbols compares the functions of a report with the leaves of stacks.
func TestReportCSVSymbols(t *testing.T) {
	path := ingesttest.Recording(t, "simpleperf/aggregatable_perf1.data")
	want := make(map[string]run.FoldedSum)
	for stack, s := range ingesttest.Oracle(t, "oracles/aggregatable_perf1.data.cpu-cycles.art.folded.tsv") {
		frames := ingesttest.Frames(stack)
		leaf := frames[len(frames)-1]
		want[leaf] = run.FoldedSum{Weight: want[leaf].Weight + s.Weight, Count: want[leaf].Count + s.Count}
	}
	out := ingesttest.Tool(t, "simpleperf", "report", "--csv", "-n", "-i", path)
	got := ingesttest.Sums(t, ingesttest.Read(t, readReportCSV, out, &reading.Options{}), "cpu-cycles")
	if d := ingesttest.DiffSums(got, want); d != "" {
		t.Error(d)
	}
}

func TestReportCSV(t *testing.T) {
	r := ingesttest.Read(t, readReportCSV, []byte(strings.ReplaceAll(`Cmdline: simpleperf record -e cpu-cycles:u,cpu-clock ./a
Arch: arm64
Event: cpu-cycles:u (type 0, config 0)
Samples: 8
Event count: 3983917

Overhead,Sample,Command,Pid,Tid,Shared Object,Symbol,EventCount,EventName
66.68%,4,"a,b",10,10,/lib/libc.so,"operator"" _x(int, char)",2656370,cpu-cycles:u
31.56%,2,a,10,11,/lib/libc.so,operator"" _y,1257175,cpu-cycles:u
0.08%,1,a,10,11,[kernel.kallsyms],[kernel.kallsyms][+ffffffff81],3076,cpu-cycles:u

Event: cpu-clock (type 1, config 0)
Samples: 2
Event count: 500000

Overhead,Sample,Command,Pid,Tid,Shared Object,Symbol,EventCount,EventName
50.00%,1,a,10,10,/lib/ld.so,f,250000,cpu-clock
50.00%,1,a,10,10,unknown,unknown,250000,cpu-clock
`, "\n", "\r\n")), &reading.Options{PID: true, TID: true})
	if d := cmp.Diff(map[string]run.FoldedSum{
		`operator"" _x(int, char)`: {Weight: 2656370, Count: 4},
		`operator"" _y`:            {Weight: 1257175, Count: 2},
		"[kernel.kallsyms]":        {Weight: 3076, Count: 1},
	}, ingesttest.Sums(t, r, "cpu-cycles:u")); d != "" {
		t.Errorf("functions (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]run.FoldedSum{"f": {Weight: 250000, Count: 1}, "[unknown]": {Weight: 250000, Count: 1}}, ingesttest.Sums(t, r, "cpu-clock")); d != "" {
		t.Errorf("functions (-want +got):\n%s", d)
	}
	if d := cmp.Diff(run.Accounting{
		In: 10, Out: 9, Dropped: map[string]int64{"not in the report": 1}, Frames: 9, UnknownFrames: 2,
	}, r.Accounting); d != "" {
		t.Errorf("accounting (-want +got):\n%s", d)
	}
	if l := r.Labels[1]; l.Thread != "a,b" || l.PID != 10 || l.TID != 10 {
		t.Errorf("labels %+v", l)
	}
	if d := cmp.Diff(run.Recording{
		Format: "simpleperf report --csv", Tool: "simpleperf", CommandLine: "simpleperf record -e cpu-cycles:u,cpu-clock ./a", Arch: "arm64",
	}, r.Recording); d != "" {
		t.Errorf("recording (-want +got):\n%s", d)
	}
	if len(ingesttest.ReaderWarnings(r)) != 1 || !strings.Contains(ingesttest.ReaderWarnings(r)[0], "rows of cpu-cycles:u have 98.3% of its event count") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestReportCSVVariants(t *testing.T) {
	const facts = "Event: cpu-cycles (type 0, config 0)\nSamples: 12\nEvent count: 1000\n\n"
	for _, tt := range []struct {
		name, text string
		want       map[string]run.FoldedSum
		warning    string
	}{
		{
			"uncounted", facts + "Overhead,Symbol,EventCount,EventName\n60.00%,f,600,cpu-cycles\n40.00%,g,400,cpu-cycles\n",
			map[string]run.FoldedSum{"f": {Weight: 600, Count: 1}, "g": {Weight: 400, Count: 1}},
			"rows have no number of samples",
		},
		{
			"percentages", facts + "Overhead,Sample,Symbol\n60.04%,7,f\n39.96%,5,g\n",
			map[string]run.FoldedSum{"f": {Weight: 600, Count: 7}, "g": {Weight: 400, Count: 5}},
			"weights are estimates",
		},
		{
			"raw", facts + "Overhead,Sample,Symbol\n600,7,f\n400,5,g\n",
			map[string]run.FoldedSum{"f": {Weight: 600, Count: 7}, "g": {Weight: 400, Count: 5}},
			"weights are estimates",
		},
		{
			"added counter", facts + "Overhead,Sample,EventCount_cpu-cycles,EventCount_instructions,Symbol\n60%,7,600,33,f\n40%,5,400,44,g\n",
			map[string]run.FoldedSum{"f": {Weight: 600, Count: 7}, "g": {Weight: 400, Count: 5}},
			"",
		},
		{
			"children", facts + "Children,Self,Sample,AccEventCount,SelfEventCount,Symbol\n100%,60%,7,1000,600,f\n40%,40%,5,400,400,g\n100%,0%,0,1000,0,main\n       |\n       -- main,x\n",
			map[string]run.FoldedSum{"f": {Weight: 600, Count: 7}, "g": {Weight: 400, Count: 5}},
			"",
		},
		{
			"files", facts + "Overhead,Sample,Shared Object,EventCount,EventName\n60%,7,/l/a.so,600,cpu-cycles\n40%,5,unknown,400,cpu-cycles\n",
			map[string]run.FoldedSum{"[a.so]": {Weight: 600, Count: 7}, "": {Weight: 400, Count: 5}},
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ingesttest.Read(t, readReportCSV, []byte(tt.text), &reading.Options{})
			if d := cmp.Diff(tt.want, ingesttest.Sums(t, r, "cpu-cycles")); d != "" {
				t.Errorf("functions (-want +got):\n%s", d)
			}
			if got := strings.Join(ingesttest.ReaderWarnings(r), "\n"); !strings.Contains(got, tt.warning) || tt.warning == "" && got != "" {
				t.Errorf("warnings %q, want %q", got, tt.warning)
			}
			for _, e := range r.Events[1:] {
				if e.Name != "counted:instructions" || !e.Derived || e.Weight != 77 || e.Unit != "instructions" {
					t.Errorf("event %+v", e)
				}
			}
		})
	}
}

func TestReportCSVErrors(t *testing.T) {
	const facts = "Event: cpu-cycles (type 0, config 0)\nSamples: 12\nEvent count: 1000\n\n"
	const table = facts + "Overhead,Sample,Command,Symbol,EventCount,EventName\n"
	for _, tt := range []struct{ name, text, want string }{
		{"no table", facts, "line 5: file ends without a table"},
		{"other text", "hello\n", `line 1: "hello" is none of simpleperf report --csv`},
		{"fields", table + "60%,7,a,f,600\n", "line 6: row has 5 fields, the table 6 columns"},
		{"more fields", table + "60%,7,a,f,g,600,cpu-cycles\n", "line 6: row has 7 fields, the table 6 columns"},
		{"samples", table + "60%,x,a,f,600,cpu-cycles\n", `line 6: column 2: "x" is no number`},
		{"huge", table + "60%,99999999999999999999,a,f,600,cpu-cycles\n", "line 6: column 2: 99999999999999999999 exceeds 2^63"},
		{"negative", table + "60%,1,a,f,-600,cpu-cycles\n", `line 6: column 5: "-600" is no number of events`},
		{"NaN", table + "NaN%,1,a,f,600,cpu-cycles\n", `line 6: column 1: "NaN%" is no overhead`},
		{"sum", table + "60%,9223372036854775807,a,f,600,cpu-cycles\n60%,1,a,f,600,cpu-cycles\n", "line 7: there are more than 2^63 samples"},
		{"branches", facts + "Overhead,Source Shared Object,Source Symbol,Target Shared Object,Target Symbol,EventCount,EventName\n", "line 5: is a report of branches"},
		{"nothing to weigh", "Overhead,Sample,Symbol\n60%,1,f\n", "line 1: table has neither event counts"},
		{"count", "Event: x (type 1, config 0)\nSamples: many\n", `line 2: Samples: "many" is no number`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := readReportCSV(ingesttest.Source(t, []byte(tt.text)), &reading.Options{})
			if err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestSplitReportRow(t *testing.T) {
	for _, tt := range []struct {
		line, separator string
		want            []string
	}{
		{`a,b,c`, ",", []string{"a", "b", "c"}},
		{`"a,b",c`, ",", []string{"a,b", "c"}},
		{`a,"b,c"`, ",", []string{"a", "b,c"}},
		{`"operator"" _x(int, char)",7`, ",", []string{`operator"" _x(int, char)`, "7"}},
		{`operator"" _x,7`, ",", []string{`operator"" _x`, "7"}},
		{`"a||b"||c`, "||", []string{"a||b", "c"}},
		{`,,`, ",", []string{"", "", ""}},
		{`"`, ",", []string{`"`}},
	} {
		got, err := splitReportRow(nil, []byte(tt.line), []byte(tt.separator), len(tt.want))
		var fields []string
		for _, f := range got {
			fields = append(fields, string(f))
		}
		if err != nil || !slices.Equal(fields, tt.want) {
			t.Errorf("splitReportRow(%q) = %q, %v, want %q", tt.line, fields, err, tt.want)
		}
	}
}

func FuzzReportCSV(f *testing.F) {
	f.Add([]byte("Cmdline: a\nEvent: c (type 0, config 0)\nSamples: 8\nEvent count: 10\n\nOverhead,Sample,Command,Pid,Tid,Shared Object,Symbol,EventCount,EventName\n66.68%,4,\"a,b\",10,10,/l,\"f(int, char)\",5,c\n   |\n\nEvent: d (type 0, config 0)\n\nChildren;Self;AccEventCount;SelfEventCount;VaddrInFile\n1%;2%;3;4;0x5\n"))
	f.Add([]byte("Event: c (type 0, config 0)\nTime in ns: 10\n\nOverhead,EventCount_a,EventCount_b,Symbol\n1%,2,3,x[+1]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ingesttest.Fuzz(t, readReportCSV, data, &reading.Options{PID: true, TID: true})
	})
}
