package perffile_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/perffile"
	"profdiff/internal/perffile/perffiletest"
)

// roundTrip checks that the text of data makes data.
func roundTrip(t *testing.T, data []byte) (text []byte) {
	t.Helper()
	text, err := writeText(data, perffile.TextOptions{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	checkBuild(t, text, data)
	if f := open(t, data, perffile.Options{}); f.Pipe {
		piped, err := writeTextPipe(data, perffile.TextOptions{Memory: true})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(piped, text) {
			t.Error("the text of the pipe differs from that of the file")
		}
	}
	return text
}

func checkBuild(t *testing.T, text, want []byte) {
	t.Helper()
	got, err := perffiletest.Build(text)
	if err != nil {
		t.Fatalf("Build(WriteText(x)): %v", err)
	}
	if bytes.Equal(got, want) {
		return
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	t.Fatalf("Build(WriteText(x)) has %d bytes, x has %d; they differ from offset %#x on", len(got), len(want), i)
}

func TestTextRoundTripRecordings(t *testing.T) {
	for _, name := range recordings(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			text := roundTrip(t, readFile(t, name))
			if n := bytes.Count(text, []byte(" raw=")); n > 0 {
				t.Errorf("%d items of a sound recording are not taken apart", n)
			}
		})
	}
}

// TestTextGolden compares the text of the fixtures, which leave out all that can be
// computed, with what the writer says of them.
func TestTextGolden(t *testing.T) {
	for _, name := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			got := roundTrip(t, fixture(t, name))
			golden := filepath.Join("testdata", name+".dump")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(readFile(t, golden)), string(got)); diff != "" {
				t.Errorf("text of %s.txt (-want +got); -update accepts it:\n%s", name, diff)
			}
		})
	}
}

// TestTextDamaged checks that a damaged recording is written as far as possible, that
// the error is the one that reading it gives, and that AllowTruncated makes the text
// whole.
func TestTextDamaged(t *testing.T) {
	for _, name := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := fixture(t, name)
			step := 1
			if testing.Short() {
				step = 11 // in no step with the 8 bytes that records are aligned to
			}
			for n := 0; n < len(data); n += step {
				checkDamaged(t, data[:n])
			}
			for i := 0; i < len(data); i += step {
				changed := bytes.Clone(data)
				changed[i] ^= 0xff
				checkDamaged(t, changed)
			}
		})
	}
}

func checkDamaged(t *testing.T, data []byte) {
	t.Helper()
	readErr := readAll(data, perffile.Options{})
	text, err := writeText(data, perffile.TextOptions{Memory: true})
	if (err == nil) != (readErr == nil) {
		t.Fatalf("reading: %v, writing: %v", readErr, err)
	}
	if err == nil {
		checkBuild(t, text, data)
		return
	}
	if err.Error() != readErr.Error() {
		t.Fatalf("reading: %v, writing: %v", readErr, err)
	}
	text, err = writeText(data, perffile.TextOptions{AllowTruncated: true, Memory: true})
	if errors.Is(err, perffile.ErrNotPerfData) {
		return
	}
	if readErr := readAll(data, perffile.Options{AllowTruncated: true}); (err == nil) != (readErr == nil) {
		t.Fatalf("with AllowTruncated: reading: %v, writing: %v", readErr, err)
	}
	checkBuild(t, text, data)
}

// readAll reads a recording to its end.
func readAll(data []byte, opt perffile.Options) error {
	f, err := perffile.New(bytes.NewReader(data), int64(len(data)), opt)
	if err != nil {
		return err
	}
	for _, err := range f.Records() {
		if err != nil {
			return err
		}
	}
	if f.Stats.Truncated != nil && !opt.AllowTruncated {
		return f.Stats.Truncated
	}
	return nil
}

