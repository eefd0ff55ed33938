package llvm

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// addRecordings gives a fuzz target what the tools printed.
func addRecordings(f *testing.F, pattern string) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "llvm-*", pattern))
	if err != nil || len(files) == 0 {
		f.Fatalf("no recordings %s: %v", pattern, err)
	}
	for _, file := range files {
		f.Add(readFile(f, file))
	}
}

func FuzzJSON(f *testing.F) {
	addRecordings(f, "*.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseReport(data)
		if (r == nil) == (err == nil) {
			t.Fatalf("report %v, error %v", r, err)
		}
		if err != nil {
			return
		}
		rows := 0
		for i := range r.CodeRegions {
			region := &r.CodeRegions[i]
			iterations := int(region.SummaryView.Iterations)
			timeline, err := region.timeline(iterations)
			if err == nil && len(timeline) != iterations*len(region.Instructions) {
				t.Fatalf("%d rows of %d instructions in %d iterations", len(timeline), len(region.Instructions), iterations)
			}
			for _, row := range timeline {
				if row.Dispatched < 0 || row.Retired < row.Executed {
					t.Fatalf("row %+v", row)
				}
				rows++
			}
			if region.InstructionInfoView != nil && len(region.latencies()) != len(region.Instructions) {
				t.Fatal("latencies do not match instructions")
			}
			if region.ResourcePressureView != nil {
				for _, u := range region.pressure(r.TargetInfo.Resources) {
					if u.Instruction >= len(region.Instructions) {
						t.Fatalf("usage of instruction %d", u.Instruction)
					}
				}
			}
			region.BottleneckAnalysis.bottleneck()
			// What the report says of itself must not decide how much is drawn.
			s := Simulation{Instructions: region.Instructions, Timeline: timeline}
			last := int32(0)
			for _, row := range timeline {
				last = max(last, row.Retired)
			}
			if last < 1000 && len(timeline) < 100 {
				s.TimelineText()
			}
		}
		if rows > len(data) {
			t.Fatalf("%d rows from %d bytes", rows, len(data))
		}
	})
}

func FuzzStderr(f *testing.F) {
	addRecordings(f, "*.stderr")
	f.Add([]byte("<stdin>:999999999:1: error: x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := parseStderr(data)
		var a assembly
		a.add([]string{"nop"})
		a.add([]string{"nop", "nop"})
		for _, d := range m.diagnostics {
			if d.line < 0 || d.column < 0 {
				t.Fatalf("%+v", d)
			}
			if region, line, ok := a.locate(d.line); ok && (region < 0 || region > 1 || line < 0 || line >= a.count[region]) {
				t.Fatalf("line %d is line %d of region %d", d.line, line, region)
			}
		}
		for _, w := range slices.Concat(m.warnings, m.errors, m.unsupported) {
			if strings.Contains(w, "\n") {
				t.Fatalf("%q is more than a line", w)
			}
		}
		if (located{messages: m, stderr: data}).failure() == nil {
			t.Fatal("no error")
		}
	})
}

func FuzzObjdump(f *testing.F) {
	for a, text := range map[arch]string{
		archX86:   "\n0000000000001160 <f>:\n    1167:      \tjle\t0x1198 <f+0x38>\n    118d:      \tlock\n    118e:      \taddl\t%ecx, (%rdx)\n    1190: \tretq\n    1191:\tnop\n",
		archARM64: "    1360:      \tmov\tw0, #0x0                // =0\n    1364:      \ttbz\tw0, #31, 0x1370 <f+0x10>\n    1368:\t.word\t0x12345678\n",
		archARM:   "    1000:      \tldr\tr0, [pc, #0x10]         @ 0x1014 <f+0x14>\n    1004:      \t08 03 0a 13\t.word\t0x130a0308\n",
	} {
		f.Add([]byte(text), int(a), uint64(0x1000), uint64(0x2000))
	}
	f.Fuzz(func(t *testing.T, data []byte, a int, from, to uint64) {
		list, err := parseListing(data, arch(a), from, to)
		if err != nil {
			if list != nil {
				t.Fatalf("%d instructions and error %v", len(list), err)
			}
			return
		}
		for i, in := range list {
			if in.Addr < from || in.Addr >= to || i > 0 && in.Addr <= list[i-1].Addr {
				t.Fatalf("address %#x in [%#x, %#x)", in.Addr, from, to)
			}
			if in.Data != (in.Text == "") || in.Data && (in.Padding || in.Target != 0) {
				t.Fatalf("%+v", in)
			}
			if strings.ContainsAny(in.Text, "\n\r") || strings.Contains(in.Raw, "\n") {
				t.Fatalf("%+v is more than a line", in)
			}
		}
	})
}
