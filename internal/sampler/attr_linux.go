package sampler

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attrSize is the size of an attribute: up to sig_data, PERF_ATTR_SIZE_VER7.
const attrSize = int(unsafe.Sizeof(unix.PerfEventAttr{}))

// Bits of attributes and of records that package unix lacks.
const (
	bitBuildID      = 1 << 34
	readFormatLost  = 1 << 4
	miscBuildIDSize = 1 << 15
)

// sampleType is what all samples have. simpleperf takes no weight but the period's.
const sampleType = unix.PERF_SAMPLE_IP | unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_CPU |
	unix.PERF_SAMPLE_PERIOD | unix.PERF_SAMPLE_IDENTIFIER

const readFormat = unix.PERF_FORMAT_ID | unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING

// attributes makes the attribute of each event. The first notes what the command does.
func attributes(opt *Options) []unix.PerfEventAttr {
	list := make([]unix.PerfEventAttr, len(opt.Events))
	for i, e := range opt.Events {
		a := &list[i]
		*a = unix.PerfEventAttr{
			Type: e.Type, Size: uint32(attrSize), Config: e.Config, Sample: e.Period,
			Sample_type: sampleType, Read_format: readFormat | readFormatLost,
			Bits: unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitEnableOnExec | unix.PerfBitSampleIDAll | unix.PerfBitWatermark |
				uint64(e.Precise)*unix.PerfBitPreciseIPBit1,
			Wakeup: uint32(opt.pages() * pageSize / 2),
		}
		if e.Frequency > 0 {
			a.Sample, a.Bits = uint64(e.Frequency), a.Bits|unix.PerfBitFreq
		}
		a.Bits |= e.excluded()
		if opt.running() {
			a.Bits &^= unix.PerfBitEnableOnExec
		}
		if opt.System {
			a.Bits &^= unix.PerfBitInherit
		}
		switch {
		case opt.Stack > 0:
			a.Sample_type |= unix.PERF_SAMPLE_CALLCHAIN | unix.PERF_SAMPLE_REGS_USER | unix.PERF_SAMPLE_STACK_USER
			a.Bits |= unix.PerfBitExcludeCallchainUser
			a.Sample_regs_user, a.Sample_stack_user = userRegisters, uint32(opt.Stack)
		case opt.Chains:
			a.Sample_type |= unix.PERF_SAMPLE_CALLCHAIN
		}
		if i == 0 {
			a.Bits |= unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask | bitBuildID
			if opt.Stack > 0 {
				// perf takes for where a file is the lowest mapping that it knows, which has no code.
				a.Bits |= unix.PerfBitMmapData
			}
			if opt.Switches {
				a.Bits |= unix.PerfBitContextSwitch
			}
		}
	}
	return list
}

// excluded are the bits of where an event does not count.
func (e *Event) excluded() (bits uint64) {
	if e.User {
		bits |= unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv
	}
	if e.Kernel {
		bits |= unix.PerfBitExcludeUser
	}
	return bits
}

// A lack is what a kernel may be too old for, and how to do without.
type lack struct {
	what string
	drop func(*unix.PerfEventAttr) bool // reports whether there was anything to drop
}

// lacks are tried in turn while a kernel refuses an attribute as invalid.
var lacks = []lack{
	{"counts of lost samples by event (Linux 6.0)", func(a *unix.PerfEventAttr) bool {
		had := a.Read_format&readFormatLost != 0
		a.Read_format &^= readFormatLost
		return had
	}},
	{"build IDs of mapped files (Linux 5.12)", func(a *unix.PerfEventAttr) bool {
		had := a.Bits&bitBuildID != 0
		a.Bits &^= bitBuildID
		return had
	}},
	{"what tells an exec from a new name of a thread (Linux 3.16)", func(a *unix.PerfEventAttr) bool {
		had := a.Bits&unix.PerfBitCommExec != 0
		a.Bits &^= unix.PerfBitCommExec
		return had
	}},
}

// open opens an event on a thread and what it starts, on a CPU: thread 0 is this one, and -1 are
// all. It leaves out of all attributes what the kernel does not know, and says what.
func open(a *unix.PerfEventAttr, all []unix.PerfEventAttr, tid, cpu int) (fd int, dropped []string, err error) {
	for tried := 0; ; {
		fd, err = unix.PerfEventOpen(a, tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		switch {
		case errors.Is(err, unix.E2BIG) && int(a.Size) > unix.PERF_ATTR_SIZE_VER5:
			// The kernel wrote the size it knows, of which nothing is needed behind VER5.
			for i := range all {
				all[i].Size = unix.PERF_ATTR_SIZE_VER5
			}
		case errors.Is(err, unix.EINVAL) && tried < len(lacks):
			any := false
			for i := range all {
				any = lacks[tried].drop(&all[i]) || any
			}
			if any {
				dropped = append(dropped, lacks[tried].what)
			}
			tried++
		case (errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL)) && a.Bits&precise != 0:
			a.Bits -= unix.PerfBitPreciseIPBit1
		default:
			return fd, dropped, err
		}
	}
}

const precise = unix.PerfBitPreciseIPBit1 | unix.PerfBitPreciseIPBit2

// bytesOf is an attribute as the file has it.
func bytesOf(a *unix.PerfEventAttr) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(a)), attrSize)
}
