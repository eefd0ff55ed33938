// Package recording is the door to what recordings say of branches.
//
//  1. The table of formats of package ingest tells the format of an input.
//  2. Of perf.data, samples go to both who collect branch stacks and who collect single
//     addresses and counters; when all have been read, stacks are taken if there are any.
//     Other formats have one reader each.
//  3. Totals of perf stat, if the user gave any, replace those of samples.
package recording

import (
	"fmt"
	"io"

	"profdiff/internal/branch"
	"profdiff/internal/branch/simulated"
	"profdiff/internal/branch/stacks"
	"profdiff/internal/branch/totals"
	"profdiff/internal/ingest"
	"profdiff/internal/input"
	"profdiff/internal/perfstat"
)

// readers has the formats that say something of branches.
var readers = map[string]func(*input.Source, *branch.Options) (*branch.Table, error){
	ingest.PerfData:              readPerfData,
	ingest.PerfScript:            random(stacks.ReadScript),
	ingest.Callgrind:             random(simulated.Read),
	perfstat.Text.Name:           readStat,
	perfstat.SimpleperfText.Name: readStat,
	perfstat.CSV.Name:            readStat,
	perfstat.JSON.Name:           readStat,
	perfstat.SimpleperfCSV.Name:  readStat,
}

// Read reads what an input says of branches: perf.data, the text of perf script,
// callgrind.out or cachegrind.out, or what perf stat or simpleperf stat printed.
func Read(src *input.Source, opt *branch.Options) (*branch.Table, error) {
	f, err := ingest.Detect(src)
	if err != nil {
		return nil, err
	}
	read, ok := readers[f.Name]
	if !ok {
		return nil, fmt.Errorf("is %s, which has no branches: give perf.data, the text of perf script -F +brstack, callgrind.out, or what perf stat printed", f.Name)
	}
	t, err := read(src, opt)
	if err == nil && opt.Stat != nil && t.Sampled == nil {
		err = totals.Use(t, opt.Stat)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// random makes a reader of one that reads at random.
func random(read func(name string, r io.ReaderAt, size int64, opt *branch.Options) (*branch.Table, error)) func(*input.Source, *branch.Options) (*branch.Table, error) {
	return func(src *input.Source, opt *branch.Options) (*branch.Table, error) {
		r, size, err := src.Random()
		if err != nil {
			return nil, err
		}
		return read(src.Name, r, size, opt)
	}
}

// readStat reads the totals of counters.
func readStat(src *input.Source, opt *branch.Options) (*branch.Table, error) {
	s, err := perfstat.Read(src)
	if err != nil {
		return nil, err
	}
	return totals.Table(s, opt)
}
