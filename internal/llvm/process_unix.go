//go:build unix

package llvm

import (
	"os/exec"
	"syscall"
)

// killGroup gives the command a process group of its own that is killed as a whole:
// a tool may be a wrapper that starts others.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
