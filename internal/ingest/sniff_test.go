package ingest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSniffRecordings(t *testing.T) {
	for pattern, want := range map[string]format{
		"simpleperf/*.data": perfDataFormat, "linux/*": perfDataFormat, "lbr/*.lbr": perfDataFormat,
		"simpleperf/*.proto_data": reportSampleFormat, "simpleperf/*.perf-script": perfScriptFormat,
		"simpleperf/*.foldedstack*": foldedFormat, "oracles/*.folded.tsv": foldedFormat,
		"simpleperf/elf": unknownFormat, "simpleperf/*.cpp": unknownFormat, "simpleperf/proguard_mapping.txt": unknownFormat,
	} {
		paths, _ := filepath.Glob(filepath.Join(recording(t, ""), pattern))
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
			src, err := newSource(path, f)
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			if got := sniff(src.Head); got != want {
				t.Errorf("%s is taken for %v, want %v", path, got, want)
			}
		}
	}
}

func TestSniff(t *testing.T) {
	p := encode(t, testProfile())
	for _, tt := range []struct {
		name string
		head []byte
		want format
	}{
		{"pprof", p, pprofFormat},
		{"pprof without sample types", p[len(p)-3:], unknownFormat},
		{"report", newReport().end(), reportSampleFormat},
		{"gecko", []byte(geckoRows), geckoFormat},
		{"processed", []byte(processed), geckoFormat},
		{"gecko in a line", []byte(`{"counters": [` + strings.Repeat("1,", headSize)), geckoFormat},
		{"long folded line", []byte("a;b;" + strings.Repeat("c;", headSize)), foldedFormat},
		{"report-sample", []byte("meta_info:\n  trace_offcpu: false\n"), reportTextFormat},
	} {
		src := sourceOf(t, tt.head)
		if got := sniff(src.Head); got != tt.want {
			t.Errorf("%s is taken for %v, want %v", tt.name, got, tt.want)
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
		{"xz", "\xfd7zXZ\x00...", "is compressed with xz: decompress it first"},
		{"zstd", "\x28\xb5\x2f\xfd...", "is compressed with zstd"},
		{"UTF-16", "\xff\xfem\x00a\x00", "looks like text in UTF-16"},
		{"HTML", "<!DOCTYPE html>\n<html>", "looks like HTML"},
		{"SVG", "<?xml version=\"1.0\"?><svg>", "looks like XML"},
		{"JSON", `{"a": 1}`, "looks like JSON of another kind;"},
		{"Chrome", `{"traceEvents": []}`, "(a trace of Chrome)"},
		{"speedscope", `{"$schema": "https://www.speedscope.app/file-format-schema.json"}`, "(a profile of speedscope)"},
		{"V8", `{"nodes": [], "startTime": 1}`, "(a profile of V8)"},
		{"script", "#!/bin/sh\n", "looks like a script"},
		{"white space", " \n\n", "has nothing but white space"},
		{"binary", "\x01\x02\x03", "looks like binary data of an unknown format"},
		{"text", "Hello, world!\nbye\n", `looks like text of an unknown format, which starts "Hello, world!"`},
		{"formats", "x\n", "perf.data, simpleperf report-sample --protobuf, simpleperf report-sample, pprof, Firefox Profiler JSON, perf script, folded stacks, Android stack dumps, Android tombstones in protobuf, simpleperf report --csv, simpleperf stat --csv, perf stat -x, perf stat -j and callgrind.out or cachegrind.out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := detect(sourceOf(t, []byte(tt.data)))
			if err == nil || f != unknownFormat || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v, want %q", f, err, tt.want)
			}
		})
	}
}

func FuzzSniff(f *testing.F) {
	for _, s := range []string{
		"\x7fELF", "main;f 1\n", "sh 1 1.5: 2 c:\n\t12 f (x)\n", geckoRows, processed, "0.96,msec,cpu-clock,961945,100.00,0.009,CPUs utilized\n",
		"Performance counter statistics,\n", "Event: x (type 0, config 0)\n\nOverhead,Symbol\n", "{\"counter-value\" : \"1\"}", "meta_info:\n", "\ufeff# x\n<html>",
	} {
		f.Add([]byte(s))
	}
	f.Add(encode(f, testProfile()))
	f.Add(newReport().end())
	f.Fuzz(func(t *testing.T, data []byte) {
		src, err := newSource("fuzz", bytes.NewReader(data))
		if err != nil {
			return
		}
		format, err := detect(src)
		if (format == unknownFormat) == (err == nil) {
			t.Fatalf("format %v and error %v", format, err)
		}
		if err != nil && (len(err.Error()) > 600 || strings.ContainsAny(err.Error(), "\n\x00")) {
			t.Errorf("error %q", err)
		}
		// What is taken for a format can be refused by its reader, but not more.
		if read := readers[format]; read != nil {
			if r, err := read(src, &Options{}); (r == nil) == (err == nil) {
				t.Errorf("run %v and error %v", r, err)
			}
		}
	})
}
