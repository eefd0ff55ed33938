package objects

import (
	"io/fs"
	"syscall"

	"profdiff/internal/perfsession"
)

// inodeOf tells a file from others on this machine, as MMAP2 records do; 0 and 0 if nothing is
// known.
func inodeOf(info fs.FileInfo) (device perfsession.Device, inode uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		// As glibc's gnu_dev_major and gnu_dev_minor.
		major := s.Dev>>8&0xfff | s.Dev>>32&^0xfff
		minor := s.Dev&0xff | s.Dev>>12&^0xff
		return perfsession.Device{Major: uint32(major), Minor: uint32(minor)}, s.Ino
	}
	return perfsession.Device{}, 0
}
