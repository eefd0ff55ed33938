//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"profdiff/internal/input/inputtest"
)

// TestSignalMoments ends commands at random moments between their start and the time that each takes undisturbed: outputs
// are all there or none, nothing temporary and no process is left, and the exit code is that of the signal or, of a
// command that was faster, its own.
func TestSignalMoments(t *testing.T) {
	moments := 2
	switch {
	case *longMode:
		moments = 50
	case testing.Short():
		moments = 1
	}
	shared := t.TempDir()
	for name, data := range map[string][]byte{
		"a": inputtest.FoldedFunctions(5000, 0), "b": inputtest.FoldedFunctions(5000, 1), "small": inputtest.FoldedFunctions(50, 0), "other": inputtest.FoldedFunctions(50, 1),
		"budget.yaml":   []byte("version: 1\ndefaults: {normalize: none}\nbudgets:\n  - id: f\n    match: {function: main}\n    limit: {fail: +10%}\n"),
		"profiles.csv":  []byte("path,release,device,time\na,1,x,2026-11-23\nb,2,x,2026-11-24\na,1,y,2026-11-23\nb,2,z,2026-11-24\n"),
		"recording":     inputtest.Processes(3000),
		"profiles2.csv": []byte("path,release,device,time\nsmall,1,x,2026-11-23\nother,2,x,2026-11-24\n"),
		"before.ndjson": measuredValues(2000, 1.0), "after.ndjson": measuredValues(2000, 1.1),
	} {
		if err := os.WriteFile(filepath.Join(shared, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"fleet", "ingest", "--manifest", "profiles2.csv", "--out", "store"},
		{"diff", "small", "other", "--html", "page.html", "-o", "text"},
		{"fleet", "plan", "--manifest", "profiles.csv", "--batch", "1", "-o", "specs.jsonl"},
	} {
		cmd, stderr := process(t, shared, args...)
		if err := cmd.Run(); err != nil {
			t.Fatalf("%q: %v: %s", args, err, stderr)
		}
	}
	makeCommits(t, filepath.Join(shared, "project"))
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(repository, "mca-cases/absolute-sum")
	heaps := filepath.Join(repository, "profiles/message-heap/callgrind")
	for _, test := range []struct {
		args string
		// folder is where the command runs, "" for the one with all files.
		folder string
		// outputs appear all or none.
		outputs string
		// grows is set if what is complete stays: whole batches, whole recordings.
		grows bool
		// varies is set if it depends on the machine whether there is a result.
		varies bool
		// stdin is the file that is standard input, "" for none.
		stdin string
	}{
		{args: "convert a -o out.pb.gz", outputs: "out.pb.gz"},
		{args: "convert recording -o out --to otlp", outputs: "out"},
		{args: "show a -o out", outputs: "out"},
		{args: "show a -o out --html out.html", outputs: "out out.html"},
		{args: "diff a b -o out --html out.html", outputs: "out out.html"},
		{args: "check a b --budget budget.yaml --out json=out --out sarif=out2", outputs: "out out2"},
		{args: "branches " + heaps + "/before.out -o out", outputs: "out"},
		{args: "branches " + heaps + "/before.out " + heaps + "/after.out -o out --html out.html", outputs: "out out.html"},
		{args: "check --bisect HEAD~1 --limit 5% --build true --runs 2 --warmup 0 -- true", folder: "project", grows: true},
		{args: "dump recording -o out", outputs: "out"},
		{args: "report --from page.html -o out", outputs: "out"},
		{args: "loops recording -o out", outputs: "out"},
		{args: "budget init a -o out", outputs: "out"},
		{args: "budget explain a b --budget budget.yaml -o out", outputs: "out"},
		{args: "budget tighten a b --budget budget.yaml -o out", outputs: "out"},
		{args: "budget schema"},
		{args: "fleet plan --manifest profiles.csv -o out", outputs: "out"},
		{args: "fleet compare store --engine profdiff -o out --html out.html", outputs: "out out.html"},
		{args: "fleet show store -o out", outputs: "out"},
		{args: "fleet sql store -o out", outputs: "out"},
		{args: "fleet ingest --manifest profiles.csv --out new --batch 1", grows: true},
		{args: "fleet compact store", grows: true},
		{args: "fleet delete store --device x", grows: true},
		{args: "predict " + loop + "/branchy.x86-64.s " + loop + "/branchless.x86-64.s --cpu znver5 -o out", outputs: "out"},
		{args: "record --before true --after true --runs 2 --warmup 0 -o runs", grows: true},
		{args: "record -o out -- true", outputs: "out", grows: true}, // with a folder of symbols
		{args: "selftest --runs 8 -- true"},
		{args: "selftest --runs 8 -o runs -- true", grows: true},
		{args: "calibrate --rounds 9 --limit 1s -o out", outputs: "out", varies: true},
		{args: "show before.ndjson -o out", outputs: "out"},
		{args: "diff before.ndjson after.ndjson -o out --html out.html", outputs: "out out.html"},
		{args: "fleet worker --out new", stdin: "specs.jsonl", grows: true},
		{args: "fleet rename store main=other", grows: true},
		{args: "budget store a --benchmark b -o kept", grows: true},
	} {
		t.Run(strings.ReplaceAll(test.args, repository+"/", ""), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(20, uint64(len(test.args))))
			took := time.Duration(0)
			own := 0
			for i := range moments + 1 { // the first is not disturbed
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(shared)); err != nil {
					t.Fatal(err)
				}
				temporary := filepath.Join(dir, "tmp")
				if err := os.Mkdir(temporary, 0o777); err != nil {
					t.Fatal(err)
				}
				cmd, stderr := process(t, dir, strings.Fields(test.args)...)
				cmd.Dir = filepath.Join(dir, test.folder)
				cmd.Env = append(os.Environ(), "TMPDIR="+temporary, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
				if test.stdin != "" {
					file, err := os.Open(filepath.Join(dir, test.stdin))
					if err != nil {
						t.Fatal(err)
					}
					defer file.Close()
					cmd.Stdin = file
				}
				start := time.Now()
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				signal := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}[rng.IntN(3)]
				if i > 0 {
					time.Sleep(time.Duration(rng.Int64N(int64(took) + 1)))
					_ = cmd.Process.Signal(signal) // it may have ended
				}
				_ = cmd.Wait() // the exit code tells
				status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
				code := cmd.ProcessState.ExitCode()
				if i == 0 {
					if took, own = time.Since(start), code; own == exitUsage {
						t.Fatalf("wrong command line: %s", stderr)
					}
				}
				// One that comes before the program has begun ends it as it does any.
				ended := i > 0 && (code == 128+int(signal) || status.Signaled() && status.Signal() == signal)
				if code != own && !ended && !(test.varies && (code == exitOK || code == exitInput)) {
					t.Fatalf("%v after %v: exit code %d, undisturbed %d: %s", signal, time.Since(start), code, own, stderr)
				}
				var outputs int
				want := strings.Fields(test.outputs)
				for _, name := range want {
					if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
						outputs++
					}
				}
				if outputs != 0 && outputs != len(want) {
					t.Errorf("%v: exit code %d, %d outputs of %d", signal, code, outputs, len(want))
				}
				if left := leftIn(t, dir); len(left) > 0 {
					t.Errorf("%v: exit code %d, left are %q", signal, code, left)
				}
				if !test.grows {
					for _, name := range names(t, dir) {
						if _, err := os.Stat(filepath.Join(shared, name)); err != nil && name != "tmp" && !slices.Contains(want, name) {
							t.Errorf("%v: %s is left", signal, name)
						}
					}
				}
				if left := processesOf(temporary); len(left) > 0 {
					t.Errorf("%v: processes are left: %q", signal, left)
				}
			}
		})
	}
}

