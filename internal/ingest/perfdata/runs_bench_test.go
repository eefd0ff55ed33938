package perfdata

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"profdiff/internal/cputime"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/objects"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/objfile"
	"profdiff/internal/perffile/perffiletest"
)

// BenchmarkRuns names 1 + 1 and 10 + 10 runs of a large program by one store of object files. The
// metric naming-ms is CPU time without what reading takes.
func BenchmarkRuns(b *testing.B) {
	dir := b.TempDir()
	program := filepath.Join(dir, "profdiff")
	if out, err := exec.Command("go", "build", "-o", program, "profdiff/cmd/profdiff").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	file, err := objfile.Open(program)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	segments := file.Segments()
	code := segments[slices.IndexFunc(segments, func(s objfile.Segment) bool { return s.Executable })]
	text, ok := file.Section(".text")
	if !ok {
		b.Fatal("no code")
	}
	const base uint64 = 0x10_0000_0000
	rng := rand.New(rand.NewPCG(1, 2))
	hot := make([]uint64, 1000) // places that all runs share
	for i := range hot {
		hot[i] = text.Offset + rng.Uint64N(text.Size)
	}
	var runs [][]byte
	for range 20 {
		var t strings.Builder
		fmt.Fprintf(&t, "header\nattr sample_type=IP|TID|TIME flags=sample_id_all\n")
		fmt.Fprintf(&t, "MMAP2 misc=USER pid=10 tid=10 start=%#x len=%#x pgoff=%#x prot=READ|EXEC filename=\"/profdiff\" sample_id={pid=10,tid=10,time=1}\n", base, code.FileSize, code.Offset)
		for i := range 2000 {
			at := hot[rng.IntN(len(hot))]
			if i%10 == 0 {
				at = text.Offset + rng.Uint64N(text.Size)
			}
			fmt.Fprintf(&t, "SAMPLE misc=USER ip=%#x pid=10 tid=10 time=%d\n", base+at-code.Offset, i+2)
		}
		runs = append(runs, perffiletest.Fixture(b, t.String()))
	}
	read := func(b *testing.B, n int, files *objects.Store) time.Duration {
		before := cputime.Now()
		for i, data := range runs[:2*n] {
			src, err := input.New("run", bytes.NewReader(data))
			if err != nil {
				b.Fatal(err)
			}
			r, err := Read(src, &reading.Options{Objects: files})
			if err != nil {
				b.Fatal(err)
			}
			if files != nil && len(r.Functions) < 100 {
				b.Fatalf("run %d: %d functions", i, len(r.Functions))
			}
		}
		return cputime.Now() - before
	}
	for _, n := range []int{1, 10} {
		b.Run(fmt.Sprintf("%d+%d", n, n), func(b *testing.B) {
			var naming time.Duration
			for b.Loop() {
				naming += read(b, n, objectstest.Dir(dir)) - read(b, n, nil)
			}
			b.ReportMetric(float64(naming.Microseconds())/1000/float64(b.N), "naming-ms/op")
		})
	}
}
