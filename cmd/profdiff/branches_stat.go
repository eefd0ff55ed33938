package main

import (
	"profdiff/internal/input"
	"profdiff/internal/perfstat"
)

// readStat reads a file of perf stat or simpleperf stat; "-" is standard input.
func (s *stdio) readStat(name string) (stat *perfstat.Stat, err error) {
	err = input.Read(name, s.in, func(src *input.Source) error {
		stat, err = perfstat.Read(src)
		return err
	})
	return stat, err
}
