package stackdump

import (
	"bytes"
	"fmt"
	"io"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
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

// RecogniseTombstone tells a tombstone by the fields that it starts with.
func RecogniseTombstone(head input.Head) input.Evidence {
	return input.Evidence{Is: isTombstoneProto(head)}
}

// isTombstoneProto reports whether head starts with the fields of a tombstone that
// debuggerd always writes: the build, the time, the process and its thread.
func isTombstoneProto(head input.Head) bool {
	c := input.NewFields(head, 0)
	seen := make(map[int]bool)
	for c.Next() {
		if int(c.Num) < len(tombstoneFields) {
			const varint, bytesType = 0, 2
			switch want := tombstoneFields[c.Num]; {
			case want == 'v' && c.Type == varint:
			case want == 'b' && c.Type == bytesType:
			default:
				return false
			}
			seen[int(c.Num)] = true
		}
		if c.Num != tombstoneFingerprint {
			c.Skip()
		} else if b := c.Bytes(); c.Err == nil && bytes.IndexByte(b, '/') < 0 {
			return false
		}
	}
	// A field that head cuts off is fine.
	return seen[tombstoneFingerprint] && seen[tombstoneTimestamp] && seen[tombstonePID] && seen[tombstoneTID] &&
		(c.Err == nil || len(head) >= input.HeadSize)
}

// ReadTombstone reads a tombstone in protobuf (/data/tombstones/tombstone_NN.pb, and
// what ApplicationExitInfo has of a native crash, from Android 12 on) as Read
// reads its text.
func ReadTombstone(src *input.Source, opt *reading.Options) (*run.Run, error) {
	data, err := io.ReadAll(io.LimitReader(src.Reader, maxTombstone+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxTombstone {
		return nil, fmt.Errorf("is longer than %d bytes", maxTombstone)
	}
	d := newDump(src, opt)
	c := input.NewFields(data, 0)
	d.tombstone(&c)
	if c.Err != nil {
		return nil, fmt.Errorf("tombstone: %w", c.Err)
	}
	return d.finish(Tombstone)
}

// tombstone reads message Tombstone.
func (d *dump) tombstone(c *input.Fields) {
	threads := *c // once the process is known, whose fields may follow theirs
	arch := uint64(0)
	d.process.pid = 0
	for c.Next() {
		switch c.Num {
		case tombstoneArch:
			arch = c.Uint()
		case tombstoneFingerprint:
			d.build.add(input.Text(c.Bytes()))
		case tombstoneTimestamp:
			d.time(c.Bytes())
		case tombstonePID:
			d.process.pid = int64(uint32(c.Uint()))
		case tombstoneCommandLine:
			if name := c.Bytes(); d.process.name == "" {
				d.process.name = commandName(name)
			}
		default:
			c.Skip()
		}
	}
	abis := []string{"arm", "arm64", "x86", "x86_64", "riscv64"}
	if arch < uint64(len(abis)) {
		d.arch.add(archOfABI(abis[arch]))
	}
	for c.Err == nil && threads.Next() {
		if threads.Num != tombstoneThreads && threads.Num != tombstoneGuests {
			threads.Skip()
			continue
		}
		entry := threads.Message()
		d.tombstoneThread(&entry, threads.Num == tombstoneGuests)
		c.Take(entry.Err)
	}
	c.Take(threads.Err)
}

// tombstoneThread reads an entry of a map from the id of a thread to message Thread.
func (d *dump) tombstoneThread(entry *input.Fields, emulated bool) {
	d.begin(thread{emulated: emulated})
	defer d.end()
	for entry.Next() {
		if entry.Num != mapValue {
			entry.Skip()
			continue
		}
		c := entry.Message()
		for c.Next() {
			switch c.Num {
			case dumpThreadID:
				d.thread.tid = int64(uint32(c.Uint()))
			case dumpThreadName:
				d.thread.name = input.Text(c.Bytes())
			case dumpThreadBacktrace:
				raw := c.Message()
				loc, err := d.names.location("frame ", raw.Data(), func() (uint32, reading.Code, error) {
					f := readFrame(&raw)
					loc, code := d.names.place(&f)
					return loc, code, raw.Err
				})
				if err == nil {
					d.thread.native = append(d.thread.native, loc)
				}
				c.Take(err)
			default:
				c.Skip()
			}
		}
		entry.Take(c.Err)
	}
}

// readFrame reads message BacktraceFrame.
func readFrame(c *input.Fields) (f nativeFrame) {
	for c.Next() {
		switch c.Num {
		case frameRelPC:
			f.pc = c.Uint()
		case frameFunctionName:
			f.name = input.Text(c.Bytes())
		case frameFileName:
			if file := c.Bytes(); isKnownFile(file) {
				f.file = input.Text(file)
			}
		case frameMapOffset:
			f.offset = c.Uint()
		case frameBuildID:
			if id := c.Bytes(); input.IsHex(id) {
				f.buildID = string(id)
			}
		default:
			c.Skip()
		}
	}
	return f
}
