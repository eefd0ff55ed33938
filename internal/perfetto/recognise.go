package perfetto

import (
	"bytes"

	"profdiff/internal/input"
)

// varints are fields of TracePacket that are numbers. All others are messages or bytes.
var varints = map[int32]bool{
	3: true, 79: true, fieldTimestamp: true, fieldSequenceID: true, fieldSequenceFlags: true, fieldStateCleared: true,
	fieldPacketDropped: true, fieldClockID: true, 87: true, fieldMachineID: true,
}

// lastField is the highest number that TracePacket leaves to extensions.
const lastField = 1999

// Recognise tells a trace by its packets, as far as the head goes: each of them has fields of
// TracePacket with their wire types, and among these one that says when or by whom it was
// written, or what only traces hold. What follows many such packets and is none is damage. Profiles of pprof start with the same byte: what follows
// there are two numbers, where packets have messages.
func Recognise(head input.Head) input.Evidence {
	if head.IsText() {
		return input.Evidence{} // the number of a field and small numbers are control characters
	}
	c := input.NewFields(head, 0)
	sure := 0
	for c.Next() {
		if c.Num != 1 || c.Type != bytesType {
			return input.Evidence{Is: sure >= undoubted}
		}
		at := c.Offset()
		message := c.Message()
		cut := c.Err != nil
		if cut {
			// What there is of a packet that the head cuts off.
			_, rest, ok := cutLength(head[at:])
			if !ok {
				break
			}
			message = input.NewFields(rest, int64(at))
		}
		is, ok := isPacket(message, cut)
		if !ok {
			return input.Evidence{Is: sure >= undoubted}
		}
		if is {
			sure++
		}
	}
	return input.Evidence{Is: sure > 0}
}

// undoubted is how many packets of which there is no doubt make a trace, whatever follows: one that is damaged.
const undoubted = 8

// cutLength cuts a length off.
func cutLength(data []byte) (n uint64, rest []byte, ok bool) {
	f := input.NewFields(data, 0)
	n = f.Varint()
	return n, data[f.Offset():], f.Err == nil
}

// isPacket reports whether a message may be a packet, and whether it is one without doubt.
func isPacket(f input.Fields, cut bool) (sure, ok bool) {
	for f.Next() {
		num := int32(f.Num)
		if num > lastField || varints[num] != (f.Type == 0) {
			return false, false
		}
		if f.Type == 0 {
			f.Varint()
			sure = true
			continue
		}
		if f.Type != bytesType {
			return false, false
		}
		at := f.Offset()
		m := f.Message()
		if f.Err != nil {
			_, rest, there := cutLength(f.Data()[at:])
			if !there || !cut {
				break
			}
			m = input.NewFields(rest, 0)
		}
		switch num {
		case fieldZlibPackets:
			sure = sure || bytes.HasPrefix(m.Data(), []byte{0x78})
		case fieldZstdPackets:
			sure = sure || bytes.HasPrefix(m.Data(), []byte("\x28\xb5\x2f\xfd"))
		case int32(FtraceEvents):
			// A CPU, events, columns.
			sure = sure || hasTypes(m, map[int32]int8{1: 0, 2: 2, 3: 0, 4: 2, 5: 0, 6: 0, 7: 0, 8: 2, 9: 0, 10: 0, 11: 2})
		case int32(ProcessTree):
			sure = sure || hasTypes(m, map[int32]int8{1: 2, 2: 2, 3: 0})
		case int32(ClockSnapshot):
			sure = sure || hasTypes(m, map[int32]int8{1: 2, 2: 0})
		}
	}
	return sure, f.Err == nil || cut
}

// hasTypes reports whether a message has fields, and none but those given, with their wire
// types. Behind the end of what there is may be more.
func hasTypes(m input.Fields, types map[int32]int8) bool {
	n := 0
	for ; m.Next(); n++ {
		if t, ok := types[int32(m.Num)]; !ok || t != int8(m.Type) {
			return false
		}
		m.Skip()
	}
	return n > 0
}
