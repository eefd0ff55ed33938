package table

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"profdiff/internal/fleet"
)

// roundTrip writes rows twice, and reads them.
func roundTrip[T Row](t *testing.T, rows []T) {
	t.Helper()
	var files [2][]byte
	for i := range files {
		name := filepath.Join(t.TempDir(), "deep", "table.parquet")
		if err := Write(name, rows); err != nil {
			t.Fatal(err)
		}
		var got []T
		if err := Read(name, func(rows []T) error {
			got = append(got, rows...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows, got); diff != "" {
			t.Errorf("%T: rows that were read differ from those written (-want +got):\n%s", rows, diff)
		}
		if facts, ok := any(rows).([]fleet.ProfileFunction); ok {
			if diff := cmp.Diff(facts, factsByColumn(t, name)); diff != "" {
				t.Errorf("rows that were read by column differ from those written (-want +got):\n%s", diff)
			}
		}
		var err error
		if files[i], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Errorf("%T: the same rows are other bytes when they are written again", rows)
	}
}

// factColumns are the columns of facts, in the order of the fields.
var factColumns = []string{"sample_type", "function_id", "profile_id", "batch_id", "self_value", "total_value"}

// factsByColumn reads facts by column.
func factsByColumn(t *testing.T, name string) (all []fleet.ProfileFunction) {
	t.Helper()
	if err := ReadColumns[fleet.ProfileFunction](name, factColumns, func(b *Block) error {
		text := func(column, row int) string {
			of := b.Texts(column)
			return of.Distinct[of.At[row]]
		}
		for i := range b.Rows {
			all = append(all, fleet.ProfileFunction{
				SampleType: text(0, i), FunctionID: b.Numbers(1)[i], ProfileID: text(2, i), BatchID: text(3, i), SelfValue: b.Numbers(4)[i], TotalValue: b.Numbers(5)[i],
			})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestGroups has several groups of rows and several pages of a column in each, with values of all widths.
func TestGroups(t *testing.T) {
	facts := make([]fleet.ProfileFunction, groupRows+3*pageValues+17)
	for i := range facts {
		wide := int64(i) * int64(i) << (i / 100_000 * 10)
		facts[i] = fleet.ProfileFunction{SampleType: []string{"a", "b"}[i/400_000], FunctionID: int64(i/1000)<<40 - 7, ProfileID: fmt.Sprint(i % 300), BatchID: "b", SelfValue: int64(i % 70_000), TotalValue: wide}
	}
	roundTrip(t, facts)
}

func TestRoundTrip(t *testing.T) {
	work, abi := int64(60), "arm64"
	roundTrip(t, []fleet.Profile{
		{ProfileID: "a", BatchID: "b", ReleaseID: "1", DeviceModel: "m", DeviceID: "d", UnitID: 63, TimeNS: 5, SampleType: "cpu/nanoseconds", Weight: 9, SampleCount: 2, WorkUnits: &work, ABI: &abi, DecoderVersion: 1, SchemaVersion: 1, SourceURI: "x"},
		{ProfileID: "b", Weight: -1},
	})
	roundTrip(t, []fleet.Function{{FunctionID: -5, Name: "f", Module: "m", File: ""}, {FunctionID: 1 << 62, Name: "ä\xff"}})
	roundTrip(t, []fleet.Stack{{StackID: [16]byte{1, 255}, Frames: []int64{1, -2, 3}}, {StackID: [16]byte{15: 2}, Frames: []int64{7}}})
	roundTrip(t, []fleet.Sample{{SampleType: "s", ProfileID: "p", StackID: [16]byte{3}, Thread: "main", BatchID: "b", Value: 1 << 60, SampleCount: 1}})
	roundTrip(t, []fleet.ProfileCategory{{SampleType: "s", Category: "lock", ProfileID: "p", BatchID: "b", SelfValue: 3}})
	roundTrip(t, []fleet.Rename{{FromID: 1, ToID: 2, Origin: "declared"}})
	roundTrip(t, []fleet.Unit{{ReleaseID: "1", SampleType: "s", DeviceModel: "m", UnitID: 2, Profiles: 3, Devices: 2, Weight: 9, WorkUnits: &work}, {}})
	roundTrip(t, []fleet.FunctionUnit{{ReleaseID: "1", SampleType: "s", DeviceModel: "m", UnitID: 2, FunctionID: -9, SelfSum: 1, TotalSum: 2}})
	facts := make([]fleet.ProfileFunction, 3*readRows+1)
	for i := range facts {
		facts[i] = fleet.ProfileFunction{SampleType: "s", FunctionID: int64(i/100) * 1e15, ProfileID: strings.Repeat("p", i%100), BatchID: "b", SelfValue: int64(i), TotalValue: int64(2 * i)}
	}
	roundTrip(t, facts)
}

// TestEndGroup writes lists in groups that end before they are full, in memory that is used again: all come back.
func TestEndGroup(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.parquet")
	w, err := Create[fleet.Stack](name)
	if err != nil {
		t.Fatal(err)
	}
	var rows []fleet.Stack
	ids := make([]int64, 300)
	for group, lengths := range [][]int{{40, 60, 1}, {}, {300}, {7, 0, 99}} {
		var part []fleet.Stack
		rest := ids
		for i, length := range lengths {
			frames := rest[:length:length]
			rest = rest[length:]
			for at := range frames {
				frames[at] = int64(group*1000 + i*100 + at)
			}
			part = append(part, fleet.Stack{StackID: [16]byte{byte(group), byte(i)}, Frames: frames})
			rows = append(rows, fleet.Stack{StackID: [16]byte{byte(group), byte(i)}, Frames: slices.Clone(frames)})
		}
		if err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		w.EndGroup()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if len(w.groups) != 3 {
		t.Errorf("%d groups, want 3", len(w.groups))
	}
	var got []fleet.Stack
	if err := Read(name, func(rows []fleet.Stack) error {
		got = append(got, rows...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rows, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// TestDiscard checks that what is given up leaves nothing, and that the error of a reader comes back.
func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	w, err := Create[fleet.Rename](filepath.Join(dir, "r.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) > 0 {
		t.Errorf("%q are left", files)
	}
	name := filepath.Join(dir, "r.parquet")
	if err := Write(name, []fleet.Rename{{FromID: 1}}); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	if err := Read(name, func([]fleet.Rename) error { return stop }); err != stop {
		t.Errorf("the error is %v, want that of the caller", err)
	}
}

// damagedSeed is a small file of every kind of column.
func damagedSeed(tb testing.TB) []byte {
	name := filepath.Join(tb.TempDir(), "t.parquet")
	facts := make([]fleet.ProfileFunction, 200)
	for i := range facts {
		facts[i] = fleet.ProfileFunction{SampleType: "s", FunctionID: int64(i / 9), ProfileID: strings.Repeat("p", i%9), SelfValue: int64(i * i)}
	}
	if err := Write(name, facts); err != nil {
		tb.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// TestDamaged changes each byte of a file: reading it may fail, in one line that names the file, and does nothing else.
func TestDamaged(t *testing.T) {
	data := damagedSeed(t)
	name := filepath.Join(t.TempDir(), "t.parquet")
	failed := 0
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 0x55
		failed += readDamaged(t, name, damaged)
	}
	for i := range data {
		failed += readDamaged(t, name, data[:i])
	}
	if failed < len(data) {
		t.Errorf("%d of %d damaged files were refused", failed, 2*len(data))
	}
}

func readDamaged(t *testing.T, name string, data []byte) int {
	t.Helper()
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	err := Read(name, func([]fleet.ProfileFunction) error { return nil })
	byColumn := ReadColumns[fleet.ProfileFunction](name, factColumns, func(*Block) error { return nil })
	if (err == nil) != (byColumn == nil) {
		t.Errorf("rows: %v; by column: %v", err, byColumn)
	}
	if err == nil {
		return 0
	}
	if !strings.HasPrefix(err.Error(), name) || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %q, want one line that starts with the file", err)
	}
	return 1
}

func FuzzRead(f *testing.F) {
	f.Add(damagedSeed(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		readDamaged(t, filepath.Join(t.TempDir(), "t.parquet"), data)
	})
}
