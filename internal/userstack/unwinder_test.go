package userstack_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"profdiff/internal/objects"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/objfile"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
	"profdiff/internal/userstack"
)

// data is a file of testdata, which says in calls.c how they were made.
func data(t testing.TB, name string) []byte {
	t.Helper()
	if name == "calls" {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	f, err := os.Open(filepath.Join("testdata", name+".zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// program is a directory that has the program of the recordings.
func program(t testing.TB, content []byte) *objects.Store {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "calls"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return objectstest.Dir(dir)
}

// stacks counts the user stacks of a recording, "_start;main;…", outermost first.
type stacks struct {
	symbols *objfile.SymbolTable
	count   map[string]int
}

func (s *stacks) Switch(perfsession.Switch) error { return nil }

func (s *stacks) Sample(sample *perfsession.Sample) error {
	var names []string
	for _, f := range sample.Frames {
		if f.Kernel {
			continue
		}
		name := "?"
		switch {
		case f.CutOff:
			name = "[cut]"
		case f.Map != nil:
			// The program is where it was linked.
			if sym, ok := s.symbols.Lookup(f.Addr); ok {
				name = sym.Name
			}
		}
		names = append([]string{name}, names...)
	}
	stack := strings.Join(names, ";")
	if sample.Incomplete {
		stack += " incomplete"
	}
	s.count[stack]++
	return nil
}

func replay(t testing.TB, recording []byte, store *objects.Store) (*stacks, *perfsession.Session) {
	t.Helper()
	elf := data(t, "calls")
	program, err := objfile.New(bytes.NewReader(elf), int64(len(elf)))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := program.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	f, err := perffile.New(bytes.NewReader(recording), int64(len(recording)), perffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := perfsession.New(f)
	s.Unwinder = userstack.New(store)
	got := &stacks{symbols: symbols, count: make(map[string]int)}
	if err := s.Replay(got); err != nil {
		t.Fatal(err)
	}
	return got, s
}

// TestKnownStacks unwinds recordings of a program whose stacks are all known.
func TestKnownStacks(t *testing.T) {
	elf := data(t, "calls")
	other := bytes.Replace(elf, buildID(t, elf), []byte("another build, really"[:20]), 1)
	ends := func(why perfsession.StackEndReason, n int64) (list [perfsession.NumStackEndReasons]int64) {
		list[why] = n
		return list
	}
	for _, test := range []struct {
		name, recording string
		store           *objects.Store
		want            map[string]int
		ends            [perfsession.NumStackEndReasons]int64
	}{
		{"whole", "whole.data", program(t, elf), map[string]int{"_start;main;top;mid;leaf": 152}, ends(perfsession.StackWhole, 152)},
		{"cut", "cut.data", program(t, elf), map[string]int{"[cut];top;mid;leaf incomplete": 150}, ends(perfsession.StackCut, 150)},
		{"no file", "whole.data", nil, map[string]int{"leaf incomplete": 152}, ends(perfsession.StackNoFile, 152)},
		{"another build", "whole.data", program(t, other), map[string]int{"leaf incomplete": 152}, ends(perfsession.StackNoFile, 152)},
		{
			"no table", "whole.data", program(t, bytes.Replace(elf, []byte(".eh_frame\x00"), []byte(".ah_frame\x00"), 1)),
			map[string]int{"mid;leaf incomplete": 152},
			ends(perfsession.StackNoTable, 152),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, s := replay(t, data(t, test.recording), test.store)
			if diff := cmp.Diff(test.want, got.count); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(test.ends, s.Stats.Ends.Samples); diff != "" {
				t.Errorf("ends: -want +got:\n%s", diff)
			}
			for end, n := range s.Stats.Ends.In {
				if end.In.Path != "/tmp/calls/calls" || n != 152 {
					t.Errorf("%d stacks end in %s", n, end.In.Path)
				}
			}
		})
	}
}

func buildID(t *testing.T, elf []byte) []byte {
	t.Helper()
	i := bytes.Index(elf, []byte("\x14\x00\x00\x00\x03\x00\x00\x00GNU\x00"))
	if i < 0 {
		t.Fatal("no build ID")
	}
	return elf[i+12 : i+32]
}

// TestAllocations: once the tables are read, samples cost no memory.
func TestAllocations(t *testing.T) {
	recording, store := data(t, "whole.data"), program(t, data(t, "calls"))
	f, err := perffile.New(bytes.NewReader(recording), int64(len(recording)), perffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := perfsession.New(f)
	m := &measured{t: t, Unwinder: userstack.New(store)}
	s.Unwinder = m
	if err := s.Replay(m); err != nil {
		t.Fatal(err)
	}
	if m.samples < 100 {
		t.Errorf("%d samples", m.samples)
	}
}

type measured struct {
	*userstack.Unwinder
	t       *testing.T
	samples int
}

func (m *measured) Sample(*perfsession.Sample) error { return nil }
func (m *measured) Switch(perfsession.Switch) error  { return nil }

func (m *measured) Unwind(frames []perfsession.Frame, code *perfsession.UserCode) ([]perfsession.Frame, perfsession.StackEnd) {
	frames, end := m.Unwinder.Unwind(frames, code)
	m.samples++
	n := testing.AllocsPerRun(10, func() { frames, end = m.Unwinder.Unwind(frames[:0], code) })
	if n > 0 {
		m.t.Errorf("sample %d: %v allocations", m.samples, n)
	}
	return frames, end
}
