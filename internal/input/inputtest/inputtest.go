// Package inputtest makes inputs that are to do harm, for tests: small files that cost much to
// read.
//
//  1. [Storms] are inputs of which a part of a program could take memory or time that grows
//     faster than the input: each is made in any size.
//  2. Each is written as the recorders write their files, byte by byte, so that nothing that is
//     tested helps to make it.
package inputtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"profdiff/internal/perffile"
)

// A Storm is an input of any size that costs more than it should if it is read without care.
type Storm struct {
	Name string
	// N is the size at which the cost was noticed first, of what Make is given a number.
	N    int
	Make func(n int) []byte
}

// Storms are the known ones.
var Storms = []Storm{
	{"forks", 20_000, Forks},
	{"mmaps", 200_000, Mmaps},
	{"processes", 300_000, Processes},
	{"stack", 1_000_000, FoldedStack},
	{"functions", 500_000, func(n int) []byte { return FoldedFunctions(n, 0) }},
	{"gecko", 60_000, Gecko},
}

// recording writes a perf.data file with one event, whose samples have an address, a thread and a
// time.
type recording struct{ buf []byte }

func (r *recording) u16(v uint16) { r.buf = binary.LittleEndian.AppendUint16(r.buf, v) }
func (r *recording) u32(v uint32) { r.buf = binary.LittleEndian.AppendUint32(r.buf, v) }
func (r *recording) u64(v uint64) { r.buf = binary.LittleEndian.AppendUint64(r.buf, v) }

const (
	headerSize = 104
	attrSize   = 64
)

// newRecording starts a file in the form of PERF_FILE_MAGIC2 (tools/perf/Documentation/perf.data-file-format.txt).
func newRecording() *recording {
	r := &recording{}
	r.buf = append(r.buf, "PERFILE2"...)
	r.u64(headerSize)
	r.u64(attrSize + 16)
	for _, v := range []uint64{headerSize, attrSize + 16, headerSize + attrSize + 16, 0 /* see done */, 0, 0, 0, 0, 0, 0} {
		r.u64(v)
	}
	r.u32(uint32(perffile.TypeHardware))
	r.u32(attrSize)
	r.u64(0)    // cycles
	r.u64(1000) // period
	r.u64(uint64(perffile.SampleIP | perffile.SampleTID | perffile.SampleTime))
	r.u64(0) // read format
	r.u64(uint64(perffile.FlagMmap | perffile.FlagComm | perffile.FlagTask))
	r.u64(0) // wakeup and breakpoint
	r.u64(0)
	r.u64(0) // no IDs
	r.u64(0)
	return r
}

// record adds a record whose body is padded to 8 bytes.
func (r *recording) record(t perffile.RecordType, misc perffile.Misc, body func()) {
	at := len(r.buf)
	r.u32(uint32(t))
	r.u16(uint16(misc))
	r.u16(0)
	body()
	for (len(r.buf)-at)%8 != 0 {
		r.buf = append(r.buf, 0)
	}
	binary.LittleEndian.PutUint16(r.buf[at+6:], uint16(len(r.buf)-at))
}

func (r *recording) mmap(pid uint32, start, size uint64, file string) {
	r.record(perffile.RecordMmap, perffile.CPUModeUser, func() {
		r.u32(pid)
		r.u32(pid)
		r.u64(start)
		r.u64(size)
		r.u64(0)
		r.buf = append(append(r.buf, file...), 0)
	})
}

func (r *recording) fork(pid, parent uint32) {
	r.record(perffile.RecordFork, 0, func() {
		for _, v := range []uint32{pid, parent, pid, parent} {
			r.u32(v)
		}
		r.u64(0)
	})
}

func (r *recording) comm(pid uint32, name string) {
	r.record(perffile.RecordComm, 0, func() {
		r.u32(pid)
		r.u32(pid)
		r.buf = append(append(r.buf, name...), 0)
	})
}

func (r *recording) sample(pid uint32, addr, time uint64) {
	r.record(perffile.RecordSample, perffile.CPUModeUser, func() {
		r.u64(addr)
		r.u32(pid)
		r.u32(pid)
		r.u64(time)
	})
}

// done completes the header.
func (r *recording) done() []byte {
	const data = headerSize + attrSize + 16
	binary.LittleEndian.PutUint64(r.buf[48:], uint64(len(r.buf)-data))
	return r.buf
}

