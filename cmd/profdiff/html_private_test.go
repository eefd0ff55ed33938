package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// secrets are what a recording may hold that not everybody needs to see who reads a report.
var secrets = []string{"hunter2", "TOKEN", "acme-merger", "alice", "buildhost-7", "customer", "codename"}

// secretRecording is a recording of a program with secrets in its arguments and its environment, by a
// user with a name, on a host with one, in directories that tell of a project.
func secretRecording(i, slower int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# ========
# hostname : buildhost-7
# os release : 6.18.44
# perf version : 6.1.187
# arch : x86_64
# cpudesc : AMD EPYC
# cmdline : /home/alice/bin/perf record -g -o /home/alice/acme-merger/perf.data -- env TOKEN=hunter2 /home/alice/acme-merger/bin/tool --password=hunter2 --customer codename
# ========
#
`)
	for k := range 400 {
		leaf := "parse"
		if k%4 == 0 {
			leaf = "LazyCompile:*render /home/alice/acme-merger/lib/index.js:10"
		}
		cost := 1000000
		if k%4 != 0 {
			cost += slower*10000 + (i*7919+k*31)%1000
		}
		fmt.Fprintf(&b, `tool 7/7 [001] 100.%06d: %d cpu-clock:
	              10 %s+0x1 (/home/alice/acme-merger/bin/tool)
  /home/alice/acme-merger/src/parse.c:5
	              20 main+0x3 (/home/alice/acme-merger/bin/tool)

`, k, cost, leaf)
	}
	return b.String()
}

// secretSides are recordings full of secrets, by side, in a directory that is one itself, and a
// budget of them.
func secretSides(t *testing.T) (dir string, sides [2][]string, budget string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "customer", "acme-merger")
	for side, name := range []string{"before", "after"} {
		for i := range 4 {
			file := filepath.Join(dir, name, fmt.Sprintf("%02d.script", i))
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(secretRecording(2*i+side, 20*side)), 0o666); err != nil {
				t.Fatal(err)
			}
			sides[side] = append(sides[side], file)
		}
	}
	budget = filepath.Join(dir, "budget.yaml")
	if err := os.WriteFile(budget, []byte("version: 1\ndefaults: {normalize: none, event: cpu-clock}\nbudgets:\n  - {id: all, match: {dso: tool}, limit: {fail: +90%}}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir, sides, budget
}

// secretFleet is a store of the sides as releases.
func secretFleet(t *testing.T, folders []string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	for _, folder := range folders {
		var out, errs bytes.Buffer
		if code := execute(context.Background(), []string{"fleet", "ingest", folder, "--release", filepath.Base(folder), "--out", dir}, strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
	}
	return dir
}

// TestReportKeepsSecrets writes reports of recordings full of secrets, and finds none, neither in what
// is read nor in what is compressed, until they are asked for.
func TestReportKeepsSecrets(t *testing.T) {
	dir, sides, budget := secretSides(t)
	folders := []string{filepath.Join(dir, "before"), filepath.Join(dir, "after")}
	for _, test := range []struct {
		name string
		args []string
		has  []string // that are asked for
		not  []string // beside secrets
	}{
		{"folders", append([]string{"diff"}, folders...), nil, nil},
		{"one run", []string{"diff", sides[0][0], sides[1][0]}, nil, nil},
		{"private", []string{"diff", sides[0][0], sides[1][0], "--html-private"}, nil, []string{"before/0", "after/0"}},
		{"check", append([]string{"check", "--budget", budget}, folders...), nil, nil},
		{"fleet", []string{"fleet", "compare", secretFleet(t, folders)}, nil, nil},
		{"command", append([]string{"diff", "--show-command"}, folders...), []string{"hunter2", "TOKEN"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := filepath.Join(t.TempDir(), "page.html")
			var out, errs bytes.Buffer
			if code := execute(context.Background(), append(test.args, "--html", page), strings.NewReader(""), &out, &errs); code != 0 {
				t.Fatalf("exit code %d: %s", code, errs.String())
			}
			all := readText(t, page)
			blocks := 0
			for _, m := range regexp.MustCompile(`octet-stream" id="\w+">([^<]*)<`).FindAllStringSubmatch(all, -1) {
				data, err := base64.StdEncoding.DecodeString(m[1])
				if err != nil {
					t.Fatal(err)
				}
				z, err := gzip.NewReader(bytes.NewReader(data))
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(z)
				if err != nil {
					t.Fatal(err)
				}
				all += string(text)
				blocks++
			}
			if blocks < 3 || !strings.Contains(all, "index.js") || !strings.Contains(all, "parse") {
				t.Fatalf("%d blocks without what was recorded", blocks)
			}
			for _, s := range append(test.not, secrets...) {
				asked := false
				for _, h := range test.has {
					asked = asked || h == s
				}
				at := strings.Index(all, s)
				if test.has != nil && !asked {
					continue
				}
				if found := at >= 0; found != asked {
					t.Errorf("%s: found %t, want %t: %q", s, found, asked, all[max(0, at-60):min(len(all), max(0, at)+60)])
				}
			}
		})
	}
}

// TestOutputsKeepSecrets writes all that goes into reviews and logs of such recordings.
func TestOutputsKeepSecrets(t *testing.T) {
	dir, sides, budget := secretSides(t)
	folders := []string{filepath.Join(dir, "before"), filepath.Join(dir, "after")}
	fleet := secretFleet(t, folders)
	var outs []string
	for _, format := range []string{"json", "markdown", "junit", "sarif", "codequality", "github"} {
		outs = append(outs, "--out", format+"="+filepath.Join(t.TempDir(), format))
	}
	for _, test := range []struct {
		args []string
		has  string
	}{
		{append([]string{"diff", "--format", "json"}, folders...), "parse"},
		{append([]string{"diff", "--format", "markdown"}, folders...), "CPU time"},
		{append([]string{"diff", "--format", "csv"}, folders...), "parse"},
		{append([]string{"diff"}, folders...), "CPU time"},
		{[]string{"diff", "--format", "markdown", sides[0][0], sides[1][0]}, "CPU time"},
		{[]string{"fleet", "show", fleet}, "after"},
		{[]string{"fleet", "compare", fleet}, "device"},
		{[]string{"fleet", "compare", fleet, "--format", "json"}, "release after"},
		{[]string{"fleet", "compare", fleet, "--format", "csv"}, "base_name"},
		{[]string{"fleet", "compare", fleet, "--format", "markdown"}, "device"},
		{append(append([]string{"check", "--budget", budget, "--format", "text"}, outs...), folders...), "all"},
	} {
		var out, errs bytes.Buffer
		if code := execute(context.Background(), test.args, strings.NewReader(""), &out, &errs); code != 0 && code != exitInconclusive {
			t.Fatalf("profdiff %q: exit code %d: %s", test.args, code, errs.String())
		}
		texts := map[string]string{"standard output": out.String()}
		if test.args[0] == "check" {
			for _, o := range outs {
				if format, file, ok := strings.Cut(o, "="); ok {
					texts[format] = readText(t, file)
				}
			}
		}
		for name, text := range texts {
			if !strings.Contains(text, test.has) && name == "standard output" || text == "" {
				t.Errorf("profdiff %q: %s has nothing of what was compared: %s", test.args[:3], name, text)
			}
			for _, s := range secrets {
				if at := strings.Index(text, s); at >= 0 {
					t.Errorf("profdiff %q: %s has %s: …%.120s…", test.args[:3], name, s, text[max(0, at-60):])
				}
			}
		}
	}
}
