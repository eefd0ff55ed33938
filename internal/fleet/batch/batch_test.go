package batch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"

	"profdiff/internal/category"
	"profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
	"profdiff/internal/ingest"
)

// A program has functions and stacks that profiles of a test sample.
type program struct {
	functions []*profile.Function
	stacks    [][]int // functions, leaf first
	mapping   *profile.Mapping
}

// newProgram makes a program with random stacks.
func newProgram(seed uint64, functions, stacks int) *program {
	r := rand.New(rand.NewPCG(seed, 1))
	p := &program{mapping: &profile.Mapping{ID: 1, File: "/opt/app/libapp.so.1.2", HasFunctions: true}}
	for i := range functions {
		name := fmt.Sprintf("app::module%d::function_%d(int)", i%97, i)
		p.functions = append(p.functions, &profile.Function{ID: uint64(i + 1), Name: name, SystemName: name, Filename: fmt.Sprintf("/src/module%d.cc", i%97)})
	}
	for range stacks {
		depth := 5 + r.IntN(35)
		stack := make([]int, depth)
		at := r.IntN(functions)
		for d := range stack {
			stack[d] = at
			at = (at*7 + 13 + r.IntN(3)) % functions
		}
		p.stacks = append(p.stacks, stack)
	}
	return p
}

// sample makes a profile of n stacks of the program.
func (p *program) sample(seed uint64, n int) *profile.Profile {
	r := rand.New(rand.NewPCG(seed, 2))
	out := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7,
		TimeNanos: time.Date(2026, 11, 20, 0, 0, int(seed), 0, time.UTC).UnixNano(), DurationNanos: 30e9,
		Mapping: []*profile.Mapping{p.mapping},
	}
	locations := make(map[int]*profile.Location)
	functions := make(map[int]*profile.Function)
	for range n {
		s := &profile.Sample{}
		for _, f := range p.stacks[r.IntN(len(p.stacks))] {
			if locations[f] == nil {
				fn := *p.functions[f]
				fn.ID = uint64(len(functions) + 1)
				functions[f] = &fn
				locations[f] = &profile.Location{ID: fn.ID, Mapping: p.mapping, Address: uint64(0x1000 + 16*f), Line: []profile.Line{{Function: &fn, Line: int64(f)}}}
				out.Location, out.Function = append(out.Location, locations[f]), append(out.Function, &fn)
			}
			s.Location = append(s.Location, locations[f])
		}
		k := int64(1 + r.IntN(9))
		s.Value = []int64{k, k * 1e7}
		out.Sample = append(out.Sample, s)
	}
	return out
}

// write writes a profile as a file.
func write(tb testing.TB, p *profile.Profile, parts ...string) {
	tb.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		tb.Fatal(err)
	}
	writeFile(tb, b.Bytes(), parts...)
}

func writeFile(tb testing.TB, data []byte, parts ...string) {
	tb.Helper()
	name := filepath.Join(parts...)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		tb.Fatal(err)
	}
}

// fleetOf writes profiles RELEASE/MODEL/DEVICE/N.pb.gz and returns the directory.
func fleetOf(tb testing.TB, profiles, functions, stacks, samples int) string {
	tb.Helper()
	dir := tb.TempDir()
	p := newProgram(1, functions, stacks)
	for i := range profiles {
		device := i / 2 % 50
		write(tb, p.sample(uint64(i), samples), dir, fmt.Sprintf("1.%d", i%2), fmt.Sprintf("model%d", device%5), fmt.Sprintf("device%d", device), fmt.Sprintf("%d.pb.gz", i))
	}
	return dir
}

// planned are the specs of directories.
func planned(tb testing.TB, root string, size int) (specs []*Spec) {
	tb.Helper()
	p := Plan{Size: size, Salt: "salt", Emit: func(s *Spec) error { specs = append(specs, s); return nil }}
	if err := Directories(root, "", p.Add); err != nil {
		tb.Fatal(err)
	}
	if err := p.Close(); err != nil {
		tb.Fatal(err)
	}
	return specs
}

