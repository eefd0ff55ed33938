package perffiletest

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"

	"profdiff/internal/perffile"
)

// A Spec says what a synthetic recording holds. Zero fields get a default.
type Spec struct {
	Seed      uint64
	Pipe      bool // in the format of perf record -o -
	Samples   int  // exactly; default 1000
	Processes int  // at the start; default 4
	Threads   int  // of each process; default 4
	DSOs      int  // mapped by every process; default 8
	Stacks    int  // distinct call chains; default 500
	Depth     int  // frames of the deepest user stack; default 24
	CPUs      int  // default 4
	// RoundSamples is the number of samples of one CPU between two FINISHED_ROUND
	// records. Within a round the samples of a CPU are together, so that times go
	// back from CPU to CPU. Default 100.
	RoundSamples int
	// Churn is the number of samples between changes: a process maps a file,
	// renames a thread, starts or ends a thread, or starts or ends a process. 0 is
	// none.
	Churn int
}

func (s Spec) withDefaults() Spec {
	s.Samples = cmp.Or(s.Samples, 1000)
	s.Processes = cmp.Or(s.Processes, 4)
	s.Threads = cmp.Or(s.Threads, 4)
	s.DSOs = cmp.Or(s.DSOs, 8)
	s.Stacks = cmp.Or(s.Stacks, 500)
	s.Depth = cmp.Or(s.Depth, 24)
	s.CPUs = cmp.Or(s.CPUs, 4)
	s.RoundSamples = cmp.Or(s.RoundSamples, 100)
	return s
}

func (s Spec) check() error {
	for _, f := range []struct {
		name string
		n    int
	}{
		{"samples", s.Samples},
		{"processes", s.Processes},
		{"threads", s.Threads},
		{"DSOs", s.DSOs},
		{"stacks", s.Stacks},
		{"depth", s.Depth},
		{"CPUs", s.CPUs},
		{"samples a round", s.RoundSamples},
		{"churn", s.Churn + 1},
	} {
		if f.n <= 0 {
			return fmt.Errorf("number of %s: %d", f.name, f.n)
		}
	}
	if s.Depth > 4000 {
		return fmt.Errorf("depth %d does not fit into a record", s.Depth)
	}
	return nil
}

