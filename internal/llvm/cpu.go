package llvm

import (
	"bufio"
	_ "embed"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed cpus.tsv
var cpuTable string

//go:embed socs.tsv
var socTable string

// cpuIDs is what cpus.tsv and socs.tsv say.
type cpuIDs struct {
	parts map[string]string // "41:d0b": name
	x86   []x86ID
	socs  map[string][]string // word: names
	rank  map[string]int      // the row of a name
}

// x86ID is a range of models of a family.
type x86ID struct {
	vendor                  string
	family                  int
	firstModel, lastModel   int
	firstStepping, lastStep int
	name                    string
}

var ids = sync.OnceValue(func() *cpuIDs {
	t, err := parseIDs(cpuTable, socTable)
	if err != nil {
		panic(err) // a file of this package, like models.tsv
	}
	return t
})

func parseIDs(cpus, socs string) (*cpuIDs, error) {
	t := &cpuIDs{parts: make(map[string]string), socs: make(map[string][]string), rank: make(map[string]int)}
	err := eachRow(cpus, 2, func(f []string) error {
		name := f[0]
		t.rank[name] = len(t.rank)
		for id := range strings.FieldsSeq(f[1]) {
			field := strings.Split(id, ":")
			switch len(field) {
			case 2:
				for part := range strings.SplitSeq(field[1], ",") {
					t.parts[field[0]+":"+part] = name
				}
			case 3:
				family, err := strconv.Atoi(field[1])
				if err != nil {
					return err
				}
				for models := range strings.SplitSeq(field[2], ",") {
					x := x86ID{vendor: field[0], family: family, lastStep: 1 << 30, name: name}
					models, steppings, ok := strings.Cut(models, "/")
					if ok {
						if x.firstStepping, x.lastStep, err = span(steppings); err != nil {
							return err
						}
					}
					if x.firstModel, x.lastModel, err = span(models); err != nil {
						return err
					}
					t.x86 = append(t.x86, x)
				}
			default:
				return fmt.Errorf("id %q", id)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cpus.tsv: %w", err)
	}
	err = eachRow(socs, 3, func(f []string) error {
		for word := range strings.FieldsSeq(f[1]) {
			t.socs[word] = strings.Fields(f[2])
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("socs.tsv: %w", err)
	}
	return t, nil
}

// CPUOf is LLVM's name of the CPU that a recording names, "" if that is not known: the
// value of MIDR_EL1 ("0x00000000410fd0c0"), implementer and part of it ("41:d0c"),
// CPUID as perf writes it ("AuthenticAMD,25,17,1", "GenuineIntel-6-8E"), the text of
// /proc/cpuinfo, properties of an Android device that name it or its chip
// ("Google:Pixel 8:shiba"), or the name itself. Of several kinds of cores it is the
// biggest; CPUsOf has all.
func CPUOf(cpuid string) string {
	if all := CPUsOf(cpuid); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// CPUsOf is CPUOf for all kinds of cores of a system, from small to big.
func CPUsOf(cpuid string) []string {
	t := ids()
	cpuid = strings.TrimSpace(cpuid)
	if names := t.fromCPUInfo(cpuid); names != nil {
		return names
	}
	if name := t.fromID(cpuid); name != "" {
		return []string{name}
	}
	return t.fromProperties(cpuid)
}

// fromID finds the CPU of an identification register.
func (t *cpuIDs) fromID(id string) string {
	lower := strings.ToLower(id)
	if _, ok := t.rank[lower]; ok {
		return lower
	}
	if implementer, part, ok := strings.Cut(lower, ":"); ok {
		i, err1 := strconv.ParseUint(strings.TrimPrefix(implementer, "0x"), 16, 8)
		p, err2 := strconv.ParseUint(strings.TrimPrefix(part, "0x"), 16, 12)
		if err1 == nil && err2 == nil {
			return t.fromPart(i, p)
		}
	}
	if digits, ok := strings.CutPrefix(lower, "0x"); ok {
		if midr, err := strconv.ParseUint(digits, 16, 64); err == nil {
			return t.fromPart(midr>>24&0xff, midr>>4&0xfff)
		}
		return ""
	}
	// perf writes decimal numbers between commas, its tables of events hexadecimal ones
	// between dashes.
	for _, form := range []struct {
		separator string
		base      int
	}{{",", 10}, {":", 10}, {"-", 16}} {
		f := strings.Split(id, form.separator)
		if len(f) != 3 && len(f) != 4 {
			continue
		}
		var n [3]int
		ok := true
		for i, field := range f[1:] {
			v, err := strconv.ParseUint(field, form.base, 16)
			ok = ok && err == nil
			n[i] = int(v)
		}
		if ok {
			return t.fromCPUID(f[0], n[0], n[1], n[2])
		}
	}
	return ""
}

func (t *cpuIDs) fromPart(implementer, part uint64) string {
	return t.parts[fmt.Sprintf("%02x:%03x", implementer, part)]
}

func (t *cpuIDs) fromCPUID(vendor string, family, model, stepping int) string {
	for _, x := range t.x86 {
		if x.vendor == vendor && x.family == family && x.firstModel <= model && model <= x.lastModel &&
			x.firstStepping <= stepping && stepping <= x.lastStep {
			return x.name
		}
	}
	return ""
}

// fromCPUInfo finds the CPUs in the text of /proc/cpuinfo; nil if it is no such text.
func (t *cpuIDs) fromCPUInfo(text string) []string {
	if !strings.Contains(text, "\n") {
		return nil
	}
	names := []string{}
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var vendor string
	var implementer uint64
	var family, model int
	found := false
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		number, err := strconv.ParseUint(value, 0, 16)
		switch strings.TrimSpace(key) {
		case "vendor_id":
			vendor, found = value, true
		case "cpu family":
			family = int(number)
		case "model":
			model = int(number)
		case "stepping": // the last of the four
			add(t.fromCPUID(vendor, family, model, int(number)))
		case "CPU implementer":
			implementer, found = number, true
		case "CPU part":
			if err == nil {
				add(t.fromPart(implementer, number))
			}
		}
	}
	if !found {
		return nil
	}
	slices.SortFunc(names, func(a, b string) int { return t.rank[a] - t.rank[b] })
	return names
}

// fromProperties finds the CPUs of a chip or device that one of the words names.
func (t *cpuIDs) fromProperties(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	for _, word := range words {
		if names, ok := t.socs[word]; ok {
			return slices.Clone(names)
		}
	}
	return nil
}

// HostCPU is LLVM's name of the CPU that this program runs on, of several kinds of cores
// the biggest.
func HostCPU() (string, error) {
	const path = "/proc/cpuinfo"
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the CPU of this machine is not known: %w", err)
	}
	defer f.Close()
	var text strings.Builder
	for lines := bufio.NewScanner(f); lines.Scan() && text.Len() < 1<<20; {
		text.WriteString(lines.Text() + "\n")
	}
	if name := CPUOf(text.String()); name != "" {
		return name, nil
	}
	return "", fmt.Errorf("the CPU of this machine (%s) is not known: %s names none of cpus.tsv", runtime.GOARCH, path)
}
