package otlp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// FormatLengths is the name of the format of files of several messages.
const FormatLengths = "OTLP profiles with lengths (experimental)"

// lengthSize is the size of the length in front of a message, in four bytes, the highest first, as the collector's exporter to
// files writes it with format: proto.
const lengthSize = 4

// ReadLengths reads messages that have their lengths in front of them.
func ReadLengths(src *input.Source, opt *reading.Options) (*run.Run, error) {
	src.LimitInflation(maxInflation)
	j := joiner{name: src.Name, opt: opt}
	for offset := int64(0); ; {
		var length [lengthSize]byte
		if _, err := io.ReadFull(src.Reader, length[:]); err == io.EOF {
			return j.run()
		} else if err != nil {
			return nil, fmt.Errorf("the length at %#x: %w", offset, err)
		}
		n := int64(binary.BigEndian.Uint32(length[:]))
		if n > maxMessage {
			return nil, fmt.Errorf("the message at %#x has %d bytes, more than the %d that are read", offset, n, maxMessage)
		}
		var data bytes.Buffer // grows by what there is, not by what the length says
		if got, err := io.CopyN(&data, src.Reader, n); err != nil {
			return nil, fmt.Errorf("the message at %#x has %d bytes, of which %d are there: %w", offset, n, got, unended(err))
		}
		offset += lengthSize + n
		if err := j.add(data.Bytes()); err != nil {
			return nil, err
		}
	}
}

// RecogniseLengths tells them by the first message.
func RecogniseLengths(head input.Head) input.Evidence {
	if len(head) <= lengthSize {
		return input.Evidence{}
	}
	n, rest := int(binary.BigEndian.Uint32(head)), head[lengthSize:]
	whole := n <= len(rest)
	if n == 0 || !whole && !head.IsCut() {
		return input.Evidence{}
	}
	return input.Evidence{Is: isProfiles(rest[:min(n, len(rest))], !whole)}
}
