package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"
)

// A way to ingest the plan into a store. It says how long it was on a CPU, if that can be told.
type way struct {
	name string
	run  func(store string) (time.Duration, error)
}

// ingest ingests the plan in every way, and compares the tables.
func (t *trial) ingest() error {
	ways := []way{
		{"one worker", func(store string) (time.Duration, error) { return t.workers(store, 1) }},
		{"two workers at a time", func(store string) (time.Duration, error) { return t.workers(store, 2) }},
		{"pods of Kubernetes, by themselves", t.kubernetes},
		{"tasks of Slurm, by themselves", t.array},
	}
	if t.slurm {
		ways = append(ways, way{"Slurm", t.sbatch})
	}
	if t.spark {
		ways = append(ways,
			way{"Spark, pipe", func(store string) (time.Duration, error) { return t.pipe(store, false) }},
			way{"Spark, pipe, an executor killed", func(store string) (time.Duration, error) { return t.pipe(store, true) }},
			way{"Spark, no common file system", t.remote})
	}
	fmt.Printf("%d profiles in a plan of %d lines\n\n| Ingested by | tables | CPU s | s |\n| --- | --- | --- | --- |\n", t.profiles, t.specs)
	want := ""
	var all error
	for i, w := range ways {
		start := time.Now()
		cpu, err := w.run(t.store(i))
		got := ""
		if err == nil {
			got, err = tables(t.store(i))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		if want == "" {
			want = got
		}
		if got != want {
			all = errors.Join(all, fmt.Errorf("%s: the tables are %s, and %s of %s", w.name, got, want, ways[0].name))
		}
		seconds := "?"
		if cpu > 0 {
			seconds = fmt.Sprintf("%.1f", cpu.Seconds())
		}
		fmt.Printf("| %s | %s | %s | %.0f |\n", w.name, got[:16], seconds, time.Since(start).Seconds())
	}
	return all
}

// store is the directory of a way to ingest.
func (t *trial) store(i int) string { return filepath.Join(t.dir, fmt.Sprintf("store-%d", i)) }

// tables is a hash of the tables of a store: names and bytes.
func tables(store string) (string, error) {
	h := sha256.New()
	n := 0
	err := filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".parquet" {
			return err
		}
		name, err := filepath.Rel(store, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		fmt.Fprintf(h, "%s\x00%x\n", filepath.ToSlash(name), sha256.Sum256(data))
		return nil
	})
	if err == nil && n == 0 {
		err = fmt.Errorf("%s: has no tables", store)
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// workers shares the plan out among workers.
func (t *trial) workers(store string, n int) (total time.Duration, err error) {
	plan, err := os.ReadFile(t.plan)
	if err != nil {
		return 0, err
	}
	parts := make([][]byte, n)
	for i, line := range bytes.SplitAfter(plan, []byte("\n")) {
		parts[i%n] = append(parts[i%n], line...)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, part := range parts {
		wg.Go(func() {
			c := command{dir: t.fleet, in: part, args: []string{t.profdiff, "fleet", "worker", "--out", store}}
			cpu, failed := c.run(t)
			mu.Lock()
			defer mu.Unlock()
			total += cpu
			err = errors.Join(err, failed)
		})
	}
	wg.Wait()
	return total, err
}

// shared makes a directory as all pods see it: with the plan, the profiles and a store.
func (t *trial) shared(store string) (string, error) {
	dir := store + "-shared"
	return dir, errors.Join(os.Mkdir(dir, 0o755), os.Mkdir(store, 0o755), os.Symlink(store, filepath.Join(dir, "store")),
		os.Symlink(t.plan, filepath.Join(dir, "plan.jsonl")), os.Symlink(filepath.Join(t.fleet, "profiles"), filepath.Join(dir, "profiles")))
}

// kubernetes runs the command of each pod of the Job, with four pods.
func (t *trial) kubernetes(store string) (total time.Duration, err error) {
	data, err := os.ReadFile(repository("internal", "fleet", "engines", "kubernetes.yaml"))
	if err != nil {
		return 0, err
	}
	var job struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct{ Command []string }
				}
			}
		}
	}
	if err := yaml.Unmarshal(data, &job); err != nil {
		return 0, err
	}
	dir, err := t.shared(store)
	for i := range 4 {
		if err == nil {
			var cpu time.Duration
			c := command{dir: dir, args: job.Spec.Template.Spec.Containers[0].Command, env: []string{"PODS=4", fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i)}}
			cpu, err = c.run(t)
			total += cpu
		}
	}
	return total, err
}

