// Package reportsample reads what simpleperf report-sample writes, with --protobuf and as
// text. Records and fields follow simpleperf/cmd_report_sample.proto and cmd_report_sample.cpp.
//
//  1. Records are read one by one. A sample refers to files, symbols and threads by number,
//     which are named behind it: frames are interned by number, samples are tallied by thread
//     number.
//  2. Samples that say where a thread left the CPU are kept with the times of all other ones;
//     the time off the CPU follows from them when all are known.
//  3. At the end, locations get the names of their files and symbols, events and threads
//     theirs, and the tally goes into the Run.
//  4. The text has the same records: it is read into the same fields.
package reportsample

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// magic starts what simpleperf report-sample --protobuf writes; a version
// of two bytes follows.
const magic = "SIMPLEPERF"

const version = 1

// Field numbers of the messages in simpleperf/cmd_report_sample.proto.
const (
	recordSample        = 1
	recordLost          = 2
	recordFile          = 3
	recordThread        = 4
	recordMetaInfo      = 5
	recordContextSwitch = 6

	reportTime            = 1
	reportThreadID        = 2
	reportCallchain       = 3
	reportEventCount      = 4
	reportEventTypeID     = 5
	reportUnwindingResult = 6

	entryVaddr    = 1
	entryFileID   = 2
	entrySymbolID = 3

	unwindingErrorCode = 3

	lostSampleCount = 1
	lostLostCount   = 2

	fileID            = 1
	filePath          = 2
	fileSymbol        = 3
	fileMangledSymbol = 4

	threadID        = 1
	threadProcessID = 2
	threadName      = 3

	metaEventType   = 1
	metaAppPackage  = 2
	metaSDK         = 4
	metaTraceOffCPU = 6

	switchOn       = 1
	switchTime     = 2
	switchThreadID = 3
)

// Read reads what simpleperf report-sample --protobuf writes: records of
// which each is a message behind its size in four bytes, the last of size 0. Names of
// files, symbols and threads come after the samples that refer to them.
func Read(src *input.Source, opt *reading.Options) (*run.Run, error) {
	r := newReader(src, opt)
	err := r.records()
	if errors.Is(err, io.ErrUnexpectedEOF) && opt.AllowTruncated {
		r.truncated = true
		r.warn("file is incomplete: " + err.Error())
		err = nil
	}
	if err == nil {
		err = r.finish()
	}
	if err != nil {
		return nil, err
	}
	return r.b.Finish()
}

func newReader(src *input.Source, opt *reading.Options) *reader {
	r := &reader{
		src: src, opt: opt, b: run.NewBuilder(src.Name), tally: reading.NewTally(),
		files: make(map[uint32]*file), locations: make(map[frame]uint32),
		threads: make(map[int32]thread), waiting: make(map[int32]run.ThreadID), gaps: make(map[int32]*rootRuns),
		first: math.MaxUint64,
	}
	r.b.Run().Recording.Format = "report-sample"
	r.tally.Timed = opt.Timeline
	return r
}

type reader struct {
	src       *input.Source
	opt       *reading.Options
	b         *run.Builder
	tally     *reading.Tally // by event_type_id
	off       int64
	truncated bool

	files     map[uint32]*file
	frames    []frame // by location of the run, none of which come from elsewhere
	locations map[frame]uint32
	recent    reading.Recent // of locations
	threads   map[int32]thread
	gaps      map[int32]*rootRuns
	offCPU    offCPU
	waiting   map[int32]run.ThreadID // threads with waits
	stack     []uint32               // of the current sample, leaf first

	hasMeta     bool
	events      []string
	traceOffCPU bool
	hasLost     bool
	sampleCount uint64
	lostCount   uint64
	samples     int64
	maxEvent    uint32
	deepest     int
	first, last uint64
}

// frame is a frame as a sample has it.
type frame struct {
	file   uint32
	symbol int32 // -1 is unknown
	vaddr  uint64
}

type file struct {
	mapping          uint32
	known            bool // its record has been read
	path             string
	symbols, mangled []string
}

type thread struct {
	pid  int32
	name string
}

func (r *reader) warn(s string) {
	r.b.Run().Warnings = append(r.b.Run().Warnings, s)
}

