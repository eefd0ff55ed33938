package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// A Machine is where the runs were recorded.
type Machine struct {
	CPU      string   `yaml:"cpu"`
	Cores    int      `yaml:"cores"`
	Arch     string   `yaml:"arch"` // as uname -m prints it
	Kernel   string   `yaml:"kernel"`
	Governor string   `yaml:"governor,omitempty"`
	Virtual  bool     `yaml:"virtual,omitempty"`
	Device   string   `yaml:"device,omitempty"` // of Android
	Serial   string   `yaml:"serial,omitempty"` // as adb lists the device
	Tools    []string `yaml:"tools"`
}

// differs says in what two machines differ that makes their runs another experiment, ""
// if they do not.
func (m *Machine) differs(o *Machine) string {
	for _, f := range []struct{ name, have, want string }{
		{"device", m.Device, o.Device},
		{"serial number", m.Serial, o.Serial},
		{"CPU", m.CPU, o.CPU},
	} {
		if f.have != f.want {
			return fmt.Sprintf("%s was %q, is %q", f.name, f.have, f.want)
		}
	}
	return ""
}

// Conditions are what a machine was doing during a run.
type Conditions struct {
	// Load is the load average of the last minute when the run began.
	Load float64 `yaml:"load"`
	// BackgroundCPUs is how many CPUs were busy with something else.
	BackgroundCPUs float64 `yaml:"background_cpus"`
	// BackgroundUnknown says that it is not known.
	BackgroundUnknown bool `yaml:"background_unknown,omitempty"`
	// StolenCPUs is how many the host of a virtual machine took.
	StolenCPUs   float64 `yaml:"stolen_cpus,omitempty"`
	FrequencyMHz float64 `yaml:"frequency_mhz,omitempty"`
	// FrequencyLimitMHz is what the CPUs may run at when the run ended, their mean.
	FrequencyLimitMHz float64 `yaml:"frequency_limit_mhz,omitempty"`
	// Throttled is how often a CPU was slowed down because it was hot.
	Throttled int64 `yaml:"throttled,omitempty"`
	// CelsiusBefore is the highest temperature when the run began.
	CelsiusBefore float64 `yaml:"celsius_before,omitempty"`
	// ThermalStatus is what Android says, before or after, whichever is worse: 0 none,
	// 1 light, 2 moderate, 3 severe, 4 critical, 5 emergency, 6 shutdown.
	ThermalStatus int `yaml:"thermal_status,omitempty"`

	busy, stolen float64            // CPU seconds since boot
	uptime       float64            // seconds since boot, 0 if not known
	processes    map[string]float64 // CPU seconds of what is recorded by process ID, if the recorder does not start it
	limitChange  float64            // of FrequencyLimitMHz
}

// between are the conditions of a run from those before and after it.
func between(before, after *Conditions, r *Result) Conditions {
	c := Conditions{
		Load: before.Load, FrequencyMHz: (before.FrequencyMHz + after.FrequencyMHz) / 2,
		Throttled: after.Throttled - before.Throttled, CelsiusBefore: before.CelsiusBefore,
	}
	c.FrequencyLimitMHz = after.FrequencyLimitMHz
	c.limitChange = after.FrequencyLimitMHz - before.FrequencyLimitMHz
	c.ThermalStatus = max(before.ThermalStatus, after.ThermalStatus)
	c.BackgroundUnknown = before.BackgroundUnknown || after.BackgroundUnknown
	s := r.Duration.Seconds()
	if before.uptime > 0 && after.uptime > before.uptime {
		s = after.uptime - before.uptime // with what the recorder does before and after
	}
	own := r.User.Seconds() + r.System.Seconds()
	if before.processes != nil || after.processes != nil {
		seconds, known := processTime(before.processes, after.processes)
		own += seconds
		c.BackgroundUnknown = c.BackgroundUnknown || !known
	}
	// Times are in ticks of 10 ms.
	c.BackgroundUnknown = c.BackgroundUnknown || s < 0.1
	if !c.BackgroundUnknown {
		c.BackgroundCPUs = round(max(0, after.busy-before.busy-own)/s, 2)
		c.StolenCPUs = round(max(0, after.stolen-before.stolen)/s, 2)
	}
	return c
}

// processTime is the CPU time that processes took between two moments. It is not known
// if one of them ended.
func processTime(before, after map[string]float64) (seconds float64, known bool) {
	for pid, s := range after {
		seconds += s - before[pid]
	}
	for pid := range before {
		if _, ok := after[pid]; !ok {
			return 0, false
		}
	}
	return seconds, len(after) > 0
}

