package main

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// How much functions differ in cost: standard deviations of the logarithms of factors.
const (
	byModel  = 0.20 // of a function on a model
	byDevice = 0.35 // of a function on a device, beside that
	bySpeed  = 0.25 // of all functions on a device
	byWork   = 0.35 // of the work that a profile saw
)

// scenes is the number of things that a user does: each profile is of one, which favours some modules.
const scenes = 6

// releases are the two versions of the program.
var releases = [2]string{"a", "b"}

// A fleet is devices that run a program.
type fleet struct {
	*settings
	program *program
	models  [][]float64 // by model and function, what it costs there
	devices []device
	changes []change
	scenes  [scenes][]float64 // by module, the probability that a sample of it is kept
	kept    [scenes]float64   // share of samples that are kept on average
}

// A device has one model and runs one release.
type device struct {
	number, model, release int
	profiles               int // how many it sends
}

// newFleet draws what models cost, and which devices there are.
func newFleet(s *settings, p *program) *fleet {
	rng := rand.New(rand.NewPCG(s.seed, 2))
	f := &fleet{settings: s, program: p}
	for range s.models {
		factors := make([]float64, len(p.functions))
		for i := range factors {
			factors[i] = math.Exp(byModel*rng.NormFloat64() - byModel*byModel/2)
		}
		f.models = append(f.models, factors)
	}
	for scene := range f.scenes {
		for range p.modules {
			f.scenes[scene] = append(f.scenes[scene], 0.4+0.6*rng.Float64())
		}
		for i, cost := range p.costs {
			f.kept[scene] += cost * f.scenes[scene][p.functions[i].mapping]
		}
	}
	f.drawDevices(rng)
	f.drawChanges()
	return f
}

// drawDevices gives devices a model and a release. Models differ in how many have them, and in
// how many of those have release b already: the mix of models shifts between releases.
func (f *fleet) drawDevices(rng *rand.Rand) {
	popular, updated := make([]float64, f.settings.models), make([]float64, f.settings.models)
	total := 0.0
	for m := range popular {
		total += 0.5 + rng.Float64()
		popular[m] = total
		updated[m] = 0.3 + 0.4*rng.Float64()
	}
	for m := range popular {
		popular[m] /= total
	}
	// Some devices send many more profiles than others.
	eager := make([]float64, f.settings.devices)
	total = 0
	for i := range eager {
		d := device{number: i, model: search(popular, rng.Float64())}
		if rng.Float64() < updated[d.model] {
			d.release = 1
		}
		f.devices = append(f.devices, d)
		total += math.Exp(0.6 * rng.NormFloat64())
		eager[i] = total
	}
	for i := range eager {
		eager[i] /= total
	}
	for range f.profiles {
		f.devices[search(eager, rng.Float64())].profiles++
	}
}

// modelName is the name of a model.
func modelName(model int) string { return fmt.Sprintf("model-%02d", model) }

// deviceName is the pseudonym of a device.
func (f *fleet) deviceName(d device) string {
	return fmt.Sprintf("seed%d-device-%05d", f.seed, d.number)
}

// factors are what functions cost on a device, against the average.
func (f *fleet) factors(rng *rand.Rand, d device) []float64 {
	factors := make([]float64, len(f.program.functions))
	for i := range factors {
		factors[i] = f.models[d.model][i] * math.Exp(byDevice*rng.NormFloat64()-byDevice*byDevice/2)
	}
	if d.release == 1 {
		for _, c := range f.changes {
			if c.on(d.model) {
				factors[c.function] *= c.factor
			}
		}
	}
	return factors
}
