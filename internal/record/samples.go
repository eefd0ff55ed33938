package record

import (
	"os"

	"profdiff/internal/perffile"
)

// countSamples reads a perf.data file once, which shows that it is whole.
func countSamples(name string) (samples, lost int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	file, err := perffile.New(f, info.Size(), perffile.Options{})
	if err != nil {
		return 0, 0, err
	}
	for r, err := range file.Records() {
		if err != nil {
			return 0, 0, err
		}
		switch r.Type {
		case perffile.RecordSample:
			samples++
		case perffile.RecordLost, perffile.RecordLostSamples:
			n, _, err := r.Lost()
			if err != nil {
				return 0, 0, err
			}
			lost += int64(min(n, 1<<40))
		}
	}
	return samples, lost, nil
}