// notes are what makes a run less trustworthy.
func (c *Conditions) notes(cores int) (notes []string) {
	if c.Throttled > 0 {
		notes = append(notes, fmt.Sprintf("CPUs were throttled %d times: they are too hot", c.Throttled))
	}
	if c.ThermalStatus > 0 {
		notes = append(notes, fmt.Sprintf("the device is hot and slows down: thermal status %s", thermalStatus(c.ThermalStatus)))
	}
	if c.limitChange != 0 {
		notes = append(notes, fmt.Sprintf("the limit of the CPUs changed by %+.0f MHz to %.0f MHz", c.limitChange, c.FrequencyLimitMHz))
	}
	if c.BackgroundCPUs > 0.1*float64(max(cores, 1)) {
		notes = append(notes, fmt.Sprintf("other programs took %.2f CPUs", c.BackgroundCPUs))
	}
	if c.StolenCPUs > 0.05*float64(max(cores, 1)) {
		notes = append(notes, fmt.Sprintf("the host took %.2f CPUs from this virtual machine", c.StolenCPUs))
	}
	return notes
}

func round(v float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', digits, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// A host is this machine.
type host struct{}

func (host) machine() *Machine {
	m := &Machine{Cores: runtime.NumCPU(), CPU: cpuName(readText("/proc/cpuinfo")), Kernel: readText("/proc/sys/kernel/osrelease")}
	var u syscall.Utsname
	if syscall.Uname(&u) == nil {
		for _, c := range u.Machine {
			if c == 0 {
				break
			}
			m.Arch += string(rune(byte(c)))
		}
	}
	m.Governor = readText("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	m.Virtual = strings.Contains(readText("/proc/cpuinfo"), " hypervisor")
	return m
}

// cpuName is the model in the text of /proc/cpuinfo, or what there is of one.
func cpuName(cpuinfo string) string {
	fields := make(map[string]string)
	for line := range strings.Lines(cpuinfo) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			fields[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	name := fields["model name"]
	if name == "" && fields["CPU part"] != "" {
		name = "implementer " + fields["CPU implementer"] + " part " + fields["CPU part"]
	}
	if f := fields["cpu family"]; f != "" {
		name = fmt.Sprintf("%s (family %s, model %s, stepping %s)", name, f, fields["model"], fields["stepping"])
	}
	return name
}

// Warm implements [Backend]. A simulator needs no warming up, but a command that fails does
// so here.
func (host) Warm(ctx context.Context, p *Plan, side Side) (*Result, error) {
	return run(ctx, words(p.Side(side).Run), nil)
}

// Conditions implements [Backend].
func (h host) Conditions(context.Context) (*Conditions, error) { return h.conditions(), nil }

func (host) conditions() *Conditions {
	c := new(Conditions)
	if f := strings.Fields(readText("/proc/loadavg")); len(f) > 0 {
		c.Load = number(f[0])
	}
	c.busy, c.stolen = cpuSeconds(readText("/proc/stat"))
	c.uptime = number(firstWord(readText("/proc/uptime")))
	frequencies, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq")
	for _, name := range frequencies {
		c.FrequencyMHz += number(readText(name)) / 1000 / float64(len(frequencies))
	}
	throttles, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count")
	for _, name := range throttles {
		c.Throttled += int64(number(readText(name)))
	}
	zones, _ := filepath.Glob("/sys/class/thermal/thermal_zone*/temp")
	for _, name := range zones {
		c.CelsiusBefore = max(c.CelsiusBefore, number(readText(name))/1000)
	}
	return c
}

// cpuSeconds is how long all CPUs were busy, and how long stolen, by the text of
// /proc/stat, whose unit is USER_HZ, 100 a second on all architectures of today.
func cpuSeconds(stat string) (busy, stolen float64) {
	const hz = 100
	line, _, _ := strings.Cut(stat, "\n")
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return 0, 0
	}
	for _, i := range []int{1, 2, 3, 6, 7} { // user, nice, system, irq, softirq
		busy += number(f[i]) / hz
	}
	return busy, number(f[8]) / hz
}

func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return v
}

func readText(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(text))
}

// spare is what is left free on a disk, for other programs and for the notes.
const spare = 64 << 20

// freeBytes is how much is free on the disk of a folder; false if it cannot be asked.
func freeBytes(dir string) (int64, bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, false
	}
	return int64(min(fs.Bavail, 1<<40)) * int64(fs.Bsize), true
}

// checkSpace says whether so many bytes fit on the disk of a folder.
func checkSpace(dir string, bytes int64, freeBytes func(string) (int64, bool)) error {
	free, known := freeBytes(dir)
	if known && free < bytes+spare { // what cannot be asked is found out
		return fmt.Errorf("%s: %d MB free, the runs left need about %d MB and %d MB to spare: make room, or record to another disk", dir, free>>20, bytes>>20, spare>>20)
	}
	return nil
}

// errFull is the error of a disk that filled up while a run was recorded.
var errFull = errors.New("no space left on the disk: make room and call again, runs that are there are kept")

// full reports whether the disk of a folder has next to nothing left.
func full(dir string) bool {
	free, known := freeBytes(dir)
	return known && free < 64<<10
}
