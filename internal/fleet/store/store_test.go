package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/table"
)

const cpu = "cpu/nanoseconds"

// sampled is a batch of profiles of one release and day: of each profile the time in f and in g, which f calls.
func sampled(release string, day int, profiles ...string) *Batch {
	var b Batch
	f, g := fleet.FunctionID("m", "f", ""), fleet.FunctionID("m", "g", "")
	frames := []int64{g, f}
	b.Functions = []fleet.Function{{FunctionID: f, Name: "f", Module: "m"}, {FunctionID: g, Name: "g", Module: "m"}}
	b.Stacks = []Stack{NewStack(frames...)}
	for i, name := range profiles {
		id, device := fleet.ProfileID([]byte(name)), fleet.Device("", "device of "+name)
		n := int64(i + 1)
		b.Profiles = append(b.Profiles, fleet.Profile{
			ProfileID: id, ReleaseID: release, DeviceModel: "phone", DeviceID: device, UnitID: fleet.UnitID(device),
			TimeNS: time.Date(2026, 11, day, 12, 0, 0, 0, time.UTC).UnixNano(), SampleType: cpu, Weight: 10 * n, SampleCount: n, WorkUnits: &n,
			DecoderVersion: table.Decoder, SchemaVersion: fleet.Schema, SourceURI: name,
		})
		b.Facts = append(b.Facts, fleet.ProfileFunction{SampleType: cpu, FunctionID: g, ProfileID: id, SelfValue: 10 * n, TotalValue: 10 * n},
			fleet.ProfileFunction{SampleType: cpu, FunctionID: f, ProfileID: id, TotalValue: 10 * n})
		b.Samples = append(b.Samples, fleet.Sample{SampleType: cpu, ProfileID: id, StackID: fleet.StackID(frames), Value: 10 * n, SampleCount: n})
		b.Categories = append(b.Categories, fleet.ProfileCategory{SampleType: cpu, Category: "locks", ProfileID: id, SelfValue: n})
	}
	return &b
}

