package probe

import "golang.org/x/sys/cpu"

func features() map[string]bool {
	return map[string]bool{"crc32": cpu.ARM64.HasCRC32, "lse": cpu.ARM64.HasATOMICS}
}
