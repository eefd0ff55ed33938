package main

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/predict"
	"profdiff/internal/predict/asm"
	"profdiff/internal/predict/flow"
)

// hostArch is the machine that profdiff runs on.
func hostArch() asm.Arch {
	switch runtime.GOARCH {
	case "amd64":
		return asm.X8664
	case "arm64":
		return asm.AArch64
	}
	return ""
}

// givenRates are probabilities from the command line, nil if there are none.
type givenRates struct {
	list     []givenRate
	missRate *float64
}

// A givenRate is one of --taken or --miss.
type givenRate struct {
	flag, text string
	side       int // -1 for both
	label      string
	p          float64
	used       bool
}

func (f *predictFlags) givenRates(cmd *cobra.Command) (*givenRates, error) {
	g := &givenRates{}
	for _, flag := range []struct {
		name   string
		values []string
	}{{"taken", f.taken}, {"miss", f.miss}} {
		for _, text := range flag.values {
			r := givenRate{flag: flag.name, text: text, side: -1}
			rest := text
			for i, side := range []string{"before:", "after:"} {
				if after, ok := strings.CutPrefix(rest, side); ok {
					r.side, rest = i, after
				}
			}
			at := strings.LastIndexByte(rest, '=')
			if at < 1 {
				return nil, usagef(cmd, "--%s is LABEL=P, not %q", flag.name, text)
			}
			p, err := strconv.ParseFloat(rest[at+1:], 64)
			if err != nil || !(p >= 0 && p <= 1) {
				return nil, usagef(cmd, "--%s %s: %q is no probability", flag.name, text, rest[at+1:])
			}
			r.label, r.p = rest[:at], p
			g.list = append(g.list, r)
		}
	}
	if cmd.Flags().Changed("miss-rate") {
		g.missRate = &f.missRate
	}
	if len(g.list) == 0 && g.missRate == nil {
		return nil, nil
	}
	return g, nil
}

// side are the rates of a side.
func (g *givenRates) side(side int) predict.Rates {
	if g == nil {
		return predict.Rates{Source: predict.SourceAssumed}
	}
	return predict.Rates{Source: predict.SourceGiven, Branch: func(graph *flow.Graph, at int) (flow.Branch, bool) {
		in := &graph.Insts[at]
		b, known := flow.Branch{Taken: 0.5}, false
		if g.missRate != nil && !graph.EndsLoop(at) {
			b.Miss, known = *g.missRate, true
		}
		for i := range g.list {
			r := &g.list[i]
			if r.side >= 0 && r.side != side || r.label != in.Target && r.label != strconv.Itoa(in.Line) {
				continue
			}
			r.used, known = true, true
			if r.flag == "taken" {
				b.Taken = r.p
			} else {
				b.Miss = r.p
			}
		}
		return b, known
	}}
}

// unused is an error if a label is on no branch of the sides.
func (g *givenRates) unused(sides [2]*predict.Side) error {
	if g == nil {
		return nil
	}
	for _, side := range sides {
		side.Branches()
	}
	for _, r := range g.list {
		if !r.used {
			return fmt.Errorf("--%s %s: no branch goes to %s, nor is one in a line of that number", r.flag, r.text, r.label)
		}
	}
	return nil
}
