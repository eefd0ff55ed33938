package table

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/fleet"
)

// readForeign reads what an engine wrote. The files are made by pyarrow, with its defaults and with pages of version 2, and by
// DuckDB: of each table 300 rows.
func readForeign[T Row](t *testing.T, table string, row func(i int) T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", table+"-*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	want := make([]T, 300)
	for i := range want {
		want[i] = row(i)
	}
	for _, name := range files {
		var got []T
		if err := Read(name, func(rows []T) error { got = append(got, rows...); return nil }); err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if facts, ok := any(want).([]fleet.ProfileFunction); ok {
			if diff := cmp.Diff(facts, factsByColumn(t, name)); diff != "" {
				t.Errorf("%s by column (-want +got):\n%s", name, diff)
			}
		}
	}
}

func TestForeign(t *testing.T) {
	readForeign(t, "facts", func(i int) fleet.ProfileFunction {
		return fleet.ProfileFunction{
			SampleType: "cpu/nanoseconds", FunctionID: int64(i/7 - 20), ProfileID: fmt.Sprintf("%032x", i%7), BatchID: "00ff",
			SelfValue: int64(i * i * 1000003), TotalValue: int64(i * 1000),
		}
	})
	readForeign(t, "stacks", func(i int) fleet.Stack {
		s := fleet.Stack{StackID: [16]byte(bytes.Repeat([]byte{byte(i)}, 16)), Frames: []int64{}}
		for f := range i % 5 {
			s.Frames = append(s.Frames, int64(f))
		}
		return s
	})
	readForeign(t, "units", func(i int) fleet.Unit {
		u := fleet.Unit{ReleaseID: "1", SampleType: "s", DeviceModel: "m", UnitID: int32(i % 64), Profiles: 1, Devices: 1, Weight: int64(i)}
		if i%3 == 0 {
			u.WorkUnits = new(int64(i))
		}
		return u
	})
}