// Generate writes a recording of the cycles event with call chains. It is a function
// of spec, is written as it is made, and needs memory for one round only.
func Generate(w io.Writer, spec Spec) error {
	spec = spec.withDefaults()
	if err := spec.check(); err != nil {
		return fmt.Errorf("synthetic recording: %w", err)
	}
	size := int64(0)
	if !spec.Pipe {
		// The header has the size of the data.
		var n counter
		if err := newGenerator(&n, spec).data(); err != nil {
			return err
		}
		size = int64(n)
	}
	b := bufio.NewWriterSize(w, 1<<20)
	g := newGenerator(b, spec)
	g.head(size)
	if err := g.data(); err != nil {
		return err
	}
	if !spec.Pipe {
		g.features(genDataOffset + size)
	}
	g.flush()
	if g.err != nil {
		return g.err
	}
	return b.Flush()
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// Layout of the files that Generate writes.
const (
	genAttrSize   = 136
	genIDsOffset  = 104
	genDataOffset = genIDsOffset + 8 + genAttrSize + 16
	genID         = 17 // of the event

	genSampleType = perffile.SampleIdentifier | perffile.SampleIP | perffile.SampleTID | perffile.SampleTime |
		perffile.SampleCPU | perffile.SamplePeriod | perffile.SampleCallchain
	genFlags = perffile.FlagInherit | perffile.FlagMmap | perffile.FlagComm | perffile.FlagFreq | perffile.FlagTask |
		perffile.FlagSampleIDAll | perffile.FlagMmap2 | perffile.FlagCommExec
)

// genDSOSize is how much code each DSO maps.
const genDSOSize = 1 << 20

// genKernel is where the kernel is.
const genKernel = 0xffffffff81000000

type generator struct {
	Spec
	w      io.Writer
	err    error
	rng    *rand.Rand
	buf    []byte // of the item being made
	time   uint64
	stacks []genStack
	procs  []*genProcess
	nextID int32
	dsos   []string
	rounds [2][][]byte // records of this round and the next, by CPU
}

type genFrame struct {
	dso    int
	offset uint64
}

type genStack struct {
	kernel []uint64
	user   []genFrame // leaf first
}

type genProcess struct {
	pid     int32
	threads []int32
	base    []uint64 // of each DSO
}

func newGenerator(w io.Writer, spec Spec) *generator {
	g := &generator{
		Spec: spec, w: w, time: 1e9, nextID: 1000,
		rng: rand.New(rand.NewPCG(spec.Seed, 0x70657266)),
	}
	for i := range g.DSOs {
		name := fmt.Sprintf("/usr/lib/libgen%d.so", i)
		if i == 0 {
			name = "/usr/bin/gen"
		}
		g.dsos = append(g.dsos, name)
	}
	for len(g.stacks) < g.Stacks {
		g.stacks = append(g.stacks, g.newStack())
	}
	for i := range g.rounds {
		g.rounds[i] = make([][]byte, g.CPUs)
	}
	return g
}

// newStack shares its outer frames with an earlier stack, as stacks do.
func (g *generator) newStack() genStack {
	var s genStack
	depth := 1 + g.rng.IntN(g.Depth)
	if n := len(g.stacks); n > 0 {
		other := g.stacks[g.rng.IntN(n)].user
		keep := min(g.rng.IntN(len(other)+1), depth-1)
		s.user = append(s.user, make([]genFrame, depth-keep)...)
		s.user = append(s.user, other[len(other)-keep:]...)
		depth -= keep
	} else {
		s.user = make([]genFrame, depth)
	}
	for i := range depth {
		s.user[i] = genFrame{g.rng.IntN(g.DSOs), uint64(g.rng.IntN(genDSOSize/16)) * 16}
	}
	if g.rng.IntN(4) == 0 {
		for range 1 + g.rng.IntN(8) {
			s.kernel = append(s.kernel, genKernel+uint64(g.rng.IntN(1<<20))*16)
		}
	}
	return s
}

func (g *generator) u16(v uint16) { g.buf = binary.LittleEndian.AppendUint16(g.buf, v) }
func (g *generator) u32(v uint32) { g.buf = binary.LittleEndian.AppendUint32(g.buf, v) }
func (g *generator) u64(v uint64) { g.buf = binary.LittleEndian.AppendUint64(g.buf, v) }

func (g *generator) padded(s string, align int) {
	g.buf = append(g.buf, s...)
	g.buf = append(g.buf, make([]byte, align-len(s)%align)...)
}

func (g *generator) flush() {
	if g.err == nil {
		_, g.err = g.w.Write(g.buf)
	}
	g.buf = g.buf[:0]
}

// attr is struct perf_event_attr of the cycles event.
func (g *generator) attr() {
	end := len(g.buf) + genAttrSize
	g.u32(uint32(perffile.TypeHardware))
	g.u32(genAttrSize)
	g.u64(0)    // config
	g.u64(4000) // Hz
	g.u64(uint64(genSampleType))
	g.u64(uint64(perffile.ReadID))
	g.u64(uint64(genFlags))
	g.buf = append(g.buf, make([]byte, end-len(g.buf))...)
}

// head writes what precedes the data.
func (g *generator) head(dataSize int64) {
	g.buf = append(g.buf, "PERFILE2"...)
	if g.Pipe {
		g.u64(16)
		at := g.begin(perffile.RecordHeaderAttr, 0)
		g.attr()
		g.u64(genID)
		g.end(at)
		g.flush()
		return
	}
	g.u64(104)
	g.u64(genAttrSize + 16)
	for _, v := range []uint64{genIDsOffset + 8, genAttrSize + 16, genDataOffset, uint64(dataSize), 0, 0} {
		g.u64(v)
	}
	var bits [4]uint64
	for _, f := range genFeatures {
		bits[f/64] |= 1 << (f % 64)
	}
	for _, v := range bits {
		g.u64(v)
	}
	g.u64(genID)
	g.attr()
	g.u64(genIDsOffset)
	g.u64(8)
	g.flush()
}

var genFeatures = []perffile.Feature{
	perffile.FeatureHostname, perffile.FeatureOSRelease, perffile.FeatureArch,
	perffile.FeatureNrCPUs, perffile.FeatureCmdline,
}

// features writes the table of features and the features at off.
func (g *generator) features(off int64) {
	headerString := func(s string) {
		g.u32(uint32(len(s)/64*64 + 64))
		g.padded(s, 64)
	}
	end := []int{0}
	for _, f := range genFeatures {
		switch f {
		case perffile.FeatureHostname:
			headerString("generated")
		case perffile.FeatureOSRelease:
			headerString("6.12.0")
		case perffile.FeatureArch:
			headerString("x86_64")
		case perffile.FeatureNrCPUs:
			g.u32(uint32(g.CPUs))
			g.u32(uint32(g.CPUs))
		case perffile.FeatureCmdline:
			g.u32(2)
			headerString("perf")
			headerString("record")
		}
		end = append(end, len(g.buf))
	}
	contents := g.buf
	g.buf = nil
	off += int64(16 * len(genFeatures))
	for i := range genFeatures {
		g.u64(uint64(off + int64(end[i])))
		g.u64(uint64(end[i+1] - end[i]))
	}
	g.buf = append(g.buf, contents...)
	g.flush()
}

// begin starts a record.
func (g *generator) begin(t perffile.RecordType, misc perffile.Misc) (at int) {
	at = len(g.buf)
	g.u32(uint32(t))
	g.u16(uint16(misc))
	g.u16(0)
	return at
}

func (g *generator) end(at int) {
	binary.LittleEndian.PutUint16(g.buf[at+6:], uint16(len(g.buf)-at))
}

// endWithID ends a record with its sample_id.
func (g *generator) endWithID(at int, pid, tid int32, time uint64, cpu int) {
	g.u32(uint32(pid))
	g.u32(uint32(tid))
	g.u64(time)
	g.u32(uint32(cpu))
	g.u32(0)
	g.u64(genID)
	g.end(at)
}

func (g *generator) comm(misc perffile.Misc, pid, tid int32, name string, time uint64, cpu int) {
	at := g.begin(perffile.RecordComm, misc)
	g.u32(uint32(pid))
	g.u32(uint32(tid))
	g.padded(name, 8)
	g.endWithID(at, pid, tid, time, cpu)
}

func (g *generator) mmap(p *genProcess, dso int, time uint64, cpu int) {
	at := g.begin(perffile.RecordMmap2, perffile.CPUModeUser)
	g.u32(uint32(p.pid))
	g.u32(uint32(p.pid))
	g.u64(p.base[dso])
	g.u64(genDSOSize)
	g.u64(0) // page offset
	g.u32(8) // device
	g.u32(1)
	g.u64(uint64(100 + dso)) // inode
	g.u64(0)
	g.u32(5) // PROT_READ | PROT_EXEC
	g.u32(2) // MAP_PRIVATE
	g.padded(g.dsos[dso], 8)
	g.endWithID(at, p.pid, p.pid, time, cpu)
}

func (g *generator) task(t perffile.RecordType, pid, ppid, tid, ptid int32, time uint64, cpu int) {
	at := g.begin(t, 0)
	for _, v := range []int32{pid, ppid, tid, ptid} {
		g.u32(uint32(v))
	}
	g.u64(time)
	g.endWithID(at, ppid, ptid, time, cpu)
}

// base is an address for a DSO, at random within what the DSO has for itself.
func (g *generator) base(start uint64, dso int) uint64 {
	return start + uint64(dso)<<28 + uint64(g.rng.IntN(1<<15))<<12
}

// process makes a process with its mappings.
func (g *generator) process(time uint64, cpu int) *genProcess {
	g.nextID++
	p := &genProcess{pid: g.nextID, threads: []int32{g.nextID}}
	for i := range g.DSOs {
		p.base = append(p.base, g.base(0x7f0000000000, i))
	}
	g.comm(perffile.MiscCommExec, p.pid, p.pid, fmt.Sprintf("gen%d", p.pid), time, cpu)
	for i := range g.DSOs {
		g.mmap(p, i, time, cpu)
	}
	g.procs = append(g.procs, p)
	return p
}

func (g *generator) thread(p *genProcess, time uint64, cpu int) {
	g.nextID++
	g.task(perffile.RecordFork, p.pid, p.pid, g.nextID, p.pid, time, cpu)
	g.comm(0, p.pid, g.nextID, fmt.Sprintf("worker%d", len(p.threads)), time, cpu)
	p.threads = append(p.threads, g.nextID)
}

// data writes the data section.
func (g *generator) data() error {
	at := g.begin(perffile.RecordMmap, perffile.CPUModeKernel)
	kernelPID := int32(-1)
	g.u32(uint32(kernelPID))
	g.u32(0)
	g.u64(genKernel)
	g.u64(1 << 24)
	g.u64(genKernel)
	g.padded("[kernel.kallsyms]_text", 8)
	g.endWithID(at, 0, 0, 0, 0)
	for range g.Processes {
		p := g.process(0, 0)
		for range g.Threads - 1 {
			g.thread(p, 0, 0)
		}
	}
	g.flush()
	sinceChurn := 0
	for done := 0; done < g.Samples && g.err == nil; {
		n := min(g.Samples-done, g.CPUs*g.RoundSamples)
		late := n - n/8 // samples from here on may reach the file a round later
		delayed := g.rng.IntN(g.CPUs + 1)
		for i := range n {
			g.time += 1 + uint64(g.rng.IntN(250_000/g.CPUs+1))
			cpu := g.rng.IntN(g.CPUs)
			if sinceChurn++; g.Churn > 0 && sinceChurn >= g.Churn {
				sinceChurn = 0
				g.change(cpu)
				g.time++
			}
			g.sample(cpu)
			round := 0
			if i >= late && cpu < delayed && done+n < g.Samples {
				round = 1
			}
			if len(g.rounds[1][cpu]) > 0 {
				round = 1 // a CPU's records stay in order
			}
			g.rounds[round][cpu] = append(g.rounds[round][cpu], g.buf...)
			g.buf = g.buf[:0]
		}
		done += n
		for cpu, b := range g.rounds[0] {
			g.buf = append(g.buf, b...)
			g.rounds[0][cpu] = b[:0]
		}
		g.rounds[0], g.rounds[1] = g.rounds[1], g.rounds[0]
		g.end(g.begin(perffile.RecordFinishedRound, 0))
		g.flush()
	}
	return g.err
}

// sample makes a SAMPLE record.
func (g *generator) sample(cpu int) {
	p := g.procs[g.rng.IntN(len(g.procs))]
	tid := p.threads[g.rng.IntN(len(p.threads))]
	// Few stacks are hot: the minimum of two is twice as likely near zero.
	s := &g.stacks[min(g.rng.IntN(len(g.stacks)), g.rng.IntN(len(g.stacks)))]
	misc := perffile.CPUModeUser
	ip := p.base[s.user[0].dso] + s.user[0].offset
	n := 1 + len(s.user)
	if len(s.kernel) > 0 {
		misc = perffile.CPUModeKernel
		ip = s.kernel[0]
		n += 1 + len(s.kernel)
	}
	at := g.begin(perffile.RecordSample, misc)
	g.u64(genID)
	g.u64(ip)
	g.u32(uint32(p.pid))
	g.u32(uint32(tid))
	g.u64(g.time)
	g.u32(uint32(cpu))
	g.u32(0)
	g.u64(1 + uint64(g.rng.IntN(1_000_000)))
	g.u64(uint64(n))
	if len(s.kernel) > 0 {
		g.u64(perffile.ContextKernel)
		for _, ip := range s.kernel {
			g.u64(ip)
		}
	}
	g.u64(perffile.ContextUser)
	for _, f := range s.user {
		g.u64(p.base[f.dso] + f.offset)
	}
	g.end(at)
}

// change makes the records of one change to the processes.
func (g *generator) change(cpu int) {
	i := g.rng.IntN(len(g.procs))
	p := g.procs[i]
	switch kind := g.rng.IntN(6); {
	case kind == 0: // a DSO is mapped elsewhere
		dso := g.rng.IntN(g.DSOs)
		p.base[dso] = g.base(0x7e0000000000, dso)
		g.mmap(p, dso, g.time, cpu)
	case kind == 1:
		tid := p.threads[g.rng.IntN(len(p.threads))]
		g.comm(0, p.pid, tid, fmt.Sprintf("name%d", g.rng.IntN(1000)), g.time, cpu)
	case kind == 2:
		g.thread(p, g.time, cpu)
	case kind == 3 && len(p.threads) > 1:
		last := len(p.threads) - 1
		g.task(perffile.RecordExit, p.pid, p.pid, p.threads[last], p.pid, g.time, cpu)
		p.threads = p.threads[:last]
	case kind == 4 && len(g.procs) > 1:
		for _, tid := range p.threads {
			g.task(perffile.RecordExit, p.pid, p.pid, tid, tid, g.time, cpu)
		}
		g.procs = append(g.procs[:i:i], g.procs[i+1:]...)
	default:
		g.task(perffile.RecordFork, g.nextID+1, p.pid, g.nextID+1, p.pid, g.time, cpu)
		child := g.process(g.time, cpu)
		for range g.rng.IntN(g.Threads) {
			g.thread(child, g.time, cpu)
		}
	}
}
