package sampler

import (
	"encoding/binary"
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Count counts events while what run starts runs, as [Record] starts it. Where an event had to
// take turns with others, its count is scaled to the whole time.
func Count(events []Event, run func() error) ([]float64, error) {
	type result struct {
		counts []float64
		err    error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // see Record
		counts, err := count(events, run)
		done <- result{counts, err}
	}()
	r := <-done
	return r.counts, r.err
}

func count(events []Event, run func() error) (counts []float64, err error) {
	r := newRecorder(&Options{Events: events})
	defer func() { err = errors.Join(err, r.close()) }()
	for i, e := range events {
		r.attrs[i] = unix.PerfEventAttr{
			Type: e.Type, Size: uint32(attrSize), Config: e.Config,
			Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
			Bits:        unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitEnableOnExec | e.excluded(),
		}
		fd, err := r.openOne(i, 0, -1)
		if err != nil {
			return nil, r.explain(i, err)
		}
		r.fds[i] = []int{fd}
	}
	if err := run(); err != nil {
		return nil, err
	}
	for _, list := range r.fds {
		var v [3]uint64 // value, time enabled, time running
		b := unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), binary.Size(v))
		if n, err := unix.Read(list[0], b); err != nil || n != len(b) {
			return nil, errors.Join(errors.New("a count cannot be read"), err)
		}
		c := float64(v[0])
		if v[2] > 0 && v[2] < v[1] {
			c *= float64(v[1]) / float64(v[2])
		}
		counts = append(counts, c)
	}
	return counts, nil
}