func put(t *testing.T, dir string, b *Batch) string {
	t.Helper()
	id, err := b.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// totals sums what a view has by source, and checks that all tables tell the same.
func totals(t *testing.T, s *Store, sel Selection) map[string]int64 {
	t.Helper()
	source, sums := make(map[string]string), make(map[string]int64)
	for p, err := range s.Profiles(sel) {
		if err != nil {
			t.Fatal(err)
		}
		source[p.ProfileID] = p.SourceURI
		sums[p.SourceURI] += p.Weight
	}
	facts, samples, categories := make(map[string]int64), make(map[string]int64), make(map[string]int64)
	if err := s.ProfileFunctions(sel, func(rows []fleet.ProfileFunction) error {
		for _, f := range rows {
			facts[source[f.ProfileID]] += f.SelfValue
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Samples(sel, func(rows []fleet.Sample) error {
		for _, f := range rows {
			samples[source[f.ProfileID]] += f.Value
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.ProfileCategories(sel, func(rows []fleet.ProfileCategory) error {
		for _, f := range rows {
			categories[source[f.ProfileID]] += 10 * f.SelfValue
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]map[string]int64{"facts": facts, "samples": samples, "categories": categories} {
		if diff := cmp.Diff(sums, got); diff != "" {
			t.Errorf("%s do not add up to the weights of the ledger (-ledger +%s):\n%s", name, name, diff)
		}
	}
	return sums
}

func TestView(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, sampled("1.0", 20, "a", "b"))
	put(t, dir, sampled("1.0", 21, "c"))
	put(t, dir, sampled("2/β..=", 21, "d"))
	want := map[string]int64{"a": 10, "b": 20, "c": 10, "d": 10}
	s := open(t, dir)
	if diff := cmp.Diff(want, totals(t, s, Selection{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"1.0", "2/β..="}, s.Releases()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int64{"d": 10}, totals(t, s, Selection{Releases: []string{"2/β..="}, SampleType: cpu})); diff != "" {
		t.Error(diff)
	}
	if got := totals(t, s, Selection{SampleType: "wall/nanoseconds"}); len(got) > 0 {
		t.Errorf("of another sample type there is %v", got)
	}

	// Facts of a worker that died before it wrote the ledger do not count, nor what it left of files.
	died := sampled("1.0", 20, "e", "a")
	id := put(t, dir, died)
	if err := os.Remove(PartitionOf(&died.Profiles[0]).Path(dir, fleet.TableProfiles, id)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, fleet.TableProfiles, "release=1.0", "day=2026-11-20", ".unfinished-1"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	if diff := cmp.Diff(want, totals(t, s, Selection{})); diff != "" {
		t.Error(diff)
	}
	if files, err := s.Files(fleet.TableProfileFunctions); err != nil || len(files) != 3 {
		t.Errorf("%q, %v: want the files of three batches", files, err)
	}

	// What comes twice counts once; which of both, the ids of batches decide.
	put(t, dir, sampled("1.0", 20, "f", "b", "a"))
	s = open(t, dir)
	got := totals(t, s, Selection{})
	if len(got) != 5 || got["f"] != 10 || got["a"] != 10 && got["a"] != 30 {
		t.Errorf("after an overlap the store has %v", got)
	}
	n := 0
	for k, err := range s.Stacks() {
		if n++; err != nil || len(k.Frames) != 2 {
			t.Errorf("%v, %v", k, err)
		}
	}
	for f, err := range s.Functions() {
		if n++; err != nil || f.Module != "m" {
			t.Errorf("%v, %v", f, err)
		}
	}
	if n != 3 {
		t.Errorf("there are %d stacks and functions, want 1 and 2", n)
	}
}

// TestShared has the same bytes in two releases: both have them, whatever the ids of their batches are, and one that has them
// twice has them once.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, sampled("1", 1, "a", "b"))
	put(t, dir, sampled("2", 1, "a", "c"))
	put(t, dir, sampled("2", 2, "a"))
	put(t, dir, sampled("3", 2, "a"))
	s := open(t, dir)
	want := map[string]map[string]int64{"1": {"a": 10, "b": 20}, "2": {"a": 10, "c": 20}, "3": {"a": 10}}
	for release, want := range want {
		if diff := cmp.Diff(want, totals(t, s, Selection{Releases: []string{release}})); diff != "" {
			t.Errorf("release %s (-want +got):\n%s", release, diff)
		}
	}
	if sum, err := s.Summary(); err != nil || sum.Shared != 1 || sum.Hidden != 1 {
		t.Errorf("%d profiles are in several releases and %d rows are hidden, %v: want 1 and 1", sum.Shared, sum.Hidden, err)
	}
	if _, err := s.Compact(); err != nil {
		t.Fatal(err)
	}
	for release, want := range map[string]int64{"1": 30, "2": 30, "3": 10} {
		var got, functions int64
		sel := Selection{Releases: []string{release}}
		if err := s.Units(sel, func(rows []fleet.Unit) error {
			for _, u := range rows {
				got += u.Weight
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if err := s.FunctionUnits(sel, func(rows []fleet.FunctionUnit) error {
			for _, u := range rows {
				functions += u.SelfSum
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if got != want || functions != want {
			t.Errorf("rolled up, release %s weighs %d, and its functions %d: want %d", release, got, functions, want)
		}
	}
}

// TestDisputed has the same bytes in several batches of a release: where these say different things of them, that is counted and told.
func TestDisputed(t *testing.T) {
	dir := t.TempDir()
	disputed := func() *Disputed {
		t.Helper()
		d, err := open(t, dir).Disputed(Selection{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	put(t, dir, sampled("1", 1, "a", "b"))
	put(t, dir, sampled("1", 1, "x", "a", "b")) // weighs otherwise, and is said to be of the same device
	other := sampled("2", 1, "a", "b")
	for i := range other.Profiles {
		other.Profiles[i].DeviceModel = "tablet"
	}
	put(t, dir, other)
	if d := disputed(); d == nil || d.Profiles != 2 || d.What != "work_units" {
		t.Errorf("work is disputed, and the store says %+v", d)
	}
	dir = t.TempDir()
	ids := []string{put(t, dir, sampled("1", 1, "a", "b"))}
	put(t, dir, other)
	if d := disputed(); d != nil {
		t.Errorf("two releases may say different things, and are told %v", d)
	}
	other = sampled("1", 1, "a", "b", "c")
	for i := range other.Profiles {
		other.Profiles[i].DeviceModel = "tablet"
	}
	ids = append(ids, put(t, dir, other))
	models := []string{"phone", "tablet"}
	if ids[0] > ids[1] {
		slices.Reverse(ids)
		slices.Reverse(models)
	}
	in := func(id string) string { return "profiles/release=1/day=2026-11-01/b-" + id + ".parquet" }
	want := &Disputed{Profiles: 2, What: "device_model", Counts: models[0], CountsIn: in(ids[0]), Otherwise: models[1], OtherwiseIn: in(ids[1])}
	if diff := cmp.Diff(want, disputed()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d, err := open(t, dir).Disputed(Selection{Releases: []string{"2"}}); d != nil || err != nil {
		t.Errorf("release 2 has no such profile, and is told %v, %v", d, err)
	}
	// What a newer version reads otherwise is not disputed: it is better known.
	newer := sampled("1", 1, "a", "b", "c")
	for i := range newer.Profiles {
		newer.Profiles[i].DecoderVersion++
	}
	put(t, dir, newer)
	if d := disputed(); d != nil {
		t.Errorf("a newer version read all, and is told %v", d)
	}
}

// TestVersions has a profile in batches of two decoders: the higher one counts.
func TestVersions(t *testing.T) {
	for _, decoder := range []int32{0, 9} {
		dir := t.TempDir()
		put(t, dir, sampled("1", 1, "a", "b"))
		other := sampled("1", 1, "b", "a")
		for i := range other.Profiles {
			other.Profiles[i].DecoderVersion = decoder
		}
		put(t, dir, other)
		want := map[string]int64{"a": 10, "b": 20}
		if decoder > table.Decoder {
			want = map[string]int64{"a": 20, "b": 10}
		}
		if diff := cmp.Diff(want, totals(t, open(t, dir), Selection{})); diff != "" {
			t.Errorf("decoder %d: %s", decoder, diff)
		}
	}
}

func TestCompact(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, sampled("1", 1, "a", "b"))
	put(t, dir, sampled("2", 1, "c"))
	s := open(t, dir)
	if ok, err := s.RolledUp(Selection{}); ok || err != nil {
		t.Errorf("%v, %v: there is no roll-up yet", ok, err)
	}
	if err := s.Units(Selection{}, func([]fleet.Unit) error { return nil }); err == nil || !strings.Contains(err.Error(), "compact") {
		t.Errorf("%v: want to be told how to make a roll-up", err)
	}
	rolled, err := s.Compact()
	if err != nil || !slices.Equal(rolled, []string{"1", "2"}) {
		t.Fatalf("%q, %v", rolled, err)
	}
	check := func(profiles, weight int64) {
		t.Helper()
		s := open(t, dir)
		var n, w, work, self, total int64
		if err := s.Units(Selection{SampleType: cpu}, func(rows []fleet.Unit) error {
			for _, u := range rows {
				n, w, work = n+u.Profiles, w+u.Weight, work+*u.WorkUnits
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := s.FunctionUnits(Selection{}, func(rows []fleet.FunctionUnit) error {
			for _, u := range rows {
				self, total = self+u.SelfSum, total+u.TotalSum
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if n != profiles || w != weight || work*10 != weight || self != weight || total != 2*weight {
			t.Errorf("%d profiles with %d and %d units of work, functions with %d and %d", n, w, work, self, total)
		}
	}
	check(3, 40)
	put(t, dir, sampled("2", 2, "late"))
	s = open(t, dir)
	if ok, _ := s.RolledUp(Selection{Releases: []string{"1"}}); !ok {
		t.Error("release 1 has not changed")
	}
	if rolled, err := s.Compact(); err != nil || !slices.Equal(rolled, []string{"2"}) {
		t.Fatalf("%q, %v", rolled, err)
	}
	check(4, 50)
	for _, name := range []string{fleet.TableUnits, fleet.TableFunctionUnits} {
		if files, _ := filepath.Glob(filepath.Join(dir, name, "*", "*")); len(files) != 2 {
			t.Errorf("%q: want one file a release", files)
		}
	}
}

// TestRefused has stores that are wrong: each is one line that says what is wrong where.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		want   string
	}{
		"nothing":      {func(*testing.T, string) {}, "is no store"},
		"a copy":       {func(t *testing.T, dir string) { copied(t, dir, "day=2026-11-02") }, "too"},
		"moved":        {func(t *testing.T, dir string) { copied(t, dir, "") }, "was moved"},
		"other names":  {func(t *testing.T, dir string) { renamed(t, dir) }, "equal ids of different functions"},
		"other frames": {func(t *testing.T, dir string) { reframed(t, dir) }, "other frames"},
	} {
		dir := t.TempDir()
		c.damage(t, dir)
		err := readAll(dir)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), dir) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error is %v, want one line with %q", name, err, c.want)
		}
	}
}

func readAll(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	for _, err := range s.Functions() {
		if err != nil {
			return err
		}
	}
	for _, err := range s.Stacks() {
		if err != nil {
			return err
		}
	}
	return nil
}

// copied copies a file of the ledger to another day; without one it moves it.
func copied(t *testing.T, dir, day string) {
	put(t, dir, sampled("1", 1, "a"))
	from := filepath.Join(dir, fleet.TableProfiles, "release=1", "day=2026-11-01")
	to := filepath.Join(filepath.Dir(from), "day=2026-11-02")
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	if day != "" {
		put(t, dir, sampled("1", 1, "a"))
	}
}

func renamed(t *testing.T, dir string) {
	put(t, dir, sampled("1", 1, "a"))
	b := sampled("1", 1, "b")
	b.Functions[0].Name = "other"
	put(t, dir, b)
}

func reframed(t *testing.T, dir string) {
	b := sampled("1", 1, "a")
	b.Stacks[0].Frames = b.Stacks[0].Frames[:1]
	put(t, dir, b)
}
