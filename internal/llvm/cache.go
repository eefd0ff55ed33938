package llvm

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"
)

// cacheLimit is how many bytes of simulations are kept, roughly, and as many of lines. When it
// is passed all of them are dropped: a caller comes back to the same regions soon or never. Lines
// stay when simulations go, as the next region has the same, and each lookup starts a process.
const cacheLimit = 128 << 20

// cache keeps what llvm-mca said, by content. The zero value is ready to use.
type cache struct {
	mu          sync.Mutex
	simulations map[string]Simulation
	lines       map[string]lineInfo
	// bytes of each
	simulationSize, lineSize int
}

// regionKey is the content of a simulation.
func regionKey(tg target, opt Options, r *Region) string {
	h := sha256.New()
	write := func(s string) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	write(fmt.Sprintf("%+v %d %t %t %t %t", tg, opt.Iterations, opt.Timeline, opt.Pressure, opt.Bottleneck, r.Separate))
	for i := range opt.Repairs {
		write(opt.Repairs[i].Class)
	}
	for _, line := range r.Lines {
		write(line)
	}
	return string(h.Sum(nil))
}

func (c *cache) simulation(key string) (Simulation, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.simulations[key]
	return s, ok
}

func (c *cache) keep(key string, s Simulation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 512 + 20*len(s.Timeline) + 160*len(s.Instructions) + 48*len(s.Pressure)
	if c.simulationSize += n; c.simulationSize > cacheLimit {
		c.simulationSize, c.simulations = n, nil
	}
	if c.simulations == nil {
		c.simulations = make(map[string]Simulation)
	}
	c.simulations[key] = s
}

func (c *cache) line(key string) (lineInfo, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, ok := c.lines[key]
	return info, ok
}

func (c *cache) keepLine(key string, info lineInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 256 + 2*len(key)
	if c.lineSize += n; c.lineSize > cacheLimit {
		c.lineSize, c.lines = n, nil
	}
	if c.lines == nil {
		c.lines = make(map[string]lineInfo)
	}
	c.lines[key] = info
}
