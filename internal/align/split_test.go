package align

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// groupsOf lists groups of several functions of a side as "base, base -> head, head".
func groupsOf(base, head []Function, matches []Match) map[string]Kind {
	type sides struct {
		base, head []string
		kind       Kind
	}
	groups := make(map[int]*sides)
	for _, m := range matches {
		if m.Base < 0 || m.Head < 0 {
			continue
		}
		g := groups[m.Group]
		if g == nil {
			g = new(sides)
			groups[m.Group] = g
		}
		g.base, g.head = append(g.base, base[m.Base].Name), append(g.head, head[m.Head].Name)
		if m.Kind == Split || m.Kind == Merged {
			g.kind = m.Kind
		}
	}
	list := make(map[string]Kind)
	for _, g := range groups {
		if g.kind == "" {
			continue
		}
		for _, names := range []*[]string{&g.base, &g.head} {
			slices.Sort(*names)
			*names = slices.Compact(*names)
		}
		list[strings.Join(g.base, ", ")+" -> "+strings.Join(g.head, ", ")] = g.kind
	}
	return list
}

// A divided says how the functions of a recording are split: the stacks with a function
// go by what calls it, or by what it calls.
type divided struct {
	name      string
	byCallee  bool
	of        func(name string) [2]string
	minRecall float64
}

var dividings = []divided{
	{"by callers, both new names", false, func(n string) [2]string { return [2]string{renameLast(n, "Index"), renameLast(n, "Table")} }, 0.15},
	{"by callees, both new names", true, func(n string) [2]string { return [2]string{renameLast(n, "Index"), renameLast(n, "Table")} }, 0.3},
	{"by callees, one keeps its name", true, func(n string) [2]string { return [2]string{n, n + "Fast"} }, 0.2},
	{"by callees, no name in common", true, func(n string) [2]string { return [2]string{"p.gofaruka", "p.lidobene"} }, 0.2},
}

// renameLast puts a word into the last part of a name, before its last word if it has several.
func renameLast(name, word string) string {
	prefix, last := own(name)
	words := splitWords(last)
	if len(words) == 1 {
		return name + word
	}
	return prefix + strings.Join(append(words[:len(words)-1:len(words)-1], word, words[len(words)-1]), "")
}

// divide splits a function of stacks in two of similar cost. It reports how much of its cost
// the smaller one has.
func (d *divided) divide(stacks []stack, name string) float64 {
	frameName := func(fr string) string { n, _, _ := strings.Cut(fr, "|"); return n }
	neighbour := func(s *stack, i int) string {
		switch {
		case d.byCallee && i+1 < len(s.frames):
			return frameName(s.frames[i+1])
		case !d.byCallee && i > 0:
			return frameName(s.frames[i-1])
		}
		return ""
	}
	weight := make(map[string]float64)
	for k := range stacks {
		for i, fr := range stacks[k].frames {
			if frameName(fr) == name {
				weight[neighbour(&stacks[k], i)] += stacks[k].weight
			}
		}
	}
	var order []string
	for n := range weight {
		order = append(order, n)
	}
	slices.SortFunc(order, func(a, b string) int { return cmp.Or(-cmp.Compare(weight[a], weight[b]), strings.Compare(a, b)) })
	second := make(map[string]bool)
	var sums [2]float64
	for _, n := range order {
		k := 0
		if sums[1] < sums[0] {
			k = 1
		}
		second[n] = k == 1
		sums[k] += weight[n]
	}
	to := d.of(name)
	for k := range stacks {
		s := &stacks[k]
		for i, fr := range s.frames {
			if frameName(fr) == name {
				n := to[0]
				if second[neighbour(s, i)] {
					n = to[1]
				}
				s.frames[i] = n + strings.TrimPrefix(fr, name)
			}
		}
	}
	return min(sums[0], sums[1]) / (sums[0] + sums[1])
}

