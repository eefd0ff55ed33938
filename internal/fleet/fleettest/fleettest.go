// Package fleettest makes stores for tests.
//
//  1. Devices of some models run a program of some functions, which are leaves of main and one of three layers.
//     Devices and models differ in what functions cost, and what is drawn comes from the seed alone.
//  2. Release 1.1 has another mix of models than 1.0, and some functions of it cost a factor more or less.
//  3. Each profile has facts, samples and categories that add up to its weight.
package fleettest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
	"profdiff/internal/fleet/table"
)

// SampleType is what profiles have.
const SampleType = "cpu/nanoseconds"

// A Fleet says what is made.
type Fleet struct {
	Seed                                 uint64
	Profiles, Devices, Models, Functions int // of each release, but for the functions
	Batch                                int // profiles of a batch
	// Effects are factors of functions in release 1.1: 0 is gone. Fresh is a function that 1.0 does not have,
	// 0 for none.
	Effects map[int]float64
	Fresh   int
	// Sample is what a sample stands for, 0 for a million.
	Sample int64
}

// Name is the name of a function.
func Name(i int) string { return fmt.Sprintf("leaf%03d", i) }

// ID is the id of a function.
func ID(i int) int64 { return fleet.FunctionID("libapp.so", Name(i), "") }

var layers = []string{"parse", "layout", "draw"}

func layer(i int) int64 { return fleet.FunctionID("libapp.so", layers[i%len(layers)], "") }

// Write writes the store into a directory, and returns the directory.
func (f Fleet) Write(t testing.TB, dir string) string {
	t.Helper()
	if err := f.WriteTo(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// WriteTo writes the store into a directory.
func (f Fleet) WriteTo(dir string) error {
	root := fleet.FunctionID("app", "main", "")
	functions := []fleet.Function{{FunctionID: root, Name: "main", Module: "app"}}
	for i, name := range layers {
		functions = append(functions, fleet.Function{FunctionID: layer(i), Name: name, Module: "libapp.so"})
	}
	var stacks []store.Stack
	for i := range f.Functions {
		functions = append(functions, fleet.Function{FunctionID: ID(i), Name: Name(i), Module: "libapp.so"})
		stacks = append(stacks, store.NewStack(ID(i), layer(i), root))
	}
	for side, release := range []string{"1.0", "1.1"} {
		var b *store.Batch
		for n := range f.Profiles {
			if b == nil {
				b = &store.Batch{Functions: append([]fleet.Function{}, functions...), Stacks: append([]store.Stack{}, stacks...)}
			}
			f.profile(b, side, release, n, stacks, root)
			if len(b.Profiles) == f.Batch || n == f.Profiles-1 {
				if _, err := b.Write(dir); err != nil {
					return err
				}
				b = nil
			}
		}
	}
	return nil
}

// profile adds a profile to a batch.
func (f Fleet) profile(b *store.Batch, side int, release string, n int, stacks []store.Stack, root int64) {
	device := n % f.Devices
	rng := rand.New(rand.NewPCG(f.Seed, uint64(side*f.Devices+device)))
	// More of the later models in the second release.
	model := int(float64(f.Models) * math.Pow(rng.Float64(), []float64{1.5, 0.7}[side]))
	factors := make([]float64, f.Functions)
	for i := range factors {
		ofModel := rand.New(rand.NewPCG(f.Seed+1, uint64(model*f.Functions+i)))
		factors[i] = math.Exp(0.5*ofModel.NormFloat64()+0.3*rng.NormFloat64()) / float64(1+i)
	}
	draw := rand.New(rand.NewPCG(f.Seed+2, uint64(side*f.Profiles+n)))
	id := fleet.ProfileID(fmt.Appendf(nil, "%d %s %d", f.Seed, release, n))
	sample := cmp.Or(f.Sample, 1_000_000)
	total, work := int64(0), int64(100+draw.IntN(400))
	sums := map[int64]int64{}
	for i, factor := range factors {
		if effect, ok := f.Effects[i]; ok && side == 1 {
			factor *= effect
		}
		if side == 0 && f.Fresh > 0 && i == f.Fresh {
			factor = 0
		}
		count := int64(factor * float64(work) * math.Exp(0.2*draw.NormFloat64()))
		if count == 0 {
			continue
		}
		v := count * sample
		total += v
		sums[layer(i)] += v
		b.Facts = append(b.Facts, fleet.ProfileFunction{SampleType: SampleType, FunctionID: ID(i), ProfileID: id, SelfValue: v, TotalValue: v})
		b.Samples = append(b.Samples, fleet.Sample{SampleType: SampleType, ProfileID: id, StackID: stacks[i].ID, Thread: "main", Value: v, SampleCount: count})
	}
	for fn, v := range sums {
		b.Facts = append(b.Facts, fleet.ProfileFunction{SampleType: SampleType, FunctionID: fn, ProfileID: id, TotalValue: v})
	}
	b.Facts = append(b.Facts, fleet.ProfileFunction{SampleType: SampleType, FunctionID: root, ProfileID: id, TotalValue: total})
	locks := int64(0.2 * math.Exp(0.2*rng.NormFloat64()) * float64(total))
	b.Categories = append(b.Categories,
		fleet.ProfileCategory{SampleType: SampleType, Category: "native code", ProfileID: id, SelfValue: total - locks},
		fleet.ProfileCategory{SampleType: SampleType, Category: "locks", ProfileID: id, SelfValue: locks})
	name := fleet.Device("test", fmt.Sprint(release, " ", device))
	b.Profiles = append(b.Profiles, fleet.Profile{
		ProfileID: id, ReleaseID: release, DeviceModel: fmt.Sprintf("phone %c", 'A'+model), DeviceID: name, UnitID: fleet.UnitID(name),
		TimeNS: time.Date(2026, 11, 2+7*side, 12, 0, n, 0, time.UTC).UnixNano(), DurationNS: int64(float64(total) * (1.8 + 0.4*draw.Float64())),
		SampleType: SampleType, Weight: total, SampleCount: total / sample, WorkUnits: &work,
		DecoderVersion: table.Decoder, SchemaVersion: fleet.Schema, SourceURI: fmt.Sprintf("%s/%d.pb.gz", release, n),
	})
}
