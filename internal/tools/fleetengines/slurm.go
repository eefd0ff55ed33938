package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// slurmConf is a cluster of this machine alone, in which all that is written is in one directory.
const slurmConf = `ClusterName=trial
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
SlurmctldLogFile=%[2]s/slurmctld.log
SlurmdLogFile=%[2]s/slurmd.log
SlurmctldPort=16817
SlurmdPort=16818
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=2 RealMemory=4096 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// sbatch ingests by the array of Slurm's jobs, on this machine.
func (t *trial) sbatch(store string) (cpu time.Duration, err error) {
	dir := filepath.Join(t.dir, "slurm")
	host, err := os.Hostname()
	if err != nil {
		return 0, err
	}
	host, _, _ = strings.Cut(host, ".")
	err = errors.Join(os.MkdirAll(filepath.Join(dir, "state"), 0o755), os.MkdirAll(filepath.Join(dir, "spool"), 0o755),
		os.WriteFile(filepath.Join(dir, "slurm.conf"), fmt.Appendf(nil, slurmConf, host, dir), 0o644),
		os.WriteFile(filepath.Join(dir, "key"), []byte(strings.Repeat("not a secret: this cluster is one machine, for minutes. ", 20)), 0o400))
	if err != nil {
		return 0, err
	}
	env := []string{"SLURM_CONF=" + filepath.Join(dir, "slurm.conf")}
	// Each of these stays until it is told to end.
	for _, args := range [][]string{
		{
			"munged", "--foreground", "--force", "--key-file=" + filepath.Join(dir, "key"), "--socket=" + filepath.Join(dir, "munge"),
			"--pid-file=" + filepath.Join(dir, "munge.pid"), "--log-file=" + filepath.Join(dir, "munge.log"), "--seed-file=" + filepath.Join(dir, "munge.seed"),
		},
		{"slurmctld", "-D"},
		{"slurmd", "-D"},
	} {
		c := command{args: args, env: env}
		daemon, said, startErr := c.start(t)
		if startErr != nil {
			return 0, startErr
		}
		defer func() {
			stopped := errors.Join(daemon.Process.Signal(os.Interrupt), wait(daemon))
			if err != nil {
				err = fmt.Errorf("%w\n%s: %w\n%s", err, args[0], stopped, said)
			}
		}()
		time.Sleep(2 * time.Second)
	}
	shared, err := t.shared(store)
	if err != nil {
		return 0, err
	}
	c := command{dir: shared, env: env, args: []string{"sbatch", "--wait", "--array=0-4%2", repository("internal", "fleet", "engines", "slurm.sbatch")}}
	_, err = c.run(t)
	return 0, err
}

// wait waits for a daemon that was told to end, and ends it if it does not.
func wait(daemon *exec.Cmd) error {
	timer := time.AfterFunc(20*time.Second, func() { daemon.Process.Kill() })
	defer timer.Stop()
	return daemon.Wait()
}
