package perffiletest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"testing"

	"profdiff/internal/perffile"
)

func generate(t testing.TB, spec Spec) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Generate(&b, spec); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(t testing.TB, data []byte) *perffile.File {
	t.Helper()
	f, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestGenerate checks that the recording holds what the spec says, and that it is
// sound: every sample is of a thread that lives, and its addresses are mapped.
func TestGenerate(t *testing.T) {
	for _, spec := range []Spec{
		{},
		{Seed: 1, Samples: 12_345, Churn: 20, CPUs: 7, RoundSamples: 33},
		{Seed: 2, Samples: 3000, Churn: 1, Processes: 1, Threads: 1, DSOs: 1, CPUs: 1, Stacks: 1, Depth: 1},
		{Seed: 3, Samples: 2000, Processes: 50, Threads: 20, DSOs: 100, Depth: 200, Pipe: true, Churn: 10},
		{Seed: 4, Samples: 10, Depth: 4000},
	} {
		data := generate(t, spec)
		full := spec.withDefaults()
		var samples, rounds, backwards int
		type kept struct {
			time   uint64
			offset int64
			apply  func()
		}
		var events []kept
		type process struct {
			threads map[int32]bool
			mapped  space
		}
		processes := make(map[int32]*process)
		of := func(pid int32) *process {
			if processes[pid] == nil {
				processes[pid] = &process{map[int32]bool{pid: true}, make(space)}
			}
			return processes[pid]
		}
		var lastRound, thisRound, latest, last uint64 // times
		for r, err := range open(t, data).Records() {
			if err != nil {
				t.Fatal(err)
			}
			add := func(apply func()) { events = append(events, kept{r.Time, r.Offset, apply}) }
			switch r.Type {
			case perffile.RecordFinishedRound:
				// perf flushes what precedes the end of the round before the last.
				lastRound, thisRound = thisRound, latest
				rounds++
				continue
			case perffile.RecordSample:
				samples++
				var s perffile.Sample
				if err := r.DecodeSample(&s); err != nil {
					t.Fatal(err)
				}
				if s.Time < last {
					backwards++
				}
				if len(s.Callchain) < 2 || s.Callchain[1] != s.IP || s.Period == 0 {
					t.Fatalf("sample at %#x: %+v", r.Offset, s)
				}
				pid, tid, offset := s.PID, s.TID, r.Offset
				var ips []uint64
				userIPs := false
				for _, ip := range s.Callchain {
					switch {
					case ip == perffile.ContextUser:
						userIPs = true
					case userIPs:
						ips = append(ips, ip)
					}
				}
				add(func() {
					p := of(pid)
					if !p.threads[tid] {
						t.Errorf("sample at %#x: thread %d of process %d does not live", offset, tid, pid)
					}
					for _, ip := range ips {
						if !p.mapped.has(ip) {
							t.Errorf("sample at %#x: %#x is not mapped in process %d", offset, ip, pid)
						}
					}
				})
			case perffile.RecordMmap2:
				m, err := r.Mmap()
				if err != nil {
					t.Fatal(err)
				}
				add(func() { of(m.PID).mapped.add(m.Start) })
			case perffile.RecordFork, perffile.RecordExit:
				k, err := r.Task()
				if err != nil {
					t.Fatal(err)
				}
				starts := r.Type == perffile.RecordFork
				add(func() { of(k.PID).threads[k.TID] = starts })
			case perffile.RecordMmap, perffile.RecordComm, perffile.RecordHeaderAttr:
			default:
				t.Fatalf("%v record", r.Type)
			}
			if r.Time < lastRound {
				t.Fatalf("record at %#x comes more than a round late", r.Offset)
			}
			if latest = max(latest, r.Time); r.Type == perffile.RecordSample {
				last = r.Time
			}
		}
		if samples != full.Samples {
			t.Errorf("%+v: %d samples", spec, samples)
		}
		if want := (full.Samples + full.CPUs*full.RoundSamples - 1) / (full.CPUs * full.RoundSamples); rounds != want {
			t.Errorf("%+v: %d rounds, want %d", spec, rounds, want)
		}
		if (backwards > 0) != (full.CPUs > 1) {
			t.Errorf("%+v: times go back %d times", spec, backwards)
		}
		slices.SortStableFunc(events, func(a, b kept) int { return cmp.Compare(a.time, b.time) })
		for _, e := range events {
			e.apply()
			if t.Failed() {
				t.Fatalf("%+v", spec)
			}
		}
	}
}

// A space holds mappings by the megabytes that they touch.
type space map[uint64][]uint64

func (s space) add(start uint64) {
	for _, mb := range []uint64{start >> 20, (start + genDSOSize - 1) >> 20} {
		s[mb] = append(s[mb], start)
	}
}

// has reports whether a mapping holds ip.
func (s space) has(ip uint64) bool {
	for _, start := range s[ip>>20] {
		if ip >= start && ip < start+genDSOSize {
			return true
		}
	}
	return false
}

func TestGenerateIsDeterministic(t *testing.T) {
	spec := Spec{Seed: 5, Samples: 5000, Churn: 10}
	a, b := sha256.Sum256(generate(t, spec)), sha256.Sum256(generate(t, spec))
	if a != b {
		t.Error("the same spec makes different recordings")
	}
	spec.Seed++
	if c := sha256.Sum256(generate(t, spec)); a == c {
		t.Error("another seed makes the same recording")
	}
}

func TestGenerateRoundTrip(t *testing.T) {
	for _, spec := range []Spec{{Samples: 500, Churn: 10}, {Samples: 500, Churn: 10, Pipe: true}} {
		data := generate(t, spec)
		if got := Fixture(t, writeText(t, data)); !bytes.Equal(got, data) {
			t.Errorf("%+v: Build(WriteText(x)) is not x", spec)
		}
	}
}

func TestGenerateErrors(t *testing.T) {
	for _, spec := range []Spec{{Samples: -1}, {CPUs: -1}, {Depth: 5000}, {Churn: -2}} {
		if err := Generate(io.Discard, spec); err == nil {
			t.Errorf("%+v: no error", spec)
		}
	}
	if err := Generate(fullWriter{}, Spec{Samples: 100_000}); !errors.Is(err, errFull) {
		t.Errorf("got error %v, want that of the writer", err)
	}
}

var errFull = errors.New("no space left")

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errFull }

func BenchmarkGenerate(b *testing.B) {
	spec := Spec{Samples: 100_000, Churn: 100}
	b.SetBytes(int64(len(generate(b, spec))))
	b.ReportAllocs()
	for b.Loop() {
		if err := Generate(io.Discard, spec); err != nil {
			b.Fatal(err)
		}
	}
}
