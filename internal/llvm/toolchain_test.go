package llvm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// installed are the versions that tests run, if they are installed.
var installed = [...]int{14, 19, 22}

// toolchain is the installed LLVM of a major version.
func toolchain(t testing.TB, major int) *Toolchain {
	t.Helper()
	suffix := fmt.Sprintf("-%d", major)
	mca, err1 := exec.LookPath("llvm-mca" + suffix)
	objdump, err2 := exec.LookPath("llvm-objdump" + suffix)
	if err1 != nil {
		t.Skipf("llvm-mca%s is not installed", suffix)
	}
	if err2 != nil {
		t.Skipf("llvm-objdump%s is not installed", suffix)
	}
	tc, err := probe(context.Background(), mca, objdump, major)
	if err != nil {
		t.Fatal(err)
	}
	return tc
}

// eachVersion runs a test with each installed version.
func eachVersion(t *testing.T, f func(t *testing.T, tc *Toolchain)) {
	t.Helper()
	for _, major := range installed {
		t.Run(fmt.Sprintf("llvm-%d", major), func(t *testing.T) {
			f(t, toolchain(t, major))
		})
	}
}

// script writes a program that stands for a tool.
func script(t *testing.T, path, body string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func prints(version string) string {
	return fmt.Sprintf("echo 'Debian LLVM version %s'\necho '  Optimized build.'", version)
}

func TestFind(t *testing.T) {
	tests := []struct {
		name  string
		tools map[string]string // path below the directory: body
		want  string            // version, or what the error contains
		fails bool
	}{
		{name: "nothing", want: "are not installed: install the package llvm-19", fails: true},
		{
			name:  "one of two",
			tools: map[string]string{"path/llvm-mca-19": prints("19.1.7")},
			want:  "are not installed: install the package llvm-19", fails: true,
		},
		{
			name: "path",
			tools: map[string]string{
				"path/llvm-mca-19": prints("19.1.7"), "path/llvm-objdump-19": prints("19.1.7"),
				"path/llvm-mca": prints("14.0.6"), "path/llvm-objdump": prints("14.0.6"),
			},
			want: "19.1.7",
		},
		{
			name: "22 before 19 before 21",
			tools: map[string]string{
				"path/llvm-mca-21": prints("21.1.0"), "path/llvm-objdump-21": prints("21.1.0"),
				"path/llvm-mca-19": prints("19.1.7"), "path/llvm-objdump-19": prints("19.1.7"),
				"lib/llvm-22/bin/llvm-mca": prints("22.1.8"), "lib/llvm-22/bin/llvm-objdump": prints("22.1.8"),
			},
			want: "22.1.8",
		},
		{
			name: "without a version",
			tools: map[string]string{
				"path/llvm-mca": prints("18.1.3"), "path/llvm-objdump": prints("18.1.8git"),
			},
			want: "18.1.3",
		},
		{
			name: "different versions",
			tools: map[string]string{
				"path/llvm-mca": prints("19.1.7"), "path/llvm-objdump": prints("14.0.6"),
			},
			want: "both must be of one version", fails: true,
		},
		{
			name: "a broken one is passed over",
			tools: map[string]string{
				"path/llvm-mca-22": "exit 1", "path/llvm-objdump-22": prints("22.1.8"),
				"path/llvm-mca-14": prints("14.0.6"), "path/llvm-objdump-14": prints("14.0.6"),
			},
			want: "14.0.6",
		},
		{
			name: "no version",
			tools: map[string]string{
				"path/llvm-mca-19": "echo nineteen", "path/llvm-objdump-19": prints("19.1.7"),
			},
			want: "llvm-mca-19 --version prints no version of LLVM", fails: true,
		},
		{
			name: "wrong name",
			tools: map[string]string{
				"path/llvm-mca-19": prints("18.1.3"), "path/llvm-objdump-19": prints("18.1.3"),
			},
			want: "is of LLVM 18.1.3, not 19", fails: true,
		},
		{
			name: "too old",
			tools: map[string]string{
				"path/llvm-mca": prints("13.0.1"), "path/llvm-objdump": prints("13.0.1"),
			},
			want: "LLVM 14 to 22 is supported", fails: true,
		},
		{
			name: "too new",
			tools: map[string]string{
				"path/llvm-mca": prints("23.1.0"), "path/llvm-objdump": prints("23.1.0"),
			},
			want: "LLVM 14 to 22 is supported", fails: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for path, body := range tt.tools {
				script(t, filepath.Join(dir, path), body)
			}
			p := places{root: filepath.Join(dir, "lib"), lookPath: func(name string) (string, error) {
				return exec.LookPath(filepath.Join(dir, "path", name))
			}}
			tc, err := find(t.Context(), "", p)
			checkFound(t, tc, err, tt.want, tt.fails)
		})
	}
}