// records reads all records.
func (r *reader) records() error {
	head := make([]byte, len(magic)+2)
	if err := r.read(head); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if string(head[:len(magic)]) != magic {
		return errors.New("header: does not start with " + magic)
	}
	if v := binary.LittleEndian.Uint16(head[len(magic):]); v != version {
		return fmt.Errorf("header: version %d is not supported", v)
	}
	var buf []byte
	for n := 0; ; n++ {
		at := r.off
		fail := func(err error) error { return fmt.Errorf("record %d at %#x: %w", n, at, err) }
		var size [4]byte
		if err := r.read(size[:]); err != nil {
			return fail(err)
		}
		length := binary.LittleEndian.Uint32(size[:])
		if length == 0 {
			return nil
		}
		var err error
		if buf, err = r.message(buf[:0], int64(length)); err != nil {
			return fail(err)
		}
		c := input.NewFields(buf, r.off-int64(len(buf)))
		if err := r.record(&c); err != nil {
			return fail(err)
		}
	}
}

// read fills p.
func (r *reader) read(p []byte) error {
	n, err := io.ReadFull(r.src.Reader, p)
	r.off += int64(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("needs %d bytes, has %d: %w", len(p), n, io.ErrUnexpectedEOF)
	}
	return err
}

// message reads size bytes. Sizes that lie do not cost memory.
func (r *reader) message(buf []byte, size int64) ([]byte, error) {
	const chunk = 1 << 20
	for int64(len(buf)) < size {
		n := min(size-int64(len(buf)), chunk)
		at := len(buf)
		buf = append(buf, make([]byte, n)...)
		if err := r.read(buf[at:]); err != nil {
			return nil, fmt.Errorf("size is %d: %w", size, err)
		}
	}
	return buf, nil
}

func (r *reader) record(c *input.Fields) error {
	for c.Next() {
		var read func(*input.Fields)
		switch c.Num {
		case recordSample:
			read = r.sample
		case recordLost:
			read = r.lost
		case recordFile:
			read = r.file
		case recordThread:
			read = r.thread
		case recordMetaInfo:
			read = r.meta
		case recordContextSwitch:
			read = r.contextSwitch
		default:
			c.Skip() // of a later version
			continue
		}
		m := c.Message()
		read(&m)
		c.Take(m.Err)
	}
	return c.Err
}

func (r *reader) sample(c *input.Fields) {
	s := reported{Thread: reading.Thread{PID: -1, CPU: -1}}
	r.stack = r.stack[:0]
	for c.Next() {
		switch c.Num {
		case reportTime:
			s.time = c.Uint()
		case reportThreadID:
			s.TID = int64(int32(c.Uint()))
		case reportCallchain:
			e := c.Message()
			r.stack = append(r.stack, r.frame(&e))
			c.Take(e.Err)
		case reportEventCount:
			s.weight = c.Uint()
		case reportEventTypeID:
			s.event = uint32(c.Uint())
		case reportUnwindingResult:
			u := c.Message()
			s.truncated = unwindingFailed(&u)
			c.Take(u.Err)
		default:
			c.Skip()
		}
	}
	if s.event >= mostEventTypes {
		c.Fail(fmt.Errorf("event type %d", s.event))
	}
	if c.Err == nil {
		r.add(&s)
	}
}

// mostEventTypes is more than a recording can have.
const mostEventTypes = 1 << 16

func unwindingFailed(c *input.Fields) (failed bool) {
	for c.Next() {
		if c.Num == unwindingErrorCode {
			failed = c.Uint() != 0
		} else {
			c.Skip()
		}
	}
	return failed
}

// reported is a sample as a report has it. Its call chain is in reader.stack.
type reported struct {
	reading.Thread
	time, weight uint64
	event        uint32 // index in meta_info
	truncated    bool
}

// add adds one sample.
func (r *reader) add(s *reported) {
	r.samples++
	r.maxEvent = max(r.maxEvent, s.event)
	r.deepest = max(r.deepest, len(r.stack))
	r.first, r.last = min(r.first, s.time), max(r.last, s.time)
	if s.truncated {
		r.b.Run().Accounting.TruncatedStacks++
	}
	var stack run.StackID
	for i := len(r.stack) - 1; i >= 0; i-- {
		stack = r.b.Stack(stack, r.stack[i])
	}
	th := r.tally.Thread(s.Thread)
	r.tally.AddAt(int64(min(s.time, math.MaxInt64)), false, s.event, stack, th, int64(min(s.weight, math.MaxInt64)))
	root := uint32(reading.NoLocation)
	if len(r.stack) > 0 {
		root = r.stack[len(r.stack)-1]
	}
	r.root(int32(s.TID), root)
	if !r.hasMeta || r.traceOffCPU {
		t := tick{time: s.time, tid: int32(s.TID), thread: th, stack: stack}
		if s.event > 0 { // must match ReportLib::ProcessSampleRecord
			t.kind = leaveTick
		}
		r.offCPU.ticks = append(r.offCPU.ticks, t)
	}
}

