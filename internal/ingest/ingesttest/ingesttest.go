// Package ingesttest has what tests of readers share.
//
//  1. [Read] reads data with a reader and checks what must hold of every Run; [Fuzz] does so
//     with data that may be damaged.
//  2. Recordings that the project does not hold, and what other programs say of them:
//     [Recording], [Oracle], [Summary]. Tests without them are skipped.
//  3. [Message] and [Stacks] make inputs.
package ingesttest

import (
	"bufio"
	"bytes"
	stdcmp "cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// Source is an input that holds data.
func Source(t testing.TB, data []byte) *input.Source {
	t.Helper()
	src, err := input.New("test", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// Read reads data, which must balance.
func Read(t testing.TB, read reading.Reader, data []byte, opt *reading.Options) *run.Run {
	t.Helper()
	r, err := read(Source(t, data), opt)
	if err != nil {
		t.Fatal(err)
	}
	CheckRun(t, r)
	CheckTimes(t, r)
	return r
}

// CheckRun checks what must hold of every run.
func CheckRun(t testing.TB, r *run.Run) {
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

// CheckTimes checks that no stack has more weight at known times than in all, as is so but in traces whose slices
// overlap. It returns the weight of each event at known times.
func CheckTimes(t testing.TB, r *run.Run) []int64 {
	t.Helper()
	type key struct {
		event, labels uint32
		stack         run.StackID
	}
	left := make(map[key]int64)
	for i := range r.Samples {
		s := &r.Samples[i]
		left[key{s.Event, s.Labels, s.Stack}] += s.Weight
	}
	weights := make([]int64, len(r.Events))
	for _, list := range [][]run.TimedSample{r.Timeline, r.Spans} {
		for i := range list {
			s := &list[i]
			left[key{s.Event, s.Labels, s.Stack}] -= s.Weight
			weights[s.Event] += s.Weight
		}
	}
	for k, v := range left {
		if v < 0 {
			t.Errorf("event %s: a stack has %d more at known times than in all", r.Events[k.event].Name, -v)
		}
	}
	return weights
}

// ReaderWarnings are the warnings of r that come from its reader, not from its
// samples.
func ReaderWarnings(r *run.Run) []string {
	return slices.DeleteFunc(slices.Clone(r.Warnings), func(w string) bool {
		return strings.HasPrefix(w, "one sample of ") || strings.HasSuffix(w, "of the samples were lost")
	})
}

// Sums are the folded stacks of an event.
func Sums(t testing.TB, r *run.Run, event string) map[string]run.FoldedSum {
	t.Helper()
	i, ok := r.EventIndex(event)
	if !ok {
		t.Fatalf("there is no event %s", event)
	}
	return r.Folded(i)
}

// Recording returns the path of a recording that the project does not hold.
func Recording(t testing.TB, path string) string {
	t.Helper()
	path = filepath.Join(root(t), "../shared/perfdata", path)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the recordings in ../shared/perfdata are not here: %v", err)
	}
	return path
}

// root is the folder of the repository.
func root(t testing.TB) string {
	t.Helper()
	dir := "."
	for range 8 {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Join(dir, "..")
	}
	t.Fatal("the test does not run in the repository")
	return ""
}

// ReadFile returns what a file holds.
func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Tool runs a program of the PATH and returns its standard output.
func Tool(t testing.TB, name string, args ...string) []byte {
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

// DiffSums tells where sums differ, the largest difference first.
func DiffSums(got, want map[string]run.FoldedSum) string {
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
		return stdcmp.Or(stdcmp.Compare(size(b), size(a)), stdcmp.Compare(a, b))
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

// Summary returns samples and sums of weights of a recording by event, as other
// programs found them.
func Summary(t testing.TB, name string) map[string]run.FoldedSum {
	t.Helper()
	sums := make(map[string]run.FoldedSum)
	for line := range strings.Lines(string(ReadFile(t, Recording(t, "oracles/summary.tsv")))) {
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

// Fuzz reads data: value xor error, and what is read is sound.
func Fuzz(t *testing.T, read reading.Reader, data []byte, opt *reading.Options) {
	src, err := input.New("fuzz", bytes.NewReader(data))
	if err != nil {
		return
	}
	r, err := read(src, opt)
	if (r == nil) == (err == nil) {
		t.Fatalf("run %v and error %v", r != nil, err)
	}
	if err != nil {
		return
	}
	CheckRun(t, r)
	var out bytes.Buffer
	if len(r.Events) > 0 {
		if err := r.WriteProfile(&out, run.ProfileOptions{}); err != nil {
			t.Fatalf("write: %v", err)
		}
	}
}

// frame is a frame of a folded stack, in which a backslash stands before a ; of a name.
var frame = regexp.MustCompile(`(?:\\.|[^;\\])+`)

// Frames takes a folded stack apart.
func Frames(stack string) []string { return frame.FindAllString(stack, -1) }

// Oracle reads folded stacks that another program made of a recording: stack TAB
// weight TAB samples. Unknown frames are *file[+addr]; they become [file], and stacks
// that are then equal are added up.
func Oracle(t testing.TB, path string) map[string]run.FoldedSum {
	t.Helper()
	sums := make(map[string]run.FoldedSum)
	lines := bufio.NewScanner(bytes.NewReader(ReadFile(t, Recording(t, path))))
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
		for _, frame := range Frames(stack) {
			if file, _, ok := reading.UnknownSymbol(strings.ReplaceAll(frame, `\\`, `\`)); ok {
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

// Message encodes a message: pairs of field number and value, an integer, a string or a
// message.
func Message(fields ...any) []byte {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		num := protowire.Number(fields[i].(int))
		switch v := fields[i+1].(type) {
		case int:
			b = protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(v))
		case uint64:
			b = protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
		case string:
			b = protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), v)
		case []byte:
			b = protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
		default:
			panic(fmt.Sprintf("field of %T", v))
		}
	}
	return b
}

// Stacks makes 20,000 distinct stacks of 5 to 40 frames, leaf first, with
// common roots.
func Stacks() [][]int {
	var stacks [][]int
	seed := uint32(1)
	next := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>8) % n
	}
	for i := range 20000 {
		var s []int
		for d := range 5 + next(36) {
			width := 1 + d*d
			s = append(s, (i*7+next(width))%width*31%1000)
		}
		slices.Reverse(s)
		stacks = append(stacks, s)
	}
	return stacks
}

// CheckRoundTrip checks that a profile of r that is read and written again is the same,
// byte for byte.
func CheckRoundTrip(t *testing.T, r *run.Run, read reading.Reader) {
	t.Helper()
	first := Profile(t, r)
	again := Read(t, read, first, &reading.Options{})
	second := Profile(t, again)
	if !bytes.Equal(first, second) {
		t.Errorf("profiles differ (-first +second):\n%s", cmp.Diff(ProfileText(t, first), ProfileText(t, second)))
	}
	if d := cmp.Diff(r.Accounting.String(), again.Accounting.String()); d != "" {
		t.Errorf("accounting (-want +got):\n%s", d)
	}
	for i := range r.Events {
		if got, want := again.Events[i], r.Events[i]; got.Name != want.Name || got.Derived != want.Derived || got.Weight != want.Weight || got.Samples != want.Samples {
			t.Errorf("event %+v, was %+v", got, want)
		}
	}
}

// ProfileText is what pprof prints of a profile.
func ProfileText(t testing.TB, data []byte) []string {
	t.Helper()
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(p.String(), "\n")
}

// Profile is r as a profile of pprof.
func Profile(t testing.TB, r *run.Run) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := r.WriteProfile(&buf, run.ProfileOptions{}); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
