// Fleetprofiles makes the profiles of a fleet: many devices of several models, two releases of one
// program, and known effects of the second release. What finds changes can be held to them.
//
//  1. The program (program.go) has functions in modules and layers, and stacks through them. Functions differ
//     in cost by orders of magnitude, as those of real programs do.
//  2. Devices differ (fleet.go): by model and by device each function costs a factor more or less, so
//     that profiles of one device are alike. Release b has another mix of models than release a.
//  3. Effects (effects.go) are factors of the cost of functions in release b: most on all models,
//     some on few. Without -effects both releases are the same program.
//  4. A profile (profile.go) has so many samples as its work costs, each drawn from the
//     stacks of its device, and is written as a gzipped pprof file.
//  5. Beside the profiles lie manifest.csv, for `profdiff fleet plan`, and truth.tsv: what was changed.
//  6. For trials of statistics with many seeds, -store (sums.go) writes what devices spent in all.
//
// Whatever is drawn comes from the seed, the release and the number of a device: the same flags write
// the same bytes on any machine.
//
//	go -C internal/tools run ./fleetprofiles -profiles 20000 -seed 1 -o DIR
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// settings are the flags.
type settings struct {
	out, store                 string
	seed                       uint64
	profiles, devices, models  int
	functions, stacks, samples int
	effects, some, on          int
	fresh                      bool
}

func main() {
	var s settings
	flag.StringVar(&s.out, "o", "", "write to `DIR`, which must not exist")
	flag.StringVar(&s.store, "store", "", "write a store to `DIR` instead, with one profile for all of a device: comparisons sum by device, and profiles take many times as long")
	flag.Uint64Var(&s.seed, "seed", 1, "draw from seed `N`")
	flag.IntVar(&s.profiles, "profiles", 20000, "write `N` profiles")
	flag.IntVar(&s.devices, "devices", 1500, "of `N` devices")
	flag.IntVar(&s.models, "models", 20, "of `N` models")
	flag.IntVar(&s.functions, "functions", 5000, "give the program `N` functions")
	flag.IntVar(&s.stacks, "stacks", 16400, "and `N` distinct stacks")
	flag.IntVar(&s.samples, "samples", 320, "give a profile `N` samples on average")
	flag.IntVar(&s.effects, "effects", 40, "change `N` functions on all models, 0 for two releases that are the same")
	flag.IntVar(&s.some, "some", 20, "change `N` functions on few models")
	flag.IntVar(&s.on, "on", 5, "on so many `MODELS`")
	flag.BoolVar(&s.fresh, "fresh", false, "give every sample a stack that no other has")
	flag.Parse()
	if s.effects == 0 {
		s.some = 0
	}
	if err := s.check(); err != nil {
		fmt.Fprintf(os.Stderr, "fleetprofiles: %v\n", err)
		flag.Usage()
		os.Exit(2)
	}
	if err := s.write(); err != nil {
		fmt.Fprintf(os.Stderr, "fleetprofiles: %v\n", err)
		os.Exit(1)
	}
}

func (s *settings) check() error {
	switch {
	case (s.out == "") == (s.store == "") || flag.NArg() > 0:
		return fmt.Errorf("one of -o DIR and -store DIR is required, and nothing but flags")
	case s.store != "" && s.fresh:
		return fmt.Errorf("-fresh is of stacks, and -store has none")
	case s.profiles < 1 || s.devices < 1 || s.models < 1 || s.samples < 1 || s.stacks < 1:
		return fmt.Errorf("there must be profiles, devices, models, stacks and samples")
	case s.functions < 2*layers:
		return fmt.Errorf("a program has at least %d functions", 2*layers)
	case s.effects < 0 || s.some < 0 || s.effects+s.some > s.functions/10:
		return fmt.Errorf("at most a tenth of the functions can change")
	case s.some > 0 && (s.on < 1 || s.on > s.models):
		return fmt.Errorf("-on is the number of models, of %d, that some effects are on", s.models)
	}
	return nil
}

// write makes the fleet in a directory.
func (s *settings) write() error {
	start := time.Now()
	dir := cmp.Or(s.out, s.store)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	p := newProgram(s)
	f := newFleet(s, p)
	if err := os.WriteFile(filepath.Join(dir, "truth.tsv"), f.truth(), 0o644); err != nil {
		return err
	}
	if s.store != "" {
		return f.writeStore(dir)
	}
	t, err := f.writeProfiles(s.out)
	if err != nil {
		return err
	}
	n := float64(t.profiles)
	fmt.Printf("%d profiles of %d devices, %d models, seed %d\n", t.profiles, t.devices, s.models, s.seed)
	fmt.Printf("a profile on average: %.0f bytes, %.0f samples, %.0f stacks, %.0f functions\n",
		float64(t.bytes)/n, float64(t.samples)/n, float64(t.stacks)/n, float64(t.functions)/n)
	fmt.Printf("%d functions and %d stacks in all; %.0f seconds\n", t.distinctFunctions, t.distinctStacks, time.Since(start).Seconds())
	return nil
}
