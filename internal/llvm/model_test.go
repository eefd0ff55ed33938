package llvm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestModelOf(t *testing.T) {
	tests := []struct {
		major       int
		triple, cpu string
		want        Model
	}{
		{22, "aarch64", "cortex-a76", Model{CPU: "cortex-a76", MCPU: "neoverse-n1", Name: "NeoverseN1", StandIn: "neoverse-n1", Kinship: KinCore, Width: 4, Dispatch: 4, ReorderBuffer: 128, MispredictPenalty: 11, TakenPerCycle: 1}},
		{14, "aarch64-linux-gnu", "cortex-x1", Model{CPU: "cortex-x1", MCPU: "cortex-x1", Name: "CortexA57", StandIn: "cortex-a57", Kinship: KinVendor, Width: 3, ReorderBuffer: 128, MispredictPenalty: 14, TakenPerCycle: 2}},
		{19, "aarch64", "cortex-x1", Model{CPU: "cortex-x1", MCPU: "neoverse-v1", Name: "NeoverseV1", StandIn: "neoverse-v1", Kinship: KinCore, Width: 8, Dispatch: 8, ReorderBuffer: 256, MispredictPenalty: 11, TakenPerCycle: 2}},
		{22, "aarch64", "apple-m1", Model{CPU: "apple-m1", MCPU: "neoverse-v2", Name: "NeoverseV2", StandIn: "neoverse-v2", Kinship: KinVendor, Width: 8, Dispatch: 8, ReorderBuffer: 320, MispredictPenalty: 10}},
		{14, "aarch64", "apple-m1", Model{CPU: "apple-m1", MCPU: "apple-m1", Name: "Cyclone", StandIn: "cyclone", Kinship: KinVendor, Width: 6, ReorderBuffer: 192, MispredictPenalty: 16}},
		{22, "x86_64", "emeraldrapids", Model{CPU: "emeraldrapids", MCPU: "emeraldrapids", Name: "SapphireRapids", StandIn: "sapphirerapids", Kinship: KinCore, Width: 6, ReorderBuffer: 512, MispredictPenalty: 14}},
		{22, "aarch64", "cortex-x1", Model{CPU: "cortex-x1", MCPU: "cortex-x1", Name: "NeoverseV1", StandIn: "neoverse-v1", Kinship: KinCore, Width: 8, ReorderBuffer: 256, MispredictPenalty: 11, TakenPerCycle: 2}},
		{19, "aarch64", "neoverse-v2", Model{CPU: "neoverse-v2", MCPU: "neoverse-v2", Name: "NeoverseV2", Kinship: KinOwn, Width: 6, Dispatch: 6, ReorderBuffer: 320, MispredictPenalty: 10, TakenPerCycle: 2}},
		{19, "aarch64", "neoverse-n1", Model{CPU: "neoverse-n1", MCPU: "neoverse-n1", Name: "NeoverseN1", Kinship: KinOwn, Width: 4, Dispatch: 4, ReorderBuffer: 128, MispredictPenalty: 11, TakenPerCycle: 1}},
		{14, "aarch64", "cortex-a510", Model{CPU: "cortex-a510", MCPU: "cortex-a510", Name: "CortexA55", StandIn: "cortex-a55", Kinship: KinGeneration, Width: 2, MispredictPenalty: 8}},
		{19, "aarch64", "oryon-1", Model{CPU: "oryon-1", MCPU: "cortex-x4", Name: "NeoverseN2", StandIn: "cortex-x4", Kinship: KinVendor, Width: 10, ReorderBuffer: 160, MispredictPenalty: 13}},
		{22, "aarch64", "oryon-1", Model{CPU: "oryon-1", MCPU: "cortex-x4", Name: "NeoverseV3", StandIn: "cortex-x4", Kinship: KinVendor, Width: 10, ReorderBuffer: 320, MispredictPenalty: 13}},
		{19, "x86_64", "znver5", Model{CPU: "znver5", MCPU: "znver5", Name: "Znver4", StandIn: "znver4", Kinship: KinGeneration, Width: 6, ReorderBuffer: 320, MispredictPenalty: 13, TakenPerCycle: 2}},
		{14, "i386", "sapphirerapids", Model{CPU: "sapphirerapids", MCPU: "sapphirerapids", Name: "SkylakeServer", StandIn: "skylake-avx512", Kinship: KinGeneration, Width: 6, ReorderBuffer: 224, MispredictPenalty: 14}},
		{22, "thumbv7", "cortex-a57", Model{CPU: "cortex-a57", MCPU: "cortex-a57", Name: "CortexA57", Kinship: KinOwn, Width: 3, ReorderBuffer: 128, MispredictPenalty: 16}},
	}
	for _, tt := range tests {
		got, err := ModelOf(tt.major, tt.triple, tt.cpu)
		got.resource, got.Repairs = "", nil
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(Model{})); diff != "" || err != nil {
			t.Errorf("ModelOf(%d, %s, %s): %v %s", tt.major, tt.triple, tt.cpu, err, diff)
		}
		if got.inOrder() != (tt.want.ReorderBuffer == 0) {
			t.Errorf("%s: in order: %t", tt.cpu, got.inOrder())
		}
	}
	for _, tt := range []struct {
		major       int
		triple, cpu string
		want        string
	}{
		{14, "x86_64", "znver4", `LLVM 14 has no scheduling model of CPU "znver4" (LLVM 16 has one); nearest names: znver3, znver2, znver1`},
		{22, "aarch64", "Cortex-A76", `LLVM 22 has no scheduling model of CPU "Cortex-A76"; nearest names: cortex-a76, cortex-a76ae, cortex-a78`},
		{22, "aarch64", "carmel", `LLVM 22 has no scheduling model of CPU "carmel"; nearest names: `},
		{22, "aarch64", "", "no CPU is named"},
		{22, "riscv64", "sifive-p670", `triple "riscv64" is none of x86, aarch64, arm, thumb`},
		{13, "aarch64", "cortex-a76", "LLVM 13 is not known: LLVM 14 to 22 are"},
	} {
		got, err := ModelOf(tt.major, tt.triple, tt.cpu)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || !cmp.Equal(got, Model{}, cmp.AllowUnexported(Model{})) {
			t.Errorf("ModelOf(%d, %s, %q): %v, want %q", tt.major, tt.triple, tt.cpu, err, tt.want)
		}
	}
}