// TestSplitQuality splits a function of one of two runs of one program and says how many of
// them are found, and how many are found where there are none.
func TestSplitQuality(t *testing.T) {
	for _, d := range dividings {
		t.Run(d.name, func(t *testing.T) {
			var right, wrong, all int
			plain := functionsOf(readStacks(t, secondRun))
			plain = slices.DeleteFunc(plain, func(f Function) bool {
				return f.Weight < 4*heavy || f.Weight > 0.3 || Normalize(f.Name) != f.Name || !strings.Contains(f.Name, ".")
			})
			step := 2
			if testing.Short() {
				step = 8
			}
			for k := 0; k < len(plain); k += step {
				f := plain[k]
				for _, merge := range []bool{false, true} {
					stacks := readStacks(t, secondRun)
					if d.divide(stacks, f.Name) < 0.2 {
						continue
					}
					to := d.of(f.Name)
					base, head := functionsOf(readStacks(t, firstRun)), functionsOf(stacks)
					want := f.Name + " -> " + to[0] + ", " + to[1]
					kind := Split
					if merge {
						base, head = head, base
						want = to[0] + ", " + to[1] + " -> " + f.Name
						kind = Merged
					}
					matches, err := Functions(base, head, Options{})
					if err != nil {
						t.Fatal(err)
					}
					check(t, base, head, matches)
					all++
					for g, k := range groupsOf(base, head, matches) {
						if g == want && k == kind {
							right++
						} else {
							wrong++
							t.Logf("wrong: %s %s", k, g)
						}
					}
				}
			}
			t.Logf("%d of %d found, %d wrong", right, all, wrong)
			if wrong > 0 || float64(right) < d.minRecall*float64(all) {
				t.Errorf("%d of %d found, %d wrong", right, all, wrong)
			}
		})
	}
}

// TestAdditions makes a function new in head, and one beside it cheaper by as much, with or
// without another name: that the cost is conserved does not make them parts of one.
func TestAdditions(t *testing.T) {
	for _, renamed := range []bool{false, true} {
		t.Run(fmt.Sprintf("renamed %v", renamed), func(t *testing.T) {
			first, second := readStacks(t, firstRun), readStacks(t, secondRun)
			plain := functionsOf(second)
			parents := make(map[string][]int)
			for i := range plain {
				for _, c := range plain[i].Callers {
					parents[plain[c.Function].Name] = append(parents[plain[c.Function].Name], i)
				}
			}
			most, step := 6, 2
			if testing.Short() {
				most, step = 3, 8
			}
			var glued, all int
			for _, parent := range slices.Sorted(maps.Keys(parents)) {
				list := parents[parent]
				slices.SortFunc(list, func(a, b int) int { return -cmp.Compare(plain[a].Weight, plain[b].Weight) })
				for k := 0; k+1 < len(list) && k < most; k++ {
					faster, added := plain[list[k]], plain[list[k+1]]
					if added.Weight < heavy || faster.Weight > 0.3 || faster.Weight < 1.2*added.Weight || strings.HasPrefix(faster.Name, "[") || strings.HasPrefix(added.Name, "[") {
						continue
					}
					if all++; all%step != 0 {
						continue
					}
					if glue(t, first, second, faster, added, renamed) {
						glued++
					}
				}
			}
			all /= step
			t.Logf("%d of %d glued", glued, all)
			if all < 20 || glued*100 > all {
				t.Errorf("%d of %d glued", glued, all)
			}
		})
	}
}

// glue reports whether an addition is taken for a part of another function.
func glue(t *testing.T, first, second []stack, faster, added Function, renamed bool) bool {
	has := func(s *stack, name string) bool {
		return slices.ContainsFunc(s.frames, func(fr string) bool { n, _, _ := strings.Cut(fr, "|"); return n == name })
	}
	var base, head []stack
	for i := range first {
		if !has(&first[i], added.Name) {
			base = append(base, first[i])
		}
	}
	name := faster.Name
	if renamed {
		name = renameLast(name, "New")
	}
	for _, s := range second {
		if has(&s, faster.Name) && !has(&s, added.Name) {
			s.weight *= 1 - added.Weight/faster.Weight
			s.frames = slices.Clone(s.frames)
			for i, fr := range s.frames {
				if n, place, ok := strings.Cut(fr, "|"); n == faster.Name {
					s.frames[i] = name
					if ok {
						s.frames[i] += "|" + place
					}
				}
			}
		}
		head = append(head, s)
	}
	b, h := functionsOf(base), functionsOf(head)
	matches, err := Functions(b, h, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for g, k := range groupsOf(b, h, matches) {
		if strings.Contains(g, added.Name) {
			t.Logf("%s: %s (%s added)", k, g, added.Name)
			return true
		}
	}
	return false
}
