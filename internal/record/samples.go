package record

import (
	"os"
	"time"

	"profdiff/internal/perffile"
)

// A summary is what a perf.data file holds.
type summary struct {
	samples, lost int64
	// command is for how long the first program that was started ran, 0 if the file does
	// not say. The recorder, which starts it, takes longer.
	command time.Duration
}

// summarize reads a perf.data file once, which shows that it is whole.
func summarize(name string) (*summary, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := perffile.New(f, info.Size(), perffile.Options{})
	if err != nil {
		return nil, err
	}
	s := new(summary)
	// Records of different CPUs are not in the order of time.
	var process int32
	var started uint64
	ended := make(map[int32]uint64)
	for r, err := range file.Records() {
		if err != nil {
			return nil, err
		}
		switch r.Type {
		case perffile.RecordSample:
			s.samples++
		case perffile.RecordLost, perffile.RecordLostSamples:
			n, _, err := r.Lost()
			if err != nil {
				return nil, err
			}
			s.lost += int64(min(n, 1<<40))
		case perffile.RecordComm:
			c, err := r.Comm()
			if err != nil {
				return nil, err
			}
			if c.Exec && r.Time > 0 && (started == 0 || r.Time < started) {
				process, started = c.PID, r.Time
			}
		case perffile.RecordExit:
			t, err := r.Task()
			if err != nil {
				return nil, err
			}
			ended[t.PID] = max(ended[t.PID], r.Time)
		}
	}
	if end := ended[process]; started > 0 && end > started && end-started < 1<<62 {
		s.command = time.Duration(end - started)
	}
	return s, nil
}