func newWorker(dir string, jobs int) *Worker {
	return &Worker{Dir: dir, Jobs: jobs, Options: func() *ingest.Options { return Options() }}
}

// work works on specs and sums the receipts.
func work(tb testing.TB, dir string, jobs int, specs ...*Spec) (sum store.Receipt) {
	tb.Helper()
	w := newWorker(dir, jobs)
	sum.Rows = make(map[string]int64)
	for _, s := range specs {
		r, err := w.Work(context.Background(), s)
		if err != nil {
			tb.Fatal(err)
		}
		sum.Profiles.Add(r.Profiles)
		sum.Samples.Add(r.Samples)
		sum.Bytes += r.Bytes
		sum.Dropped = append(sum.Dropped, r.Dropped...)
		for name, n := range r.Rows {
			sum.Rows[name] += n
		}
	}
	return sum
}

// treeHash is the hash of all files of a directory.
func treeHash(tb testing.TB, dir string) string {
	tb.Helper()
	h := sha256.New()
	if err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		fmt.Fprintf(h, "%s %d\n", strings.TrimPrefix(name, dir), len(data))
		h.Write(data)
		return err
	}); err != nil {
		tb.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// BenchmarkWork reads profiles of the size that a field has, 26 kB with 168 stacks and 910 functions:
//
//	go test ./internal/fleet/batch -run ^$ -bench Work -benchtime 3x -count 7
func BenchmarkWork(b *testing.B) {
	const profiles = 1000
	root := fleetOf(b, profiles, 5000, 16400, 168)
	specs := planned(b, root, 2000)
	b.ResetTimer()
	for b.Loop() {
		dir := b.TempDir()
		sum := work(b, dir, 1, specs...)
		if sum.Profiles.Out != profiles {
			b.Fatalf("%+v", sum.Profiles)
		}
		facts := int64(0)
		files, err := filepath.Glob(filepath.Join(dir, "profile_functions", "*", "*", "*"))
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range files {
			info, err := os.Stat(f)
			if err != nil {
				b.Fatal(err)
			}
			facts += info.Size()
		}
		b.ReportMetric(float64(facts)/float64(sum.Rows["profile_functions"]), "B/fact")
		b.ReportMetric(float64(sum.Bytes)/profiles, "B/profile")
		b.ReportMetric(float64(sum.Rows["profile_functions"])/profiles, "facts/profile")
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N)/profiles, "ms/profile")
}