func checkFound(t *testing.T, tc *Toolchain, err error, want string, fails bool) {
	t.Helper()
	if fails {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || tc != nil {
			t.Fatalf("Find = %v, error %v, want one line with %q", tc, err, want)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if tc.Version != want || !strings.HasPrefix(want, fmt.Sprint(tc.Major)) || !filepath.IsAbs(tc.MCA) || !filepath.IsAbs(tc.Objdump) {
		t.Errorf("Find = %+v, want version %s", tc, want)
	}
}

func TestFindInDirectory(t *testing.T) {
	tests := []struct {
		name  string
		tools map[string]string
		want  string
		fails bool
	}{
		{name: "empty", want: "has no llvm-mca and no llvm-objdump: install the package llvm-19", fails: true},
		{
			name: "no objdump", tools: map[string]string{"llvm-mca": prints("19.1.7")},
			want: "has llvm-mca and no llvm-objdump", fails: true,
		},
		{
			name:  "bin",
			tools: map[string]string{"bin/llvm-mca": prints("20.1.8"), "bin/llvm-objdump": prints("20.1.8")},
			want:  "20.1.8",
		},
		{
			name: "with versions",
			tools: map[string]string{
				"llvm-mca-14": prints("14.0.6"), "llvm-objdump-14": prints("14.0.6"),
				"llvm-mca-22": prints("22.1.8"),
			},
			want: "14.0.6",
		},
		{
			name:  "broken",
			tools: map[string]string{"llvm-mca": prints("x"), "llvm-objdump": prints("22.1.8")},
			want:  "prints no version of LLVM", fails: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for path, body := range tt.tools {
				script(t, filepath.Join(dir, path), body)
			}
			tc, err := Find(t.Context(), dir)
			checkFound(t, tc, err, tt.want, tt.fails)
		})
	}
	if _, err := Find(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a directory that does not exist is no error")
	}
}

func TestProcess(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name    string
		body    string
		timeout time.Duration // an hour where it must not come first
		want    string        // in the error
	}{
		{"timeout", "sleep 3600", 300 * time.Millisecond, "timeout: no result after 300ms"},
		{"too much output", "yes", time.Hour, "prints more than expected: over 1000 bytes"},
		{"signal", "kill -SEGV $$", time.Hour, "signal: segmentation fault"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := script(t, filepath.Join(dir, "tool"), tt.body)
			_, err := run(t.Context(), process{path: path, stdout: 1000, timeout: tt.timeout})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	// The child of a wrapper holds the pipes open; it must die with it. Where the timeout
	// came before the child, it is tried again with a longer one.
	t.Run("timeout of a child", func(t *testing.T) {
		pid := filepath.Join(dir, "pid")
		path := script(t, filepath.Join(dir, "tool"), "sleep 3600 & echo $! >"+pid+"; sleep 3600")
		var child []byte
		for timeout := 300 * time.Millisecond; len(child) == 0; timeout *= 2 {
			_, err := run(t.Context(), process{path: path, stdout: 1000, timeout: timeout})
			if want := fmt.Sprintf("timeout: no result after %v", timeout); err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("error %v, want %q", err, want)
			}
			child, _ = os.ReadFile(pid)
		}
		status := filepath.Join("/proc", strings.TrimSpace(string(child)), "status")
		for range 600 { // until it is gone, or waits for its end to be noticed
			text, err := os.ReadFile(status)
			if err != nil || strings.Contains(string(text), "State:\tZ") {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Error("a child of the tool lives on after the timeout")
	})

	t.Run("status and standard error", func(t *testing.T) {
		path := script(t, filepath.Join(dir, "tool"), "cat; yes warning | head -c 3000000 >&2; exit 3")
		out, err := run(t.Context(), process{path: path, stdin: []byte("in"), stdout: 1000})
		if err != nil || out.code != 3 || string(out.stdout) != "in" || len(out.stderr) != stderrLimit {
			t.Errorf("run = code %d, %q, %d bytes of standard error, %v", out.code, out.stdout, len(out.stderr), err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		path := script(t, filepath.Join(dir, "tool"), "sleep 3600")
		if _, err := run(ctx, process{path: path, stdout: 10}); err != context.Canceled {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	})
	t.Run("absent", func(t *testing.T) {
		if _, err := run(t.Context(), process{path: filepath.Join(dir, "none")}); err == nil {
			t.Error("no error")
		}
	})
}
