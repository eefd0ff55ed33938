package perfdata

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/objects"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/perffile/perffiletest"
	"profdiff/internal/run"
)

// A process is a recording of a process that makes code in memory, on a machine with a file
// that may tell of it.
type process struct {
	clockID int    // 1 is that of jitdump files
	start   string // what shows when it began
	more    string
	pipe    bool
	file    string // on the machine
	data    []byte
	written time.Time // when the file was

	created, modified time.Time // the recording
}

// Times on the recording's clock, and when that began to record. It has records from then until
// 20 s later; the process begins after 10 s.
const (
	second = uint64(time.Second)
	began  = 100 * second
)

var morning = time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)

func after(seconds float64) time.Time {
	return morning.Add(time.Duration(seconds * float64(time.Second)))
}

func sampleID(after uint64) string {
	return fmt.Sprintf(" sample_id={pid=10,tid=10,time=%d,cpu=0}\n", began+after*second)
}

const (
	forked  = `FORK pid=10 ppid=9 tid=10 ptid=9`
	before  = " sample_id={pid=10,tid=10,time=0,cpu=0}\n" // as recorders note what was there
	started = `COMM misc=COMM_EXEC pid=10 tid=10 comm="app"`
)

// read reads the recording.
func (p *process) read(t *testing.T) *run.Run {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string][]byte{"proc/sys/kernel/hostname": []byte("here\n"), p.file: p.data} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(at, p.written, p.written); err != nil {
			t.Fatal(err)
		}
	}
	const (
		attr = "size=128 sample_period=1000 sample_type=IP|TID|TIME|CPU|PERIOD flags=sample_id_all|use_clockid"
		host = "hostname=\"here\"\n"
	)
	text := fmt.Sprintf("header\nattr type=software config=0 %s clockid=%d\n", attr, p.clockID)
	more := "feature HOSTNAME " + host + p.more
	if p.pipe {
		fields := strings.ReplaceAll(fmt.Sprintf("type=software config=0 %s clockid=%d", attr, p.clockID), " ", ",")
		text, more = "header pipe\nHEADER_ATTR attr={"+fields+"} ids=[7]\nHEADER_FEATURE feat_id=HOSTNAME "+host, ""
	}
	text += `COMM pid=9 tid=9 comm="init"` + sampleID(0) + p.start
	text += `MMAP2 misc=USER pid=10 tid=10 start=0x800000 len=0x1000 prot=READ|EXEC filename="//anon"` + sampleID(11)
	for i, ip := range []int{0x800010, 0x900010} { // no record shows that the second is mapped
		text += fmt.Sprintf("SAMPLE misc=USER ip=0x%x pid=10 tid=10 time=%d cpu=0 period=1\n", ip, began+(12+8*uint64(i))*second)
	}
	src := ingesttest.Source(t, []byte(perffiletest.Fixture(t, text+more)))
	src.Created, src.Modified = p.created, p.modified
	environment := map[string]string{"PROFDIFF_SYSROOT": dir, "HOME": dir}
	machine := objects.ThisMachine(func(name string) string { return environment[name] })
	r, err := Read(src, &reading.Options{Objects: objects.New(objects.Options{Machine: machine})})
	if err != nil {
		t.Fatal(err)
	}
	ingesttest.CheckRun(t, r)
	return r
}

// reasons are why files of a run have no names, without those of code that none told of.
func reasons(r *run.Run) string {
	var why []string
	for i := range r.Mappings {
		if _, reason, ok := strings.Cut(r.Mappings[i].Unnamed.Why, "; "); ok {
			why = append(why, r.Mappings[i].File+": "+reason)
		}
	}
	return strings.Join(why, "\n")
}

