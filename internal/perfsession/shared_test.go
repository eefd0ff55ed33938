package perfsession

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"profdiff/internal/perffile/perffiletest"
)

// A handlerFunc is a Handler for samples only.
type handlerFunc func(*Sample)

func (h handlerFunc) Sample(s *Sample) error { h(s); return nil }
func (h handlerFunc) Switch(Switch) error    { return nil }

func generated(t testing.TB, spec perffiletest.Spec) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := perffiletest.Generate(&b, spec); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestShared compares the mappings of frames, and how many of them the thread's
// previous sample had too, with what comes out without remembering anything: a search
// through all mappings, and the longest common end of two samples. After mappings have
// changed, none are taken over.
func TestShared(t *testing.T) {
	for _, spec := range []perffiletest.Spec{
		{Seed: 1, Samples: 3000, Stacks: 40},
		{Seed: 2, Samples: 3000, Stacks: 10, Processes: 2, Threads: 2, Churn: 5},
		{Seed: 3, Samples: 3000, Stacks: 100, Processes: 8, Threads: 1, Churn: 1, Depth: 6, RoundSamples: 10},
		{Seed: 4, Samples: 3000, Stacks: 5, Processes: 1, Threads: 1, Depth: 100, Pipe: true, Churn: 100},
	} {
		t.Run(fmt.Sprintf("seed %d", spec.Seed), func(t *testing.T) {
			s := New(openData(t, generated(t, spec)))
			type previous struct {
				frames []Frame
				spaces []*Mapping
			}
			before := make(map[int]previous) // by Thread.ID
			samples, none, some, all := 0, 0, 0, 0
			h := handlerFunc(func(sample *Sample) {
				samples++
				own, kernel := slices.Collect(sample.Thread.Process.space.root.all()), slices.Collect(s.kernel.root.all())
				spaces := slices.Concat(own, kernel, slices.Collect(s.guest.root.all()))
				for i, f := range sample.Frames {
					maps := own
					if f.Kernel {
						maps = kernel
					}
					if want := linear(maps, f.Addr); f.Map != want {
						t.Fatalf("sample %d, frame %d: address %#x is in %+v, want %+v", samples, i, f.Addr, f.Map, want)
					}
				}
				p := before[sample.Thread.ID]
				want := 0
				if slices.Equal(spaces, p.spaces) {
					want = commonEnd(sample.Frames, p.frames)
				}
				if sample.Shared != want {
					t.Fatalf("sample %d at %d: %d frames of thread %d are those of its previous sample, want %d", samples, sample.Raw.Time, sample.Shared, sample.Thread.TID, want)
				}
				switch want {
				case 0:
					none++
				case len(sample.Frames):
					all++
				default:
					some++
				}
				before[sample.Thread.ID] = previous{slices.Clone(sample.Frames), spaces}
			})
			if err := s.Replay(h); err != nil {
				t.Fatal(err)
			}
			if samples != spec.Samples || none == 0 || some == 0 || all == 0 {
				t.Errorf("%d samples: %d share no frame, %d some, %d all", samples, none, some, all)
			}
		})
	}
}

func linear(maps []*Mapping, addr uint64) *Mapping {
	for _, m := range maps {
		if m.Start <= addr && addr < m.End {
			return m
		}
	}
	return nil
}

