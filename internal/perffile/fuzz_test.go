package perffile_test

import (
	"bytes"
	"errors"
	"testing"

	"profdiff/internal/perffile"
	"profdiff/internal/perffile/perffiletest"
)

// walk reads all there is in f and checks that values and errors exclude each other.
func walk(t testing.TB, f *perffile.File) {
	t.Helper()
	var failed bool
	for r, err := range f.Records() {
		if (r == nil) != (err != nil) {
			t.Fatalf("record %v and error %v", r, err)
		}
		if failed {
			t.Fatal("an error is not the last element")
		}
		if failed = err != nil; failed {
			continue
		}
		_, _ = decode(r)
		// Every method must bear every record.
		_, _ = r.Mmap()
		_, _ = r.Comm()
		_, _ = r.Task()
		_, _, _ = r.Lost()
		_, _ = r.Switch()
		_, _ = r.Ksymbol()
		_, _, _ = r.AuxLoss()
		_, _ = r.BuildID()
		_, _ = r.KernelSymbols()
		_, _ = r.Callchain()
		_, _ = r.UnwindingResult()
		var s perffile.Sample
		_ = r.DecodeSample(&s)
	}
	walkSymbols(t, f)
	if data, err := f.TracingData(); data != nil && err != nil {
		t.Fatalf("tracing data and error %v", err)
	}
	for i := range f.Attrs {
		_ = f.Attrs[i].Name
		_ = f.Tracepoint(&f.Attrs[i])
		for _, id := range f.Attrs[i].IDs {
			if _, ok := f.EventByID(id); !ok {
				t.Fatalf("event %d has id %d, which is unknown", i, id)
			}
		}
	}
	for feature := range perffile.Feature(256) {
		_, _ = f.Feature(feature)
	}
}

func walkSymbols(t testing.TB, f *perffile.File) {
	t.Helper()
	for file, err := range f.SymbolFiles() {
		if (file == nil) != (err != nil) {
			t.Fatalf("file %v and error %v", file, err)
		}
	}
}

// bounded checks that read allocates in proportion to the size of its input: some for
// the buffers, and a factor for what the smallest of things become.
func bounded(t *testing.T, size int, read func() *perffile.File) {
	t.Helper()
	var f *perffile.File
	n := allocated(func() { f = read() })
	limit := 8<<20 + 4096*uint64(size)
	if f != nil && f.Stats.CompressedBytes > 0 {
		limit += 80 << 20 // the decompressor takes the window that the data asks for
	}
	if n > limit {
		t.Errorf("allocates %d KiB for an input of %d bytes", n>>10, size)
	}
}

func addFixtures(f *testing.F) {
	for _, name := range fixtures(f) {
		f.Add(fixture(f, name))
	}
}

func FuzzFile(f *testing.F) {
	addFixtures(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opt := range []perffile.Options{{}, {AllowTruncated: true}} {
			bounded(t, len(data), func() *perffile.File {
				file, err := perffile.New(bytes.NewReader(data), int64(len(data)), opt)
				if (file == nil) != (err != nil) {
					t.Fatalf("file %v and error %v", file, err)
				}
				if err == nil {
					walk(t, file)
				}
				return file
			})
		}
	})
}

func FuzzPipe(f *testing.F) {
	for _, name := range []string{"pipe", "compressed2"} {
		f.Add(fixture(f, name))
	}
	// Records of files are records of pipes.
	head := fixture(f, "pipe")
	for _, name := range fixtures(f) {
		f.Add(append(head[:len(head):len(head)], fixture(f, name)[104:]...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opt := range []perffile.Options{{}, {AllowTruncated: true}} {
			bounded(t, len(data), func() *perffile.File {
				file, err := perffile.NewPipe(bytes.NewReader(data), opt)
				if (file == nil) != (err != nil) {
					t.Fatalf("file %v and error %v", file, err)
				}
				if err == nil {
					walk(t, file)
				}
				return file
			})
		}
	})
}

// FuzzFile2 reads its input as the contents of the features FILE and FILE2.
func FuzzFile2(f *testing.F) {
	for _, name := range []string{"simpleperf", "simpleperf_file"} {
		file := open(f, fixture(f, name), perffile.Options{})
		for _, feature := range []perffile.Feature{perffile.FeatureFile, perffile.FeatureFile2} {
			if r, err := file.Feature(feature); err == nil {
				var b bytes.Buffer
				if _, err := b.ReadFrom(r); err != nil {
					f.Fatal(err)
				}
				f.Add(b.Bytes())
			}
		}
	}
	const attr = "\nattr sample_type=IP\nFINISHED_ROUND\n"
	heads := make(map[string][]byte)
	for _, feature := range []string{"FILE", "FILE2"} {
		// The feature starts at 0x110 and ends with the file.
		heads[feature] = perffiletest.Fixture(f, "header features="+feature+attr+"section "+feature+" offset=0x110")
	}
	f.Fuzz(func(t *testing.T, contents []byte) {
		for _, head := range heads {
			data := append(head[:len(head):len(head)], contents...)
			data[0x108], data[0x109], data[0x10a] = byte(len(contents)), byte(len(contents)>>8), byte(len(contents)>>16)
			bounded(t, len(data), func() *perffile.File {
				file := open(t, data, perffile.Options{})
				walkSymbols(t, file)
				return file
			})
			checkText(t, data)
		}
	})
}

// FuzzText checks that the text of any recording makes the recording.
func FuzzText(f *testing.F) {
	addFixtures(f)
	f.Fuzz(checkText)
}

func checkText(t *testing.T, data []byte) {
	// An input that expands makes a long text.
	if len(data) > 1<<20 {
		return
	}
	text, err := writeText(data, perffile.TextOptions{Memory: true})
	if err == nil {
		checkBuild(t, text, data)
	}
	text, err = writeText(data, perffile.TextOptions{AllowTruncated: true, Memory: true})
	if errors.Is(err, perffile.ErrNotPerfData) {
		return
	}
	checkBuild(t, text, data)
}
