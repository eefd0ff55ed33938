package run_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/run"
)

// chain is a run of stacks of which each calls the one before, of functions of one name, with a sample in each.
func chain(t *testing.T, depth int, name string) *run.Run {
	t.Helper()
	b := run.NewBuilder("chain")
	event := b.Event(run.Event{Name: "e"})
	location := b.Location(0, 0, run.Line{Function: b.Function(run.Function{Name: name})})
	var stack run.StackID
	for range depth {
		stack = b.Stack(stack, location)
		b.Add(event, stack, 0, 1)
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFoldedOrder has names that go on before and behind a semicolon: lines are in the order of their text.
func TestFoldedOrder(t *testing.T) {
	names := []string{"a", "a.b", "a;b", "a\\", "a\\;", "", "a!", "a<", "ab", "b", "a\x01", "ä"}
	rng := rand.New(rand.NewPCG(1, 2))
	b := run.NewBuilder("order")
	event := b.Event(run.Event{Name: "e"})
	want := make(map[string]run.FoldedSum)
	for range 3000 {
		var stack run.StackID
		var key []string
		for range rng.IntN(5) {
			var lines []run.Line // innermost first
			for range 1 + rng.IntN(2) {
				name := names[rng.IntN(len(names))]
				lines = append(lines, run.Line{Function: b.Function(run.Function{Name: name, StartLine: int64(rng.IntN(2))})})
				key = append(key, run.EscapeFrame(name))
			}
			slices.Reverse(lines)
			stack = b.Stack(stack, b.Location(0, 0, lines...))
		}
		b.Add(event, stack, 0, 2)
		sum := want[strings.Join(key, ";")]
		want[strings.Join(key, ";")] = run.FoldedSum{Weight: sum.Weight + 2, Count: sum.Count + 1}
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, r.Folded(0)); diff != "" {
		t.Errorf("sums (-want +got):\n%s", diff)
	}
	var lines []string
	for key, sum := range want {
		lines = append(lines, key+"\x00"+fmt.Sprint(sum.Weight))
	}
	slices.Sort(lines)
	var out bytes.Buffer
	if err := r.WriteFolded(&out, 0, false); err != nil {
		t.Fatal(err)
	}
	sorted := strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "\x00", " ")
	if diff := cmp.Diff(sorted, out.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// TestDeepChain writes stacks of which each calls the one before in forms that name all frames of each: they are refused
// before there is a file that fills a disk.
func TestDeepChain(t *testing.T) {
	deep := chain(t, 40_000, strings.Repeat("f", 1000))
	for name, err := range map[string]error{
		"folded": deep.WriteFolded(failing{t}, 0, false),
		"pprof":  deep.WriteProfile(failing{t}, run.ProfileOptions{}),
	} {
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "all frames of its stack") && !strings.Contains(err.Error(), "lists the frames") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	usual := chain(t, 2000, "f")
	if err := usual.WriteFolded(io.Discard, 0, false); err != nil {
		t.Error(err)
	}
	if err := usual.WriteProfile(io.Discard, run.ProfileOptions{}); err != nil {
		t.Error(err)
	}
}

// failing takes nothing.
type failing struct{ t *testing.T }

func (f failing) Write([]byte) (int, error) {
	f.t.Error("something was written")
	return 0, io.ErrClosedPipe
}
