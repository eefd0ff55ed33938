package main

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// layers is how deep stacks get.
const layers = 22

// least is the layer from which on functions are leaves.
const least = 4

// A function of the program.
type function struct {
	name, module, file string
	mapping            int // index of the module
	address            uint64
	layer              int
	callers            []int // of the layer above, none in the first
}

// A program is functions, and stacks through them.
type program struct {
	functions []function
	modules   []string
	costs     []float64 // by function, what it costs itself on a device that is like the average; the sum is 1
	stacks    [][]int   // functions, leaf first
	paths     [][]int   // by function, the stacks that it is the leaf of
}

// threadNames are the names of threads, which are functions of the first layer.
var threadNames = []string{"main", "RenderThread", "Binder:1", "HeapTaskDaemon", "decoder", "worker-0", "worker-1", "network"}

var (
	verbs = []string{
		"Acquire", "Apply", "Blend", "Build", "Cache", "Clip", "Collect", "Commit", "Compile", "Copy", "Decode", "Dispatch",
		"Draw", "Encode", "Enqueue", "Expand", "Fetch", "Filter", "Flush", "Format", "Hash", "Insert", "Intern", "Layout", "Load",
		"Lock", "Lookup", "Map", "Mark", "Measure", "Merge", "Notify", "Parse", "Poll", "Prepare", "Raster", "Read", "Release",
		"Resolve", "Scan", "Schedule", "Send", "Sort", "Split", "Sweep", "Trace", "Update", "Validate", "Visit", "Write",
	}
	nouns = []string{
		"Animation", "Arena", "Atlas", "Binding", "Bitmap", "Block", "Buffer", "Bundle", "Channel", "Class", "Clip", "Codec", "Column",
		"Cookie", "Cursor", "Display", "Document", "Event", "Fence", "Field", "Font", "Frame", "Glyph", "Graph", "Handle", "Heap",
		"Image", "Index", "Input", "Intent", "Layer", "List", "Map", "Message", "Method", "Node", "Object", "Packet", "Page", "Paint",
		"Parcel", "Path", "Pixel", "Queue", "Record", "Region", "Request", "Response", "Row", "Scene", "Segment", "Session", "Shader",
		"Stream", "String", "Surface", "Table", "Task", "Text", "Texture", "Token", "Tree", "Value", "Vector", "View", "Window",
	}
	libraries = []string{
		"libapp.so", "libart.so", "libhwui.so", "libc.so", "libbinder.so", "libgui.so", "libskia.so", "libsqlite.so", "libssl.so", "libmedia.so",
		"libvulkan.so", "libicuuc.so", "libjpeg.so", "libz.so", "libprotobuf.so", "libinput.so", "libnet.so", "libjson.so", "libaudio.so", "libutils.so",
	}
)

// newProgram draws the functions, who calls whom, and stacks.
func newProgram(s *settings) *program {
	rng := rand.New(rand.NewPCG(s.seed, 1))
	p := &program{modules: libraries, functions: make([]function, s.functions)}
	byLayer := make([][]int, layers)
	for i := range p.functions {
		layer := 0
		if i >= len(threadNames) {
			// One of each layer first, so that none is empty; then more in the deep ones.
			layer = 1 + (i-len(threadNames))%(layers-1)
			if i >= len(threadNames)+layers-1 {
				layer = 1 + int(math.Pow(rng.Float64(), 0.4)*(layers-1))
			}
		}
		p.functions[i] = p.newFunction(rng, i, layer)
		byLayer[layer] = append(byLayer[layer], i)
	}
	for i := range p.functions {
		f := &p.functions[i]
		if f.layer == 0 {
			continue
		}
		above := byLayer[f.layer-1]
		for range 1 + rng.IntN(3) {
			f.callers = append(f.callers, above[int(float64(len(above))*math.Pow(rng.Float64(), 3))])
		}
	}

	// What a function costs falls with its rank as in Zipf's law, and flatter at the top.
	p.costs, p.paths = make([]float64, s.functions), make([][]int, s.functions)
	cumulative := make([]float64, s.functions)
	sum := 0.0
	for rank, i := range rng.Perm(s.functions) {
		if p.functions[i].layer >= least {
			p.costs[i] = math.Pow(float64(rank)+15, -1.5)
		}
	}
	for i, cost := range p.costs {
		sum += math.Sqrt(cost)
		cumulative[i] = sum
	}
	for i := range cumulative {
		cumulative[i] /= sum
	}
	// What costs much is reached by more ways.
	seen := make(map[string]bool, s.stacks)
	for tries := 0; len(p.stacks) < s.stacks && tries < 50*s.stacks; tries++ {
		stack := p.walk(rng, search(cumulative, rng.Float64()))
		key := fmt.Sprint(stack)
		if seen[key] {
			continue
		}
		seen[key] = true
		p.paths[stack[0]] = append(p.paths[stack[0]], len(p.stacks))
		p.stacks = append(p.stacks, stack)
	}
	sum = 0
	for i := range p.costs {
		if len(p.paths[i]) == 0 {
			p.costs[i] = 0
		}
		sum += p.costs[i]
	}
	for i := range p.costs {
		p.costs[i] /= sum
	}
	return p
}

// newFunction draws the name and the place of a function. Names differ by the number, in words: digits at
// the end of a name would be taken for the number of a clone.
func (p *program) newFunction(rng *rand.Rand, i, layer int) function {
	mapping := rng.IntN(len(p.modules))
	space := nouns[(mapping*7)%len(nouns)]
	class := nouns[i%len(nouns)] + nouns[i/len(nouns)%len(nouns)]
	verb := verbs[rng.IntN(len(verbs))]
	name := fmt.Sprintf("%s::%s::%s%s", space, class, verb, nouns[mapping%len(nouns)])
	if i < len(threadNames) {
		name = "thread_" + space + "_" + nouns[i]
	} else if i >= len(nouns)*len(nouns) {
		name = verbs[i/len(nouns)/len(nouns)%len(verbs)] + "::" + name
	}
	return function{
		name: name, module: p.modules[mapping], file: fmt.Sprintf("%s/%s.cc", space, nouns[i%len(nouns)]),
		mapping: mapping, address: 0x1000 + uint64(i)*0x140, layer: layer,
	}
}

// walk is a stack from a leaf to a thread.
func (p *program) walk(rng *rand.Rand, leaf int) []int {
	stack := []int{leaf}
	for f := &p.functions[leaf]; len(f.callers) > 0; {
		caller := f.callers[rng.IntN(len(f.callers))]
		stack = append(stack, caller)
		f = &p.functions[caller]
	}
	return stack
}

// search is the index of the first of the cumulative values that is above x.
func search(cumulative []float64, x float64) int {
	low, high := 0, len(cumulative)-1
	for low < high {
		if middle := (low + high) / 2; cumulative[middle] > x {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}
