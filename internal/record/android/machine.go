package android

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/record"
	"profdiff/internal/record/command"
)

// deviceProperties say what a device is.
var deviceProperties = []string{
	"ro.product.manufacturer", "ro.product.model", "ro.product.name", "ro.build.fingerprint",
	"ro.build.version.release", "ro.build.version.sdk", "ro.product.cpu.abi", "ro.soc.manufacturer",
	"ro.soc.model", "ro.kernel.qemu", "ro.boot.qemu", "security.perf_harden",
}

// facts are what a device says of itself.
type facts struct {
	values  map[string]string
	cpuinfo string
}

const factsScript = `echo "uid=$(id -u)"; echo "machine=$(uname -m)"; echo "release=$(uname -r)"
echo "governor=$(cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null)"
echo "paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)"
p=$(cat ` + deviceDir + `/pid 2>/dev/null); grep -q simpleperf "/proc/$p/cmdline" 2>/dev/null && echo "recorder=$p"
cat /proc/cpuinfo`

func (b *Backend) facts(ctx context.Context) (*facts, error) {
	var s strings.Builder
	for _, p := range deviceProperties {
		fmt.Fprintf(&s, "echo \"%s=$(getprop %s)\"\n", p, p)
	}
	reply, err := b.adb.ask(ctx, s.String()+factsScript, "")
	if err != nil {
		return nil, err
	}
	return &facts{values: parseValues(string(reply.output)), cpuinfo: string(reply.output)}, nil
}

// parseValues reads lines KEY=VALUE and passes over others.
func parseValues(text string) map[string]string {
	values := make(map[string]string)
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, "="); ok {
			values[key] = strings.TrimSpace(value)
		}
	}
	return values
}

func (f *facts) machine() *record.Machine {
	v := f.values
	m := &record.Machine{
		Arch: v["machine"], Kernel: v["release"], Governor: v["governor"],
		Virtual: v["ro.kernel.qemu"] == "1" || v["ro.boot.qemu"] == "1" || strings.Contains(f.cpuinfo, " hypervisor"),
	}
	m.Device = strings.Join(strings.Fields(v["ro.product.manufacturer"]+" "+v["ro.product.model"]), " ")
	if name := v["ro.product.name"]; name != "" {
		m.Device += " (" + name + ")"
	}
	m.Device += fmt.Sprintf(", Android %s (API %s), %s, %s", v["ro.build.version.release"], v["ro.build.version.sdk"], v["ro.product.cpu.abi"], v["ro.build.fingerprint"])
	m.CPU, m.Cores = deviceCPU(f.cpuinfo)
	if soc := strings.Join(strings.Fields(v["ro.soc.manufacturer"]+" "+v["ro.soc.model"]), " "); soc != "" {
		m.CPU = strings.Trim(soc+": "+m.CPU, ": ")
	}
	return m
}

// deviceCPU is the model in the text of /proc/cpuinfo and the number of CPUs. Those of
// Arm differ from one to the next: each kind is named, with how many there are.
func deviceCPU(cpuinfo string) (name string, cores int) {
	type kind struct {
		name  string
		count int
	}
	var kinds []kind
	implementer := ""
	for line := range strings.Lines(cpuinfo) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "processor":
			cores++
		case "CPU implementer":
			implementer = value
		case "CPU part":
			one := "implementer " + implementer + " part " + value
			if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == one }); i >= 0 {
				kinds[i].count++
			} else {
				kinds = append(kinds, kind{one, 1})
			}
		}
	}
	if len(kinds) == 0 {
		return record.CPUName(cpuinfo), cores
	}
	var names []string
	for _, k := range kinds {
		names = append(names, fmt.Sprintf("%d of %s", k.count, k.name))
	}
	return strings.Join(names, ", "), cores
}

// thermalScript prints the thermal status.
const thermalScript = "dumpsys thermalservice 2>/dev/null"

// momentScript prints the first lines of files that say what a device is doing, as
// FILE=LINE, and the stat files of the processes of the app. Only the shell itself
// reads, so that it takes next to no time.
func (b *Backend) momentScript() string {
	s := "for f in " + record.MomentFiles + ` /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_max_freq; do
l=; { read -r l <"$f"; } 2>/dev/null; [ -z "$l" ] || echo "$f=$l"; done
`
	find := ""
	switch {
	case b.app != "":
		find = "pids=$(pidof " + command.Quote(b.app) + ")"
	case b.process != "":
		find = b.findProcess() + "; pids=$(echo $pids | tr ',' ' ')"
	default:
		return s
	}
	return s + find + `
for p in $pids; do l=; { read -r l <"/proc/$p/stat"; } 2>/dev/null; [ -z "$l" ] || echo "pid $p=$l"; done
`
}

// parseMoment reads what momentScript printed, and dumpsys thermalservice if
// that was asked.
func parseMoment(values map[string]string, thermal string) *record.Moment {
	m := record.ReadMoment(values)
	for key, value := range values {
		if pid, ok := strings.CutPrefix(key, "pid "); ok {
			if m.Processes == nil {
				m.Processes = make(map[string]float64)
			}
			m.Processes[pid] = processSeconds(value)
		}
	}
	status, highest := parseThermal(thermal)
	m.ThermalStatus = status
	if m.Celsius == 0 {
		m.Celsius = math.Round(10*highest) / 10
	}
	return m
}

// processSeconds is the CPU time in the text of /proc/PID/stat. The name of the process,
// which may hold anything, is in parentheses.
func processSeconds(stat string) float64 {
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 13 {
		return 0
	}
	const hz = 100
	return (record.Number(f[11]) + record.Number(f[12])) / hz
}

// parseThermal reads the output of dumpsys thermalservice: the status, from 0 for none
// to 6, and the highest temperature of a CPU or of the skin in °C.
func parseThermal(text string) (status int, highest float64) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if s, ok := strings.CutPrefix(line, "Thermal Status:"); ok {
			status = int(record.Number(strings.TrimSpace(s)))
			continue
		}
		inside, ok := strings.CutPrefix(line, "Temperature{")
		if !ok {
			continue
		}
		values := make(map[string]string)
		for field := range strings.SplitSeq(strings.TrimSuffix(inside, "}"), ", ") {
			key, value, _ := strings.Cut(field, "=")
			values[key] = value
		}
		if kind := values["mType"]; kind == "0" || kind == "3" { // CPU, skin
			highest = max(highest, record.Celsius(record.Number(values["mValue"])))
		}
	}
	return status, highest
}