// Forks is a perf.data file of a process with a quarter as many mappings as it has children, each
// of which maps one file more.
func Forks(n int) []byte {
	r := newRecording()
	for i := range n / 4 {
		r.mmap(1, uint64(i+1)<<16, 1<<12, fmt.Sprintf("/lib/l%d.so", i))
	}
	for i := range n {
		pid := uint32(2 + i)
		r.fork(pid, 1)
		r.mmap(pid, 1<<40, 1<<12, "/lib/own.so")
	}
	r.sample(uint32(n), 1<<40, 1)
	return r.done()
}

// Mmaps is a perf.data file of a process whose mappings come in an order in which each is far from the one before.
func Mmaps(n int) []byte {
	r := newRecording()
	for i := range n {
		at := uint64(i) * 0x9e3779b97f4a7c15 >> 24
		r.mmap(1, at<<12, 1<<12, fmt.Sprintf("/usr/lib/scattered/library-%d.so", i))
	}
	r.sample(1, 1<<16, 1)
	return r.done()
}

// Processes is a perf.data file of many processes of one sample each.
func Processes(n int) []byte {
	r := newRecording()
	for i := range n {
		pid := uint32(1 + i)
		r.comm(pid, fmt.Sprintf("p%d", i))
		r.sample(pid, uint64(i)<<12, uint64(1+i))
	}
	return r.done()
}

// FoldedStack is one folded stack of so many functions.
func FoldedStack(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "f%x;", i)
	}
	b.WriteString("leaf 1\n")
	return b.Bytes()
}

// FoldedFunctions are folded stacks of so many functions, each in one stack of its own; those of
// two numbers of generation share none.
func FoldedFunctions(n, generation int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "main;module%d::function_%d_of_generation_%d %d\n", i%97, i, generation, 1+i%13)
	}
	return b.Bytes()
}

// Gecko is a processed profile of the Firefox Profiler whose stacks are one chain of calls, with a
// sample at each depth.
func Gecko(n int) []byte {
	var b bytes.Buffer
	list := func(name string, n int, value func(i int) any) {
		fmt.Fprintf(&b, "%q:[", name)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprint(&b, value(i))
		}
		b.WriteString("],")
	}
	b.WriteString(`{"meta":{"product":"deep"},"libs":[],"threads":[{"name":"main","pid":1,"tid":1,"samples":{`)
	list("stack", n, func(i int) any { return i })
	fmt.Fprintf(&b, `"length":%d},"stackTable":{`, n)
	list("prefix", n, func(i int) any {
		if i == 0 {
			return "null"
		}
		return i - 1
	})
	list("frame", n, func(i int) any { return i % 1000 })
	fmt.Fprintf(&b, `"length":%d},"frameTable":{`, n)
	list("func", 1000, func(i int) any { return i })
	b.WriteString(`"length":1000},"funcTable":{`)
	list("name", 1000, func(i int) any { return i })
	b.WriteString(`"length":1000},`)
	list("stringArray", 1000, func(i int) any { return fmt.Sprintf("\"f%d\"", i) })
	b.Truncate(b.Len() - 1)
	b.WriteString("}]}\n")
	return b.Bytes()
}

// Bomb is folded stacks of so many bytes, compressed by zstd.
func Bomb(size int) []byte {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	line := bytes.Repeat([]byte("main;a 1\n"), 1<<16)
	for n := 0; n < size; n += len(line) {
		_, _ = z.Write(line) // to memory
	}
	_ = z.Close()
	return b.Bytes()
}

// PageBomb is a report with a block that inflates to so many bytes.
func PageBomb(size int) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	zeros := bytes.Repeat([]byte("0,"), 1<<16)
	_, _ = z.Write([]byte("["))
	for n := 0; n < size; n += len(zeros) {
		_, _ = z.Write(zeros) // to memory
	}
	_ = z.Close()
	// A report has the start of a digest of its blocks, so that nothing is read of what was changed.
	id := sha256.New()
	for _, name := range []string{"names", "event0"} {
		id.Write([]byte(name))
		id.Write(b.Bytes())
	}
	block := base64.StdEncoding.EncodeToString(b.Bytes())
	return []byte(`<!DOCTYPE html><html><head><title>x</title></head><body><script type="application/json" id="meta">{"schema":"profdiff.report/v1","id":"` +
		hex.EncodeToString(id.Sum(nil)[:4]) + `","blocks":["names","event0"],"events":[{}]}</script>` +
		`<script type="application/octet-stream" id="names">` + block + `</script><script type="application/octet-stream" id="event0">` + block + `</script></body></html>`)
}
