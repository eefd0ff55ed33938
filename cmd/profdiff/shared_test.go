package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"profdiff/internal/report/show"
)

// sharedPerfdata is a folder of recordings that others made, with what simpleperf and
// perf print for them. It is not part of the project.
func sharedPerfdata(t *testing.T) string {
	t.Helper()
	const dir = "../../../shared/perfdata"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the recordings in ../shared/perfdata are not here")
	}
	return dir
}

// profdiff runs a command and returns its output. It must succeed.
func profdiff(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := execute(context.Background(), args, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("profdiff %q: exit code %d: %s", args, code, errs.String())
	}
	return out.String(), errs.String()
}

// oracleEvent is one event of one recording in summary.tsv: what two independent
// readers count.
type oracleEvent struct {
	name    string // of the oracle files
	path    string // of the recording
	flavour string
	event   string
	samples int64
	weight  int64
}

// oracleEvents reads summary.tsv.
func oracleEvents(t *testing.T, dir string) []oracleEvent {
	t.Helper()
	var events []oracleEvent
	for i, fields := range readTSV(t, filepath.Join(dir, "oracles/summary.tsv")) {
		if i == 0 || fields[1] == "CROSSCHECK" {
			continue
		}
		e := oracleEvent{name: fields[0], flavour: fields[1], event: fields[2]}
		samples, weight := fields[3], fields[4]
		if samples == "NA" { // report-sample refuses the file, dump reads it
			samples, weight = fields[5], fields[6]
		}
		e.samples, e.weight = number(t, samples), number(t, weight)
		switch e.path = filepath.Join(dir, "simpleperf", e.name); {
		case strings.HasPrefix(e.name, "quipper_"):
			e.path = filepath.Join(dir, "linux", strings.TrimPrefix(e.name, "quipper_"))
		case strings.HasPrefix(e.name, "pdc_"):
			e.path = filepath.Join(dir, "linux", strings.TrimPrefix(e.name, "pdc_"))
		case e.name == "lbr_perf_lbr.data" || e.name == "etm_perf_etm.data":
		}
		events = append(events, e)
	}
	if len(events) < 60 {
		t.Fatalf("summary.tsv has %d events", len(events))
	}
	return events
}

