package perffiletest

import (
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
)

// TracingData is the feature TRACING_DATA of a recording with the formats of tracepoints, by
// their system, as lines for [Build].
func TracingData(bigEndian bool, formats map[string][]string) string {
	var order binary.AppendByteOrder = binary.LittleEndian
	data := append([]byte("\x17\x08\x44tracing0.6\x00"), 0, 8)
	if bigEndian {
		order = binary.BigEndian
		data[len(data)-2] = 1
	}
	text := func(s string) { data = append(order.AppendUint64(data, uint64(len(s))), s...) }
	data = order.AppendUint32(data, 4096)
	for _, name := range []string{"header_page", "header_event"} {
		data = append(append(data, name...), 0)
		text("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n")
	}
	data = order.AppendUint32(data, 1)
	text("name: function\nID: 1\nformat:\n")
	data = order.AppendUint32(data, uint32(len(formats)))
	for _, system := range slices.Sorted(maps.Keys(formats)) {
		data = append(append(data, system...), 0)
		data = order.AppendUint32(data, uint32(len(formats[system])))
		for _, s := range formats[system] {
			text(s)
		}
	}
	return "feature TRACING_DATA\nhex " + hex.EncodeToString(data) + "\n"
}
