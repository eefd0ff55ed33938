package sampler

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"profdiff/internal/perffile"
)

// Places in the header of a file, struct perf_file_header.
const (
	headerSize    = 104
	dataSizeAt    = 48 // data.size
	attrEntry     = 16 // a file section, behind each attribute: its IDs
	sectionSize   = 16
	finishedRound = 68 // PERF_RECORD_FINISHED_ROUND
)

// A file is a perf.data file that is written. It is of the byte order of the machine.
type file struct {
	opened *os.File
	start  int64 // of the records
	size   int64 // of the records so far
	bits   [4]uint64
}

var order = binary.NativeEndian

// create begins a file: header, IDs, attributes and what the kernel has mapped.
func create(name string, r *recorder) (*file, error) {
	opened, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // as perf does: it has command lines and paths
	if err != nil {
		return nil, err
	}
	f := &file{opened: opened}
	var ids, attrs []byte
	for i := range r.attrs {
		at := headerSize + uint64(len(ids))
		for _, id := range r.ids[i] {
			ids = order.AppendUint64(ids, id)
		}
		attrs = append(attrs, bytesOf(&r.attrs[i])...)
		attrs = order.AppendUint64(attrs, at)
		attrs = order.AppendUint64(attrs, headerSize+uint64(len(ids))-at)
	}
	f.start = int64(headerSize + len(ids) + len(attrs))
	head := append([]byte(nil), "PERFILE2"...)
	for _, v := range []uint64{headerSize, uint64(attrSize + attrEntry), headerSize + uint64(len(ids)), uint64(len(attrs)), uint64(f.start), 0, 0, 0, 0, 0, 0, 0} {
		head = order.AppendUint64(head, v)
	}
	if _, err = opened.Write(slices.Concat(head, ids, attrs)); err == nil {
		err = f.append(kernelMaps(&r.attrs[0], r.ids[0][0]))
	}
	if err == nil {
		err = f.endRound()
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close(), os.Remove(name))
	}
	return f, nil
}

// append appends records.
func (f *file) append(records []byte) error {
	n, err := f.opened.Write(records)
	f.size += int64(n)
	return err
}

// endRound marks that all rings were emptied, and renews the size in the header.
func (f *file) endRound() error {
	mark := order.AppendUint32(nil, finishedRound)
	mark = order.AppendUint16(mark, 0)
	if err := f.append(order.AppendUint16(mark, 8)); err != nil {
		return err
	}
	_, err := f.opened.WriteAt(order.AppendUint64(nil, uint64(f.size)), dataSizeAt)
	return err
}

func (f *file) close() error { return f.opened.Close() }

// finish reads the records once and writes the features behind them.
func (f *file) finish(r *recorder) error {
	s, err := f.survey(r)
	if err != nil {
		return err
	}
	if err := f.addLost(r, s); err != nil {
		return err
	}
	parts := []struct {
		feature perffile.Feature
		data    []byte
	}{
		{perffile.FeatureBuildID, s.buildIDs()},
		{perffile.FeatureOSRelease, headerText(uname(func(u *unix.Utsname) []byte { return u.Release[:] }))},
		{perffile.FeatureVersion, headerText(r.opt.Version)},
		{perffile.FeatureArch, headerText(uname(func(u *unix.Utsname) []byte { return u.Machine[:] }))},
		{perffile.FeatureNrCPUs, order.AppendUint32(order.AppendUint32(nil, uint32(max(runtime.NumCPU(), len(r.rings)))), uint32(len(r.rings)))},
		{perffile.FeatureCPUDesc, headerText(cpuText())},
		{perffile.FeatureCPUID, headerText(cpuID())},
		{perffile.FeatureCmdline, headerTexts(r.opt.Command)},
		{perffile.FeatureEventDesc, r.eventDescriptions()},
	}
	table, data := []byte(nil), []byte(nil)
	present := parts[:0]
	for _, p := range parts {
		if len(p.data) > 0 {
			present = append(present, p)
		}
	}
	at := uint64(f.start+f.size) + uint64(len(present)*sectionSize)
	for _, p := range present {
		f.bits[p.feature/64] |= 1 << (p.feature % 64)
		table = order.AppendUint64(table, at+uint64(len(data)))
		table = order.AppendUint64(table, uint64(len(p.data)))
		data = append(data, p.data...)
	}
	if _, err := f.opened.WriteAt(append(table, data...), f.start+f.size); err != nil {
		return err
	}
	var bits []byte
	for _, b := range f.bits {
		bits = order.AppendUint64(bits, b)
	}
	_, err = f.opened.WriteAt(bits, headerSize-int64(len(bits)))
	return err
}

