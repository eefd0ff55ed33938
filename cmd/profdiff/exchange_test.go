package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/protobuf"
)

// printed runs a command and returns what it prints.
func printed(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = execute(context.Background(), args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// aStore plays a server of Pyroscope, by what a real one answered.
func aStore(t *testing.T) (host string, pushed *[]byte) {
	profile, err := os.ReadFile("../../internal/exchange/testdata/pyroscope-merge.gz")
	if err != nil {
		t.Fatal(err)
	}
	pushed = new([]byte)
	pair := func(name, value string) []byte {
		return protobuf.Message(nil, 1, protobuf.String(protobuf.String(nil, 1, name), 2, value))
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/push.v1.PusherService/Push":
			*pushed = body
		case "/querier.v1.QuerierService/Series":
			_, _ = w.Write(protobuf.Message(nil, 2, pair("__profile_type__", "process_cpu:cpu_clock:nanoseconds:cpu_clock:nanoseconds")))
		case "/querier.v1.QuerierService/SelectMergeProfile":
			_, _ = w.Write(profile)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), pushed
}

// TestAddresses reads what a server merged, and sends to it.
func TestAddresses(t *testing.T) {
	host, pushed := aStore(t)
	shop, mail := "pyroscope://"+host+"/shop", "pyroscope://"+host+"/mail"
	const merged = "is one run, made of profiles that Pyroscope merged: nothing tells how much they vary"
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept.pb.gz")
	budget := filepath.Join(dir, "perf-budget.yaml")
	if err := os.WriteFile(budget, []byte("version: 1\nbudgets:\n  - id: compare\n    match: {function: message_compare}\n    limit: {fail: +5%}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const local = "../../profiles/message-heap/before"
	for _, tt := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"show", []string{"show", shop}, exitOK, "format    pprof\nrecorded", shop + ": " + merged},
		{"convert", []string{"convert", shop, "-o", kept}, exitOK, "", merged},
		{"what was kept stays merged", []string{"show", kept}, exitOK, "kept.pb.gz", kept + ": " + merged},
		{"diff", []string{"diff", shop, local + "/01.data"}, exitOK, "", merged},
		{"diff of several", []string{"diff", "--base", shop, "--base", mail, "--head", local}, exitOK, "", "each side is taken as one run, because a server merged some of what is compared: there are leads, and no verdicts"},
		{"check", []string{"check", "--budget", budget, "--base", shop, "--head", local + "/01.data"}, exitOK, "can't tell yet  compare", merged},
		{"twice", []string{"diff", shop, shop}, exitInput, "", shop + " is named twice; a run counts once"},
		{"branches", []string{"branches", shop}, exitInput, "", shop + ": is pprof, which has no branches"},
		{"send", []string{"convert", local + "/01.data", "-o", shop + "?region=eu&at=now"}, exitOK, "", "sent to " + host + " as process_cpu of service shop"},
		{"send in another format", []string{"convert", kept, "--to", "folded", "-o", shop}, exitUsage, "", "--to is for files"},
		{"a collector", []string{"convert", kept, "-o", "otlp://" + host}, exitInput, "", "otlp://" + host + ": " + host + " answers 404 Not Found"},
		{"a password", []string{"show", "pyroscope://me:word@" + host + "/shop"}, exitInput, "", "pyroscope://" + host + "/shop: an address has no credentials"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := printed(t, tt.args...)
			if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d, standard output:\n%s\nstandard error:\n%s", code, stdout, stderr)
			}
			if strings.Contains(stdout+stderr, "word@") {
				t.Error("shows a password")
			}
			if strings.HasPrefix(tt.name, "diff") && (strings.Contains(stdout, "slower ") || strings.Contains(stdout, "faster ")) {
				t.Errorf("has a verdict:\n%s", stdout)
			}
		})
	}
	if !bytes.Contains(*pushed, []byte("region")) || !bytes.Contains(*pushed, []byte("service_name")) {
		t.Errorf("%d bytes were sent", len(*pushed))
	}
}
