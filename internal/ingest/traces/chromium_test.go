package traces

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// A field is a line of protoc --decode_raw: a number with a value, or with fields.
type field struct {
	number, value string
	fields        []*field
}

// decodeRaw is what protoc has for a trace. protoc knows nothing of traces here: the numbers of fields are those of the
// public definitions.
func decodeRaw(t *testing.T, data []byte) []*field {
	t.Helper()
	protoc, err := exec.LookPath("protoc")
	if err != nil {
		t.Skip("protoc is not installed: there is nothing to compare with")
	}
	cmd := exec.Command(protoc, "--decode_raw")
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("protoc --decode_raw: %v", err)
	}
	root := &field{}
	open := []*field{root}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		last := open[len(open)-1]
		if line == "}" {
			open = open[:len(open)-1]
			continue
		}
		f := &field{}
		last.fields = append(last.fields, f)
		var isMessage bool
		if f.number, isMessage = strings.CutSuffix(line, " {"); isMessage {
			open = append(open, f)
		} else {
			f.number, f.value, _ = strings.Cut(line, ": ")
		}
	}
	return root.fields
}

// at is the first field by a path of numbers, or an empty one.
func (f *field) at(path ...string) *field {
	for _, number := range path {
		i := slices.IndexFunc(f.fields, func(g *field) bool { return g.number == number })
		if i < 0 {
			return &field{}
		}
		f = f.fields[i]
	}
	return f
}

// text is a string with its escapes undone.
func (f *field) text(t *testing.T) string {
	t.Helper()
	s := strings.TrimSuffix(strings.TrimPrefix(f.value, `"`), `"`)
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\':
			b.WriteByte(s[i])
		case i+3 < len(s) && s[i+1] >= '0' && s[i+1] <= '3':
			n, err := strconv.ParseUint(s[i+1:i+4], 8, 8)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteByte(byte(n))
			i += 3
		default:
			i++
			b.WriteString(strings.NewReplacer("n", "\n", "t", "\t", "r", "\r").Replace(s[i : i+1]))
		}
	}
	return b.String()
}

// number is that of a value, 0 if there is none.
func number(value string) int {
	n, _ := strconv.Atoi(value)
	return n
}

// An independent has what a few lines find in the fields of a Chromium trace.
type independent struct {
	slices  map[string]int // of threads, with an end
	samples map[string]int // of V8, by function
	idle    int
}

// readIndependently counts slices by thread, and samples of V8 by function. The packets of a thread
// are in the order of time, but for instants.
func readIndependently(t *testing.T, packets []*field) independent {
	t.Helper()
	in := independent{slices: make(map[string]int), samples: make(map[string]int)}
	open := make(map[string][]int) // when slices began, by thread
	now := make(map[string]int)    // µs, by sequence: packets say what was since the one before

	threads := make(map[string]string)  // by track
	writers := make(map[string]string)  // by sequence
	defaults := make(map[string]string) // track, by sequence
	functions := make(map[string]string)
	for _, p := range packets {
		if d := p.at("60"); len(d.at("4").fields) > 0 {
			threads[d.at("1").value] = d.at("4", "1").value + "/" + d.at("4", "2").value
		}
	}
	for _, p := range packets {
		seq := p.at("10").value
		if p.at("60", "4", "1").value != "" {
			writers[seq] = p.at("60", "4", "1").value + "/" + p.at("60", "4", "2").value
		}
		if d := p.at("59"); len(d.fields) > 0 {
			defaults[seq] = d.at("11", "11").value
		}
		for _, clock := range p.at("6").fields {
			if clock.number == "1" && clock.at("1").value == "64" {
				now[seq] = number(clock.at("2").value)
			}
		}
		if p.at("58").value == "" {
			now[seq] += number(p.at("8").value)
		}
		e := p.at("11")
		if len(e.fields) == 0 {
			continue
		}
		track := e.at("11").value
		if track == "" {
			track = defaults[seq]
		}
		switch thread, ok := threads[track]; {
		case ok && e.at("9").value == "1":
			open[thread] = append(open[thread], now[seq])
		case ok && e.at("9").value == "2" && len(open[thread]) > 0:
			last := len(open[thread]) - 1
			if now[seq] > open[thread][last] { // or it has no time, and is none
				in.slices[thread]++
			}
			open[thread] = open[thread][:last]
		}
		for _, a := range e.fields {
			text := a.at("9").value
			if a.number != "4" || !strings.Contains(text, "cpuProfile") {
				continue
			}
			var part struct {
				CPUProfile struct {
					Nodes []struct {
						ID        int
						CallFrame struct{ FunctionName string }
					}
					Samples []int
				}
			}
			if err := json.Unmarshal([]byte(a.at("9").text(t)), &part); err != nil {
				t.Fatal(err)
			}
			pid, _, _ := strings.Cut(writers[seq], "/")
			key := func(node int) string { return fmt.Sprint(pid, " ", e.at("6", "6").value, " ", node) }
			for _, n := range part.CPUProfile.Nodes {
				functions[key(n.ID)] = n.CallFrame.FunctionName
			}
			for _, node := range part.CPUProfile.Samples {
				switch name, ok := functions[key(node)]; {
				case !ok:
					t.Fatalf("no function %s", key(node))
				case name == "(idle)":
					in.idle++
				case name == "":
					in.samples["(anonymous)"]++
				default:
					in.samples[name]++
				}
			}
		}
	}
	return in
}