// frame reads an entry of a call chain.
func (r *reader) frame(c *input.Fields) uint32 {
	f := frame{symbol: -1}
	for c.Next() {
		switch c.Num {
		case entryVaddr:
			f.vaddr = c.Uint()
		case entryFileID:
			f.file = uint32(c.Uint())
		case entrySymbolID:
			f.symbol = int32(c.Uint())
		default:
			c.Skip()
		}
	}
	if loc, ok := r.recent.Get(uint64(f.file), uint64(f.symbol), f.vaddr); ok {
		return loc
	}
	loc, ok := r.locations[f]
	if !ok {
		r.fileByID(f.file)
		loc = uint32(len(r.frames))
		r.locations[f] = loc
		r.frames = append(r.frames, f)
	}
	r.recent.Set(uint64(f.file), uint64(f.symbol), f.vaddr, loc)
	return loc
}

func (r *reader) fileByID(id uint32) *file {
	f, ok := r.files[id]
	if !ok {
		f = &file{mapping: r.b.Mapping(run.Mapping{Limit: math.MaxUint64})}
		r.files[id] = f
	}
	return f
}

func (r *reader) lost(c *input.Fields) {
	r.hasLost = true
	for c.Next() {
		switch c.Num {
		case lostSampleCount:
			r.sampleCount += c.Uint()
		case lostLostCount:
			r.lostCount += c.Uint()
		default:
			c.Skip()
		}
	}
}

func (r *reader) file(c *input.Fields) {
	var id uint32
	var path string
	var symbols, mangled []string
	for c.Next() {
		switch c.Num {
		case fileID:
			id = uint32(c.Uint())
		case filePath:
			path = input.Text(c.Bytes())
		case fileSymbol:
			symbols = append(symbols, input.Text(c.Bytes()))
		case fileMangledSymbol:
			mangled = append(mangled, input.Text(c.Bytes()))
		default:
			c.Skip()
		}
	}
	if c.Err != nil {
		return
	}
	f := r.fileByID(id)
	switch {
	case f.known:
		c.Fail(fmt.Errorf("file %d occurs twice", id))
	case len(mangled) > 0 && len(mangled) != len(symbols):
		c.Fail(fmt.Errorf("file %d has %d symbols and %d mangled symbols", id, len(symbols), len(mangled)))
	}
	f.known, f.path, f.symbols, f.mangled = true, path, symbols, mangled
}

func (r *reader) thread(c *input.Fields) {
	var tid, pid int32
	var name string
	for c.Next() {
		switch c.Num {
		case threadID:
			tid = int32(c.Uint())
		case threadProcessID:
			pid = int32(c.Uint())
		case threadName:
			name = input.Text(c.Bytes())
		default:
			c.Skip()
		}
	}
	if _, ok := r.threads[tid]; !ok {
		r.threads[tid] = thread{pid, name}
	}
}

func (r *reader) meta(c *input.Fields) {
	rec := &r.b.Run().Recording
	r.hasMeta = true
	for c.Next() {
		switch c.Num {
		case metaEventType:
			r.events = append(r.events, input.Text(c.Bytes()))
		case metaAppPackage:
			rec.App = input.Text(c.Bytes())
		case metaSDK:
			rec.SDK = input.Text(c.Bytes())
		case metaTraceOffCPU:
			r.traceOffCPU = c.Uint() != 0
		default:
			c.Skip()
		}
	}
}

func (r *reader) contextSwitch(c *input.Fields) {
	t := tick{kind: switchOnTick}
	on := false
	for c.Next() {
		switch c.Num {
		case switchOn:
			on = c.Uint() != 0
		case switchTime:
			t.time = c.Uint()
		case switchThreadID:
			t.tid = int32(c.Uint())
		default:
			c.Skip()
		}
	}
	if on {
		r.offCPU.ticks = append(r.offCPU.ticks, t)
	}
}

// Recognise tells a report by its magic word.
func Recognise(head input.Head) input.Evidence {
	return input.Evidence{Is: isReportSample(head)}
}

// isReportSample reports whether head starts what simpleperf report-sample --protobuf
// writes.
func isReportSample(head input.Head) bool { return bytes.HasPrefix(head, []byte(magic)) }
