package main

import (
	"bytes"
	"crypto/sha256"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	tables "profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
)

// small is a fleet that takes a second to make.
func small(out string) *settings {
	return &settings{
		out: out, seed: 7, profiles: 400, devices: 60, models: 6, functions: 500, stacks: 1500, samples: 150,
		effects: 10, some: 10, on: 2,
	}
}

// hashes are the sums of all files below a directory.
func hashes(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	sums := make(map[string][32]byte)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		sums[name] = sha256.Sum256(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// TestSameBytes makes a fleet with one processor and with four.
func TestSameBytes(t *testing.T) {
	var got [2]map[string][32]byte
	for i, n := range []int{1, 4} {
		before := runtime.GOMAXPROCS(n)
		dir := filepath.Join(t.TempDir(), "fleet")
		err := small(dir).write()
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		got[i] = hashes(t, dir)
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" {
		t.Error(diff)
	}
	if len(got[0]) != 402 {
		t.Errorf("%d files, want 400 profiles, a manifest and the truth", len(got[0]))
	}
}

// TestEffects reads the profiles back: the manifest has all of them, and costs per work
// change as truth.tsv says. The costs of devices make that uncertain by some ten per cent, so that the sum of
// all functions that rise is compared, and of all that fall.
func TestEffects(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fleet")
	s := small(dir)
	s.profiles, s.devices, s.effects, s.some = 800, 400, 40, 0
	if err := s.write(); err != nil {
		t.Fatal(err)
	}
	rises := make(map[string]bool)
	truth, err := os.ReadFile(filepath.Join(dir, "truth.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[bool][2]float64{} // share of a, and of b if that of all others stays
	for _, line := range strings.Split(strings.TrimSpace(string(truth)), "\n")[1:] {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		factor, share := number(t, fields[2]), number(t, fields[3])
		rises[fields[0]] = factor > 1
		w := want[factor > 1]
		want[factor > 1] = [2]float64{w[0] + share, w[1] + share*factor}
	}
	spent, total := map[string]map[bool]float64{"a": {}, "b": {}}, map[string]float64{}
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(manifest)), "\n")[1:]
	if len(lines) != s.profiles {
		t.Errorf("the manifest has %d profiles, want %d", len(lines), s.profiles)
	}
	for _, line := range lines {
		fields := strings.Split(line, ",")
		data, err := os.ReadFile(filepath.Join(dir, fields[0]))
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.Parse(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, sample := range p.Sample {
			leaf := sample.Location[0].Line[0].Function.Name
			v := float64(sample.Value[0])
			total[fields[1]] += v
			if up, changed := rises[leaf]; changed {
				spent[fields[1]][up] += v
			}
		}
	}
	for up, w := range want {
		got := spent["b"][up] / total["b"] / (spent["a"][up] / total["a"])
		if math.Abs(got/(w[1]/w[0])-1) > 0.12 {
			t.Errorf("functions with rises %v change by a factor of %.3f, truth.tsv says %.3f", up, got, w[1]/w[0])
		}
	}
}

// TestStore writes the profiles of a seed and the sums of their devices: both have the same costs of functions.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	s := small(filepath.Join(dir, "profiles"))
	if err := s.write(); err != nil {
		t.Fatal(err)
	}
	want := make(map[string]int64)
	for name := range hashes(t, s.out) {
		if !strings.HasSuffix(name, ".pb.gz") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(s.out, name))
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.Parse(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, sample := range p.Sample {
			want[sample.Location[0].Line[0].Function.Name+" self"] += sample.Value[0]
			for _, l := range sample.Location {
				want[l.Line[0].Function.Name+" total"] += sample.Value[0]
			}
		}
	}
	s = small("")
	s.store = filepath.Join(dir, "store")
	if err := s.write(); err != nil {
		t.Fatal(err)
	}
	from, err := store.Open(s.store)
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[int64]string)
	for f, err := range from.Functions() {
		if err != nil {
			t.Fatal(err)
		}
		names[f.FunctionID] = f.Name
	}
	got := make(map[string]int64)
	if err := from.ProfileFunctions(store.Selection{}, func(rows []tables.ProfileFunction) error {
		for _, r := range rows {
			if r.SelfValue > 0 {
				got[names[r.FunctionID]+" self"] += r.SelfValue
			}
			got[names[r.FunctionID]+" total"] += r.TotalValue
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("profiles and sums differ (-profiles +sums):\n%s", diff)
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestRefused are flags that make no fleet.
func TestRefused(t *testing.T) {
	for name, change := range map[string]func(*settings){
		"nowhere":           func(s *settings) { s.out = "" },
		"no profiles":       func(s *settings) { s.profiles = 0 },
		"few functions":     func(s *settings) { s.functions = 3 },
		"all change":        func(s *settings) { s.effects = 400 },
		"too few models":    func(s *settings) { s.on = 7 },
		"no device at all":  func(s *settings) { s.devices = 0 },
		"stacks of nothing": func(s *settings) { s.stacks = 0 },
	} {
		s := small("x")
		change(s)
		if s.check() == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}
