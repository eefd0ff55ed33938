package traces

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// Fields of packets that describe others (protos/perfetto/trace/ps/process_tree.proto, trace/system_info.proto, …).
const (
	treeProcess        = 1
	treeThread         = 2
	treePID            = 1
	treeCmdline        = 3
	treeUID            = 5
	treeTID            = 1
	treeThreadName     = 2
	treeTGID           = 3
	genericTreeTID     = 1
	genericTreePID     = 2
	genericTreeComm    = 3
	systemUtsname      = 1
	systemFingerprint  = 2
	systemTracing      = 4
	systemSDK          = 5
	systemCPUs         = 8
	systemSoC          = 9
	systemManufacturer = 14
	utsnameSystem      = 1
	utsnameRelease     = 3
	utsnameMachine     = 4
	configDataSource   = 2
	configDuration     = 3
	sourceConfig       = 1
	sourceName         = 1
	packagesPackage    = 1
	packageName        = 1
	packageUID         = 2
	packageDebuggable  = 3
	chromeVersion      = 2
	chromeAppVersion   = 6
	chromeOS           = 8
)

// facts are what a trace says of how it was made.
type facts struct {
	run.Recording
	// sources are the data sources that were asked for.
	sources  []string
	packages map[int64]string // by user ID
	uids     map[trace.ProcessID]int64
	tracing  string // version of the tracing service
	chrome   string
}

// describe reads a packet that says what others mean, before all events.
func (r *reader) describe(p *perfetto.Packet) {
	var err error
	switch p.Kind {
	case perfetto.TrackDescriptor:
		err = r.describeTrack(p)
	case perfetto.ThreadDescriptor:
		var d threadDescriptor
		if d, err = readThread(p.Message()); err == nil {
			r.nameThread(p.Machine, &d)
		}
	case perfetto.ProcessDescriptor:
		var pid int64
		var name string
		if pid, name, err = readProcess(p.Message()); err == nil {
			r.tl.NameProcess(r.tl.Process(p.Machine, pid), name, trace.GivenRank)
		}
	case perfetto.ProcessTree:
		err = r.processTree(p)
	case perfetto.GenericProcessTree:
		err = r.genericTree(p)
	case perfetto.SystemInfo:
		if p.Machine == 0 {
			err = r.systemInfo(p)
		}
	case perfetto.TraceConfig:
		err = r.config(p.Message())
	case perfetto.PackagesList:
		err = r.packages(p.Message())
	case perfetto.ChromeMetadata:
		err = r.chromeMetadata(p.Message())
	default:
		err = r.samples.names.describe(p)
	}
	if err != nil {
		p.Damaged(err)
	}
}

func (r *reader) processTree(p *perfetto.Packet) error {
	m := p.Message()
	for m.Next() {
		if m.Num != treeProcess && m.Num != treeThread {
			m.Skip()
			continue
		}
		pid, tid, uid := int64(trace.Unknown), int64(trace.Unknown), int64(-1)
		var name string
		isThread := m.Num == treeThread
		f := m.Message()
		for f.Next() {
			switch {
			case !isThread && f.Num == treePID:
				pid = int64(int32(f.Uint()))
			case !isThread && f.Num == treeCmdline:
				if v := f.Bytes(); name == "" {
					name = programName(string(v))
				}
			case !isThread && f.Num == treeUID:
				uid = int64(int32(f.Uint()))
			case isThread && f.Num == treeTID:
				tid = int64(int32(f.Uint()))
			case isThread && f.Num == treeThreadName:
				name = string(f.Bytes())
			case isThread && f.Num == treeTGID:
				pid = int64(int32(f.Uint()))
			default:
				f.Skip()
			}
		}
		m.Take(f.Err)
		if isThread {
			r.tl.NameThread(r.tl.Thread(p.Machine, pid, tid), name, trace.TreeRank)
			continue
		}
		process := r.tl.Process(p.Machine, pid)
		r.tl.NameProcess(process, name, trace.TreeRank)
		r.tl.Thread(p.Machine, pid, pid)
		if uid >= 0 && p.Machine == 0 {
			r.facts.uids[process] = uid
		}
	}
	return m.Err
}

