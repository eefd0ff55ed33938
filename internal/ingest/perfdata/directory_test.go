package perfdata

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/perffile/perffiletest"
	"profdiff/internal/run"
)

// TestThreads reads what perf record --threads -z -e cpu-clock -F 199 -g of perf 6.1 wrote
// of a program with two threads, of which perf script -F tid counts the samples.
func TestThreads(t *testing.T) {
	var r *run.Run
	err := input.Read("testdata/threads", nil, func(src *input.Source) (err error) {
		r, err = Read(src, &reading.Options{TID: true})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ingesttest.CheckRun(t, r)
	got := make(map[int64]int64)
	for _, s := range r.Samples {
		got[r.Labels[s.Labels].TID] += s.Count
	}
	if diff := cmp.Diff(map[int64]int64{22166: 37, 22167: 40}, got); diff != "" {
		t.Errorf("samples by thread (-want +got):\n%s", diff)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// TestKernelCopy names kernel functions by the copy of /proc/kallsyms that perf record
// --kcore keeps.
func TestKernelCopy(t *testing.T) {
	src := ingesttest.Source(t, perffiletest.Fixture(t, "header\n"+clockAttr+mapped+
		"SAMPLE misc=KERNEL ip=0xffffffff81000020 pid=10 tid=10 time=11 cpu=0 period=7 ips=[PERF_CONTEXT_KERNEL,0xffffffff81000020]\n"))
	src.Kallsyms = fmt.Append(nil, "ffffffff81000000 T _text\nffffffff81000010 T work\nffffffff81000030 T rest\n")
	r, err := Read(src, new(reading.Options))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"cpu-clock app/app work 1 7"}, rows(r)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
