//go:build !unix

package llvm

import "os/exec"

// killGroup leaves the command as it is: there are no process groups to kill.
func killGroup(*exec.Cmd) {}
