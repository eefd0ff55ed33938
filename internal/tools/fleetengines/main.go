// Fleetengines has every engine do the same work on a fleet, which must come to the same.
//
//  1. Profiles are generated (fleetprofiles) and planned once.
//  2. They are ingested (ingest.go) by one worker, by two at a time, by the pods of the Job of Kubernetes, which
//     run here one after the other, and by the tasks of the array of Slurm. With -slurm a Slurm of one
//     node runs these. With -spark, Spark ingests them with two executors: by pipe, again while an executor is
//     killed in the middle of a batch, and without a common file system. All tables must be the same, byte by byte.
//  3. What `profdiff fleet sql` prints (compare.go) runs on DuckDB, DataFusion, ClickHouse and, with -spark, Spark.
//     Every engine must have the rows of the comparison in Go, with a z that differs by less than 1e-9 of it.
//
// The engines are libraries of Python, of requirements.txt:
//
//	python3 -m venv VENV && VENV/bin/pip install -r internal/tools/fleetengines/requirements.txt
//	go -C internal/tools run ./fleetengines -python VENV/bin/python -profiles 2000 -spark
//
// Without -python, only what needs no engine is done.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A trial is the flags, and what is made of them.
type trial struct {
	python, dir  string
	profdiff     string // the program
	profiles     int
	spark, slurm bool

	fleet string // the directory of the profiles
	plan  string // the file
	specs int    // lines of it
}

func main() {
	var t trial
	flag.StringVar(&t.python, "python", "", "the `PYTHON` that has the engines")
	flag.StringVar(&t.dir, "o", "", "work in `DIR`, which stays; a temporary one unless given")
	flag.StringVar(&t.profdiff, "profdiff", "", "the `PROGRAM`; it is built unless given")
	flag.IntVar(&t.profiles, "profiles", 300, "generate `N` profiles")
	flag.BoolVar(&t.spark, "spark", false, "run Spark too: minutes, and 6 GB of memory")
	flag.BoolVar(&t.slurm, "slurm", false, "run Slurm on this machine too, which must be installed, as root")
	flag.Parse()
	if t.spark && t.python == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := t.run(); err != nil {
		fmt.Fprintf(os.Stderr, "fleetengines: %v\n", err)
		os.Exit(1)
	}
}

func (t *trial) run() (err error) {
	if t.dir == "" {
		if t.dir, err = os.MkdirTemp("", "fleetengines"); err != nil {
			return err
		}
		defer os.RemoveAll(t.dir)
	} else if err := os.Mkdir(t.dir, 0o755); err != nil {
		return err
	}
	if t.dir, err = filepath.Abs(t.dir); err != nil {
		return err
	}
	if t.python != "" {
		if t.python, err = exec.LookPath(t.python); err == nil {
			t.python, err = filepath.Abs(t.python)
		}
	}
	if err != nil {
		return err
	}
	if err := t.prepare(); err != nil {
		return err
	}
	err = t.ingest()
	if t.python != "" {
		err = errors.Join(err, t.compare())
	}
	return err
}

// prepare builds the program and makes the profiles and the plan.
func (t *trial) prepare() error {
	// Scripts find the program by its name.
	program := filepath.Join(t.dir, "profdiff")
	get := command{dir: repository(), args: []string{"go", "build", "-o", program, "./cmd/profdiff"}}
	if t.profdiff != "" {
		get.args = []string{"cp", t.profdiff, program}
	}
	t.profdiff = program
	generator := filepath.Join(t.dir, "fleetprofiles")
	t.fleet, t.plan = filepath.Join(t.dir, "fleet"), filepath.Join(t.dir, "plan.jsonl")
	for _, c := range []command{
		get,
		{dir: repository("internal", "tools"), args: []string{"go", "build", "-o", generator, "./fleetprofiles"}},
		{args: []string{generator, "-profiles", fmt.Sprint(t.profiles), "-devices", fmt.Sprint(max(60, t.profiles/5)), "-models", "4", "-on", "2", "-o", t.fleet}},
		// Paths of the plan are relative to the profiles: Spark may copy these to where it works.
		{dir: t.fleet, args: []string{t.profdiff, "fleet", "plan", "--manifest", "manifest.csv", "--batch", "50", "-o", t.plan}},
	} {
		if _, err := c.run(t); err != nil {
			return err
		}
	}
	plan, err := os.ReadFile(t.plan)
	t.specs = bytes.Count(plan, []byte("\n"))
	return err
}

// A command is a program that runs.
type command struct {
	dir  string // "" for that of the trial
	in   []byte
	out  string // file of what it prints
	env  []string
	args []string
}

// start starts a command.
func (c *command) start(t *trial) (*exec.Cmd, *bytes.Buffer, error) {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Dir = c.dir
	if c.dir == "" {
		cmd.Dir = t.dir
	}
	path := t.dir
	if t.python != "" {
		path += string(os.PathListSeparator) + filepath.Dir(t.python)
	}
	cmd.Env = append(os.Environ(), "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"), "PYSPARK_PYTHON="+t.python, "SPARK_LOCAL_IP=127.0.0.1")
	cmd.Env = append(cmd.Env, c.env...)
	cmd.Stdin = bytes.NewReader(c.in)
	said := new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = said, said
	if c.out != "" {
		out, err := os.Create(c.out)
		if err != nil {
			return nil, nil, err
		}
		defer out.Close()
		cmd.Stdout = out
	}
	return cmd, said, cmd.Start()
}

// run runs a command and says how long it was on a CPU.
func (c *command) run(t *trial) (time.Duration, error) {
	cmd, said, err := c.start(t)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		text := strings.TrimSpace(said.String())
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(c.args, " "), err, text[max(0, len(text)-4000):])
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// repository is a file of the repository.
func repository(name ...string) string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(append([]string{filepath.Dir(file), "..", "..", ".."}, name...)...)
}
