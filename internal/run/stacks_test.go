package run

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// randomStacks adds stacks of a program whose functions call four others, and returns them by what they are made of.
func randomStacks(b *Builder, n int) map[StackID]map[uint32]StackID {
	rng := rand.New(rand.NewPCG(1, 2))
	made := make(map[StackID]map[uint32]StackID)
	for b.r.Stacks.Len() < n {
		var stack StackID
		for range 1 + rng.IntN(14) {
			location := uint32(rng.IntN(4))
			callee := b.Stack(stack, location)
			if made[stack] == nil {
				made[stack] = make(map[uint32]StackID)
			}
			made[stack][location] = callee
			stack = callee
		}
	}
	return made
}

// TestStackTable: equal stacks are one, also after the table has grown and what is recent was forgotten, and no
// two others are.
func TestStackTable(t *testing.T) {
	b := NewBuilder("")
	made := randomStacks(b, 300_000)
	if b.stacks.recent == nil {
		t.Error("nothing is recent")
	}
	n := b.r.Stacks.Len()
	seen := make([]bool, n)
	for caller, callees := range made {
		for location, want := range callees {
			if got := b.Stack(caller, location); got != want || seen[got] {
				t.Fatalf("location %d called from %d is stack %d (seen: %t), want %d", location, caller, got, seen[got], want)
			}
			seen[want] = true
		}
	}
	if b.r.Stacks.Len() != n {
		t.Errorf("%d stacks after those that are there were asked for, %d before", b.r.Stacks.Len(), n)
	}
}

// TestStackBytes bounds what a stack takes while a recording is read, in bytes: a node, and a part of the table.
func TestStackBytes(t *testing.T) {
	b := NewBuilder("")
	randomStacks(b, 1_000_000)
	s := &b.r.Stacks
	nodes := float64(len(s.blocks)*blockNodes) * float64(unsafe.Sizeof(stackNode{})) / float64(s.Len())
	table := float64(len(b.stacks.slots)) * float64(unsafe.Sizeof(stackSlot{})) / float64(s.Len())
	t.Logf("%d stacks: %.1f bytes of nodes and %.1f of the table for each", s.Len(), nodes, table)
	if nodes > 12.5 || table > 8/0.375 {
		t.Errorf("%.1f bytes of nodes and %.1f of the table for each of %d stacks", nodes, table, s.Len())
	}
}
