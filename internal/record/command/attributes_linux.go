package command

import "syscall"

// attributes are of a command with a process group of its own or not, which is told to end when
// this process does.
func attributes(group bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: group, Pdeathsig: syscall.SIGTERM}
}