// measuredValues are how long two commands took in so many runs, as lines of JSON.
func measuredValues(runs int, factor float64) []byte {
	var b bytes.Buffer
	for i := range runs {
		for j, name := range []string{"pack", "unpack"} {
			fmt.Fprintf(&b, "{\"run\": %d, \"command\": %q, \"elapsed_s\": %.4f}\n", i, name, factor*float64(1+j+i%7))
		}
	}
	return b.Bytes()
}

// makeCommits makes a git repository of two commits.
func makeCommits(t *testing.T, dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	git("init", "--quiet")
	for i := range 2 {
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte{byte('1' + i), '\n'}, 0o666); err != nil {
			t.Fatal(err)
		}
		git("add", "file")
		git("commit", "--quiet", "--message", "a change")
	}
}

// leftIn are the temporary files in a folder: those in tmp, hidden ones, and of a repository what is checked out
// elsewhere or locked.
func leftIn(t *testing.T, dir string) (left []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		hidden := rel != "." && strings.HasPrefix(d.Name(), ".") && d.Name() != ".build-id" && rel != "project/.git"
		locked := strings.HasPrefix(rel, "project/.git/") && (strings.HasSuffix(rel, ".lock") || strings.HasPrefix(rel, "project/.git/worktrees/"))
		if strings.HasPrefix(rel, "tmp/") || hidden || locked {
			left = append(left, rel)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return left
}

// processesOf are the processes whose environment has a word.
func processesOf(word string) (list []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		// Processes of others cannot be read, and those that have ended have none.
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte("TMPDIR="+word+"\x00")) {
			cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			list = append(list, string(bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '})))
		}
	}
	return list
}