// commonEnd is how many frames two call chains have in common, from the outermost on.
func commonEnd(a, b []Frame) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// TestSharedRules spells out what ends sharing.
func TestSharedRules(t *testing.T) {
	at := func(tid, time int, ips string) string {
		return fmt.Sprintf("SAMPLE misc=USER ip=0x400010 pid=10 tid=%d time=%d ips=[PERF_CONTEXT_USER,%s]\n", tid, time, ips)
	}
	first := clockAttr + app + at(10, 1, "0x400010,0x700021,0x400101")
	for _, test := range []struct {
		name, text string
		want       []int
	}{
		{"the same", first + at(10, 2, "0x400010,0x700021,0x400101"), []int{0, 3}},
		{"another leaf", first + "SAMPLE misc=USER ip=0x400011 pid=10 tid=10 time=2 ips=[PERF_CONTEXT_USER,0x400011,0x700021,0x400101]\n", []int{0, 2}},
		{"another caller between", first + at(10, 2, "0x400010,0x700031,0x400101"), []int{0, 1}},
		{"another root", first + at(10, 2, "0x400010,0x700021,0x400201"), []int{0, 0}},
		{"deeper", first + at(10, 2, "0x400010,0x700041,0x700021,0x400101"), []int{0, 2}},
		{"less deep", first + at(10, 2, "0x400010,0x400101") + at(10, 3, "0x400010,0x700021,0x400101"), []int{0, 1, 1}},
		{"the address as a leaf is not that as a caller", first + "SAMPLE misc=USER ip=0x400100 pid=10 tid=10 time=2 ips=[]\n", []int{0, 0}},
		{"another thread between", first + at(11, 2, "0x400010,0x700051") + at(10, 3, "0x400010,0x700021,0x400101"), []int{0, 0, 3}},
		{"a thread does not share those of another", first + at(11, 2, "0x400010,0x700021,0x400101"), []int{0, 0}},
		{"a new mapping", first + userMap(2, 0x900000, 0x1000, 0, "/c") + at(10, 3, "0x400010,0x700021,0x400101"), []int{0, 0}},
		{"of the kernel", first + kernelMap(2, 0xffffffffc0000000, 0x1000, "/nf.ko") + at(10, 3, "0x400010,0x700021,0x400101"), []int{0, 0}},
		{"of a guest's kernel", first + "MMAP misc=GUEST_KERNEL pid=-1 tid=0 start=0x1000 len=4096 filename=\"[guest.kernel.kallsyms]\"" + sampleID(-1, 0, 2) + at(10, 3, "0x400010,0x700021,0x400101"), []int{0, 0}},
		{"of another process", first + "MMAP2 misc=USER pid=20 tid=20 start=0x1000 len=4096 filename=\"/c\"" + sampleID(20, 20, 2) + at(10, 3, "0x400010,0x700021,0x400101"), []int{0, 3}},
		{"a thread of the same number", first + "FORK pid=10 ppid=10 tid=10 ptid=11" + sampleID(10, 11, 2) + at(10, 3, "0x400010,0x700021,0x400101"), []int{0, 0}},
		{"the end of the thread", first + "EXIT pid=10 ppid=10 tid=10 ptid=10" + sampleID(10, 10, 2) + at(10, 3, "0x400010,0x700021,0x400101"), []int{0, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := New(openData(t, fixture(t, test.text)))
			var got []int
			if err := s.Replay(handlerFunc(func(s *Sample) { got = append(got, s.Shared) })); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// TestReplayAllocations: what replaying allocates depends on the number of mappings and
// threads, not on how many samples there are.
func TestReplayAllocations(t *testing.T) {
	var n [2]float64
	for i, samples := range []int{5_000, 50_000} {
		// As many rounds in both.
		data := generated(t, perffiletest.Spec{Samples: samples, RoundSamples: samples / 40})
		n[i] = testing.AllocsPerRun(2, func() {
			if err := New(openData(t, data)).Replay(handlerFunc(func(*Sample) {})); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Logf("%v allocations for 5k samples, %v for 50k", n[0], n[1])
	if n[1] > n[0]+200 {
		t.Errorf("%v allocations for 5k samples, %v for 50k", n[0], n[1])
	}
}

// BenchmarkReplay replays a recording of about 20 MB.
func BenchmarkReplay(b *testing.B) {
	data := generated(b, perffiletest.Spec{
		Samples: 100_000, CPUs: 2, Processes: 50, DSOs: 40, Stacks: 50_000, RoundSamples: 2000, Churn: 500,
	})
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := New(openData(b, data)).Replay(handlerFunc(func(*Sample) {})); err != nil {
			b.Fatal(err)
		}
	}
}