func number(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func readTSV(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows [][]string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		rows = append(rows, strings.Split(lines.Text(), "\t"))
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// A cost is a weight and the number of samples that have it.
type cost struct{ Weight, Samples int64 }

// oracle reads sums by stack, thread or file. ok is false if there is no such oracle.
func (e *oracleEvent) oracle(t *testing.T, dir, kind string) (sums map[string]cost, ok bool) {
	t.Helper()
	event := strings.NewReplacer(":", "_", "/", "_", "=", "_").Replace(e.event)
	path := filepath.Join(dir, "oracles", e.name+"."+event+"."+kind+".tsv")
	if _, err := os.Stat(path); err != nil {
		return nil, false
	}
	sums = make(map[string]cost)
	for _, row := range readTSV(t, path) {
		// A * marks unknown frames.
		frames := strings.Split(row[0], ";")
		for i := range frames {
			frames[i] = strings.TrimPrefix(frames[i], "*")
		}
		key := strings.Join(frames, ";")
		c := sums[key]
		sums[key] = cost{c.Weight + number(t, row[1]), c.Samples + number(t, row[2])}
	}
	return sums, true
}

// folded runs convert --to folded twice, for weights and for numbers of samples.
func folded(t *testing.T, args ...string) map[string]cost {
	t.Helper()
	sums := make(map[string]cost)
	for _, count := range []bool{false, true} {
		all := append([]string{"convert", "--to", "folded", "-o", "-", fmt.Sprintf("--count=%v", count)}, args...)
		out, _ := profdiff(t, all...)
		for line := range strings.Lines(out) {
			stack, value, ok := cutLast(strings.TrimSuffix(line, "\n"), " ")
			if !ok {
				t.Fatalf("line %q", line)
			}
			c := sums[stack]
			if count {
				c.Samples = number(t, value)
			} else {
				c.Weight = number(t, value)
			}
			sums[stack] = c
		}
	}
	return sums
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// TestOracleTotals compares the number of samples and the sum of weights of every
// event.
func TestOracleTotals(t *testing.T) {
	dir := sharedPerfdata(t)
	shown := make(map[string]show.Document)
	for _, e := range oracleEvents(t, dir) {
		doc, ok := shown[e.path]
		if !ok {
			out, _ := profdiff(t, "show", "--format", "json", e.path)
			if err := json.Unmarshal([]byte(out), &doc); err != nil {
				t.Fatal(err)
			}
			shown[e.path] = doc
			in := doc.Inputs[0]
			dropped := int64(0)
			for _, n := range in.Dropped {
				dropped += n
			}
			if in.SamplesIn != in.SamplesOut+in.SamplesFiltered+dropped || dropped != 0 {
				t.Errorf("%s: %d samples in, %d out, dropped %v", e.name, in.SamplesIn, in.SamplesOut, in.Dropped)
			}
		}
		if e.name == traceOnly { // the event switches the trace on and has no samples
			if e.samples != 0 || len(doc.Events) != 0 {
				t.Errorf("%s: %d samples, events %+v", e.name, e.samples, doc.Events)
			}
			continue
		}
		found := false
		for _, got := range doc.Events {
			if got.Name != e.event && !(got.Name == "cycles" && e.event == "cpu-cycles") {
				continue
			}
			found = true
			if got.Samples != e.samples || got.Weight != e.weight {
				t.Errorf("%s: %s: %d samples of weight %d, want %d and %d", e.name, e.event, got.Samples, got.Weight, e.samples, e.weight)
			}
		}
		if !found {
			t.Errorf("%s: no event %s in %+v", e.name, e.event, doc.Events)
		}
	}
}

// Exceptions to equality with simpleperf, each with its reason.
var (
	// demangled: the demangler that we use writes these names as LLVM 14 and later
	// do, or reads them where simpleperf's gives up (glm::dot). Where it meets an
	// operator of the compiler as a template, as old versions of clang mangled it, it
	// counts substitutions wrongly (__is_forward_iterator).
	demangled = []string{
		"GrGLMakeAssembledGLESInterface(", "GrGLMakeAssembledInterface(", "art::CheckedCall<", "art::VisitClassLoaderDexElements<",
		"glm::dot<", "3glm3dot", "scudo::Allocator<", "android::EventLogHelper<", "SkTArray<SkString", "__is_forward_iterator",
	}
	// moduleAddresses: an address in a kernel module without symbols; simpleperf
	// then shows the kernel as its file.
	moduleAddresses = "generated_by_linux_perf.data"
	// afterExec: three samples between the record of an exec and the start of the new
	// program have callers in the old one, by its addresses. The address space is the new
	// one, in which there is nothing; simpleperf keeps the old mappings, and names them.
	afterExec = "perf_with_trace_offcpu.data"
)

// normalize makes the exceptions equal on both sides, and notes that one that has no name
// was needed.
func normalize(name string, sums map[string]cost, exceptions map[string]bool) map[string]cost {
	out := make(map[string]cost)
	for stack, c := range sums {
		frames := strings.Split(stack, ";")
		for i, frame := range frames {
			for _, part := range demangled {
				if strings.Contains(frame, part) {
					frames[i] = "(demangled) " + part
					if part == "3glm3dot" {
						frames[i] = "(demangled) glm::dot<"
					}
				}
			}
			if name == moduleAddresses && (frame == "[kernel.kallsyms][+ffffffffa063dbd0]" || frame == "honeevent.ko[+bd0]") {
				frames[i] = "(module)"
			}
			if old := map[string]string{"unknown[+5cadc4]": "execvpe", "unknown[+5dbdf0]": "execve"}[frame]; name == afterExec && old != "" {
				frames[i] = old
				exceptions["(exec)"] = true
			}
		}
		key := strings.Join(frames, ";")
		old := out[key]
		out[key] = cost{old.Weight + c.Weight, old.Samples + c.Samples}
	}
	return out
}

// cut shortens stacks as simpleperf report-sample does: callers from the first one
// without a mapping on, and the start of a thread in libc, are left out.
func cut(sums map[string]cost) map[string]cost {
	out := make(map[string]cost)
	for stack, c := range sums {
		frames := strings.Split(stack, ";")
		start := 0
		for i := len(frames) - 2; i >= 0; i-- {
			if strings.HasPrefix(frames[i], "unknown[+") {
				start = i + 1
				break
			}
			if frames[i] == "__libc_init" || frames[i] == "__start_thread" {
				start = i
				break
			}
		}
		key := strings.Join(frames[start:], ";")
		old := out[key]
		out[key] = cost{old.Weight + c.Weight, old.Samples + c.Samples}
	}
	return out
}

// TestSimpleperfStacks compares the stacks of every event with those that simpleperf
// prints: whole ones with all frames, and those without the Android runtime.
func TestSimpleperfStacks(t *testing.T) {
	dir := sharedPerfdata(t)
	exceptions := make(map[string]bool)
	compared := 0
	for _, e := range oracleEvents(t, dir) {
		if e.flavour != "simpleperf" || e.samples == 0 {
			continue
		}
		short, hasShort := e.oracle(t, dir, "folded")
		whole, hasWhole := e.oracle(t, dir, "full.folded")
		if !hasWhole {
			whole = short
		}
		compareStacks(t, e.name+" "+e.event, folded(t, e.path, "--event", e.event, "--unknown", "offset", "--show-art-frames"), whole, e.name, exceptions)
		compared++
		if hasShort {
			got := cut(folded(t, e.path, "--event", e.event, "--unknown", "offset"))
			compareStacks(t, e.name+" "+e.event+" without runtime frames", got, short, e.name, exceptions)
			compared++
		}
	}
	if compared < 50 {
		t.Errorf("only %d comparisons", compared)
	}
	// An exception that nothing needs any more has to go.
	for _, part := range demangled {
		if part != "3glm3dot" && !exceptions["(demangled) "+part] {
			t.Errorf("exception %q is not needed", part)
		}
	}
	if !exceptions["(module)"] {
		t.Errorf("exception %q is not needed", moduleAddresses)
	}
	if !exceptions["(exec)"] {
		t.Errorf("exception %q is not needed", afterExec)
	}
}

func compareStacks(t *testing.T, what string, got, want map[string]cost, name string, exceptions map[string]bool) {
	t.Helper()
	if cmp.Equal(got, want) {
		return
	}
	got, want = normalize(name, got, exceptions), normalize(name, want, exceptions)
	for stack := range got {
		for frame := range strings.SplitSeq(stack, ";") {
			exceptions[frame] = true
		}
	}
	for stack, c := range want {
		if got[stack] != c {
			t.Errorf("%s: stack %.300q: got %v, want %v", what, stack, got[stack], c)
		}
	}
	for stack, c := range got {
		if _, ok := want[stack]; !ok {
			t.Errorf("%s: stack %.300q %v: not wanted", what, stack, c)
		}
	}
}

// TestPerfStacks compares sums by thread, name, file and stack of files with those of
// perf script, through a pprof profile.
func TestPerfStacks(t *testing.T) {
	dir := sharedPerfdata(t)
	profiles := make(map[string]*profile.Profile)
	compared := 0
	for _, e := range oracleEvents(t, dir) {
		if e.flavour == "simpleperf" {
			continue
		}
		p := profiles[e.path]
		if p == nil {
			p = convert(t, e.path, "--label", "tid")
			profiles[e.path] = p
		}
		got := sumProfile(t, p, e.event)
		for kind, sums := range got {
			want, ok := e.oracle(t, dir, kind)
			if !ok {
				t.Errorf("%s %s: no oracle %s", e.name, e.event, kind)
				continue
			}
			compared++
			if diff := cmp.Diff(shortModules(want), shortModules(sums)); diff != "" {
				t.Errorf("%s %s %s: %s", e.name, e.event, kind, diff)
			}
		}
	}
	if compared < 130 {
		t.Errorf("only %d comparisons", compared)
	}
}

// convert converts a recording to pprof and reads it back.
func convert(t *testing.T, args ...string) *profile.Profile {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.pb.gz")
	profdiff(t, append([]string{"convert", "-o", out}, args...)...)
	return readProfile(t, out)
}

func readProfile(t *testing.T, file string) *profile.Profile {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p
}

// sumProfile sums the samples of one event as the oracles do.
func sumProfile(t *testing.T, p *profile.Profile, event string) map[string]map[string]cost {
	t.Helper()
	at := -1
	for i, st := range p.SampleType {
		if st.Type == event+"_samples" {
			at = i
		}
	}
	if at < 0 {
		t.Fatalf("no event %s in %v", event, p.SampleType)
	}
	sums := map[string]map[string]cost{"leafdso": {}, "dso.folded": {}, "comm": {}, "thread": {}}
	for _, s := range p.Sample {
		if s.Value[at] == 0 {
			continue
		}
		var files []string
		for i := len(s.Location) - 1; i >= 0; i-- {
			file := "[unknown]"
			if m := s.Location[i].Mapping; m != nil {
				file = m.File
			}
			files = append(files, file)
		}
		name := strings.Join(s.Label["thread"], " ")
		for kind, key := range map[string]string{
			"leafdso": files[len(files)-1], "dso.folded": strings.Join(files, ";"),
			"comm": name, "thread": fmt.Sprintf("%s/%d", name, s.NumLabel["tid"][0]),
		} {
			c := sums[kind][key]
			sums[kind][key] = cost{c.Weight + s.Value[at+1], c.Samples + s.Value[at]}
		}
	}
	return sums
}

// shortModules writes kernel modules as [module]: perf does where the recording has
// no build ID of the module, and gives its path otherwise.
func shortModules(sums map[string]cost) map[string]cost {
	out := make(map[string]cost)
	for stack, c := range sums {
		files := strings.Split(stack, ";")
		for i, file := range files {
			if base, ok := strings.CutSuffix(file[strings.LastIndexByte(file, '/')+1:], ".ko"); ok {
				files[i] = "[" + strings.ReplaceAll(base, "-", "_") + "]"
			}
		}
		key := strings.Join(files, ";")
		old := out[key]
		out[key] = cost{old.Weight + c.Weight, old.Samples + c.Samples}
	}
	return out
}