// checkChromium compares a run of a trace with the independent reading.
func checkChromium(t *testing.T, data []byte, in independent) {
	t.Helper()
	src, err := input.New("chromium", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := Read(src, &reading.Options{PID: true, TID: true})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Accounting.Balanced() {
		t.Errorf("not balanced: %v", &r.Accounting)
	}
	want, got := make(map[string]int), make(map[string]int)
	maps.Copy(want, in.samples)
	total := 0
	event, ok := r.EventIndex(v8Event)
	for _, s := range r.Samples {
		if !ok || int(s.Event) != event {
			continue
		}
		f := &r.Functions[r.Locations[r.Stacks.Location(s.Stack)].Lines[0].Function]
		name := f.Plain()
		if f.Unknown { // [program] is V8's (program)
			name = "(" + strings.Trim(name, "[]") + ")"
		}
		got[name] += int(s.Count)
		total += int(s.Count)
	}
	if !maps.Equal(want, got) {
		t.Errorf("samples by function: got %v, want %v", got, want)
	}
	if n := r.Accounting.Dropped["V8 was idle"]; n != int64(in.idle) {
		t.Errorf("V8 was idle in %d samples, want %d", n, in.idle)
	}
	if got := slicesByThread(r); !maps.Equal(in.slices, got) {
		t.Errorf("slices by thread: got %v, want %v", got, in.slices)
	}
	slicesTotal := 0
	for _, n := range in.slices {
		slicesTotal += n
	}
	t.Logf("%d samples, %d of them when V8 was idle; %d slices of %d threads", total+in.idle, in.idle, slicesTotal, len(in.slices))
}

func slicesByThread(r *run.Run) map[string]int {
	n := make(map[string]int)
	event, ok := r.EventIndex(slicesEvent)
	for _, s := range r.Samples {
		if l := &r.Labels[s.Labels]; ok && int(s.Event) == event {
			n[fmt.Sprintf("%d/%d", l.PID, l.TID)] += int(s.Count)
		}
	}
	return n
}

// TestKeptChromium reads a trace that Chromium 156 wrote of a page with a function fib:
//
//	chromium --headless=new --no-sandbox --trace-startup='-*,loading,v8,disabled-by-default-v8.cpu_profiler' \
//	    --trace-startup-format=proto --trace-startup-duration=2 --trace-startup-file=fib.pftrace \
//	    --virtual-time-budget=3000 --screenshot=/dev/null file:///tmp/fib/fib.html
func TestKeptChromium(t *testing.T) {
	src, err := input.Open("testdata/chromium-fib.pftrace.xz", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	data, err := io.ReadAll(src.Reader)
	if err != nil {
		t.Fatal(err)
	}
	in := readIndependently(t, decodeRaw(t, data))
	if in.samples["fib"] == 0 || in.idle == 0 {
		t.Fatalf("the trace has %d samples of fib, and %d of an idle V8", in.samples["fib"], in.idle)
	}
	checkChromium(t, data, in)
}

// fibPage works for some time when it is loaded.
const fibPage = `<!doctype html><script>
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const end = performance.now() + 300;
while (performance.now() < end) fib(24);
</script>`

// TestChromium has the Chromium that is installed write a trace.
func TestChromium(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed: no trace can be recorded")
	}
	if _, err := exec.LookPath("protoc"); err != nil {
		t.Skip("protoc is not installed: there is nothing to compare with")
	}
	dir := t.TempDir()
	page, file := filepath.Join(dir, "fib.html"), filepath.Join(dir, "fib.pftrace")
	if err := os.WriteFile(page, []byte(fibPage), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(dir, "profile"),
		"--trace-startup=-*,loading,v8,disabled-by-default-v8.cpu_profiler", "--trace-startup-format=proto", "--trace-startup-duration=3",
		"--trace-startup-file="+file, "--virtual-time-budget=4000", "--screenshot="+filepath.Join(dir, "page.png"), "file://"+page)
	cmd.WaitDelay = 10 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("chromium does not run here: %v\n%s", err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil || len(data) == 0 {
		t.Skipf("chromium wrote no trace here: %v", err)
	}
	in := readIndependently(t, decodeRaw(t, data))
	if in.samples["fib"] == 0 {
		t.Skip("chromium was too slow to load the page within the trace")
	}
	checkChromium(t, data, in)
}
