package recording

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/perffile/perffiletest"
	"profdiff/internal/symbolizer"
)

// slowdown is a program with code that tests read.
const slowdown = "../../../profiles/known-slowdown/symbols/data/local/tmp/known-slowdown/slow10/known-slowdown"

func readSlowdown(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(slowdown)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// withApp are options that have /app.
func withApp(elf []byte) *branch.Options {
	files := fstest.MapFS{"app": &fstest.MapFile{Data: elf}}
	return &branch.Options{Names: symbolizer.Options{Objects: objectstest.Stored(files)}}
}

// rows are branches in a few words.
func rows(table *branch.Table) (list []string) {
	for _, b := range table.Branches {
		words := []string{fmt.Sprintf("%#x %s+%#x %s %s %.0f", b.Address, b.Function, *b.Offset, b.Kind, b.Known(), *b.Misses)}
		for _, c := range b.Sampled.Candidates {
			words = append(words, fmt.Sprintf("%#x %.2f", c.Address, c.Part))
		}
		list = append(list, strings.Join(words, " or "))
	}
	return list
}

// TestSampledCode names branches in real code: a loop whose branch is at 4012d8 and
// 401307, an early exit at 4012ca.
func TestSampledCode(t *testing.T) {
	elf := readSlowdown(t)
	precise := strings.Replace(missAttr, "exclude_kernel", "exclude_kernel precise_ip=2", 1)
	for _, test := range []struct {
		name, text string
		want       []string
		named      string
	}{
		{
			"behind the loop", missAttr + branchAttr + smMap + smSamples(20, 1, 10, 0x40130c, "") + smSamples(40, 2, 100, 0x4012f8, ""),
			[]string{"0x401307 read_varints+0x47 conditional high 20000"},
			"20 named, 0 exact, map[]",
		},
		{
			"at the start of the loop and before it", missAttr + branchAttr + smMap + smSamples(20, 1, 10, 0x4012dd, "") + smSamples(40, 2, 100, 0x4012f8, ""),
			[]string{"0x401307 read_varints+0x47 conditional high 20000"},
			"20 named, 0 exact, map[]",
		},
		{
			"precise", precise + branchAttr + smMap + smSamples(20, 1, 10, 0x401307, "") + smSamples(15, 1, 50, 0x4012ca, ""),
			[]string{"0x401307 read_varints+0x47 conditional exact 20000", "0x4012ca read_varints+0xa conditional exact 15000"},
			"35 named, 35 exact, map[]",
		},
		{
			"precise, but not at a branch", precise + branchAttr + smMap + smSamples(20, 1, 10, 0x401304, ""),
			nil, "0 named, 0 exact, map[not at a branch, though precise:20]",
		},
		{
			"with constant skid", strings.Replace(precise, "precise_ip=2", "precise_ip=1", 1) + branchAttr + smMap + smSamples(20, 1, 10, 0x401309, ""),
			[]string{"0x401307 read_varints+0x47 conditional high 20000"},
			"20 named, 0 exact, map[]",
		},
		{
			"no branch, no function, not mapped", missAttr + branchAttr + smMap + smSamples(3, 1, 10, 0x401140, "") + smSamples(4, 1, 50, 0x402000, "") + smSamples(5, 1, 80, 0x900000, ""),
			nil, "0 named, 0 exact, map[no branch within 8 instructions before:3 no function known:4], 5 not mapped",
		},
		{
			"kernel", missAttr + branchAttr + smMap + strings.ReplaceAll(smSamples(6, 1, 10, 0xffffffff81000000, ""), "misc=USER", "misc=KERNEL"),
			nil, "0 named, 0 exact, map[kernel code, which is not read:6]",
		},
		{
			"another build", missAttr + branchAttr + strings.Replace(smMap, "MMAP2 misc=USER", "MMAP2 misc=USER|MMAP_BUILD_ID", 1) + smSamples(6, 1, 10, 0x401309, ""),
			nil, "0 named, 0 exact, map[the binary is of another build:6]",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := "header\n" + test.text
			if strings.Contains(text, "MMAP_BUILD_ID") {
				text = strings.Replace(text, "prot=", "build_id_size=20 build_id=0011223344556677889900112233445566778899 prot=", 1)
			}
			data := perffiletest.Fixture(t, text)
			table, err := readBytes("app.data", data, withApp(elf))
			if err != nil {
				t.Fatal(err)
			}
			branchtest.CheckTable(t, table)
			if diff := cmp.Diff(test.want, rows(table)); diff != "" {
				t.Error(diff)
			}
			a := table.Sampled.Attribution
			got := fmt.Sprintf("%d named, %d exact, %v", a.Named, a.Exact, a.Unnamed)
			if a.Unmapped > 0 {
				got += fmt.Sprintf(", %d not mapped", a.Unmapped)
			}
			if diff := cmp.Diff(test.named, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSampledPrecise makes rates of branches whose misses and executions were sampled
// precisely.
func TestSampledPrecise(t *testing.T) {
	precise := func(attr string) string {
		return strings.Replace(attr, "exclude_kernel", "exclude_kernel precise_ip=2", 1)
	}
	text := "header\n" + precise(missAttr) + precise(branchAttr) + smMap + smSamples(40, 1, 10, 0x401307, "") + smSamples(12, 1, 60, 0x4012ca, "") +
		smSamples(50, 2, 100, 0x401307, "") + smSamples(5, 2, 200, 0x4012ca, "")
	data := perffiletest.Fixture(t, text)
	table, err := readBytes("app.data", data, withApp(readSlowdown(t)))
	if err != nil {
		t.Fatal(err)
	}
	branchtest.CheckTable(t, table)
	b := table.Branches[0]
	if table.Tier != branch.TierPrecise || b.Rate == nil || *b.Executed != 500000 {
		t.Fatalf("tier %s, branch %+v", table.Tier, b)
	}
	if got := fmt.Sprintf("%.4f [%.4f, %.4f]", *b.Rate.Value, b.Rate.CI[0], b.Rate.CI[1]); got != "0.0800 [0.0528, 0.1212]" {
		t.Errorf("rate %s", got)
	}
	if b := table.Branches[1]; b.Rate != nil || b.N != 5 {
		t.Errorf("5 executions make the rate %+v", b.Rate)
	}
}

// TestSampledBlocks counts samples by basic block.
func TestSampledBlocks(t *testing.T) {
	text := "header\n" + missAttr + branchAttr + smMap + smSamples(20, 1, 10, 0x4012dd, "") + smSamples(10, 1, 40, 0x401304, "") + smSamples(12, 1, 60, 0x40130c, "") +
		smSamples(40, 2, 100, 0x4012f8, "")
	data := perffiletest.Fixture(t, text)
	table, err := readBytes("app.data", data, withApp(readSlowdown(t)))
	if err != nil {
		t.Fatal(err)
	}
	branchtest.CheckTable(t, table)
	var got []string
	for _, b := range table.Sampled.Blocks {
		got = append(got, fmt.Sprintf("%#x-%#x %s %v of %v: %s", b.Start, b.End, b.Function, b.Misses.Value, b.Branches.Value, round(b.Rate, 3)))
	}
	want := []string{"0x4012d8-0x401309 read_varints 30000 of 400000: 0.075 [0.047, 0.120]", "0x401309-0x40130e read_varints 12000 of 0: none"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSampledArm names the branch of a loop of AArch64, by raw events.
func TestSampledArm(t *testing.T) {
	elf, err := os.ReadFile(branchtest.Recording(t, "simpleperf/simpleperf_runtest_two_functions_arm64"))
	if err != nil {
		t.Fatal(err)
	}
	text := "header\n" + strings.Replace(missAttr, "type=hardware config=5", "type=raw config=0x22", 1) + strings.Replace(branchAttr, "type=hardware config=4", "type=raw config=0x21", 1) +
		strings.Replace(smMap, "start=0x400000", "start=0x0", 1) + smSamples(20, 1, 10, 0x1098, "") + smSamples(12, 1, 40, 0x10b4, "") + smSamples(40, 2, 100, 0x10a0, "") +
		"feature ARCH arch=\"aarch64\"\n"
	data := perffiletest.Fixture(t, text)
	table, err := readBytes("app.data", data, withApp(elf))
	if err != nil {
		t.Fatal(err)
	}
	branchtest.CheckTable(t, table)
	if diff := cmp.Diff([]string{"0x1090 Function1()+0x44 conditional high 32000"}, rows(table)); diff != "" {
		t.Error(diff)
	}
}

// sampledSeeds are recordings of all that this reads.
func sampledSeeds() []string {
	read := strings.TrimSuffix(strings.Replace(missAttr, "|CPU", "|CPU|READ|PERIOD", 1), "\n") + " read_format=TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING\n"
	return []string{
		"header\n" + missAttr + branchAttr + instAttr + smMap + smSamples(12, 1, 10, 0x4012dd, "") + smSamples(12, 1, 30, 0x40130c, "") + smSamples(5, 2, 100, 0x4012f8, "") + smSamples(5, 3, 200, 0x401380, ""),
		"header\n" + strings.Replace(missAttr, "exclude_kernel", "exclude_kernel precise_ip=1", 1) + branchAttr + smMap + smSamples(12, 1, 10, 0x401307, "") + smSamples(5, 2, 100, 0x4012f8, ""),
		"header\n" + read + branchAttr + smMap + smSamples(12, 1, 10, 0x4012dd, "period=900 read={value=20000,time_enabled=1000,time_running=900}") + smSamples(5, 2, 100, 0x4012f8, ""),
		cnGroup + cnSample(0, 10, 0x4012dd, 0.9, 100000, 500, 10000, 50000) + cnSample(10, 11, 0x4012dd, 1, 100000, 500, 10000, 50000) + cnSample(0, 12, 0x401384, 0.9, 200000, 700, 19000, 90000),
	}
}

// TestSampledMutations damages recordings and programs: reading ends with a table that
// adds up, or with an error.
func TestSampledMutations(t *testing.T) {
	elf := readSlowdown(t)
	var seeds [][]byte
	for _, text := range sampledSeeds() {
		seeds = append(seeds, perffiletest.Fixture(t, text))
	}
	rng := rand.New(rand.NewPCG(7, 8))
	damage := func(data []byte) []byte {
		data = bytes.Clone(data)
		for range 1 + rng.IntN(6) {
			at := rng.IntN(len(data))
			if rng.IntN(2) == 0 {
				at = rng.IntN(min(len(data), 1200)) // headers
			}
			switch rng.IntN(4) {
			case 0:
				data[at] ^= 1 << rng.IntN(8)
			case 1:
				data[at] = byte(rng.Uint32())
			case 2:
				values := []byte{0, 0xff, 0x7f, 0x80}
				for i := at &^ 7; i < min(len(data), at&^7+8); i++ {
					data[i] = values[rng.IntN(len(values))]
				}
			case 3:
				copy(data[at:min(len(data), at+64)], data[rng.IntN(len(data)):])
			}
		}
		if rng.IntN(8) == 0 {
			data = data[:rng.IntN(len(data))]
		}
		return data
	}
	read, failed := 0, 0
	for i := range 1200 {
		data, program := seeds[i%len(seeds)], elf
		if i%3 != 0 {
			data = damage(data)
		}
		if i%3 != 1 {
			program = damage(elf)
		}
		opt := withApp(program)
		opt.AllowTruncated = i%2 == 0
		table, err := readBytes("x", data, opt)
		if (table == nil) == (err == nil) {
			t.Fatalf("mutation %d: table %v and error %v", i, table != nil, err)
		}
		if err != nil {
			failed++
			continue
		}
		read++
		branchtest.CheckTable(t, table)
		if t.Failed() {
			t.Fatalf("mutation %d", i)
		}
	}
	if read < 120 || failed < 120 {
		t.Errorf("%d were read, %d were not", read, failed)
	}
}

// FuzzSampled reads recordings and programs.
func FuzzSampled(f *testing.F) {
	elf := readSlowdown(f)
	for _, text := range sampledSeeds() {
		f.Add(perffiletest.Fixture(f, text), []byte{}, uint16(0))
	}
	// Programs are given as changes, so that they are not all of a seed.
	f.Add(perffiletest.Fixture(f, sampledSeeds()[0]), []byte{1, 2, 3, 4, 0xff, 0xff}, uint16(0x28))
	f.Fuzz(func(t *testing.T, data, change []byte, at uint16) {
		program := bytes.Clone(elf)
		copy(program[int(at)%len(program):], change)
		table, err := readBytes("x", data, withApp(program))
		if (table == nil) == (err == nil) {
			t.Fatalf("table %v and error %v", table != nil, err)
		}
		if err == nil && table.Tier != branch.TierTotals {
			branchtest.CheckTable(t, table)
		}
	})
}
