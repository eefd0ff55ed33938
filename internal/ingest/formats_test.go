package ingest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

func TestSniffRecordings(t *testing.T) {
	for pattern, want := range map[string]string{
		"simpleperf/*.data": PerfData, "linux/*": PerfData, "lbr/*.lbr": PerfData,
		"simpleperf/*.proto_data": ReportSample, "simpleperf/*.perf-script": PerfScript,
		"simpleperf/*.foldedstack*": Folded, "oracles/*.folded.tsv": Folded,
		"simpleperf/elf": "", "simpleperf/*.cpp": "", "simpleperf/proguard_mapping.txt": "",
	} {
		paths, _ := filepath.Glob(filepath.Join(ingesttest.Recording(t, ""), pattern))
		if len(paths) == 0 {
			t.Errorf("there is no %s", pattern)
		}
		for _, path := range paths {
			if filepath.Base(path) == "invalid_perf.data" {
				continue
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			src, err := input.New(path, f)
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			if got := detected(src.Head); got != want {
				t.Errorf("%s is taken for %q, want %q", path, got, want)
			}
		}
	}
}

// TestReadRecordings reads every recording that the project holds and, where they are, those
// that it does not hold.
func TestReadRecordings(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all recordings")
	}
	read := 0
	for _, root := range []string{"../../profiles", "../../../shared/perfdata"} {
		if _, err := os.Stat(root); err != nil {
			t.Logf("the recordings in %s are not here", root)
			continue
		}
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			base := filepath.Base(path)
			is := slices.Contains([]string{".data", ".lbr", ".out", ".proto_data", ".perf-script"}, filepath.Ext(path)) || strings.Contains(base, ".foldedstack") || strings.HasSuffix(base, ".folded.tsv")
			if err != nil || d.IsDir() || !is || base == "invalid_perf.data" {
				return err
			}
			src, err := input.Open(path, nil)
			if err != nil {
				t.Error(err)
				return nil
			}
			defer src.Close()
			r, err := Read(src, &reading.Options{AllowTruncated: true, Timeline: true})
			if err != nil {
				t.Errorf("%s: %v", path, err)
				return nil
			}
			timed := ingesttest.CheckTimes(t, r)
			for i := range r.Events {
				if weight := r.Events[i].Weight; timed[i] != weight && timed[i] != 0 {
					t.Errorf("%s, %s: %d of %d have a time", path, r.Events[i].Name, timed[i], weight)
				}
			}
			read++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read == 0 {
		t.Error("no recording was read")
	}
}

// TestTimes checks that readers of formats that have times tell when each sample was, in the order in which the
// recording began and ended, and that the time off the CPU is before the thread was back.
func TestTimes(t *testing.T) {
	for _, test := range []struct {
		format, text string
		want         []run.TimedSample // without labels
	}{
		{"perf script", "app 10/11 1.000000: 500 cpu-cycles:\n\t1234 main+0x4 (/bin/app)\n\napp 10/11 3.5: 700 cpu-cycles:\n\t1234 main+0x4 (/bin/app)\n\n", []run.TimedSample{
			{Weight: 500, Time: 1_000_000_000, Stack: 1}, {Weight: 700, Time: 3_500_000_000, Stack: 1},
		}},
		{"gecko", `{"meta": {"version": 24, "interval": 1, "categories": []}, "libs": [], "threads": [{"name": "main", "processName": "p", "pid": 1, "tid": 1,
			"samples": {"schema": {"stack": 0, "time": 1}, "data": [[0, 2.5], [0, 4]]},
			"stackTable": {"schema": {"prefix": 0, "frame": 1}, "data": [[null, 0]]},
			"frameTable": {"schema": {"location": 0}, "data": [[0]]}, "stringTable": ["main"], "markers": {"schema": {}, "data": []}}]}`, []run.TimedSample{
			{Weight: 1, Time: 2_500_000, Stack: 1}, {Weight: 1, Time: 4_000_000, Stack: 1},
		}},
		{"Chrome's JSON", `{"traceEvents": [{"name": "outer", "ph": "X", "ts": 1000, "dur": 10, "pid": 1, "tid": 1}, {"name": "inner", "ph": "X", "ts": 1002, "dur": 3, "pid": 1, "tid": 1}]}`, []run.TimedSample{
			{Weight: 2000, Time: 1_002_000, Stack: 1, Lasts: true}, {Weight: 5000, Time: 1_010_000, Stack: 1, Lasts: true}, {Weight: 3000, Time: 1_005_000, Stack: 2, Lasts: true},
		}},
	} {
		for _, timeline := range []bool{true, false} {
			r, err := Read(ingesttest.Source(t, []byte(test.text)), &reading.Options{Timeline: timeline})
			if err != nil {
				t.Errorf("%s: %v", test.format, err)
				continue
			}
			ingesttest.CheckRun(t, r)
			got := slices.Concat(r.Timeline, r.Spans)
			for i := range got {
				got[i].Labels = 0
			}
			want := test.want
			if !timeline {
				want = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", test.format, diff)
			}
		}
	}
}

// Inputs of formats whose packages test all the rest.
const (
	emptyReport  = "SIMPLEPERF\x01\x00\x00\x00\x00\x00"
	geckoRows    = `{"libs": [], "meta": {"categories": [], "version": 24}, "threads": []}`
	geckoColumns = `{"meta": {"version": 30, "preprocessedProfileVersion": 50}, "libs": [], "threads": []}`
)

func TestSniff(t *testing.T) {
	p := ingesttest.Profile(t, runtest.Build(t, "r", "cpu t main;f 1\n"))
	for _, tt := range []struct {
		name string
		head []byte
		want string
	}{
		{"pprof", p, Pprof},
		{"report", []byte(emptyReport), ReportSample},
		{"gecko", []byte(geckoRows), Gecko},
		{"processed", []byte(geckoColumns), Gecko},
		{"gecko in a line", []byte(`{"counters": [` + strings.Repeat("1,", input.HeadSize)), Gecko},
		{"long folded line", []byte("a;b;" + strings.Repeat("c;", input.HeadSize)), Folded},
		{"report-sample", []byte("meta_info:\n  trace_offcpu: false\n"), ReportSampleText},
	} {
		src := ingesttest.Source(t, tt.head)
		if got := detected(src.Head); got != tt.want {
			t.Errorf("%s is taken for %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestSniffDumps checks that no other format takes dumps of Android and of HotSpot.
func TestSniffDumps(t *testing.T) {
	dumps, err := filepath.Glob("stackdump/testdata/*.txt")
	if err != nil || len(dumps) == 0 {
		t.Fatalf("%d dumps, %v", len(dumps), err)
	}
	for _, path := range dumps {
		want := StackDump
		if filepath.Base(path) == "jstack.txt" {
			want = HotSpot
		}
		if got := detected(ingesttest.ReadFile(t, path)); got != want {
			t.Errorf("%s is taken for %q, want %q", path, got, want)
		}
	}
}

func TestDetectErrors(t *testing.T) {
	for _, tt := range []struct {
		name, data, want string
	}{
		{"empty", "", "is empty"},
		{"ELF", "\x7fELF\x02\x01\x01\x00", "looks like an ELF binary; profdiff reads perf.data, "},
		{"zip", "PK\x03\x04....", "looks like a zip archive"},
		{"bzip2", "BZh91AY", "is compressed with bzip2: decompress it first"},
		{"UTF-16", "\xff\xfem\x00a\x00", "looks like text in UTF-16"},
		{"HTML", "<!DOCTYPE html>\n<html>", "looks like HTML"},
		{"SVG", "<?xml version=\"1.0\"?><svg>", "looks like XML"},
		{"JSON", `{"a": 1}`, "looks like JSON of another kind;"},
		{"speedscope", `{"$schema": "https://www.speedscope.app/file-format-schema.json"}`, "(a profile of speedscope)"},
		{"script", "#!/bin/sh\n", "looks like a script"},
		{"white space", " \n\n", "has nothing but white space"},
		{"binary", "\x01\x02\x03", "looks like binary data of an unknown format"},
		{"text", "Hello, world!\nbye\n", `looks like text of an unknown format, which starts "Hello, world!"`},
		{"callgrind", "version: 1\ncreator: callgrind-3.22\npid: 1\n", "closest to callgrind.out or cachegrind.out (3 of 3 lines, but no line events: follows)"},
		{"report", "Cmdline: simpleperf\nArch: arm64\nEvent: cpu-cycles (type 0, config 0)\nSamples: 1\nnothing\n", "closest to simpleperf report --csv (4 of 5 lines, but no table follows"},
		{"formats", "x\n", "; profdiff reads " + PerfData + ", " + formats[1].Name + ", "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Detect(ingesttest.Source(t, []byte(tt.data)))
			if err == nil || f != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v, want %q", f, err, tt.want)
			}
		})
	}
}

func FuzzSniff(f *testing.F) {
	for _, s := range []string{
		"\x7fELF", "cpu t main;f 1\n", "sh 1 1.5: 2 c:\n\t12 f (x)\n", geckoRows, geckoColumns, emptyReport, "0.96,msec,cpu-clock,961945,100.00,0.009,CPUs utilized\n",
		"Performance counter statistics,\n", "Event: x (type 0, config 0)\n\nOverhead,Symbol\n", "{\"counter-value\" : \"1\"}", "meta_info:\n", "\ufeff# x\n<html>",
	} {
		f.Add([]byte(s))
	}
	f.Add(ingesttest.Profile(f, runtest.Build(f, "r", "cpu t main;f 1\n")))
	f.Fuzz(func(t *testing.T, data []byte) {
		src, err := input.New("fuzz", bytes.NewReader(data))
		if err != nil {
			return
		}
		format, err := Detect(src)
		if (format == nil) == (err == nil) {
			t.Fatalf("format %v and error %v", format, err)
		}
		if err != nil && (len(err.Error()) > 600 || strings.ContainsAny(err.Error(), "\n\x00")) {
			t.Errorf("error %q", err)
		}
		// What is taken for a format can be refused by its reader, but not more.
		if err == nil {
			if r, err := format.Read(src, &reading.Options{}); (r == nil) == (err == nil) {
				t.Errorf("run %v and error %v", r, err)
			}
		}
	})
}
