package perfsession

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"profdiff/internal/perffile"
	"profdiff/internal/perffile/perffiletest"
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

// TestOrdererReadsAgain orders recordings whose CPUs have large buffers: by what is kept in memory, as of a
// pipe, and by reading the file again.
func TestOrdererReadsAgain(t *testing.T) {
	for _, rounds := range []int{2000, 100_000} {
		spec := perffiletest.Spec{Samples: 30_000, CPUs: 3, RoundSamples: rounds, Churn: 700}
		type seen struct {
			time uint64
			body string
		}
		order := func(pipe bool) (list []seen, queues int) {
			spec.Pipe = pipe
			f := openData(t, generated(t, spec))
			o := orderer{file: f, emit: func(r *perffile.Record) error {
				if r.Time != 0 {
					list = append(list, seen{r.Time, string(r.Body)})
				}
				return nil
			}}
			for r, err := range f.Records() {
				if err != nil {
					t.Fatal(err)
				}
				if err := o.add(r); err != nil {
					t.Fatal(err)
				}
				queues = max(queues, len(o.queues))
			}
			if err := o.flush(1<<64 - 1); err != nil {
				t.Fatal(err)
			}
			if o.queued != 0 || len(o.queues) != 0 || o.arena.used != 0 || o.late != 0 {
				t.Errorf("%d bytes in %d queues and %d in memory are left, %d were late", o.queued, len(o.queues), o.arena.used, o.late)
			}
			return list, queues
		}
		kept, none := order(true)
		read, some := order(false)
		if none != 0 || some == 0 || len(kept) < spec.Samples || !slices.Equal(kept, read) {
			t.Errorf("rounds of %d: %d records in the order of a pipe with %d queues, %d with %d: want the same", rounds, len(kept), none, len(read), some)
		}
		if !slices.IsSortedFunc(read, func(a, b seen) int { return cmp.Compare(a.time, b.time) }) {
			t.Errorf("rounds of %d: not in order", rounds)
		}
	}
}
