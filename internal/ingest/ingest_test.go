package ingest

import (
	"bufio"
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"profdiff/internal/input"
	"profdiff/internal/run"
)

// detected is the name of the format of an input that starts with head, "" if there is
// none.
func detected(head input.Head) string {
	f, err := formats.Detect(head)
	if err != nil {
		return ""
	}
	return f.Name
}

// sourceOf is an input that holds data.
func sourceOf(t testing.TB, data []byte) *input.Source {
	t.Helper()
	src, err := input.New("test", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// readBytes reads data of any format.
func readBytes(name string, data []byte, opt *Options) (*run.Run, error) {
	src, err := input.New(name, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return Read(src, opt)
}

// mustRead reads data, which must balance.
func mustRead(t testing.TB, read reader, data []byte, opt *Options) *run.Run {
	t.Helper()
	r, err := read(sourceOf(t, data), opt)
	if err != nil {
		t.Fatal(err)
	}
	checkRun(t, r)
	return r
}

// checkRun checks what must hold of every run.
func checkRun(t testing.TB, r *run.Run) {
	t.Helper()
	if !r.Accounting.Balanced() {
		t.Errorf("accounting does not balance: %s", &r.Accounting)
	}
	samples := make([]int64, len(r.Events))
	weights := make([]int64, len(r.Events))
	type key struct {
		event, labels uint32
		stack         run.StackID
	}
	seen := make(map[key]bool)
	for i := range r.Samples {
		s := &r.Samples[i]
		k := key{s.Event, s.Labels, s.Stack}
		if seen[k] {
			t.Errorf("sample %d: a row with the same event, stack and labels is there already", i)
		}
		seen[k] = true
		samples[s.Event] += s.Count
		weights[s.Event] += s.Weight
		for _, loc := range r.Stacks.Append(nil, s.Stack) {
			for _, l := range r.Locations[loc].Lines {
				if r.Functions[l.Function].Name == "" {
					t.Errorf("location %d has a function without a name", loc)
				}
			}
		}
	}
	for i, e := range r.Events {
		if e.Samples != samples[i] {
			t.Errorf("event %s: %d samples, rows have %d", e.Name, e.Samples, samples[i])
		}
		if e.WeightSq < 0 {
			t.Errorf("event %s: Σw² = %v", e.Name, e.WeightSq)
		}
	}
}

// readerWarnings are the warnings of r that come from its reader, not from its
// samples.
func readerWarnings(r *run.Run) []string {
	return slices.DeleteFunc(slices.Clone(r.Warnings), func(w string) bool {
		return strings.HasPrefix(w, "one sample of ") || strings.HasSuffix(w, "of the samples were lost")
	})
}

// sums are the folded stacks of an event.
func sums(t testing.TB, r *run.Run, event string) map[string]run.FoldedSum {
	t.Helper()
	i, ok := r.EventIndex(event)
	if !ok {
		t.Fatalf("there is no event %s", event)
	}
	return r.Folded(i)
}

// recording returns the path of a recording that the project does not hold.
func recording(t testing.TB, path string) string {
	t.Helper()
	path = filepath.Join("../../../shared/perfdata", path)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the recordings in ../shared/perfdata are not here: %v", err)
	}
	return path
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// tool runs a program of the PATH and returns its standard output.
func tool(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	out, err := exec.Command(path, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return out
}

// reportSampleOf makes the report of a recording.
func reportSampleOf(t testing.TB, recording string, args ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "report")
	tool(t, "simpleperf", append([]string{"report-sample", "-i", recording, "-o", out, "--show-callchain"}, args...)...)
	return readFile(t, out)
}

// oracle reads folded stacks that another program made of a recording: stack TAB
// weight TAB samples. Unknown frames are *file[+addr]; they become [file], and stacks
// that are then equal are added up.
func oracle(t testing.TB, path string) map[string]run.FoldedSum {
	t.Helper()
	sums := make(map[string]run.FoldedSum)
	lines := bufio.NewScanner(bytes.NewReader(readFile(t, recording(t, path))))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		f := strings.Split(lines.Text(), "\t")
		stack := strings.Join(f[:len(f)-2], "\t")
		weight, err := strconv.ParseInt(f[len(f)-2], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		count, err := strconv.ParseInt(f[len(f)-1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		var frames []string
		for _, frame := range splitFrames(stack) {
			if file, _, ok := unknownSymbol(strings.ReplaceAll(frame, `\\`, `\`)); ok {
				frame = run.UnknownFunctionName(file)
			}
			frames = append(frames, frame)
		}
		s := sums[strings.Join(frames, ";")]
		s.Weight += weight
		s.Count += count
		sums[strings.Join(frames, ";")] = s
	}
	return sums
}

func splitFrames(stack string) (frames []string) {
	for len(stack) > 0 {
		end := frameEnd([]byte(stack))
		frames = append(frames, stack[:end])
		stack = stack[min(end+1, len(stack)):]
	}
	return frames
}

// diffSums tells where sums differ, the largest difference first.
func diffSums(got, want map[string]run.FoldedSum) string {
	var keys []string
	for k := range got {
		if got[k] != want[k] {
			keys = append(keys, k)
		}
	}
	for k := range want {
		if _, ok := got[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b string) int {
		size := func(k string) int64 { return max(got[k].Weight, want[k].Weight) }
		return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(a, b))
	})
	var b strings.Builder
	for i, k := range keys {
		if i == 5 {
			b.WriteString("…\n")
			break
		}
		b.WriteString(k + ": got " + strconv.FormatInt(got[k].Weight, 10) + "/" + strconv.FormatInt(got[k].Count, 10) +
			", want " + strconv.FormatInt(want[k].Weight, 10) + "/" + strconv.FormatInt(want[k].Count, 10) + "\n")
	}
	return b.String()
}

// summary returns samples and sums of weights of a recording by event, as other
// programs found them.
func summary(t testing.TB, name string) map[string]run.FoldedSum {
	t.Helper()
	sums := make(map[string]run.FoldedSum)
	for line := range strings.Lines(string(readFile(t, recording(t, "oracles/summary.tsv")))) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if f[0] != name || f[1] == "CROSSCHECK" {
			continue
		}
		count, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		weight, err := strconv.ParseInt(f[4], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sums[f[2]] = run.FoldedSum{Weight: weight, Count: count}
	}
	if len(sums) == 0 {
		t.Fatalf("summary has no %s", name)
	}
	return sums
}
