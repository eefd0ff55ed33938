package ingest

import (
	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/perfstat"
	"profdiff/internal/run"
)

// counters is a format of perf stat or simpleperf stat as one that is read into a run,
// which has no samples.
func counters(f perfstat.Format) Format {
	read := func(src *input.Source, _ *reading.Options) (*run.Run, error) {
		s, err := f.Read(src)
		if err != nil {
			return nil, err
		}
		b := run.NewBuilder(src.Name)
		r := b.Run()
		r.Recording.Format, r.Recording.Tool, r.Recording.Duration = s.Format, s.Tool, s.Duration
		for _, c := range s.Counters {
			if c.Unit == "" {
				c.Unit = run.EventUnit(c.Name)
			}
			r.Counters = append(r.Counters, run.Counter{Name: c.Name, Unit: c.Unit, Value: c.Value, Running: c.Running})
		}
		r.Warnings = s.Warnings
		return b.Finish()
	}
	return Format{Name: f.Name, Text: f.Text, Recognise: f.Recognise, Read: read}
}
