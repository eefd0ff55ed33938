//go:build unix

package command

import (
	"os"
	"os/exec"
	"syscall"
)

// group gives a command a process group of its own, if it is to have one, and returns what sends
// a signal to all of it.
func group(cmd *exec.Cmd, own bool) (send func(os.Signal) error) {
	cmd.SysProcAttr = attributes(own)
	return func(s os.Signal) error {
		number, ok := s.(syscall.Signal)
		if !own || !ok {
			return cmd.Process.Signal(s)
		}
		return syscall.Kill(-cmd.Process.Pid, number)
	}
}