func (r *reader) genericTree(p *perfetto.Packet) error {
	m := p.Message()
	for m.Next() {
		if m.Num != treeProcess && m.Num != treeThread {
			m.Skip()
			continue
		}
		pid, tid := int64(trace.Unknown), int64(trace.Unknown)
		var name string
		isThread := m.Num == treeThread
		f := m.Message()
		for f.Next() {
			switch {
			case f.Num == genericTreeTID && isThread:
				tid = int64(f.Uint())
			case f.Num == genericTreePID && isThread, f.Num == treePID && !isThread:
				pid = int64(f.Uint())
			case f.Num == genericTreeComm: // or the command line
				name = string(f.Bytes())
			default:
				f.Skip()
			}
		}
		m.Take(f.Err)
		if isThread {
			r.tl.NameThread(r.tl.Thread(p.Machine, pid, tid), name, trace.TreeRank)
		} else {
			command, _, _ := strings.Cut(name, " ")
			r.tl.NameProcess(r.tl.Process(p.Machine, pid), programName(command), trace.TreeRank)
		}
	}
	return m.Err
}

func (r *reader) systemInfo(p *perfetto.Packet) error {
	f := &r.facts
	var manufacturer, soc, system string
	m := p.Message()
	for m.Next() {
		switch m.Num {
		case systemUtsname:
			u := m.Message()
			for u.Next() {
				switch u.Num {
				case utsnameSystem:
					system = string(u.Bytes())
				case utsnameRelease:
					f.Kernel = string(u.Bytes())
				case utsnameMachine:
					f.Arch = string(u.Bytes())
				default:
					u.Skip()
				}
			}
			m.Take(u.Err)
		case systemFingerprint:
			f.Build = string(m.Bytes())
		case systemTracing:
			f.tracing = string(m.Bytes())
		case systemSDK:
			f.SDK = strconv.FormatUint(m.Uint(), 10)
		case systemCPUs:
			f.CPUs = int(min(m.Uint(), 1<<16))
		case systemSoC:
			soc = string(m.Bytes())
		case systemManufacturer:
			manufacturer = string(m.Bytes())
		default:
			m.Skip()
		}
	}
	if f.Device = deviceName(manufacturer, f.Build); f.Device == "" {
		f.Device = soc
	}
	if system == "Linux" || system == "" {
		r.tl.Kernel(f.Kernel)
	}
	if sdk, err := strconv.Atoi(f.SDK); err == nil {
		r.tl.SDK(sdk)
	}
	return m.Err
}

// deviceName is manufacturer:product:device, of a fingerprint "brand/product/device:version/…".
func deviceName(manufacturer, fingerprint string) string {
	build, _, _ := strings.Cut(fingerprint, ":")
	parts := strings.Split(build, "/")
	if len(parts) != 3 {
		return manufacturer
	}
	if manufacturer == "" {
		manufacturer = parts[0]
	}
	return manufacturer + ":" + parts[1] + ":" + parts[2]
}

// config reads which data sources were asked for, and for how long.
func (r *reader) config(m input.Fields) error {
	for m.Next() {
		if m.Num == configDuration && m.Type == 0 {
			if ms := m.Uint(); ms > 0 && ms < 1<<32 {
				r.facts.Bound = fmt.Sprintf("a trace of %v", time.Duration(ms)*time.Millisecond)
			}
			continue
		}
		if m.Num != configDataSource {
			m.Skip()
			continue
		}
		s := m.Message()
		for s.Next() {
			if s.Num != sourceConfig {
				s.Skip()
				continue
			}
			c := s.Message()
			for c.Next() {
				if c.Num != sourceName {
					c.Skip()
				} else if name := string(c.Bytes()); !slices.Contains(r.facts.sources, name) && len(r.facts.sources) < 1000 {
					r.facts.sources = append(r.facts.sources, name)
				}
			}
			s.Take(c.Err)
		}
		m.Take(s.Err)
	}
	return m.Err
}

func (r *reader) packages(m input.Fields) error {
	for m.Next() {
		if m.Num != packagesPackage {
			m.Skip()
			continue
		}
		var name string
		uid := int64(-1)
		f := m.Message()
		for f.Next() {
			switch f.Num {
			case packageName:
				name = string(f.Bytes())
			case packageUID:
				uid = int64(f.Uint())
			default:
				f.Skip()
			}
		}
		m.Take(f.Err)
		if old, shared := r.facts.packages[uid]; shared && old != name {
			name = "" // several packages share the user: the process does not tell which
		}
		r.facts.packages[uid] = name
	}
	return m.Err
}

// perUser is how many user IDs Android gives each person who uses the device.
const perUser = 100000

// givePackages tells the timeline the packages of processes.
func (r *reader) givePackages() {
	for process, uid := range r.facts.uids {
		if name := r.facts.packages[uid%perUser]; name != "" {
			r.tl.Package(process, name)
		}
	}
}

func (r *reader) chromeMetadata(m input.Fields) error {
	for m.Next() {
		switch m.Num {
		case chromeAppVersion:
			r.facts.chrome = string(m.Bytes())
		default:
			m.Skip()
		}
	}
	return m.Err
}
