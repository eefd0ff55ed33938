package predict

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/llvm"
)

type zzPair struct {
	name, p, set string
	truth        float64
	by, bl       float64
	pair         *Pair
}

func zzCases(t *testing.T, cpu string, sets string) []*zzPair {
	text, err := os.ReadFile(filepath.Join(casesDir, "measured", cpu+".tsv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := ReadCaseCycles(text)
	if err != nil {
		t.Fatal(err)
	}
	var list []*zzPair
	by := map[string]*zzPair{}
	for _, r := range rows {
		if r.Arch != "x86-64" {
			continue
		}
		c, err := ReadCase(os.DirFS(filepath.Join(casesDir, r.Case)))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(sets, c.Set) {
			continue
		}
		key := r.Case + " " + r.P
		m := by[key]
		if m == nil {
			m = &zzPair{name: r.Case, p: r.P, set: c.Set}
			by[key] = m
			list = append(list, m)
			var sides [2]*Side
			for i, side := range []string{Branchy, Branchless} {
				text, _ := os.ReadFile(filepath.Join(casesDir, r.Case, c.Listing(side, asm.X8664)))
				l, err := asm.Parse(string(text), asm.X8664)
				if err != nil {
					t.Fatal(err)
				}
				if sides[i], err = c.side(l, side, r.P, SourceKnown); err != nil {
					t.Fatal(err)
				}
			}
			m.pair = &Pair{Name: key, Base: sides[0], Head: sides[1], Source: SourceKnown}
		}
		if r.Side == Branchy {
			m.by = r.Cycles
		} else {
			m.bl = r.Cycles
		}
		m.truth = m.by / m.bl
	}
	return list
}

func TestZZ(t *testing.T) {
	tool := findLLVM(t)
	env := func(k, d string) string {
		if v := os.Getenv(k); v != "" {
			return v
		}
		return d
	}
	list := zzCases(t, env("MEASURED", "emeraldrapids"), env("SETS", "tune report blind fresh"))
	for _, config := range strings.Fields(env("CONFIGS", "emeraldrapids:all")) {
		f := strings.Split(config, ":")
		m, err := NewMachine(tool, asm.X8664, f[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		m.Core = nil
		if f[1] != "all" {
			want := strings.Split(f[1], ",")
			drop := want[0] == "not"
			m.Model.Repairs = slices.DeleteFunc(slices.Clone(m.Model.Repairs), func(r llvm.Repair) bool { return slices.Contains(want, r.Class) == drop })
		}
		for _, o := range f[2:] {
			fmt.Sscanf(o, "refill=%f", &m.Refill)
			fmt.Sscanf(o, "taken=%f", &m.Taken)
		}
		p := Predictor{Tool: tool, Machine: m}
		var pairs []*Pair
		for _, z := range list {
			pairs = append(pairs, z.pair)
		}
		results, err := p.predict(t.Context(), pairs)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range []string{"tune", "report", "blind", "fresh", ""} {
			var n, decided, wins int
			var abs, sq, worst float64
			worstName := ""
			for i, z := range list {
				if set != "" && z.set != set {
					continue
				}
				v := results[i].Base.Total / results[i].Head.Total
				e := math.Log(v / z.truth)
				n++
				abs += math.Abs(e)
				sq += e * e
				if math.Abs(e) > worst {
					worst, worstName = math.Abs(e), z.name+" "+z.p
				}
				if math.Abs(math.Log(z.truth)) > math.Log(1.1) {
					decided++
					if (v > 1) == (z.truth > 1) {
						wins++
					}
				}
				if os.Getenv("V") != "" && set == "" {
					fmt.Printf("  %-6s %-18s %-4s branchy %6.2f pred %6.2f branchless %6.2f pred %6.2f  su %.2f pred %.2f err %.2f\n", z.set, z.name, z.p, z.by, results[i].Base.Total, z.bl, results[i].Head.Total, z.truth, v, math.Exp(e))
				}
			}
			if n > 0 {
				fmt.Printf("%-40s %-6s n %d ×%.3f σ %.3f worst ×%.2f %s winners %d/%d\n", config, set, n, math.Exp(abs/float64(n)), math.Sqrt(sq/float64(n)), math.Exp(worst), worstName, wins, decided)
			}
		}
	}
}
