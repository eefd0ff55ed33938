package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A change is a function that costs more or less in release b.
type change struct {
	function int
	factor   float64
	models   []int // nil for all
}

func (c change) on(model int) bool { return c.models == nil || slices.Contains(c.models, model) }

// factors are the sizes of effects, in turn.
var factors = []float64{1.5, 0.7, 1.3, 1.2, 1.1}

// drawChanges draws which functions change, among those that have from 0.05 to 1 % of all
// costs: a change of a larger one would be found by anybody, and shift the shares of all others.
func (f *fleet) drawChanges() {
	rng := rand.New(rand.NewPCG(f.seed, 3))
	var fit []int
	for i, s := range f.program.costs {
		if s >= 0.0005 && s <= 0.01 {
			fit = append(fit, i)
		}
	}
	rng.Shuffle(len(fit), func(i, j int) { fit[i], fit[j] = fit[j], fit[i] })
	for i := range min(f.effects+f.some, len(fit)) {
		c := change{function: fit[i], factor: factors[i%len(factors)]}
		if i >= f.effects {
			c.models = rng.Perm(f.settings.models)[:f.on]
			slices.Sort(c.models)
		}
		f.changes = append(f.changes, c)
	}
	slices.SortFunc(f.changes, func(a, b change) int { return cmp.Compare(a.function, b.function) })
}

// truth is a table of what was changed. Cost per work changes by the factor. Shares change
// also by the cost of all functions together, which the last line has, by model.
func (f *fleet) truth() []byte {
	share := f.program.costs
	var b bytes.Buffer
	fmt.Fprintln(&b, "function\tmodule\tfactor\tshare in release a\tmodels")
	total := make([]float64, f.settings.models)
	for _, c := range f.changes {
		names := []string{"all"}
		if c.models != nil {
			names = nil
		}
		for _, m := range c.models {
			names = append(names, modelName(m))
		}
		for m := range total {
			if c.on(m) {
				total[m] += share[c.function] * (c.factor - 1)
			}
		}
		fn := f.program.functions[c.function]
		fmt.Fprintf(&b, "%s\t%s\t%g\t%.6f\t%s\n", fn.name, fn.module, c.factor, share[c.function], strings.Join(names, ","))
	}
	fmt.Fprint(&b, "# all functions together:")
	for m, t := range total {
		fmt.Fprintf(&b, " %s %+.4f", modelName(m), t)
	}
	fmt.Fprintln(&b)
	return b.Bytes()
}
