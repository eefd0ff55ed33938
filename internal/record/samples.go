package record

import (
	"cmp"
	"encoding/hex"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// A Summary is what a perf.data file holds.
type Summary struct {
	Samples, Lost int64
	// Command is for how long the first program that was started ran, 0 if the file does
	// not say. The recorder, which starts it, takes longer.
	Command time.Duration
	// Objects have a build ID, and code that may be in the samples. They are in the order
	// of their paths, so that the libraries of an APK are together.
	Objects []Object
}

// An Object is an object file of a recording: its path when it was recorded, with the file
// in an archive after "!/", and its build ID in hexadecimal.
type Object struct{ Path, ID string }

// Summarize reads a perf.data file once, which shows that it is whole.
func Summarize(name string) (*Summary, error) {
	file, err := openRecording(name)
	if err != nil {
		return nil, err
	}
	defer file.close()
	s := new(Summary)
	objects := make(map[Object]bool)
	add := func(path string, build []byte) {
		id := hex.EncodeToString(build)
		file := strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.HasPrefix(path, "/dev/")
		if (file || path == vdsoPath) && len(id) >= 4 && strings.Trim(id, "0") != "" {
			objects[Object{path, id}] = true
		}
	}
	for _, b := range file.Info.BuildIDs {
		if !b.Kernel {
			add(b.Path, b.ID)
		}
	}
	// Records of different CPUs are not in the order of time.
	var process int32
	var started uint64
	ended := make(map[int32]uint64)
	for r, err := range file.Records() {
		if err != nil {
			return nil, err
		}
		switch r.Type {
		case perffile.RecordSample:
			s.Samples++
		case perffile.RecordLost, perffile.RecordLostSamples:
			n, _, err := r.Lost()
			if err != nil {
				return nil, err
			}
			s.Lost += int64(min(n, 1<<40))
		case perffile.RecordComm:
			c, err := r.Comm()
			if err != nil {
				return nil, err
			}
			if c.Exec && r.Time > 0 && (started == 0 || r.Time < started) {
				process, started = c.PID, r.Time
			}
		case perffile.RecordMmap2:
			// perf record --buildid-mmap, its default from 6.17 on, has build IDs here.
			if r.Misc&perffile.MiscMmapBuildID == 0 || r.Misc.Kernel() {
				continue
			}
			m, err := r.Mmap()
			if err != nil {
				return nil, err
			}
			add(string(m.File), m.BuildID)
		case perffile.RecordExit:
			t, err := r.Task()
			if err != nil {
				return nil, err
			}
			ended[t.PID] = max(ended[t.PID], r.Time)
		}
	}
	if end := ended[process]; started > 0 && end > started && end-started < 1<<62 {
		s.Command = time.Duration(end - started)
	}
	s.Objects = slices.SortedFunc(maps.Keys(objects), func(a, b Object) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.ID, b.ID))
	})
	return s, nil
}

// A recordingFile is an open perf.data file.
type recordingFile struct {
	*perffile.File
	opened *os.File
}

func openRecording(name string) (*recordingFile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		var file *perffile.File
		if file, err = perffile.New(f, info.Size(), perffile.Options{}); err == nil {
			return &recordingFile{file, f}, nil
		}
	}
	f.Close()
	return nil, err
}

func (f *recordingFile) close() { f.opened.Close() }

// sampled returns those of the objects that samples of a perf.data file are in, callers
// included: a program may map many more. Where callers are still to be found in the memory of
// stacks, it may be any. names are the files that name the code that was made at run time.
func sampled(name string, objects []Object) (hit []Object, names []string, err error) {
	file, err := openRecording(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.close()
	s := perfsession.New(file.File)
	seen := &hits{files: make(map[string]bool), generated: make(map[int32]bool)}
	if err := s.Replay(seen); err != nil {
		return nil, nil, err
	}
	for _, d := range s.DSOs {
		seen.mapped = append(seen.mapped, d.Path)
	}
	if s.Stats.RawStacks > 0 {
		return objects, seen.namesOfCode(), nil
	}
	return slices.DeleteFunc(slices.Clone(objects), func(o Object) bool { return !seen.files[o.Path] }), seen.namesOfCode(), nil
}

// hits are the paths of files that samples are in, and the processes with samples in memory of
// no file. mapped are all paths.
type hits struct {
	mapped    []string
	files     map[string]bool
	generated map[int32]bool
}

// Sample implements [perfsession.Handler].
func (h *hits) Sample(s *perfsession.Sample) error {
	for i := range s.Frames {
		switch m := s.Frames[i].Map; {
		case m == nil || anonymous(m.DSO.Path):
			h.generated[s.Raw.PID] = true
		case !m.DSO.Kernel:
			h.files[m.DSO.Path] = true
		}
	}
	return nil
}

// Switch implements [perfsession.Handler].
func (*hits) Switch(perfsession.Switch) error { return nil }