// TestTextFallback checks that what a spec cannot reproduce is written as bytes, with
// what could be read as a comment.
func TestTextFallback(t *testing.T) {
	const head = "header\nattr type=software sample_type=IP|TID flags=sample_id_all\n"
	tests := []struct {
		name, text, want string
	}{
		{
			"no NUL at the end",
			head + `COMM raw=07000000080000006162636465666768` + "0700000008000000",
			`COMM misc=0 raw=070000000800000061626364656667680700000008000000 # not reproduced: pid=7 tid=8 comm="abcdefgh" sample_id={pid=7,tid=8}`,
		},
		{
			"too short",
			head + "FORK raw=0700",
			"FORK misc=0 raw=0700 # FORK record: needs 4 bytes, has 2 at 0x100",
		},
		{
			"count that lies",
			head + "NAMESPACES pid=1 tid=1 nr_namespaces=99 link_info=[{dev=1,ino=2}]",
			"NAMESPACES misc=0 raw=0100000001000000630000000000000001000000000000000200000000000000" +
				"0000000000000000 # NAMESPACES record: needs 1584 bytes, has 16 at 0x110: pid=1 tid=1",
		},
		{
			"unknown type", head + "RECORD type=63 misc=KERNEL raw=aa",
			"RECORD type=63 misc=KERNEL raw=aa # unknown type",
		},
		{
			"more than the spec has", head + "ITRACE_START pid=1 tid=2 tail=ffff sample_id={pid=3}",
			"ITRACE_START misc=0 pid=1 tid=2 tail=ffff sample_id={pid=3,tid=0}",
		},
		{
			"record of no bytes", head + "SWITCH raw=",
			"SWITCH misc=0 raw= # not reproduced",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := perffiletest.Fixture(t, tt.text)
			text, err := writeText(data, perffile.TextOptions{Memory: true})
			if err != nil {
				t.Fatal(err)
			}
			checkBuild(t, text, data)
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			_, got, _ := strings.Cut(lines[len(lines)-1], " ")
			if got = strings.TrimSpace(got); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestTextOverlaps checks that sections that lie in each other are not written twice.
func TestTextOverlaps(t *testing.T) {
	text := "header\nattr type=software sample_type=IP\nSAMPLE ip=0x1\n"
	for range 100 {
		text += "SAMPLE ip=0x2\n"
	}
	text += "section HOSTNAME offset=0x100 size=800\nsection OSRELEASE offset=0x100 size=800\n"
	text = edit(t, text, "header\n", "header features=HOSTNAME|OSRELEASE\n")
	data := perffiletest.Fixture(t, text)
	got, err := writeText(data, perffile.TextOptions{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	checkBuild(t, got, data)
	if bytes.Contains(got, []byte("feature ")) {
		t.Errorf("features that overlap the data are written again:\n%s", got)
	}
}

// failingWriter fails after some bytes.
type failingWriter struct{ left int }

var errFull = errors.New("no space left")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestTextWriteError(t *testing.T) {
	var b bytes.Buffer
	if err := perffiletest.Generate(&b, perffiletest.Spec{Samples: 5000}); err != nil {
		t.Fatal(err)
	}
	for _, left := range []int{0, 100_000} {
		err := perffile.WriteText(&failingWriter{left}, bytes.NewReader(b.Bytes()), int64(b.Len()), perffile.TextOptions{Memory: true})
		if !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: got error %v, want that of the writer", left, err)
		}
	}
}

// TestTextWithholdsMemory: what programs had in registers and on stacks is not printed
// unless it is asked for, in whatever form the recording has it.
func TestTextWithholdsMemory(t *testing.T) {
	const (
		secret = "5ec2e75ec2e75ec2"
		attr   = "attr type=software sample_period=1 sample_type=IP|TID|TIME|REGS_USER|STACK_USER flags=sample_id_all sample_regs_user=0x3 sample_stack_user=16\n"
		sample = "SAMPLE misc=USER ip=0x10 pid=1 tid=1 time=1 regs_user={abi=2,regs=[0x" + secret + ",0x2]} stack_user={data=" + secret + secret + ",dyn_size=8}"
	)
	plain := perffiletest.Fixture(t, "header\n"+attr+sample+"\n")
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"sample", plain, "regs_user={abi=2,regs=?2} stack_user={data=?16,dyn_size=8}\n"},
		{"compressed", perffiletest.Fixture(t, "header\n"+attr+"COMPRESSED\n| "+sample+"\nfeature COMPRESSED comp_ver=1 comp_type=1 comp_level=1 comp_ratio=2 comp_mmap_len=4096\n"), "COMPRESSED misc=0 data=?"},
		{"with more than its fields", perffiletest.Fixture(t, "header\n"+attr+sample+" tail="+secret+"\n"), " tail=?8"},
		{"that is short", perffiletest.Fixture(t, "header\n"+attr+strings.Replace(sample, "dyn_size=8", "size=99,dyn_size=8", 1)+"\n"), " raw=?"},
		{"in pieces", perffiletest.Fixture(t, "header\n"+attr+"SIMPLEPERF_SPLIT data="+secret+"\n"+"SIMPLEPERF_SPLIT_END\n"), "SIMPLEPERF_SPLIT data=?8"},
		{"cut off", plain[:len(plain)-24], "# ?"},
		{"unwinding", perffiletest.Fixture(t, "header\n"+attr+"SIMPLEPERF_UNWINDING_RESULT time=11 used_time=1 error_code=0 error_addr=0 stack_start=0x7ff0 stack_end=0x8000"+
			" regs_user={abi=2,reg_mask=0x5,regs=[0x"+secret+",0x2]} stack_user={data="+secret+",dyn_size=8} ips=[0x1] sps=[0x2]\n"), "regs=?2} stack_user={data=?8,dyn_size=8} ips=[0x1]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := writeText(test.data, perffile.TextOptions{AllowTruncated: true})
			if err != nil && test.name != "in pieces" && test.name != "that is short" {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), test.want) {
				t.Errorf("no %q in\n%s", test.want, text)
			}
			if strings.Contains(string(text), "5ec2e7") || strings.Contains(string(text), "e7c25e") {
				t.Errorf("the secret is in\n%s", text)
			}
			if _, err := perffiletest.Build(text); err == nil && test.name != "cut off" {
				t.Error("a recording is made of text that lacks what was withheld")
			}
		})
	}
}