func TestModelTable(t *testing.T) {
	rows, err := parseModels(modelTable)
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		arch  arch
		cpu   string
		major int
	}
	seen := make(map[key]bool)
	own := make(map[string]bool)
	for _, row := range rows {
		for major := row.from; major <= row.to; major++ {
			k := key{row.arch, row.model.CPU, major}
			if seen[k] {
				t.Errorf("two rows of %s in LLVM %d", row.model.CPU, major)
			}
			seen[k] = true
		}
		if row.from < minMajor || row.to > maxMajor || row.from > row.to {
			t.Errorf("%s: LLVM %d to %d", row.model.CPU, row.from, row.to)
		}
		if row.model.StandIn == "" {
			own[row.model.CPU] = true
		}
	}
	for _, row := range rows {
		for major := row.from; major <= row.to; major++ {
			if m := row.model.chosen(row.arch, major); m.Kinship == "" {
				t.Errorf("LLVM %d: how near is %s to %s?", major, m.CPU, m.StandIn)
			}
		}
		if s := row.model.StandIn; s != "" && !own[s] && s != row.model.MCPU {
			t.Errorf("%s: %s has no model of its own", row.model.CPU, s)
		}
	}
	for _, bad := range []string{
		"h\nx86\tk8\n", "1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12\nmips\tk8\t14\tM\tR\t2\t-\t0\t9\t-\t-\t-\n",
		"1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12\nx86\tk8\tx\tM\tR\t2\t-\t0\t9\t-\t-\t-\n",
	} {
		if _, err := parseModels(bad); err == nil {
			t.Errorf("no error of %q", bad)
		}
	}
}

// TestCoreTable wants a use for each row, and the better model that it names.
func TestCoreTable(t *testing.T) {
	for _, row := range cores() {
		used := false
		for major := row.from; major <= row.to; major++ {
			own, ok := modelOf(row.arch, major, row.cpu)
			if !ok {
				continue
			}
			m := own.chosen(row.arch, major)
			used = used || m.StandIn == row.core && m.Kinship == row.kinship && (row.dispatch == 0 || m.Dispatch == row.dispatch || m.MCPU == m.CPU)
		}
		if !used {
			t.Errorf("%s: no version of LLVM %d to %d takes %s for it as cores.tsv says", row.cpu, row.from, row.to, row.core)
		}
	}
	const heading = "arch\tcore\tkinship\tllvm\tdispatch\tcpus\twhy\n"
	for _, bad := range []string{"mips\tk\tcore\t-\t-\tm\t-\n", "x86\tk\tcousin\t-\t-\tm\t-\n", "x86\tk\tcore\tx\t-\tm\t-\n", "x86\tk\tcore\t-\tx\tm\t-\n"} {
		if _, err := parseCores(heading + bad); err == nil {
			t.Errorf("no error of %q", bad)
		}
	}
}

