package traces

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// V8Profile is what profiles of V8 are called that stand in a file of their own.
const V8Profile = "V8 CPU profile"

// RecogniseV8Profile tells a profile by what it has beside its nodes.
func RecogniseV8Profile(head input.Head) input.Evidence {
	keys := head.Keys()
	return input.Evidence{Is: keys["nodes"] && !keys["$schema"] && (keys["startTime"] || keys["samples"] || bytes.Contains(head, []byte(`"callFrame"`)))}
}

// ReadV8Profile reads a .cpuprofile, as node --cpu-prof and the developer tools of Chrome write it: the type Profile of
// the Profiler domain of their protocol. It is one part of which [v8Profiles] reads many in a trace.
func ReadV8Profile(src *input.Source, opt *reading.Options) (*run.Run, error) {
	r := newReader(src, opt)
	data := v8Data{first: true}
	dec := json.NewDecoder(withoutBOM(src.Reader))
	if err := readV8Profile(dec, &data); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("at %#x: %w", dec.InputOffset(), err)
	}
	if len(data.CPUProfile.Samples) == 0 {
		return nil, errors.New("has no samples")
	}
	if us := data.StartTime; us > 0 && us < 1<<52 {
		data.started = int64(us) * 1000
	}
	r.samples.v8.parts = map[v8Part][]v8Data{{}: {data}}
	tl := r.tl.Finish()
	p, err := newProfile(r.b, tl, opt)
	if err != nil {
		return nil, err
	}
	r.samples.finish(tl, p.spans)
	rec := &r.b.Run().Recording
	rec.Format, rec.Timeline = V8Profile, true
	start, end := r.samples.span(tl)
	setTimes(rec, start, end)
	return r.b.Finish()
}

// readV8Profile reads the object, node by node.
func readV8Profile(dec *json.Decoder, data *v8Data) error {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(err, errors.New("is no object"))
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		switch key {
		case "nodes":
			if t, err := dec.Token(); err != nil || t != json.Delim('[') {
				return errors.Join(err, errors.New("nodes are no list"))
			}
			for dec.More() {
				var n v8Node
				if err := dec.Decode(&n); err != nil {
					return err
				}
				data.CPUProfile.Nodes = append(data.CPUProfile.Nodes, n)
			}
			_, err = dec.Token()
		case "samples":
			err = dec.Decode(&data.CPUProfile.Samples)
		case "timeDeltas":
			err = dec.Decode(&data.TimeDeltas)
		case "startTime":
			err = dec.Decode(&data.StartTime)
		case "endTime":
			err = dec.Decode(&data.EndTime)
		default:
			var other json.RawMessage
			err = dec.Decode(&other)
		}
		if err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}
