package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestPublishedShortRead compares the stall of the published throughputs with what the source
// says of it: the model gives what it implies, and the source's figure is within its bounds.
func TestPublishedShortRead(t *testing.T) {
	const dir = "../../profiles/ehci-short-read"
	var c struct {
		Says struct {
			Before float64 `yaml:"before_mbps"`
			After  float64 `yaml:"after_mbps"`
			Buffer float64 `yaml:"buffer_before_kb"`
			Delay  float64 `yaml:"delay_ms"`
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	args := []string{"show", filepath.Join(dir, "throughput.csv"), "--stall", "32KiB", "--format", "json"}
	if code := execute(context.Background(), args, strings.NewReader(""), &out, &errs); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	var got struct {
		Before, After, Cost, Most float64
		Slow, Unknown             string
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Before != c.Says.Before*1e6 || got.After != c.Says.After*1e6 || got.Slow != "before" || got.Unknown == "" {
		t.Errorf("%+v, want the throughputs of case.yaml", got)
	}
	bits := c.Says.Buffer * 1024 * 8
	if want := bits/c.Says.Before*1e3 - bits/c.Says.After*1e3; math.Abs(got.Cost-want) > 1 {
		t.Errorf("a stall of %v ns, want %v", got.Cost, want)
	}
	if delay := c.Says.Delay * 1e6; !(got.Cost < delay && delay < got.Most) {
		t.Errorf("the %v ns of the source are not between %v and %v", delay, got.Cost, got.Most)
	}
}