// TestEarlierPerfMap: the perf map of an earlier process with the same number is not used.
func TestEarlierPerfMap(t *testing.T) {
	const sampleTime = "feature SAMPLE_TIME first_sample_time=112000000000 last_sample_time=120000000000\n"
	clockData := fmt.Sprintf("feature CLOCK_DATA version=1 clockid=1 tod_ns=%d clockid_ns=%d\n", morning.UnixNano(), began)
	original := process{start: forked + sampleID(10), created: morning, modified: after(21)}
	with := func(change func(p *process)) process {
		p := original
		change(&p)
		return p
	}
	copied := with(func(p *process) { p.created, p.modified = after(3600), after(3600.001) })
	kept := with(func(p *process) { p.created = after(3600) }) // cp --preserve=timestamps
	exact := copied
	exact.more = sampleTime + clockData
	for _, test := range []struct {
		name    string
		p       process
		written float64 // seconds after the recording began
		want    bool
	}{
		{"while the process ran", original, 12, true},
		{"when it had ended", original, 25, true},
		{"in a stream, which tells late where it was recorded", with(func(p *process) { p.pipe = true }), 12, true},
		{"in a stream, before the process", with(func(p *process) { p.pipe = true }), 5, false},
		{"before the recording", original, -3600, false},
		{"before the process", original, 5, false},
		{"clocks differ a little", original, 9, true},
		{"times of samples in the header", with(func(p *process) { p.more = sampleTime }), 5, false},
		{"the process began with a program", with(func(p *process) { p.start = started + sampleID(10) }), 5, false},
		{"a program after the fork", with(func(p *process) { p.start += started + sampleID(16) }), 11, true},
		{"it ran before", with(func(p *process) { p.start = "COMM pid=10 tid=10 comm=\"app\"" + before }), -3600, true},
		{"it was forked before", with(func(p *process) { p.start = forked + before + "COMM pid=10 tid=10 comm=\"app\"" + before }), -3600, true},
		{"a later process has its number", with(func(p *process) { p.start += forked + sampleID(17) }), 12, false},
		{"a copy of the recording", copied, 12, true},
		{"a copy with the times of the original", kept, 12, true},
		{"a copy with them, and an earlier map", kept, 5, false},
		{"nothing known of the recording's creation", with(func(p *process) { p.created = time.Time{} }), 12, true},
		{"a copy whose clock is known", exact, 12, true},
		{"a copy whose clock is known, and an earlier map", exact, 5, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := test.p
			p.file, p.data, p.written = "tmp/perf-10.map", []byte("800000 20 f\n900000 20 g\n"), after(test.written)
			r := p.read(t)
			want, why := []string{"[JIT app] (JIT) f", "[JIT app] (JIT) g"}, ""
			if !strings.Contains(p.start, "app") {
				want = []string{"[JIT init] (JIT) f", "[JIT init] (JIT) g"}
			}
			if !test.want {
				const reason = "/tmp/perf-10.map is of an earlier process"
				want, why = []string{"//anon [anon]", "[unknown] [unknown]"}, "[unknown]: "+reason+"\n//anon: "+reason
			}
			if diff := cmp.Diff(want, filed(r)); diff != "" {
				t.Errorf("files and functions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(why, reasons(r)); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

// TestJITDumpOfAnother: a jitdump file of another process is not used, though it is where the
// recorded one was.
func TestJITDumpOfAnother(t *testing.T) {
	// The time in the header is as CPython writes it.
	dump := func(pid uint32, after uint64) []byte {
		data := jitDump(0x800008, []struct {
			time uint64
			name string
		}{{began + after*second, "dumped"}}...)
		binary.LittleEndian.PutUint32(data[20:], pid)
		binary.LittleEndian.PutUint64(data[24:], uint64(morning.UnixMicro()))
		return data
	}
	const mapping = `MMAP2 misc=USER pid=10 tid=10 start=0x600000 len=0x1000 prot=READ|EXEC filename="/tmp/jit-10.dump"`
	const sampleTime = "feature SAMPLE_TIME first_sample_time=112000000000 last_sample_time=120000000000\n"
	const monotonic, another = 1, 4
	for _, test := range []struct {
		name    string
		clockID int
		data    []byte
		written float64 // seconds after the recording began
		why     string
	}{
		{"of the process", monotonic, dump(10, 11), 21, ""},
		{"of the process, by another clock", another, dump(10, 11), 21, ""},
		{"renamed", monotonic, dump(11, 11), 21, "process 11"},
		{"made before the process", monotonic, dump(10, 5), 21, "an earlier process"},
		{"by another clock, closed before the process", another, dump(10, 5), 6, "an earlier process"},
		{"made after the recording", monotonic, dump(10, 22), 23, "a later process"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := process{
				clockID: test.clockID, start: forked + sampleID(10) + mapping + sampleID(11), more: sampleTime,
				file: "tmp/jit-10.dump", data: test.data, written: after(test.written), created: morning, modified: after(21),
			}
			r := p.read(t)
			want, why := []string{"[JIT init] (JIT) dumped", "no file [unknown]"}, ""
			if test.why != "" {
				want[0], why = "//anon [anon]", "/tmp/jit-10.dump is of "+test.why
			}
			if diff := cmp.Diff(want, filed(r)); diff != "" {
				t.Errorf("files and functions (-want +got):\n%s", diff)
			}
			if got := reasons(r); why == "" && got != "" || !strings.HasSuffix(got, why) {
				t.Errorf("reasons %q, want %q", got, why)
			}
		})
	}
}

// TestInjectedOfAnother: a file that perf inject -j made of another process's code has another
// build ID than the recording.
func TestInjectedOfAnother(t *testing.T) {
	const id, other = "0102030405060708090a0b0c0d0e0f1011121314", "ff02030405060708090a0b0c0d0e0f1011121314"
	for built, want := range map[string]string{id: "[JIT app] (JIT) f", other: "[JIT app] (JIT) [JIT app]"} {
		files := fstest.MapFS{"home/jitted-10-1.so": objectstest.ELF{
			BuildID: built, Vaddr: 0x1000, Symbols: []objectstest.Symbol{{Name: "f", Addr: 0x1000, Size: 0x100}},
		}.File(t)}
		r := readFixture(t, `header
attr type=software config=0 size=128 sample_period=1000 sample_type=IP|TID|TIME|CPU|PERIOD flags=sample_id_all
COMM pid=10 tid=10 comm="app"
MMAP2 misc=USER|MMAP_BUILD_ID pid=10 tid=10 start=0x800000 len=0x1000 pgoff=0x1000 build_id_size=20 build_id=`+id+` prot=READ|EXEC filename="/home/jitted-10-1.so" sample_id={pid=10,tid=10,time=2,cpu=0}
SAMPLE misc=USER ip=0x800010 pid=10 tid=10 time=10 cpu=0 period=1
`, &reading.Options{Objects: objectstest.Stored(files)})
		if diff := cmp.Diff([]string{want}, filed(r)); diff != "" {
			t.Errorf("build ID %s: files and functions (-want +got):\n%s", built, diff)
		}
		var why strings.Builder
		for i := range r.Mappings {
			why.WriteString(r.Mappings[i].Unnamed.Why)
		}
		if refused := "/home/jitted-10-1.so is of another build"; strings.Contains(why.String(), refused) != (built == other) {
			t.Errorf("build ID %s: reason %q", built, why.String())
		}
	}
}

// TestJITDumpAfterSearch: a process is asked for a perf map, and, where another has a jitdump
// file, for functions of one, before it maps its own.
func TestJITDumpAfterSearch(t *testing.T) {
	dumped := jitDump(0x900008, []struct {
		time uint64
		name string
	}{{5, "dumped"}}...)
	const head = "header\nattr type=software config=0 size=128 sample_period=1000 sample_type=IP|TID|TIME|CPU|PERIOD flags=sample_id_all|use_clockid clockid=1\n" +
		"COMM pid=10 tid=10 comm=\"app\"\n"
	sample := func(time int) string {
		return fmt.Sprintf("SAMPLE misc=USER ip=0x900010 pid=10 tid=10 time=%d cpu=0 period=1\n", time)
	}
	mapping := func(pid, time int) string {
		return fmt.Sprintf("MMAP2 misc=USER pid=%d tid=%[1]d start=0x600000 len=0x1000 prot=READ|EXEC filename=\"/tmp/jit-%[1]d.dump\" sample_id={pid=%[1]d,tid=%[1]d,time=%d,cpu=0}\n", pid, time)
	}
	files := fstest.MapFS{"tmp/jit-10.dump": {Data: dumped}}
	for _, test := range []struct{ name, text string }{
		{"asked for a perf map", sample(8) + mapping(10, 9) + sample(10)},
		{"asked for functions", mapping(11, 7) + sample(8) + mapping(10, 9) + sample(10)},
	} {
		r := readFixture(t, head+test.text, &reading.Options{Objects: objectstest.Stored(files)})
		if diff := cmp.Diff([]string{"[JIT app] (JIT) dumped", "no file [unknown]"}, filed(r)); diff != "" {
			t.Errorf("%s: files and functions (-want +got):\n%s", test.name, diff)
		}
	}
}
