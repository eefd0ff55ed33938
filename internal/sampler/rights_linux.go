package sampler

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"profdiff/internal/perffile"
)

// rights tells programs that the kernel stops recording: at an exec by which a process gets rights
// that the user lacks, it takes all events off the process (begin_new_exec in fs/exec.c), after it
// noted the new name, and before it maps the program.
type rights struct {
	started map[int32]program // the latest, by process
	mapped  map[int32]uint64
}

type program struct {
	name string
	time uint64
}

func newRights() *rights {
	return &rights{make(map[int32]program), make(map[int32]uint64)}
}

// comm notes a program that starts. Records of different CPUs are not in the order of time.
func (p *rights) comm(record *perffile.Record) error {
	c, err := record.Comm()
	if err == nil && c.Exec && record.Time > p.started[c.PID].time {
		p.started[c.PID] = program{string(c.Name), record.Time}
	}
	return err
}

func (p *rights) mmap(m perffile.Mmap, time uint64) {
	p.mapped[m.PID] = max(p.mapped[m.PID], time)
}

// note is what the user should know, "" if nothing was kept from him.
func (p *rights) note() string {
	names := make(map[string]bool)
	for pid, e := range p.started {
		if p.mapped[pid] < e.time {
			names[e.name] = true
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s runs with rights of others (setuid, or capabilities of the file), so that nothing of it is recorded: record it as root", strings.Join(slices.Sorted(maps.Keys(names)), ", "))
}
