package skid

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/disasm"
)

// A listing is code of functions for tests: instructions of 4 bytes.
type listing []*disasm.Function

func (l listing) FunctionAt(addr uint64) (*disasm.Function, error) {
	for _, f := range l {
		if f.Start <= addr && addr < f.End {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%#x: %w", addr, disasm.ErrNoFunction)
}

// assemble makes a function of words: "." any instruction, "c TARGET" conditional,
// "b TARGET" jump, "l TARGET" call, "i" indirect jump to every instruction that a
// word "^" stands for, "r" return.
func assemble(start uint64, text string) *disasm.Function {
	f := &disasm.Function{Start: start}
	words := strings.Split(text, "; ")
	f.End = start + 4*uint64(len(words))
	leaders := map[uint64]bool{start: true}
	var labels []uint64
	for i, w := range words {
		inst := disasm.Inst{Addr: start + 4*uint64(i), Len: 4}
		op, target, _ := strings.Cut(w, " ")
		fmt.Sscanf(target, "%x", &inst.Target)
		inst.Kind = map[string]disasm.Kind{
			".": disasm.Other, "^": disasm.Other, "c": disasm.Conditional, "b": disasm.Jump, "l": disasm.Call, "i": disasm.IndirectJump, "r": disasm.Return,
		}[op]
		inst.Cond = inst.Kind == disasm.Conditional
		if op == "^" {
			labels = append(labels, inst.Addr)
			leaders[inst.Addr] = true
		}
		switch inst.Kind {
		case disasm.Conditional, disasm.Jump, disasm.IndirectJump, disasm.Return:
			leaders[inst.Next()] = true
			leaders[inst.Target] = inst.Kind != disasm.Return && inst.Target != 0
		}
		f.Insts = append(f.Insts, inst)
	}
	at := make(map[uint64]int)
	for i := range f.Insts {
		if leaders[f.Insts[i].Addr] {
			at[f.Insts[i].Addr] = len(f.Blocks)
			f.Blocks = append(f.Blocks, disasm.Block{First: i})
		}
		f.Blocks[len(f.Blocks)-1].End = i + 1
	}
	edge := func(from int, to uint64) {
		if b, ok := at[to]; ok {
			f.Blocks[b].Preds = append(f.Blocks[b].Preds, from)
		}
	}
	for b := range f.Blocks {
		last := &f.Insts[f.Blocks[b].End-1]
		switch last.Kind {
		case disasm.Conditional:
			edge(b, last.Target)
			edge(b, last.Next())
		case disasm.Jump:
			edge(b, last.Target)
		case disasm.IndirectJump:
			for _, l := range labels {
				edge(b, l)
			}
		case disasm.Return:
		default:
			edge(b, last.Next())
		}
	}
	return f
}

func TestWalk(t *testing.T) {
	for _, test := range []struct {
		name string
		code listing
		at   uint64
		want string // address, distance, + taken or - not
	}{
		{"behind a branch", listing{assemble(0x1000, ".; c 1010; .; .; .; r")}, 0x1008, "1004/0-"},
		{"at its target", listing{assemble(0x1000, ".; c 1010; .; r; .; r")}, 0x1010, "1004/0+"},
		{"both ways lead there", listing{assemble(0x1000, ".; c 100c; .; .; r")}, 0x100c, "1004/0+"},
		{"some instructions on", listing{assemble(0x1000, ".; c 1010; .; r; .; .; .; r")}, 0x1018, "1004/2+"},
		{"through a jump", listing{assemble(0x1000, "c 100c; .; b 1014; .; r; .; r")}, 0x1018, "1000/3-"},
		{"two in a row", listing{assemble(0x1000, "c 1014; c 1014; .; .; r; .; r")}, 0x1008, "1004/0- 1000/1-"},
		{"taken before not taken", listing{assemble(0x1000, "c 1008; c 1010; .; .; r")}, 0x1008, "1000/0+ 1004/0-"},
		{"a loop", listing{assemble(0x1000, ".; .; .; c 1004; r")}, 0x1008, "100c/1+"},
		{"an indirect jump", listing{assemble(0x1000, "c 1010; i; ^; r; ^; r")}, 0x1008, "1004/0+ 1000/1-"},
		{"too far", listing{assemble(0x1000, "c 1030; .; .; .; .; .; .; .; .; .; .; .; r")}, 0x1028, ""},
		{"as far as it goes", listing{assemble(0x1000, "c 1030; .; .; .; .; .; .; .; .; .; .; .; r")}, 0x1024, "1000/8-"},
		{"no branch", listing{assemble(0x1000, ".; .; r")}, 0x1004, ""},
		{"into a function", listing{assemble(0x1000, "c 100c; .; l 2000; r"), assemble(0x2000, ".; .; r")}, 0x2004, "1000/3-"},
		{"out of a function", listing{assemble(0x1000, ".; l 2000; .; r"), assemble(0x2000, "c 2008; .; .; r")}, 0x1008, "200c/0+ 2000/2+"},
		{"the tail of another function", listing{assemble(0x1000, "c 2000; r"), assemble(0x2000, ".; r")}, 0x2000, "1000/0+"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := NewWalker(test.code)
			for _, f := range test.code {
				if err := w.Add(f.Start, 1); err != nil {
					t.Fatal(err)
				}
			}
			list, err := w.Walk(test.at)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range list {
				way := "-"
				if c.Taken {
					way = "+"
				}
				got = append(got, fmt.Sprintf("%x/%d%s", c.Address, c.Distance, way))
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
	w := NewWalker(listing{assemble(0x1000, ".; r")})
	if _, err := w.Walk(0x3000); !errors.Is(err, disasm.ErrNoFunction) {
		t.Errorf("outside: %v", err)
	}
}

// TestLearnSkid finds the distances that samples were made with, though most samples
// have several candidates.
func TestLearnSkid(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	truth := []float64{0.05, 0.4, 0.3, 0.15, 0.1}
	var sets [][]Candidate
	var weights []float64
	for range 4000 {
		u, d := rng.Float64(), 0
		for ; d < len(truth)-1 && u >= truth[d]; d++ {
			u -= truth[d]
		}
		set := []Candidate{{Address: 1, Distance: d}}
		for range rng.IntN(3) {
			if other := rng.IntN(Max + 1); other != d {
				set = append(set, Candidate{Address: 2, Distance: other})
			}
		}
		sets, weights = append(sets, set), append(weights, 1)
	}
	skid := Learn(sets, weights)
	for d, p := range skid {
		want := 0.0
		if d < len(truth) {
			want = truth[d]
		}
		if math.Abs(p-want) > 0.03 {
			t.Errorf("distance %d: %.3f, want %.3f", d, p, want)
		}
	}
	if few := Learn(sets[:1], weights[:1]); math.Abs(few[3]-usual()[3]) > 0.1 {
		t.Errorf("one sample makes %v", few)
	}
}

func TestRank(t *testing.T) {
	skid := usual()
	set := skid.Rank([]Candidate{
		{Address: 1, Distance: 0, Kind: branch.Return},
		{Address: 2, Distance: 1, Kind: branch.Conditional},
		{Address: 3, Distance: 2, Kind: branch.Conditional, Crossed: 1},
		{Address: 4, Distance: 8, Crossed: 3},
		{Address: 5, Distance: 2, Ran: 7},
	})
	var got []string
	sum := 0.0
	for _, c := range set {
		got = append(got, fmt.Sprintf("%d %.3f", c.Address, c.Part))
		sum += c.Part
	}
	// Weights 0.025, 0.25, 0.0625, next to nothing, and 8 times 0.125.
	if diff := cmp.Diff([]string{"5 0.748", "2 0.187", "3 0.047", "1 0.019"}, got); diff != "" || math.Abs(sum-1) > 1e-9 {
		t.Errorf("sum %v: %s", sum, diff)
	}
}

func TestConfide(t *testing.T) {
	at := func(distances ...int) (set []Candidate) {
		for _, d := range distances {
			set = append(set, Candidate{Distance: d})
		}
		return set
	}
	for _, test := range []struct {
		set  []Candidate
		want branch.Confidence
	}{
		{at(4), branch.High}, {at(5), branch.Medium}, {at(1, 2, 3), branch.Medium}, {at(2, 1), branch.Low}, {at(1, 2, 3, 4), branch.Low}, {at(1, 1), branch.Medium},
	} {
		if got := Confide(test.set); got != test.want {
			t.Errorf("%v: %s, want %s", test.set, got, test.want)
		}
	}
}
