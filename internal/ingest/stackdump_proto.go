package ingest

import (
	"bytes"
	"fmt"
	"io"

	"profdiff/internal/run"
)

// maxTombstone is the most bytes of a tombstone in protobuf: it is read as a whole, since
// its threads may stand before its process.
const maxTombstone = 64 << 20

// Field numbers of system/core/debuggerd/proto/tombstone.proto of AOSP.
const (
	tombstoneArch        = 1
	tombstoneFingerprint = 2
	tombstoneTimestamp   = 4
	tombstonePID         = 5
	tombstoneTID         = 6
	tombstoneCommandLine = 9
	tombstoneThreads     = 16
	tombstoneGuests      = 25

	mapValue = 2

	dumpThreadID        = 1
	dumpThreadName      = 2
	dumpThreadBacktrace = 4

	frameRelPC        = 1
	frameFunctionName = 4
	frameFileName     = 6
	frameMapOffset    = 7
	frameBuildID      = 8
)

// tombstoneFields are the wire types of the first fields of message Tombstone: v varint,
// b bytes, - none. Others are of later versions or of the maker of the device.
const tombstoneFields = "-vbbbvvvbbb---bbbbbbvbvvvbb"

// isTombstoneProto reports whether head starts with the fields of a tombstone that
// debuggerd always writes: the build, the time, the process and its thread.
func isTombstoneProto(head []byte) bool {
	c := protoCursor{data: head}
	seen := make(map[int]bool)
	for c.next() {
		if int(c.num) < len(tombstoneFields) {
			const varint, bytesType = 0, 2
			switch want := tombstoneFields[c.num]; {
			case want == 'v' && c.typ == varint:
			case want == 'b' && c.typ == bytesType:
			default:
				return false
			}
			seen[int(c.num)] = true
		}
		if c.num != tombstoneFingerprint {
			c.skip()
		} else if b := c.bytes(); c.err == nil && bytes.IndexByte(b, '/') < 0 {
			return false
		}
	}
	// A field that head cuts off is fine.
	return seen[tombstoneFingerprint] && seen[tombstoneTimestamp] && seen[tombstonePID] && seen[tombstoneTID] &&
		(c.err == nil || len(head) >= headSize)
}

// readTombstoneProto reads a tombstone in protobuf (/data/tombstones/tombstone_NN.pb, and
// what ApplicationExitInfo has of a native crash, from Android 12 on) as readStackDump
// reads its text.
func readTombstoneProto(src *source, opt *Options) (*run.Run, error) {
	data, err := io.ReadAll(io.LimitReader(src.Reader, maxTombstone+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxTombstone {
		return nil, fmt.Errorf("is longer than %d bytes", maxTombstone)
	}
	d := newStackDump(src, opt)
	defer d.names.close()
	c := protoCursor{data: data}
	d.tombstone(&c)
	if c.err != nil {
		return nil, fmt.Errorf("tombstone: %w", c.err)
	}
	return d.finish(tombstoneFormat)
}

// tombstone reads message Tombstone.
func (d *stackDump) tombstone(c *protoCursor) {
	threads := *c // once the process is known, whose fields may follow theirs
	arch := uint64(0)
	d.process.pid = 0
	for c.next() {
		switch c.num {
		case tombstoneArch:
			arch = c.uint()
		case tombstoneFingerprint:
			d.build.add(text(c.bytes()))
		case tombstoneTimestamp:
			d.time(c.bytes())
		case tombstonePID:
			d.process.pid = int64(uint32(c.uint()))
		case tombstoneCommandLine:
			if name := c.bytes(); d.process.name == "" {
				d.process.name = commandName(name)
			}
		default:
			c.skip()
		}
	}
	abis := []string{"arm", "arm64", "x86", "x86_64", "riscv64"}
	if arch < uint64(len(abis)) {
		d.arch.add(archOfABI(abis[arch]))
	}
	for c.err == nil && threads.next() {
		if threads.num != tombstoneThreads && threads.num != tombstoneGuests {
			threads.skip()
			continue
		}
		entry := threads.message()
		d.tombstoneThread(&entry, threads.num == tombstoneGuests)
		c.take(entry.err)
	}
	c.take(threads.err)
}

// tombstoneThread reads an entry of a map from the id of a thread to message Thread.
func (d *stackDump) tombstoneThread(entry *protoCursor, emulated bool) {
	d.begin(dumpThread{emulated: emulated})
	defer d.end()
	for entry.next() {
		if entry.num != mapValue {
			entry.skip()
			continue
		}
		c := entry.message()
		for c.next() {
			switch c.num {
			case dumpThreadID:
				d.thread.tid = int64(uint32(c.uint()))
			case dumpThreadName:
				d.thread.name = text(c.bytes())
			case dumpThreadBacktrace:
				raw := c.message()
				loc, err := d.names.location("frame ", raw.data, func() (uint32, dumpCode, error) {
					f := raw.frame()
					loc, code := d.names.place(&f)
					return loc, code, raw.err
				})
				if err == nil {
					d.thread.native = append(d.thread.native, loc)
				}
				c.take(err)
			default:
				c.skip()
			}
		}
		entry.take(c.err)
	}
}

// frame reads message BacktraceFrame.
func (c *protoCursor) frame() (f nativeFrame) {
	for c.next() {
		switch c.num {
		case frameRelPC:
			f.pc = c.uint()
		case frameFunctionName:
			f.name = text(c.bytes())
		case frameFileName:
			if file := c.bytes(); isKnownDumpFile(file) {
				f.file = text(file)
			}
		case frameMapOffset:
			f.offset = c.uint()
		case frameBuildID:
			if id := c.bytes(); isHex(id) {
				f.buildID = string(id)
			}
		default:
			c.skip()
		}
	}
	return f
}
