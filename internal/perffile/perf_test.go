package perffile_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/perffile"
)

// TestPerfAgrees has perf itself read the fixtures, so that it is not our idea of the
// format alone that they follow. It must find the same samples.
func TestPerfAgrees(t *testing.T) {
	perf, err := exec.LookPath("perf")
	if err != nil {
		t.Skip("perf is not installed")
	}
	for _, tt := range []struct {
		fixture string
		fields  string // that the samples have
	}{
		{"records", "tid,time,cpu,period"},
		{"big_endian", "tid,time,cpu,period,brstack"},
		{"big_endian_32", "tid,time"},
		{"compressed", "tid,time"},
		{"simpleperf_file", "tid,time"},
	} {
		t.Run(tt.fixture, func(t *testing.T) {
			data := fixture(t, tt.fixture)
			name := filepath.Join(t.TempDir(), "perf.data")
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			cmd := exec.Command(perf, "script", "--ns", "-F", tt.fields, "-i", name)
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %v\n%s", cmd, err, &stderr)
			}
			var got []string
			for line := range strings.Lines(string(out)) {
				// The number of branch fields depends on the version of perf.
				words := strings.Fields(line)
				for i, w := range words {
					if part := strings.Split(w, "/"); len(part) > 6 {
						words[i] = strings.Join(part[:6], "/")
					}
				}
				got = append(got, strings.Join(words, " "))
			}
			if diff := cmp.Diff(perfScript(t, data, tt.fields), got); diff != "" {
				t.Errorf("samples (-ours +perf):\n%s", diff)
			}
		})
	}
}

// perfScript prints samples as perf script does.
func perfScript(t *testing.T, data []byte, fields string) (lines []string) {
	t.Helper()
	f := open(t, data, perffile.Options{})
	var s perffile.Sample
	for r, err := range f.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Type != perffile.RecordSample {
			continue
		}
		if err := r.DecodeSample(&s); err != nil {
			t.Fatal(err)
		}
		var words []string
		for field := range strings.SplitSeq(fields, ",") {
			switch field {
			case "tid":
				words = append(words, fmt.Sprint(s.TID))
			case "time":
				words = append(words, fmt.Sprintf("%d.%09d:", s.Time/1e9, s.Time%1e9))
			case "cpu":
				words = append(words, fmt.Sprintf("[%03d]", s.CPU))
			case "period":
				words = append(words, fmt.Sprint(s.Period))
			case "brstack":
				for _, b := range s.Branches {
					words = append(words, fmt.Sprintf("%#x/%#x/%c/%c/%c/%d", b.From, b.To,
						letter(b.Mispredicted, 'M', letter(b.Predicted, 'P', '-')), letter(b.InTransaction, 'X', '-'), letter(b.Abort, 'A', '-'), b.Cycles))
				}
			}
		}
		// perf prints the CPU before the time.
		if len(words) > 2 {
			words[1], words[2] = words[2], words[1]
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

func letter(set bool, yes, no rune) rune {
	if set {
		return yes
	}
	return no
}
