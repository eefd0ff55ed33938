package record

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

// deviceProperties are those that say what a device is.
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

func (b *Android) facts(ctx context.Context) (*facts, error) {
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

func (f *facts) machine() *Machine {
	v := f.values
	m := &Machine{
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
		return cpuName(cpuinfo), cores
	}
	var names []string
	for _, k := range kinds {
		names = append(names, fmt.Sprintf("%d of %s", k.count, k.name))
	}
	return strings.Join(names, ", "), cores
}

// thermalScript prints the thermal status.
const thermalScript = "dumpsys thermalservice 2>/dev/null"

// conditionsScript prints the first lines of files that say what a device is doing, as
// FILE=LINE, and the stat files of the processes of the app. Only the shell itself
// reads, so that it takes next to no time.
func (b *Android) conditionsScript() string {
	s := `for f in /proc/loadavg /proc/uptime /proc/stat /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq ` +
		`/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_max_freq /sys/class/thermal/thermal_zone*/temp; do
l=; { read -r l <"$f"; } 2>/dev/null; [ -z "$l" ] || echo "$f=$l"; done
`
	find := ""
	switch {
	case b.app != "":
		find = "pids=$(pidof " + quote(b.app) + ")"
	case b.process != "":
		find = b.findProcess() + "; pids=$(echo $pids | tr ',' ' ')"
	default:
		return s
	}
	return s + find + `
for p in $pids; do l=; { read -r l <"/proc/$p/stat"; } 2>/dev/null; [ -z "$l" ] || echo "pid $p=$l"; done
`
}

// parseConditions reads what conditionsScript printed, and dumpsys thermalservice if
// that was asked.
func parseConditions(values map[string]string, thermal string) *Conditions {
	c := new(Conditions)
	c.Load = number(firstWord(values["/proc/loadavg"]))
	c.uptime = number(firstWord(values["/proc/uptime"]))
	c.busy, c.stolen = cpuSeconds(values["/proc/stat"])
	c.BackgroundUnknown = values["/proc/stat"] == ""
	frequencies, limits := 0.0, 0.0
	for key, value := range values {
		switch path.Base(key) {
		case "scaling_cur_freq":
			c.FrequencyMHz += number(value) / 1000
			frequencies++
		case "scaling_max_freq":
			c.FrequencyLimitMHz += number(value) / 1000
			limits++
		case "temp":
			c.CelsiusBefore = max(c.CelsiusBefore, celsius(number(value)))
		}
		if pid, ok := strings.CutPrefix(key, "pid "); ok {
			if c.processes == nil {
				c.processes = make(map[string]float64)
			}
			c.processes[pid] = processSeconds(value)
		}
	}
	c.FrequencyMHz = round(c.FrequencyMHz/max(frequencies, 1), 1)
	c.FrequencyLimitMHz = round(c.FrequencyLimitMHz/max(limits, 1), 1)
	status, highest := parseThermal(thermal)
	c.ThermalStatus = status
	if c.CelsiusBefore == 0 {
		c.CelsiusBefore = highest
	}
	c.CelsiusBefore = round(c.CelsiusBefore, 1)
	return c
}

// celsius is what a thermal zone shows, most in thousandths. Sensors that are off show
// what cannot be.
func celsius(v float64) float64 {
	if v > 1000 {
		v /= 1000
	}
	if v < 0 || v > 150 {
		return 0
	}
	return v
}

// processSeconds is the CPU time in the text of /proc/PID/stat. The name of the process,
// which may hold anything, is in parentheses.
func processSeconds(stat string) float64 {
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 13 {
		return 0
	}
	const hz = 100
	return (number(f[11]) + number(f[12])) / hz
}

// parseThermal reads the output of dumpsys thermalservice: the status, from 0 for none
// to 6, and the highest temperature of a CPU or of the skin in °C.
func parseThermal(text string) (status int, highest float64) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if s, ok := strings.CutPrefix(line, "Thermal Status:"); ok {
			status = int(number(strings.TrimSpace(s)))
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
			highest = max(highest, celsius(number(values["mValue"])))
		}
	}
	return status, highest
}

// thermalStatus names a status as android.os.PowerManager does.
func thermalStatus(status int) string {
	names := []string{"none", "light", "moderate", "severe", "critical", "emergency", "shutdown"}
	if status < 0 || status >= len(names) {
		return fmt.Sprint(status)
	}
	return names[status]
}
