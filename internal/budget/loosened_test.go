package budget

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/verdict"
)

func TestLoosened(t *testing.T) {
	const own = `
version: 1
defaults: {alpha: 0.05, on_inconclusive: fail, strict: true, min_effect: 0.1%}
budgets:
- {id: digest, match: {function: digest}, limit: {warn: +1%, fail: +2%}, owner: ann}
- {id: size, match: {function: "put*"}, max: {fail: 3%, of: total}}
- {id: p99, samples: frame_ms, quantile: 0.99, better: lower, limit: {fail: +5%}}
- {id: rate, samples: throughput, mean: true, better: higher, limit: {fail: -5%}, min: {fail: 190Mbit/s}}
`
	tests := []struct {
		name, proposed string
		want           []string
	}{
		{"the same", own, nil},
		{"tighter, another owner, one more", `
version: 1
defaults: {alpha: 0.10, on_inconclusive: fail, strict: true, min_effect: 0.05%}
budgets:
- {id: digest, match: {function: digest}, limit: {warn: +0.5%, fail: +1%}, owner: bob}
- {id: size, match: {function: "put*"}, max: {warn: 2%, fail: 2.5%, of: total}}
- {id: p99, samples: frame_ms, quantile: 0.99, better: lower, limit: {fail: +4%}}
- {id: rate, samples: throughput, mean: true, better: higher, limit: {fail: -4%}, min: {fail: 195Mbit/s}}
- {id: parse, match: {function: parse}, limit: {fail: +50%}}
`, nil},
		{"each one looser", `
version: 1
defaults: {alpha: 0.01, on_inconclusive: pass, min_effect: 1%, require: {runs: 20}}
budgets:
- {id: digest, match: {function: digest, thread: worker}, limit: {fail: +20%}}
- {id: p99, samples: frame_ms, quantile: 0.9, better: lower, limit: {fail: +6%}}
- {id: rate, samples: throughput, mean: true, better: higher, limit: {fail: -50%}}
waivers:
- {budget: digest, ceiling: +60%, until: 2026-12-01, reason: because}
`, []string{
			"size: the budget is removed",
			"defaults.alpha: 0.05 → 0.01",
			"defaults.min_effect: 0.1% → 1%",
			"defaults.on_inconclusive: fail → pass",
			"defaults.require.runs: 8 → 20",
			"defaults.strict: true → none",
			"digest: limit.fail: +2% → +20%",
			"digest: limit.warn: +1% → none",
			"digest: match.thread: none → worker",
			"digest: waiver: none → up to +60% until 2026-12-01",
			"p99: limit.fail: +5% → +6%",
			"p99: quantile: 0.99 → 0.9",
			"rate: limit.fail: -5% → -50%",
			"rate: min.fail: 190Mbit/s → none",
		}},
		{"another unit", `
version: 1
defaults: {alpha: 0.05, on_inconclusive: fail, strict: true, min_effect: 0.1%}
budgets:
- {id: digest, match: {function: digest}, limit: {warn: +1%, fail: +2%}}
- {id: size, match: {function: "put*"}, max: {fail: 3ms, of: run}}
- {id: p99, samples: frame_ms, quantile: 0.99, limit: {fail: +4%}}
- {id: rate, samples: throughput, mean: true, better: higher, limit: {fail: -5%}, min: {fail: 190Mbit/s}}
`, []string{"p99: better: lower → none", "size: max.fail: 3% → 3ms", "size: max.of: total → run"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Parse("own.yaml", []byte(own))
			if err != nil {
				t.Fatal(err)
			}
			proposed, err := Parse("proposed.yaml", []byte(tt.proposed))
			if err != nil {
				t.Fatal(err)
			}
			r := f.Loosened(proposed)
			var got []string
			if r != nil {
				got = r.Reasons
				if r.Verdict != verdict.Warn || r.File != "proposed.yaml" || r.Position.Line == 0 {
					t.Errorf("verdict %s of %s:%v", r.Verdict, r.File, r.Position)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLoosenedFleet tells that other releases, samples or divisors are compared.
func TestLoosenedFleet(t *testing.T) {
	const budgets = "budgets:\n- {id: a, match: {function: f}, limit: {fail: +5%}}\n"
	parse := func(fleet string) *File {
		f, err := Parse("b.yaml", []byte("version: 1\n"+fleet+budgets))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, tt := range []struct {
		own, proposed string
		want          []string
	}{
		{"fleet: {release: [a, b], per: work}\n", "fleet: {release: [a, b], per: work}\n", nil},
		{"fleet: {release: [a, b], per: work}\n", "fleet: {release: [b, a], sample_type: alloc/bytes}\n", []string{
			"fleet.per: work → none", "fleet.release: a b → b a", "fleet.sample_type: none → alloc/bytes",
		}},
		{"fleet: {}\n", "", []string{"fleet: releases of a fleet → none"}},
		{"", "fleet: {}\n", []string{"fleet: none → releases of a fleet"}},
	} {
		var got []string
		if r := parse(tt.own).Loosened(parse(tt.proposed)); r != nil {
			got = r.Reasons
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q, %q: %s", tt.own, tt.proposed, diff)
		}
	}
}