// TestModels asks llvm-mca for the model of each CPU of the table: its first resource
// and its dispatch width show in the output.
func TestModels(t *testing.T) {
	if testing.Short() {
		t.Skip("one run of llvm-mca for each CPU takes seconds")
	}
	lines := map[arch]string{archX86: "addl %eax, %ebx\n", archARM64: "add x0, x0, x1\n", archARM: "add r0, r0, r1\n"}
	triples := map[arch]string{archX86: "x86_64", archARM64: "aarch64", archARM: "thumbv7"}
	eachVersion(t, func(t *testing.T, tc *Toolchain) {
		t.Parallel()
		ask := func(a arch, cpu string) (*mcaReport, output) {
			args := []string{"-json", "-mtriple=" + triples[a], "-mcpu=" + cpu, "-iterations=1", "-resource-pressure=false", "-"}
			out, err := run(t.Context(), process{path: tc.MCA, args: args, stdin: []byte(lines[a]), stdout: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			if len(out.stdout) == 0 || strings.Contains(string(out.stderr), "is not a recognized processor") {
				return nil, out
			}
			r, err := parseReport(out.stdout)
			if err != nil {
				t.Fatal(err)
			}
			return r, out
		}
		asked := make(map[string]*mcaReport)
		for _, row := range models() {
			if tc.Major < row.from || row.to < tc.Major {
				continue
			}
			m := row.model
			name := triples[row.arch] + " " + m.MCPU
			if _, ok := asked[name]; !ok {
				r, out := ask(row.arch, m.MCPU)
				if r == nil {
					t.Errorf("%s: %s", name, out.stderr)
					continue
				}
				asked[name] = r
			}
			r := asked[name]
			got := int(r.CodeRegions[0].SummaryView.DispatchWidth)
			if m.Dispatch > 0 {
				// The model's own width must be wrong, or there is nothing to override.
				if got == m.Dispatch {
					t.Errorf("%s: dispatch width %d needs no override of %d", m.CPU, got, m.Dispatch)
				}
				got = m.Dispatch
			}
			if warning := m.differs(r.TargetInfo.Resources, got); warning != "" {
				t.Errorf("%s: %s; resources %v", m.CPU, warning, r.TargetInfo.Resources)
			}
		}
		// What the table lacks has no model, or is another spelling.
		for _, a := range []arch{archARM64, archX86} {
			for _, cpu := range availableCPUs(t, tc, triples[a]) {
				if strings.Contains(cpu, "_") || asked[triples[a]+" "+cpu] != nil || cpu == "oryon-1" {
					continue
				}
				if r, _ := ask(a, cpu); r != nil {
					t.Errorf("%s has a model, %s, and is not in the table", cpu, r.TargetInfo.Resources[0])
				}
			}
		}
	})
}

// availableCPUs are the names that llvm-mca -mcpu=help lists.
func availableCPUs(t *testing.T, tc *Toolchain, triple string) []string {
	t.Helper()
	out, err := run(t.Context(), process{path: tc.MCA, args: []string{"-mtriple=" + triple, "-mcpu=help"}, stdout: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(out.stdout)+string(out.stderr), "Available CPUs for this target:\n")
	text, _, ok2 := strings.Cut(text, "Available features")
	if !ok || !ok2 {
		t.Fatalf("no list of CPUs: %s%s", out.stdout, out.stderr)
	}
	var cpus []string
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 0 {
			cpus = append(cpus, f[0])
		}
	}
	if !slices.IsSorted(cpus) || len(cpus) < 20 {
		t.Fatalf("list of CPUs %v", cpus)
	}
	return cpus
}

func TestDiffers(t *testing.T) {
	m := Model{MCPU: "cortex-a76", Name: "CortexA57", Width: 3, resource: "A57UnitB"}
	for _, tt := range []struct {
		resources []string
		width     int
		want      string
	}{
		{[]string{"A57UnitB", "A57UnitI.0"}, 3, ""},
		{[]string{"N1UnitB"}, 3, "llvm-mca's model of cortex-a76 is not CortexA57, which is expected of this version"},
		{nil, 3, "llvm-mca's model of cortex-a76 is not CortexA57, which is expected of this version"},
		{[]string{"A57UnitB"}, 4, "llvm-mca dispatches 4 micro-operations per cycle for cortex-a76, not 3"},
	} {
		if got := m.differs(tt.resources, tt.width); got != tt.want {
			t.Errorf("differs(%v, %d) = %q, want %q", tt.resources, tt.width, got, tt.want)
		}
	}
}

func TestCPUOf(t *testing.T) {
	const phone = "Processor\t: AArch64 Processor rev 1 (aarch64)\nprocessor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\n" +
		"processor\t: 6\nCPU implementer\t: 0x41\nCPU variant\t: 0x1\nCPU part\t: 0xd44\n\nprocessor\t: 4\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n"
	const pc = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9R14\nstepping\t: 1\n"
	tests := []struct {
		id   string
		want []string
	}{
		{"0x00000000410fd0c0", []string{"neoverse-n1"}},
		{"0x411fd440", []string{"cortex-x1"}},
		{"0x00000000510f8040", []string{"cortex-a76"}}, // Kryo 4xx Gold
		{"41:d0b", []string{"cortex-a76"}},
		{"0x41:0xd82", []string{"cortex-x4"}},
		{"AuthenticAMD,25,17,1", []string{"znver4"}},
		{"AuthenticAMD,26,2,1", []string{"znver5"}},
		{"AuthenticAMD,23,49,0", []string{"znver2"}},
		{"GenuineIntel,6,142,10", []string{"skylake"}},
		{"GenuineIntel,6,85,4", []string{"skylake-avx512"}},
		{"GenuineIntel,6,85,7", []string{"cascadelake"}},
		{"GenuineIntel,6,85,11", []string{"cooperlake"}},
		{"GenuineIntel-6-8E-A", []string{"skylake"}},
		{"GenuineIntel-6-8F", []string{"sapphirerapids"}},
		{"cortex-a76", []string{"cortex-a76"}},
		{phone, []string{"cortex-a55", "cortex-a76", "cortex-x1"}},
		{pc, []string{"znver4"}},
		{"Google:Pixel 8:shiba", []string{"cortex-a510", "cortex-a715", "cortex-x3"}},
		{"ro.soc.model=SM8650", []string{"cortex-a520", "cortex-a720", "cortex-x4"}},
		{"AuthenticAMD,16,2,3", nil},
		{"GenuineIntel,6", nil},
		{"GenuineIntel,-6,142,10", nil},
		{"0xzz", nil},
		{"0x0000000000000000", nil},
		{"Samsung:SM-G991B:o1s", nil},
		{"", nil},
		{"vendor_id\t: Unknown\nmodel\t: 1\n", nil},
	}
	for _, tt := range tests {
		got := CPUsOf(tt.id)
		if len(got) == 0 {
			got = nil
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("CPUsOf(%q): %s", tt.id, diff)
		}
		want := ""
		if len(tt.want) > 0 {
			want = tt.want[len(tt.want)-1]
		}
		if got := CPUOf(tt.id); got != want {
			t.Errorf("CPUOf(%q) = %q, want %q", tt.id, got, want)
		}
	}
}

// TestCPUTable wants a model in some version for each CPU that recordings can name.
func TestCPUTable(t *testing.T) {
	table, err := parseIDs(cpuTable, socTable)
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, row := range models() {
		known[row.model.CPU] = true
	}
	for name := range table.rank {
		if !known[name] {
			t.Errorf("no version of LLVM has a model of %s", name)
		}
	}
	for word, names := range table.socs {
		for _, name := range names {
			if !known[name] {
				t.Errorf("%s: %s is not known", word, name)
			}
		}
		if !slices.IsSortedFunc(names, func(a, b string) int { return table.rank[a] - table.rank[b] }) {
			t.Errorf("%s: %v is not sorted from small to big", word, names)
		}
	}
}

func TestHostCPU(t *testing.T) {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip("/proc/cpuinfo is not here")
	}
	got, err := HostCPU()
	if got != CPUOf(string(data)) || (err == nil) != (got != "") {
		t.Errorf("HostCPU = %q, %v, want %q", got, err, CPUOf(string(data)))
	}
	if got == "" {
		return
	}
	tc := toolchain(t, 22)
	// llvm-mca --version prints what LLVM takes the host for.
	out, err := run(t.Context(), process{path: tc.MCA, args: []string{"--version"}, stdout: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	if _, host, ok := strings.Cut(string(out.stdout), "Host CPU: "); ok {
		host, _, _ = strings.Cut(host, "\n")
		if host != got && strings.Contains(string(data), " hypervisor") {
			t.Skipf("HostCPU = %q, LLVM says %q: it goes by features, some of which a virtual machine may hide", got, host)
		}
		if host != got {
			t.Errorf("HostCPU = %q, LLVM says %q (%s)", got, host, filepath.Base(tc.MCA))
		}
	}
}
