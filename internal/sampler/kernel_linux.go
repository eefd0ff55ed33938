package sampler

import (
	"bufio"
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// kernelText is the symbol at which the code of the kernel starts, by which perf and simpleperf
// know how far it was moved.
const kernelText = "_text"

// A kernelMap is code of the kernel: of its image or a module.
type kernelMap struct {
	name       string
	start, end uint64
	offset     uint64
}

// kernelMaps are MMAP records of the kernel and its modules. There are none where the system hides
// the addresses, for then nothing of the kernel can be sampled either.
func kernelMaps(a *unix.PerfEventAttr, id uint64) (records []byte) {
	if a.Bits&unix.PerfBitExcludeKernel != 0 {
		return nil
	}
	text := textAddress()
	if text == 0 {
		return nil
	}
	modules := modules()
	image := kernelMap{name: "[kernel.kallsyms]" + kernelText, start: text, end: ^uint64(0), offset: text}
	for _, m := range modules {
		if m.start > text {
			image.end = min(image.end, m.start)
		}
	}
	for _, m := range append([]kernelMap{image}, modules...) {
		name := (len(m.name) + 1 + 7) / 8 * 8
		trailer := sampleID(id)
		records = order.AppendUint32(records, unix.PERF_RECORD_MMAP)
		records = order.AppendUint16(records, unix.PERF_RECORD_MISC_KERNEL)
		records = order.AppendUint16(records, uint16(8+32+name+len(trailer)))
		records = order.AppendUint32(records, ^uint32(0)) // pid -1: of all processes
		records = order.AppendUint32(records, 0)
		for _, v := range []uint64{m.start, m.end - m.start, m.offset} {
			records = order.AppendUint64(records, v)
		}
		records = append(records, m.name...)
		records = append(records, make([]byte, name-len(m.name))...)
		records = append(records, trailer...)
	}
	return records
}

// sampleID is what stands behind records that are no samples, for sampleType: TID, TIME, CPU,
// IDENTIFIER. What was before the command is at time 0.
func sampleID(id uint64) []byte {
	data := make([]byte, 8+8+8, 8+8+8+8)
	return order.AppendUint64(data, id)
}

// textAddress is where the code of the kernel starts, 0 if that is hidden. It stands in the first
// lines of /proc/kallsyms, all of which would take as long as a short benchmark.
func textAddress() uint64 {
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return 0
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 0; lines.Scan() && n < 1000; n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 3 && fields[2] == kernelText {
			address, _ := strconv.ParseUint(fields[0], 16, 64)
			return address
		}
	}
	return 0
}

// modules are the modules of the kernel, by address.
func modules() (list []kernelMap) {
	text, err := os.ReadFile("/proc/modules")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line) // name size uses users state address
		if len(f) < 6 {
			continue
		}
		size, err1 := strconv.ParseUint(f[1], 10, 64)
		start, err2 := strconv.ParseUint(f[5], 0, 64)
		if err1 == nil && err2 == nil && start > 0 {
			list = append(list, kernelMap{name: "[" + f[0] + "]", start: start, end: start + size})
		}
	}
	slices.SortFunc(list, func(a, b kernelMap) int {
		if a.start < b.start {
			return -1
		}
		return 1
	})
	return list
}

// kernelBuildID is the note of the running kernel: name size, descriptor size, type 3, "GNU".
func kernelBuildID() []byte {
	notes, err := os.ReadFile("/sys/kernel/notes")
	if err != nil {
		return nil
	}
	for len(notes) >= 12 {
		name, size, kind := int(order.Uint32(notes)), int(order.Uint32(notes[4:])), order.Uint32(notes[8:])
		rest := notes[12:]
		nameEnd := (name + 3) / 4 * 4
		if name < 0 || size < 0 || len(rest) < nameEnd+size {
			return nil
		}
		if kind == 3 && bytes.HasPrefix(rest, []byte("GNU\x00")) {
			return rest[nameEnd : nameEnd+size]
		}
		rest = rest[nameEnd:]
		notes = rest[min(len(rest), (size+3)/4*4):]
	}
	return nil
}
