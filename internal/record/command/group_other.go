//go:build !unix

package command

import (
	"os"
	"os/exec"
)

// group returns what ends a command: there are no process groups, and no signals but one.
func group(cmd *exec.Cmd, _ bool) (send func(os.Signal) error) {
	return func(os.Signal) error { return cmd.Process.Kill() }
}
