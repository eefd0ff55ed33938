package sampler

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"profdiff/internal/objfile"
)

// A census makes the records that the kernel would have written of what began before the
// recording, as perf does (tools/perf/util/synthetic-events.c), at time 0: FORK and COMM of each
// thread, and MMAP2 of code that each process has mapped.
type census struct {
	r     *recorder
	id    uint64       // of the event that has such records
	tasks map[int]bool // threads that were counted
	ids   map[inode][]byte
	// hidden processes have maps that this user may not read.
	hidden int
}

// An inode is a file as maps have it.
type inode struct {
	major, minor uint32
	number       uint64
}

func newCensus(r *recorder) *census {
	return &census{r: r, id: r.ids[0][0], tasks: make(map[int]bool), ids: make(map[inode][]byte)}
}

// take writes the records of all threads that were not there before.
func (c *census) take() error {
	pids := c.r.opt.Processes
	if c.r.opt.System {
		pids = numbers("/proc")
	}
	var records []byte
	for _, pid := range pids {
		records = c.process(records, pid)
	}
	if len(records) == 0 {
		return nil
	}
	return c.r.file.append(records)
}

// numbers are the names in a folder that are numbers, in order.
func numbers(dir string) (list []int) {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1) // of a process that ends meanwhile, what there is
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// threads are the IDs of the threads of a process, none if it is gone.
func threads(pid int) []int { return numbers(fmt.Sprintf("/proc/%d/task", pid)) }

// process appends the records of a process, as far as it is still there.
func (c *census) process(records []byte, pid int) []byte {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return records
	}
	parent := statusField(status, "PPid")
	for _, tid := range threads(pid) {
		if c.tasks[tid] {
			continue
		}
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, tid))
		if err != nil {
			continue
		}
		c.tasks[tid] = true
		name = bytes.TrimSuffix(name, []byte("\n"))
		if tid == pid {
			// Of a parent, no mappings are inherited: they follow.
			records = c.append(records, unix.PERF_RECORD_FORK, miscForkExec, task(pid, parent, pid, parent))
		} else {
			records = c.append(records, unix.PERF_RECORD_FORK, 0, task(pid, pid, tid, pid))
		}
		records = c.append(records, unix.PERF_RECORD_COMM, 0, text(words(nil, pid, tid), string(name)))
		if tid == pid {
			records = c.mappings(records, pid)
		}
	}
	return records
}

// miscForkExec marks a FORK of a process that has nothing of its parent.
const miscForkExec = 1 << 13

func words(data []byte, list ...int) []byte {
	for _, n := range list {
		data = order.AppendUint32(data, uint32(n))
	}
	return data
}

// task is the body of FORK, at time 0.
func task(pid, ppid, tid, ptid int) []byte {
	return order.AppendUint64(words(nil, pid, ppid, tid, ptid), 0)
}

// text appends a text that ends in zeros at a multiple of 8 bytes.
func text(data []byte, s string) []byte {
	data = append(data, s...)
	return append(data, make([]byte, 8-len(data)%8)...)
}

func (c *census) append(records []byte, kind uint32, misc uint16, body []byte) []byte {
	trailer := sampleID(c.id)
	records = order.AppendUint32(records, kind)
	records = order.AppendUint16(records, misc)
	records = order.AppendUint16(records, uint16(8+len(body)+len(trailer)))
	return append(append(records, body...), trailer...)
}

// mappings appends what a process has mapped to be executed, and where stacks are copied, all that it
// has mapped of files, as the kernel does.
func (c *census) mappings(records []byte, pid int) []byte {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if os.IsPermission(err) {
		c.hidden++
	}
	for line := range strings.Lines(string(maps)) {
		m, ok := parseMapping(strings.TrimSuffix(line, "\n"))
		data := m.prot&unix.PROT_EXEC == 0
		if !ok || data && (c.r.opt.Stack == 0 || !strings.HasPrefix(m.name, "/")) || m.name == "[vsyscall]" || strings.HasPrefix(m.name, "[vvar") {
			continue
		}
		body := words(nil, pid, pid)
		for _, v := range []uint64{m.start, m.end - m.start, m.offset} {
			body = order.AppendUint64(body, v)
		}
		misc := uint16(unix.PERF_RECORD_MISC_USER)
		if data {
			misc |= unix.PERF_RECORD_MISC_MMAP_DATA
		}
		if id := c.buildID(pid, &m); len(id) > 0 {
			misc |= miscMmapBuildID
			body = append(body, byte(len(id)), 0, 0, 0)
			body = append(append(body, id...), make([]byte, maxBuildID-len(id))...)
		} else {
			body = order.AppendUint32(order.AppendUint32(body, m.file.major), m.file.minor)
			body = order.AppendUint64(order.AppendUint64(body, m.file.number), 0)
		}
		body = order.AppendUint32(order.AppendUint32(body, m.prot), m.flags)
		records = c.append(records, unix.PERF_RECORD_MMAP2, misc, text(body, m.name))
	}
	return records
}

const (
	miscMmapBuildID = 1 << 14 // MMAP2: a build ID instead of an inode
	maxBuildID      = 20      // bytes
)

// A mapping is a line of /proc/PID/maps.
type mapping struct {
	start, end, offset uint64
	prot, flags        uint32
	file               inode
	name               string
}

// parseMapping reads a line: START-END PERMS OFFSET MAJOR:MINOR INODE NAME. The name may hold
// blanks, and a line feed in it is \012. What has no name the kernel calls //anon.
func parseMapping(line string) (m mapping, ok bool) {
	var f [5]string
	rest := line
	for i := range f {
		f[i], rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
	}
	m.name = strings.ReplaceAll(strings.TrimLeft(rest, " "), `\012`, "\n")
	if m.name == "" {
		m.name = "//anon"
	}
	var perms string
	n, err := fmt.Sscanf(strings.Join(f[:], " "), "%x-%x %s %x %x:%x %d", &m.start, &m.end, &perms, &m.offset, &m.file.major, &m.file.minor, &m.file.number)
	if n != 7 || err != nil || m.end < m.start || len(perms) != 4 || len(m.name) >= unix.PathMax {
		return m, false
	}
	for i, bit := range []uint32{unix.PROT_READ, unix.PROT_WRITE, unix.PROT_EXEC} {
		if perms[i] != '-' {
			m.prot |= bit
		}
	}
	m.flags = unix.MAP_PRIVATE
	if perms[3] == 's' {
		m.flags = unix.MAP_SHARED
	}
	return m, true
}

// buildID reads the build ID of the file that was mapped, nil if that cannot be had. Who may
// reads the very file; else it is the one that has the name now, if it is the same.
func (c *census) buildID(pid int, m *mapping) []byte {
	if m.file.number == 0 || !strings.HasPrefix(m.name, "/") {
		return nil
	}
	id, known := c.ids[m.file]
	if !known {
		id = buildIDOf(fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.start, m.end), 0)
		if id == nil {
			id = buildIDOf(fmt.Sprintf("/proc/%d/root%s", pid, m.name), m.file.number)
		}
		c.ids[m.file] = id
	}
	return id
}

// buildIDOf reads the build ID of a file, nil if it is no object file, or not of that inode.
func buildIDOf(name string, number uint64) []byte {
	var s unix.Stat_t
	if err := unix.Stat(name, &s); err != nil || s.Mode&unix.S_IFMT != unix.S_IFREG || number != 0 && s.Ino != number {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	object, err := objfile.New(f, s.Size)
	if err != nil {
		return nil
	}
	id, err := hex.DecodeString(object.BuildID())
	if err != nil || len(id) > maxBuildID {
		return nil
	}
	return id
}
