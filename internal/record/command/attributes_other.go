//go:build unix && !linux

package command

import "syscall"

// attributes are of a command with a process group of its own or not.
func attributes(group bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: group}
}