// TestDeterminism has the same profiles read by one job and by two, once and twice, in one go and spec by spec backwards.
func TestDeterminism(t *testing.T) {
	root := fleetOf(t, 60, 300, 400, 40)
	specs := planned(t, root, 16)
	if again := planned(t, root, 16); cmp.Diff(specs, again) != "" {
		t.Error("the plan differs when it is made again")
	}
	dirs := [4]string{t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()}
	sum := work(t, dirs[0], 1, specs...)
	work(t, dirs[1], 2, specs...)
	work(t, dirs[2], 2, specs...)
	work(t, dirs[2], 1, specs...)
	for _, s := range slices.Backward(specs) {
		work(t, dirs[3], 3, s)
	}
	for i, dir := range dirs {
		if treeHash(t, dir) != treeHash(t, dirs[0]) {
			t.Errorf("store %d has other bytes than the first", i)
		}
	}
	if sum.Profiles.In != 60 || sum.Profiles.Out != 60 || !sum.Samples.Balanced() {
		t.Errorf("%+v", sum)
	}
	s, err := store.Open(dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	var profiles, weight, self int64
	for p, err := range s.Profiles(store.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		profiles++
		weight += p.Weight
		if p.SampleType != "cpu/nanoseconds" || p.DurationNS != 30e9 || strings.Contains(p.SourceURI, "device") || p.Weight != 1e7*p.SampleCount {
			t.Fatalf("a row of the ledger is %+v", p)
		}
	}
	if err := s.ProfileFunctions(store.Selection{}, func(rows []fleet.ProfileFunction) error {
		for _, f := range rows {
			self += f.SelfValue
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if profiles != 60 || self != weight {
		t.Errorf("%d profiles weigh %d, and their functions %d", profiles, weight, self)
	}
}

// TestLateAndOverlap compares a store of all profiles with one to which half of them came late, and with one of which batches
// overlap: the view is the same.
func TestLateAndOverlap(t *testing.T) {
	root := fleetOf(t, 40, 100, 100, 20)
	all := planned(t, root, 1000)
	late := planned(t, root, 7)
	dirs := [3]string{t.TempDir(), t.TempDir(), t.TempDir()}
	work(t, dirs[0], 2, all...)
	work(t, dirs[1], 2, late[len(late)/2:]...)
	work(t, dirs[1], 2, late[:len(late)/2]...)
	work(t, dirs[2], 2, late[:len(late)/2]...)
	work(t, dirs[2], 2, all...)
	want := viewOf(t, dirs[0])
	for _, dir := range dirs[1:] {
		if diff := cmp.Diff(want, viewOf(t, dir)); diff != "" {
			t.Errorf("the view differs (-want +got):\n%s", diff)
		}
	}
}

// viewOf has the facts of a store as text.
func viewOf(t *testing.T, dir string) []string {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for p, err := range s.Profiles(store.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprint("profile ", p.ProfileID, p.ReleaseID, p.DeviceID, p.Weight))
	}
	if err := s.ProfileFunctions(store.Selection{}, func(rows []fleet.ProfileFunction) error {
		for _, f := range rows {
			lines = append(lines, fmt.Sprint("fact ", f.ProfileID, f.FunctionID, f.SelfValue, f.TotalValue))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

// TestDelete deletes a device: what is left has the same bytes as a store that never had it.
func TestDelete(t *testing.T) {
	root := fleetOf(t, 40, 100, 100, 20)
	dir, without := t.TempDir(), t.TempDir()
	specs := planned(t, root, 1000)
	work(t, dir, 2, specs...)
	device := fleet.Device("salt", "device3")
	for _, s := range specs {
		s.Profiles = slices.DeleteFunc(s.Profiles, func(p Profile) bool { return p.Device == device })
	}
	work(t, without, 2, specs...)
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compact(); err != nil {
		t.Fatal(err)
	}
	// What a worker left that died may be of the device.
	writeFile(t, []byte("PAR1"), dir, "samples", "release=1.0", ".unfinished-1")
	d, err := s.Delete(device)
	if err != nil || d.Profiles != 2 || d.Batches != 2 || d.RollUps != 2 || d.Orphans != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	for _, dir := range []string{dir, without} {
		if err := os.RemoveAll(filepath.Join(dir, "receipts")); err != nil {
			t.Fatal(err)
		}
	}
	if treeHash(t, dir) != treeHash(t, without) {
		t.Error("the store differs from one that never had the device")
	}
}

// TestDropped has what is no profile, and profiles that are to do harm: each is dropped with its reason, and the one good profile is
// read.
func TestDropped(t *testing.T) {
	root := t.TempDir()
	file := func(name string, data []byte) { writeFile(t, data, root, "1", "m", "d", name) }
	p := newProgram(1, 10, 10)
	good := p.sample(1, 5)
	write(t, good, root, "1", "m", "d", "1-good.pb.gz")
	write(t, good, root, "1", "m", "d", "2-again.pb.gz")
	write(t, good, root, "1", "m", "e", "2-elsewhere.pb.gz")
	negative := p.sample(2, 5)
	negative.Sample[0].Value[1] = -5
	write(t, negative, root, "1", "m", "d", "3-negative.pb.gz")
	huge := p.sample(3, 5)
	for _, s := range huge.Sample {
		s.Value[1] = 1 << 62
	}
	write(t, huge, root, "1", "m", "d", "4-huge.pb.gz")
	empty := p.sample(4, 5)
	empty.Sample = nil
	write(t, empty, root, "1", "m", "d", "5-empty.pb.gz")
	file("6-text", []byte("no profile\n"))
	file("7-nothing", nil)
	var whole bytes.Buffer
	if err := good.Write(&whole); err != nil {
		t.Fatal(err)
	}
	file("8-cut.pb.gz", whole.Bytes()[:whole.Len()/2])
	want := map[string]int64{reasonDuplicate: 1, reasonDisputed: 1, reasonEmpty: 1, reasonUnread: 5}
	file("8-zeros.pb.gz", gzipped(t, io.LimitReader(zeros{}, 32<<20)))
	file("8-large.folded", bytes.Repeat([]byte("f;g 1\n"), 1<<14))
	file("9-stacks.folded", manyStacks(1001))
	write(t, newProgram(1, 2000, 400).sample(1, 400), root, "1", "m", "d", "9-frames.pb.gz")
	want[reasonUnread]++
	want[reasonLarge] += 3
	w := newWorker(t.TempDir(), 2)
	w.bounds = &bounds{size: 1 << 16, stacks: 1000, frames: 5000, rows: usual.rows, batchFrames: usual.batchFrames}
	sum, err := w.Work(context.Background(), planned(t, root, 1000)[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, sum.Profiles.Dropped); diff != "" || sum.Profiles.Out != 1 {
		t.Errorf("%d came out; dropped (-want +got):\n%s%+v", sum.Profiles.Out, diff, sum.Dropped)
	}
	for _, d := range sum.Dropped {
		if d.Detail == "" || strings.Contains(d.Detail, root) || strings.Contains(d.Detail, "\n") || strings.Contains(d.Detail, d.Source) {
			t.Errorf("what was dropped is not told, or tells a path: %+v", d)
		}
	}
}

// TestBug has profdiff fail in a profile: it is dropped, the reason says that it is a bug, and where, and the next profile is read as
// if nothing had been.
func TestBug(t *testing.T) {
	root := t.TempDir()
	write(t, newProgram(1, 10, 10).sample(1, 5), root, "good.pb.gz")
	good := &Profile{Path: filepath.Join(root, "good.pb.gz")}
	r := reader{opt: Options(), decoder: newDecoder(&usual, nil)}
	want, err := r.read("1", good)
	if err != nil {
		t.Fatal(err)
	}
	r.categories = new(category.Grouper) // of no categories
	b := builder{receipt: &store.Receipt{}}
	rows, err := r.read("1", good)
	if rows != nil || err == nil {
		t.Fatal("profdiff did not fail")
	}
	if err := b.add(good, result{rows, err}); err != nil {
		t.Fatal(err)
	}
	d := b.receipt.Dropped
	if len(d) != 1 || d[0].Reason != reasonBug || !strings.HasPrefix(d[0].Detail, "runtime error: invalid memory address") ||
		!strings.Contains(d[0].Detail, ", in profdiff/internal/category.") || !strings.Contains(d[0].Detail, ".go:") {
		t.Errorf("dropped %+v, want a bug and its place", d)
	}
	got, err := r.read("1", good)
	if diff := cmp.Diff(want.Batch, got.Batch); diff != "" || err != nil {
		t.Errorf("%v: after a bug a profile is read otherwise (-want +got):\n%s", err, diff)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func gzipped(t *testing.T, r io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.Copy(z, r); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// manyStacks is text of folded stacks, all different.
func manyStacks(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "f%d;g%d 1\n", i%1024, i/1024)
	}
	return b.Bytes()
}

// TestLargeBatch has a spec whose rows are more than a batch may have: it becomes several, the same ones for any number of jobs.
func TestLargeBatch(t *testing.T) {
	root := fleetOf(t, 12, 100, 100, 20)
	specs := planned(t, root, 1000)
	var hashes [3]string
	for i := range hashes {
		w := newWorker(t.TempDir(), i+1)
		w.bounds = &bounds{size: usual.size, stacks: usual.stacks, frames: usual.frames, rows: 300, batchFrames: 5000}
		for _, s := range specs {
			r, err := w.Work(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			if r.Profiles.Out != 6 || len(r.Batches) < 2 {
				t.Errorf("%d profiles are in %d batches, want 6 in several", r.Profiles.Out, len(r.Batches))
			}
		}
		hashes[i] = treeHash(t, w.Dir)
	}
	if hashes[0] != hashes[1] || hashes[0] != hashes[2] {
		t.Error("several jobs write other bytes than one")
	}
}