// array runs the tasks of Slurm's array, with three tasks.
func (t *trial) array(store string) (total time.Duration, err error) {
	dir, err := t.shared(store)
	for i := range 3 {
		if err == nil {
			var cpu time.Duration
			c := command{dir: dir, args: []string{"sh", repository("internal", "fleet", "engines", "slurm.sbatch")}, env: []string{"SLURM_ARRAY_TASK_COUNT=3", fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", i)}}
			cpu, err = c.run(t)
			total += cpu
		}
	}
	return total, err
}

// sparkSubmit are the flags of a cluster of two executors on this machine. The cluster's
// files go where the trial is.
func (t *trial) sparkSubmit(script string, args ...string) command {
	return command{args: append([]string{
		filepath.Join(filepath.Dir(t.python), "spark-submit"), "--master", "local-cluster[2,1,2048]", "--files", t.profdiff,
		"--conf", "spark.ui.enabled=false", "--conf", "spark.log.level=ERROR", "--conf", "spark.sql.shuffle.partitions=4",
		"--conf", "spark.local.dir=" + t.dir,
		repository("internal", "fleet", "engines", script),
	}, args...)}
}

// pipe ingests by Spark, whose executors see the files. If one is to be killed, that is done once a batch is
// in the store, while a worker is at another.
func (t *trial) pipe(store string, kill bool) (time.Duration, error) {
	c := t.sparkSubmit("spark_ingest.py", t.plan, store, store+".receipts")
	c.dir = t.fleet
	// Executors work in directories of their own.
	absolute, err := t.absolutePlan()
	if err != nil {
		return 0, err
	}
	for i, arg := range c.args {
		if arg == t.plan {
			c.args[i] = absolute
		}
	}
	cmd, said, err := c.start(t)
	if err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	killed := false
	for {
		select {
		case err := <-done:
			switch {
			case err != nil:
				err = fmt.Errorf("spark-submit: %w\n%s", err, said)
			case kill && !killed:
				err = errors.New("all was done before an executor could be killed")
			default:
				err = t.receipts(store + ".receipts")
			}
			return 0, err
		case <-time.After(20 * time.Millisecond):
			if kill && !killed {
				if killed, err = t.killExecutor(cmd, store); err != nil {
					return 0, err
				}
			}
		}
	}
}

// absolutePlan is the plan with absolute paths.
func (t *trial) absolutePlan() (string, error) {
	name := filepath.Join(t.dir, "plan-absolute.jsonl")
	c := command{args: []string{t.profdiff, "fleet", "plan", "--manifest", filepath.Join(t.fleet, "manifest.csv"), "--batch", "50", "-o", name}}
	_, err := c.run(t)
	return name, err
}

// remote ingests by Spark, which moves profiles and tables itself.
func (t *trial) remote(store string) (time.Duration, error) {
	c := t.sparkSubmit("spark_ingest_remote.py", t.plan, "file://"+t.fleet, "file://"+store, store+".receipts")
	if _, err := c.run(t); err != nil {
		return 0, err
	}
	return 0, t.receipts(store + ".receipts")
}

// receipts checks that each line of the plan has one.
func (t *trial) receipts(name string) error {
	data, err := os.ReadFile(name)
	if n := bytes.Count(data, []byte("\n")); err == nil && n != t.specs {
		err = fmt.Errorf("%d receipts for a plan of %d lines", n, t.specs)
	}
	return err
}

// killExecutor kills the executor of Spark that has a worker at work, if a batch is in the store.
func (t *trial) killExecutor(spark *exec.Cmd, store string) (bool, error) {
	if found, _ := filepath.Glob(filepath.Join(store, "profiles", "*", "*", "b-*.parquet")); len(found) == 0 {
		return false, nil
	}
	processes, err := processes()
	if err != nil {
		return false, err
	}
	for pid, p := range processes {
		if !strings.Contains(p.command, "profdiff\x00fleet\x00worker") {
			continue
		}
		executor := 0
		for pid != 0 && pid != spark.Process.Pid {
			if strings.Contains(processes[pid].command, "CoarseGrainedExecutorBackend") {
				executor = pid
			}
			pid = processes[pid].parent
		}
		if executor == 0 || pid == 0 {
			continue
		}
		p, err := os.FindProcess(executor)
		if err != nil {
			return false, err
		}
		return true, p.Kill()
	}
	return false, nil
}

// A process of this machine.
type process struct {
	parent  int
	command string
}

// processes are all processes, by id.
func processes() (map[int]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	all := make(map[int]process)
	for _, e := range entries {
		var pid int
		if n, err := fmt.Sscan(e.Name(), &pid); n != 1 || err != nil {
			continue
		}
		command, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		stat, err2 := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		at := bytes.LastIndexByte(stat, ')')
		if err != nil || err2 != nil || at < 0 {
			continue // it has ended
		}
		p := process{command: string(command)}
		var state string
		if _, err := fmt.Sscan(string(stat[at+1:]), &state, &p.parent); err != nil {
			return nil, err
		}
		all[pid] = p
	}
	return all, nil
}
