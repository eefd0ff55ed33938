package slots

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestValues compares with a map.
func TestValues(t *testing.T) {
	type value struct {
		Name string
		Line int
		Flag bool
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var table Values[value]
	var list, want []value
	if i, ok := table.Find(list, value{}); ok {
		t.Errorf("an empty list has a value at %d", i)
	}
	at := make(map[value]uint32)
	for range 20_000 {
		v := value{string(rune('a' + rng.IntN(26))), rng.IntN(100), rng.IntN(2) == 0}
		i, known := table.Index(&list, v)
		j, ok := at[v]
		if !ok {
			j = uint32(len(want))
			at[v], want = j, append(want, v)
		}
		if i != j || known != ok {
			t.Fatalf("%+v: %d, %v, want %d, %v", v, i, known, j, ok)
		}
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	for v, want := range at {
		if i, ok := table.Find(list, v); !ok || i != want {
			t.Fatalf("%+v: %d, %v, want %d", v, i, ok, want)
		}
	}
	if _, ok := table.Find(list, value{Name: "none"}); ok {
		t.Error("a value is found that is not there")
	}
	if got, least := table.Size(), int64(len(want)*8); got < least || got > 4*least {
		t.Errorf("%d values take %d bytes", len(want), got)
	}
}

// TestCollisions puts values of one hash in a table.
func TestCollisions(t *testing.T) {
	var table Table
	for i := range 100 {
		at, ok := table.Find(7, func(j uint32) bool { return int(j) == i })
		if ok {
			t.Fatalf("%d is found before it was put", i)
		}
		table.Put(at, 7, i)
	}
	for i := range 100 {
		if at, ok := table.Find(7, func(j uint32) bool { return int(j) == i }); !ok || table.Index(at) != uint32(i) {
			t.Errorf("%d is not found", i)
		}
	}
}

// TestRoom appends to a list of which the capacity is twice what it had.
func TestRoom(t *testing.T) {
	list := make([]int, 1<<12)
	if list = append(Room(list), 1); len(list) != 1<<12+1 || cap(list) != 1<<13 {
		t.Errorf("%d of %d", len(list), cap(list))
	}
}
