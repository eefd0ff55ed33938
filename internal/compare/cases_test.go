package compare

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/ingest"
	"profdiff/internal/input"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// loadCase reads the recordings of a directory of a case study.
func loadCase(t testing.TB, study, side string) (list []*run.Run) {
	t.Helper()
	dir := filepath.Join("..", "..", "profiles", study)
	symbols := filepath.Join(dir, "symbols")
	if _, err := os.Stat(symbols); err != nil {
		symbols = filepath.Join(filepath.Dir(dir), "symbols")
	}
	kallsyms := objectstest.Kallsyms(t, filepath.Join(symbols, "kallsyms"))
	files, err := filepath.Glob(filepath.Join(dir, side, "*.data*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s/%s: %v", dir, side, err)
	}
	for _, name := range files {
		err := input.Read(name, nil, func(src *input.Source) error {
			r, err := ingest.Read(src, &ingest.Options{
				Objects: objectstest.Dir(symbols), Kallsyms: kallsyms,
			})
			list = append(list, r)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// TestUnchangedProgram splits 20 real recordings of one program in two, twenty times: no
// more functions differ than should by chance, and of what is called changed there is
// next to nothing.
func TestUnchangedProgram(t *testing.T) {
	all := loadCase(t, "known-slowdown", "same")
	if len(all) != 20 {
		t.Fatalf("%d recordings", len(all))
	}
	for _, opt := range []Options{{Normalize: None}, {Ops: &[2]float64{66000, 66000}}, {Normalize: Reference}} {
		rng := rand.New(rand.NewPCG(51, 52))
		tested, below, called, splits := 0, 0, 0, 0
		for range 20 {
			var base, head []*run.Run
			// Of two that follow each other, one goes to each side.
			for i := 0; i < len(all); i += 2 {
				j := rng.IntN(2)
				base, head = append(base, all[i+j]), append(head, all[i+1-j])
			}
			e := &mustCompare(t, base, head, opt).Events[0]
			any := false
			for i := range e.Functions {
				c := &e.Functions[i].Self
				if !c.Tested {
					continue
				}
				tested++
				if c.P <= 0.05 {
					below++
				}
				if c.Verdict == verdict.Improved || c.Verdict == verdict.Regressed {
					called++
					any = true
				}
			}
			if any || e.Total.Verdict == verdict.Improved || e.Total.Verdict == verdict.Regressed {
				splits++
			}
		}
		t.Logf("%s: %d of %d at p ≤ 0.05, %d called changed, in %d of 20 splits", opt.Normalize, below, tested, called, splits)
		if rate := float64(below) / float64(tested); rate > 0.075 || tested < 300 {
			t.Errorf("%s: %.3f of %d unchanged functions have p ≤ 0.05", opt.Normalize, rate, tested)
		}
		// At q = 0.10 one build in ten may have a finding; the splits are not independent.
		if splits > 4 {
			t.Errorf("%s: in %d of 20 splits something is called changed", opt.Normalize, splits)
		}
	}
}

// TestKnownSlowdown compares real recordings of programs in which one function does
// exactly 10 % or 30 % more work, or half of it: it is called so, and the interval has the
// true ratio. Of what is called changed a tenth may be false.
func TestKnownSlowdown(t *testing.T) {
	called, wrong := 0, 0
	same := loadCase(t, "known-slowdown", "same")
	for _, test := range []struct {
		side, function string
		ratio          float64
		verdict        verdict.Verdict
	}{
		{"slow10", "digest_block", 1.1, verdict.Regressed},
		{"slow30", "digest_block", 1.3, verdict.Regressed},
		{"half", "smooth_signal", 0.5, verdict.Improved},
	} {
		head := loadCase(t, "known-slowdown", test.side)
		for _, opt := range []Options{{Normalize: None}, {Ops: &[2]float64{66000, 66000}}, {Normalize: Reference}} {
			e := &mustCompare(t, same, head, opt).Events[0]
			f := function(t, e, test.function)
			if f.Self.Verdict != test.verdict || !f.Self.CI.Contains(test.ratio) {
				t.Errorf("%s, %s: %s is %s, ratio %.3f %v, want %s by %v", test.side, opt.Normalize, f.Name, f.Self.Verdict, f.Self.Ratio, f.Self.CI, test.verdict, test.ratio)
			}
			for i := range e.Functions {
				g := &e.Functions[i]
				if v := g.Self.Verdict; v == verdict.Improved || v == verdict.Regressed {
					called++
					if g.Name != test.function {
						wrong++
						t.Logf("%s, %s: %s is %s, ratio %.3f %v", test.side, opt.Normalize, g.Name, v, g.Self.Ratio, g.Self.CI)
					}
				}
			}
		}
	}
	if wrong > called/5 {
		t.Errorf("of %d functions called changed %d did not", called, wrong)
	}
}

// TestRefactorings compares real recordings before and after edits that move cost or
// rename functions without changing what is done.
func TestRefactorings(t *testing.T) {
	load := func(name string) (*Comparison, *Event) {
		c := mustCompare(t, loadCase(t, "refactorings/"+name, "before"), loadCase(t, "refactorings/"+name, "after"), Options{Normalize: None})
		return c, &c.Events[0]
	}

	t.Run("rename", func(t *testing.T) {
		_, e := load("rename")
		f := function(t, e, "hash_v2")
		if f.BaseName != "hash_v1" || f.Match.Kind != "renamed" || f.Self.BaseSamples == 0 || f.Self.HeadSamples == 0 || f.Self.Verdict == verdict.Improved || f.Self.Verdict == verdict.Regressed {
			t.Errorf("%+v", f)
		}
		for i := range e.Functions {
			if e.Functions[i].Name == "hash_v1" {
				t.Error("hash_v1 has a row of its own")
			}
		}
	})
	for _, test := range []struct{ name, caller, part, other string }{
		{"inline", "blend_row", "blend_pixel", "blend_row"},
		{"split", "apply_update", "apply_update_slow", "apply_update"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, e := load(test.name)
			if len(e.Shifts) != 1 {
				t.Fatalf("%d shifts", len(e.Shifts))
			}
			s := &e.Shifts[0]
			var parts []string
			for _, p := range s.Parts {
				parts = append(parts, e.Functions[p].Name)
			}
			if caller := e.Functions[s.Caller].Name; caller != test.caller {
				t.Errorf("under %s, not %s", caller, test.caller)
			}
			if got := strings.Join(parts, " "); !strings.Contains(got, test.part) || !strings.Contains(got, test.other) || len(parts) != 2 {
				t.Errorf("parts %s", got)
			}
			if s.Net.Verdict == verdict.Improved || s.Net.Verdict == verdict.Regressed || !s.Net.CI.Contains(1) {
				t.Errorf("net %+v", s.Net)
			}
		})
	}
	t.Run("lambda", func(t *testing.T) {
		_, e := load("lambda")
		for i := range e.Functions {
			f := &e.Functions[i]
			if v := f.Self.Verdict; strings.Contains(f.Name, "lambda") && (v == verdict.Improved || v == verdict.Regressed) {
				t.Errorf("%s (was %s) is %s, ratio %.3f", f.Name, f.BaseName, v, f.Self.Ratio)
			}
		}
	})
	t.Run("removed path", func(t *testing.T) {
		c, e := load("removed-path")
		if f := function(t, e, "normalize_text"); f.Self.Verdict != verdict.Improved {
			t.Errorf("normalize_text is %s", f.Self.Verdict)
		}
		gone := false
		tree := c.Tree(0)
		var walk func(n TreeNode, path string)
		walk = func(n TreeNode, path string) {
			if fn := tree.Function[n]; fn >= 0 {
				path += ";" + e.Functions[fn].Name
			}
			if strings.HasSuffix(path, "handle_refresh;normalize_text") && tree.Base[n] > 0 && tree.Head[n] == 0 && tree.Costs([]TreeNode{n}).Change(0).Base > 0.2*e.Total.Base {
				gone = true
			}
			for _, child := range tree.Children(n) {
				walk(child, path)
			}
		}
		walk(TreeRoot, "")
		if !gone {
			t.Error("the call of normalize_text by handle_refresh is not seen to be gone")
		}
	})
}