// A survey is what the records tell when they are all there.
type survey struct {
	ids  map[string][]byte // build IDs of mapped files
	last uint64            // the latest time
	lost map[int]uint64    // records, by event
}

// survey reads the file once.
func (f *file) survey(r *recorder) (*survey, error) {
	file, err := perffile.New(f.opened, f.start+f.size, perffile.Options{})
	if err != nil {
		return nil, fmt.Errorf("reading what was recorded: %w", err)
	}
	s := &survey{ids: make(map[string][]byte), lost: make(map[int]uint64)}
	ran, rights := false, newRights()
	for record, err := range file.Records() {
		if err != nil {
			return nil, fmt.Errorf("reading what was recorded: %w", err)
		}
		s.last = max(s.last, record.Time)
		switch record.Type {
		case perffile.RecordComm:
			ran = true
			if err := rights.comm(record); err != nil {
				return nil, err
			}
		case perffile.RecordLost:
			n, event, err := record.Lost()
			if err != nil {
				return nil, err
			}
			s.lost[max(event, 0)] += n
		case perffile.RecordThrottle:
			r.Throttled++
		case perffile.RecordMmap2:
			m, err := record.Mmap()
			if err != nil {
				return nil, err
			}
			rights.mmap(m, record.Time)
			if record.Misc&perffile.MiscMmapBuildID == 0 {
				continue
			}
			if _, known := s.ids[string(m.File)]; !known {
				s.ids[string(m.File)] = slices.Clone(m.BuildID)
			}
		}
	}
	if !ran {
		return nil, ErrNothing
	}
	if note := rights.note(); note != "" && len(s.lost) == 0 {
		r.Notes = append(r.Notes, note)
	}
	return s, nil
}

// addLost adds records of what was lost that is not in the file yet: the kernel says so only where
// it has room again, and counts it in each event, if it is new enough.
func (f *file) addLost(r *recorder, s *survey) error {
	var records []byte
	for i, list := range r.fds {
		n := s.lost[i]
		if counted, ok := r.lostOf(i); ok && counted > n {
			trailer := sampleID(r.ids[i][0])
			order.PutUint64(trailer[8:], s.last)
			records = order.AppendUint32(records, unix.PERF_RECORD_LOST)
			records = order.AppendUint16(records, 0)
			records = order.AppendUint16(records, uint16(8+8+8+len(trailer)))
			records = order.AppendUint64(records, r.ids[i][0])
			records = append(order.AppendUint64(records, counted-n), trailer...)
			n = counted
		}
		r.Lost += int64(n)
		if n > 0 && len(list) > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %d records were lost: take fewer samples, by -c, or by less of each stack", r.opt.Events[i].Name, n))
		}
	}
	if r.Throttled > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("the kernel stopped sampling %d times for a moment, as it took too much time (kernel.perf_event_max_sample_rate): take fewer samples, by -c", r.Throttled))
	}
	r.Bytes = f.size + int64(len(records))
	if len(records) == 0 {
		return nil
	}
	if err := f.append(records); err != nil {
		return err
	}
	return f.endRound()
}

// lostOf is how many records of an event were lost on all CPUs, by the event and what inherited
// it; not where the kernel does not count them.
func (r *recorder) lostOf(event int) (n uint64, ok bool) {
	if r.attrs[event].Read_format&readFormatLost == 0 {
		return 0, false
	}
	for _, fd := range r.fds[event] {
		var v [5]uint64 // value, time enabled, time running, ID, lost
		b := unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), binary.Size(v))
		if got, err := unix.Read(fd, b); err != nil || got != len(b) {
			return 0, false // of a thread that has ended, too, some kernels say nothing
		}
		n += v[4]
	}
	return n, true
}

