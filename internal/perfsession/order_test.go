package perfsession

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"profdiff/internal/perffile"
)

// TestOrderer feeds rounds as perf writes them: the buffers of the CPUs one after the
// other, each in order, and no record older than the newest of the round before.
func TestOrderer(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, cpus := range []int{1, 2, 3, 7} {
		var got []uint64
		o := orderer{file: &perffile.File{}, emit: func(r *perffile.Record) error {
			if r.Time != binary.LittleEndian.Uint64(r.Body) || len(r.Body) != 8+int(r.Time%13) {
				t.Fatalf("record of time %d has body %x", r.Time, r.Body)
			}
			got = append(got, r.Time)
			return nil
		}}
		var want []uint64
		clock := uint64(1)
		for range 60 {
			byCPU := make([][]uint64, cpus)
			for range rng.IntN(500) {
				clock += uint64(rng.IntN(3))
				cpu := rng.IntN(cpus)
				byCPU[cpu] = append(byCPU[cpu], clock)
				want = append(want, clock)
			}
			for _, times := range byCPU {
				for _, at := range times {
					add(t, &o, at)
				}
			}
			if err := o.add(&perffile.Record{Type: perffile.RecordFinishedRound}); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.flush(1<<64 - 1); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d CPUs: %d records in another order than their times, want %d", cpus, len(got), len(want))
		}
		if o.late != 0 || len(o.pending) != 0 || o.arena.used != 0 {
			t.Errorf("%d CPUs: late %d, pending %d, %d bytes in use", cpus, o.late, len(o.pending), o.arena.used)
		}
		if n := len(o.arena.chunks); n > 2+500*21*2/arenaChunk+1 {
			t.Errorf("%d CPUs: %d chunks: they are not used again", cpus, n)
		}
	}
}

func add(t *testing.T, o *orderer, at uint64) {
	t.Helper()
	body := make([]byte, 8+at%13)
	binary.LittleEndian.PutUint64(body, at)
	if err := o.add(&perffile.Record{Type: perffile.RecordSample, Time: at, Body: body}); err != nil {
		t.Fatal(err)
	}
}

// TestOrdererWindow orders a recording without rounds, and one that lies.
func TestOrdererWindow(t *testing.T) {
	var got []uint64
	o := orderer{file: &perffile.File{}, emit: func(r *perffile.Record) error {
		got = append(got, r.Time)
		return nil
	}}
	add(t, &o, 30)
	add(t, &o, 10)
	add(t, &o, 20)
	if len(got) != 0 {
		t.Errorf("%v let go before their time", got)
	}
	if err := o.flush(20); err != nil {
		t.Fatal(err)
	}
	add(t, &o, 15) // too late: 20 is gone
	if err := o.flush(1<<64 - 1); err != nil {
		t.Fatal(err)
	}
	if want := []uint64{10, 20, 15, 30}; !slices.Equal(got, want) || o.late != 1 {
		t.Errorf("order %v, late %d; want %v, 1", got, o.late, want)
	}
	// Records without a time do not wait.
	if err := o.add(&perffile.Record{Type: perffile.RecordComm}); err != nil || got[len(got)-1] != 0 {
		t.Errorf("order %v, error %v", got, err)
	}
}
