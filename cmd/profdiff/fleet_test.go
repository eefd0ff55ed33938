package main

import (
	"github.com/rogpeppe/go-internal/testscript"

	"profdiff/internal/fleet/fleettest"
)

// fleetStore DIR makes a store of two releases on 80 devices, with known effects.
func fleetStore(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(fleettest.Fleet{
		Seed: 6, Profiles: 240, Devices: 80, Models: 3, Functions: 20, Batch: 120, Effects: map[int]float64{3: 1.8, 8: 0.5, 12: 0}, Fresh: 4,
	}.WriteTo(ts.MkAbs(args[0])))
}