// buildIDs is the feature BUILD_ID: the kernel, whose names simpleperf finds by nothing else, and
// all files, as what is not here perf takes to have none.
func (s *survey) buildIDs() (data []byte) {
	add := func(misc uint16, pid int32, id []byte, name string) {
		if len(id) == 0 || len(id) > 20 {
			return
		}
		size := 36 + (len(name)+1+63)/64*64
		data = order.AppendUint32(data, 0)
		data = order.AppendUint16(data, misc|miscBuildIDSize)
		data = order.AppendUint16(data, uint16(size))
		data = order.AppendUint32(data, uint32(pid))
		data = append(data, id...)
		data = append(data, make([]byte, 20-len(id))...)
		data = append(data, byte(len(id)), 0, 0, 0)
		data = append(data, name...)
		data = append(data, make([]byte, size-36-len(name))...)
	}
	add(unix.PERF_RECORD_MISC_KERNEL, -1, kernelBuildID(), "[kernel.kallsyms]")
	names := make([]string, 0, len(s.ids))
	for name := range s.ids {
		if len(name) < 4096 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		add(unix.PERF_RECORD_MISC_USER, -1, s.ids[name], name)
	}
	return data
}

// eventDescriptions is the feature EVENT_DESC: the names of the events.
func (r *recorder) eventDescriptions() []byte {
	data := order.AppendUint32(nil, uint32(len(r.attrs)))
	data = order.AppendUint32(data, uint32(attrSize))
	for i := range r.attrs {
		name := r.opt.Events[i].Name
		if slices.Contains(r.UserOnly, name) {
			name = userName(name)
		}
		data = append(data, bytesOf(&r.attrs[i])...)
		data = order.AppendUint32(data, uint32(len(r.ids[i])))
		data = append(data, headerText(name)...)
		for _, id := range r.ids[i] {
			data = order.AppendUint64(data, id)
		}
	}
	return data
}

// userName is the name of an event that counts in user code only.
func userName(name string) string {
	if strings.Contains(name, ":") {
		return name + "u"
	}
	return name + ":u"
}

// headerText is struct perf_header_string: a length, and text that ends in zeros.
func headerText(s string) []byte {
	if s == "" {
		return nil
	}
	size := (len(s) + 1 + 63) / 64 * 64
	data := order.AppendUint32(nil, uint32(size))
	data = append(data, s...)
	return append(data, make([]byte, size-len(s))...)
}

// headerTexts is struct perf_header_string_list.
func headerTexts(list []string) []byte {
	data := order.AppendUint32(nil, uint32(len(list)))
	for _, s := range list {
		if s == "" {
			s = " " // a length of 0 is none
		}
		data = append(data, headerText(s)...)
	}
	return data
}

func uname(of func(*unix.Utsname) []byte) string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	text, _, _ := bytes.Cut(of(&u), []byte{0})
	return string(text)
}

// cpuInfo are the facts of the first CPU in /proc/cpuinfo.
func cpuInfo() map[string]string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return nil
	}
	facts := make(map[string]string)
	first, _, _ := strings.Cut(string(text), "\n\n")
	for line := range strings.Lines(first) {
		key, value, _ := strings.Cut(line, ":")
		facts[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return facts
}

// cpuText is the name of the CPU, as perf writes it to CPUDESC.
func cpuText() string {
	facts := cpuInfo()
	for _, key := range []string{"model name", "Model Name", "Hardware", "Processor", "cpu model"} {
		if facts[key] != "" {
			return facts[key]
		}
	}
	return ""
}

// cpuID identifies the CPU, as perf writes it to CPUID: vendor, family, model and stepping on
// x86, MIDR_EL1 on Arm.
func cpuID() string {
	if text, err := os.ReadFile("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"); !errors.Is(err, fs.ErrNotExist) {
		return strings.TrimSpace(string(text))
	}
	facts := cpuInfo()
	if facts["vendor_id"] == "" {
		return ""
	}
	return strings.Join([]string{facts["vendor_id"], facts["cpu family"], facts["model"], facts["stepping"]}, ",")
}
