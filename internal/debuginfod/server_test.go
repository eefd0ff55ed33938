package debuginfod

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"profdiff/internal/objfile"
)

// run runs a program of this machine.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed", name)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// TestServer asks the debuginfod of elfutils for a program that was stripped, and looks
// whether its client finds in the cache what this one put there, and the other way round.
func TestServer(t *testing.T) {
	dir := t.TempDir()
	served := filepath.Join(dir, "served")
	if err := os.Mkdir(served, 0o700); err != nil {
		t.Fatal(err)
	}
	source, program, debug := filepath.Join(dir, "p.c"), filepath.Join(served, "p"), filepath.Join(served, "p.debug")
	if err := os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, nil, "gcc", "-g", "-o", program, "-Wl,--build-id=sha1", source)
	run(t, nil, "objcopy", "--only-keep-debug", program, debug)
	run(t, nil, "strip", program)
	f, err := objfile.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	buildID := f.BuildID()
	f.Close()

	s := newSetting(t, startServer(t, served))
	s.env["DEBUGINFOD_TIMEOUT"] = "30"
	// It serves what it found so far, and is looking.
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(20 * time.Millisecond) {
		response, err := http.Get(s.env["DEBUGINFOD_URLS"] + "/buildid/" + buildID + "/debuginfo")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode == http.StatusOK {
			break
		}
	}
	c := s.client(t)
	path, err := c.Find(Debuginfo, buildID, "p")
	if err != nil {
		t.Fatalf("%v; warnings %q", err, s.warnings)
	}
	if f, err = objfile.Open(path); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if lines, err := f.Lines(); err != nil || lines == nil {
		t.Errorf("debug information: %v", err)
	}
	if _, err := c.Find(Debuginfo, id, "q"); !errors.Is(err, ErrNotFound) || s.warnings != nil {
		t.Errorf("no such file: %v; warnings %q", err, s.warnings)
	}
	// The client of elfutils asks a server that is not there, so what it has is from the cache.
	find := func(url, kind, id string) (string, error) {
		if _, err := exec.LookPath("debuginfod-find"); err != nil {
			t.Skip("debuginfod-find is not installed")
		}
		cmd := exec.CommandContext(t.Context(), "debuginfod-find", kind, id)
		cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS="+url, "DEBUGINFOD_CACHE_PATH="+s.dir)
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	const nowhere = "http://127.0.0.1:1"
	if got, err := find(nowhere, "debuginfo", buildID); got != path || err != nil {
		t.Errorf("debuginfod-find: got %q, %v", got, err)
	}
	if got, err := find(s.env["DEBUGINFOD_URLS"], "executable", buildID); err != nil {
		t.Errorf("debuginfod-find: got %q, %v", got, err)
	}
	s.env["DEBUGINFOD_URLS"] = nowhere
	if _, err := s.client(t).Find(Executable, buildID, "p"); err != nil || s.warnings != nil {
		t.Errorf("what debuginfod-find got: %v; warnings %q", err, s.warnings)
	}
}

// startServer serves a directory until the test ends.
func startServer(t *testing.T, dir string) (url string) {
	t.Helper()
	name, err := exec.LookPath("debuginfod")
	if err != nil {
		t.Skip("debuginfod is not installed")
	}
	// It takes no port of the system's choice, so one is tried after the other.
	for port := 28002; port < 28032; port++ {
		ctx, cancel := context.WithCancel(context.Background())
		cmd := exec.CommandContext(ctx, name, "-v", "-F", "-d", ":memory:", "-t", "0", "-p", fmt.Sprint(port), dir)
		cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
		in, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			cancel()
			t.Fatal(err)
		}
		late := time.AfterFunc(time.Minute, cancel)
		ready := false
		var log strings.Builder
		for lines := bufio.NewScanner(in); !ready && lines.Scan(); {
			fmt.Fprintln(&log, lines.Text())
			ready = strings.Contains(lines.Text(), "started http server")
		}
		late.Stop()
		if ready {
			go io.Copy(io.Discard, in)
			t.Cleanup(func() {
				cancel()
				cmd.Wait()
			})
			return fmt.Sprintf("http://127.0.0.1:%d", port)
		}
		cancel()
		cmd.Wait()
		if !strings.Contains(log.String(), "bind") {
			t.Fatalf("debuginfod ended:\n%s", log.String())
		}
	}
	t.Fatal("no port is free for debuginfod")
	return ""
}
