package perfdata

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/run"
)

// filed are the samples of a run by the file and the function of their leaf.
func filed(r *run.Run) []string {
	var out []string
	for _, s := range r.Samples {
		loc := r.Locations[r.Stacks.Append(nil, s.Stack)[0]]
		file := "no file"
		if m := r.Mappings[loc.Mapping]; loc.Mapping > 0 {
			file = m.File
			if m.Kind == run.JITMapping {
				file += " (JIT)"
			}
		}
		out = append(out, file+" "+r.Functions[loc.Lines[0].Function].Name)
	}
	slices.Sort(out)
	return out
}

// TestJITFile: code that a process made is in one file by the name of the process, whatever
// told of it and wherever it was.
func TestJITFile(t *testing.T) {
	const samples = `
SAMPLE misc=USER ip=0x800010 pid=10 tid=10 time=10 cpu=0 period=1
SAMPLE misc=USER ip=0x900010 pid=10 tid=10 time=11 cpu=0 period=1
SAMPLE misc=USER ip=0x900020 pid=10 tid=10 time=12 cpu=0 period=1
SAMPLE misc=USER ip=0x900010 pid=11 tid=11 time=13 cpu=0 period=1
`
	const attr = `attr type=software config=0 size=128 sample_period=1000 sample_type=IP|TID|TIME|CPU|PERIOD flags=sample_id_all|use_clockid clockid=1
`
	const memory = mapped + `MMAP2 misc=USER pid=10 tid=10 start=0x800000 len=0x1000 prot=READ|EXEC filename="//anon" sample_id={pid=10,tid=10,time=2,cpu=0}
`
	const list = "800000 20 in memory\n900000 20 where no record shows any\n"
	want := []string{
		"[JIT app] (JIT) in memory",
		"[JIT app] (JIT) where no record shows any",
		"no file [unknown]", // of another process
		"no file [unknown]", // behind it
	}
	for _, test := range []struct {
		name  string
		text  string
		files fstest.MapFS
		want  []string
	}{
		{"perf map", memory + samples, fstest.MapFS{"tmp/perf-10.map": {Data: []byte(list)}}, want},
		{
			"perf map that simpleperf recorded", memory + samples + `feature FILE
file path="perf-10.map" type=SYMBOL_MAP
symbol vaddr=0x800000 len=32 name="in memory"
symbol vaddr=0x900000 len=32 name="where no record shows any"
`, nil, want,
		},
		{
			"the recorded one has the say", memory + samples + `feature FILE
file path="perf-10.map" type=SYMBOL_MAP
symbol vaddr=0x900000 len=256 name="around"
symbol vaddr=0x900008 len=16 name="within"
`,
			fstest.MapFS{"tmp/perf-10.map": {Data: []byte(list)}},
			[]string{"[JIT app] (JIT) around", "[JIT app] (JIT) within", "[unknown] [unknown]", "no file [unknown]"},
		},
		{
			"jitdump",
			memory + `MMAP2 misc=USER pid=10 tid=10 start=0x600000 len=0x1000 prot=READ|EXEC filename="/tmp/jit-10.dump" sample_id={pid=10,tid=10,time=2,cpu=0}
` + samples,
			fstest.MapFS{"tmp/jit-10.dump": {Data: jitDump(0x900008, []struct {
				time uint64
				name string
			}{{5, "dumped"}}...)}},
			[]string{"//anon [anon]", "[JIT app] (JIT) dumped", "no file [unknown]", "no file [unknown]"},
		},
		{
			"perf inject -j",
			mapped + `MMAP2 misc=USER pid=10 tid=10 start=0x800000 len=0x1000 pgoff=0x1000 prot=READ|EXEC filename="/home/jitted-10-1.so" sample_id={pid=10,tid=10,time=2,cpu=0}
MMAP2 misc=USER pid=10 tid=10 start=0x900000 len=0x20 pgoff=0x1000 prot=READ|EXEC filename="/home/jitted-10-2.so" sample_id={pid=10,tid=10,time=2,cpu=0}
` + samples,
			fstest.MapFS{
				"home/jitted-10-1.so": objectstest.ELF{Vaddr: 0x1000, Symbols: []objectstest.Symbol{{Name: "injected", Addr: 0x1000, Size: 0x100}}}.File(t),
				"home/jitted-10-2.so": objectstest.ELF{Vaddr: 0x1000, Size: 0x20, Symbols: []objectstest.Symbol{{Name: "another", Addr: 0x1000, Size: 0x100}}}.File(t),
			},
			[]string{"[JIT app] (JIT) another", "[JIT app] (JIT) injected", "no file [unknown]", "no file [unknown]"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			opt := reading.Options{Objects: objectstest.Stored(test.files)}
			if diff := cmp.Diff(test.want, filed(readFixture(t, "header\n"+attr+test.text, &opt))); diff != "" {
				t.Errorf("files and functions (-want +got):\n%s", diff)
			}
		})
	}
}
