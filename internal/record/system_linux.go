package record

import "syscall"

// machineName is what uname -m prints.
func machineName() (name string) {
	var u syscall.Utsname
	if syscall.Uname(&u) != nil {
		return ""
	}
	for _, c := range u.Machine {
		if c == 0 {
			break
		}
		name += string(rune(byte(c)))
	}
	return name
}

// FreeBytes is how much is free on the disk of a folder; false if it cannot be asked.
func FreeBytes(dir string) (int64, bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, false
	}
	return int64(min(fs.Bavail, 1<<40)) * int64(fs.Bsize), true
}
