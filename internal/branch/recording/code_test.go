package recording

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/branch/annotate"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/branch/stacks"
	"profdiff/internal/disasm"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/objfile"
	"profdiff/internal/perffile/perffiletest"
	"profdiff/internal/symbolizer"
)

func readTestFile(t testing.TB, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// libraryOf builds a library of AArch64 in forms that phones have: as linked, without
// any symbols, with those in .gnu_debugdata, and the symbols alone.
func libraryOf(t testing.TB, source string) (whole, stripped, mini, debug []byte) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.c"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	const prefix = "aarch64-linux-gnu-"
	branchtest.RunIn(t, dir, prefix+"gcc", "-O2", "-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fvisibility=hidden", "-shared", "-nostdlib", "-Wl,--build-id=sha1", "-Wl,-u,pick", "-o", "libx.so", "a.c")
	branchtest.RunIn(t, dir, prefix+"objcopy", "--only-keep-debug", "libx.so", "libx.debug")
	branchtest.RunIn(t, dir, prefix+"objcopy", "--strip-all", "libx.so", "stripped.so")
	branchtest.RunIn(t, dir, prefix+"objcopy", "-S", "--keep-symbol=pick", "libx.so", "mini")
	branchtest.RunIn(t, dir, "xz", "-k", "mini")
	branchtest.RunIn(t, dir, prefix+"objcopy", "--strip-all", "--add-section=.gnu_debugdata=mini.xz", "libx.so", "oat.so")
	return readTestFile(t, dir, "libx.so"), readTestFile(t, dir, "stripped.so"), readTestFile(t, dir, "oat.so"), readTestFile(t, dir, "libx.debug")
}

// pickBranch finds the first conditional branch of pick that is neither the check of n
// nor the end of the loop: the one on data.
func pickBranch(t testing.TB, data []byte, opt disasm.Options) (f *disasm.Function, at *disasm.Inst) {
	t.Helper()
	file, err := objfile.New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := disasm.NewWith(file, opt)
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	f, err = c.FunctionAt(branchtest.AddressOf(symbols, "pick"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Insts {
		in := &f.Insts[i]
		if b := f.Block(in.Addr); in.Kind == disasm.Conditional && f.LoopOf(b) >= 0 && in.Target > in.Addr {
			if loop := f.Loops[f.LoopOf(b)]; len(loop.Blocks) > 1 && f.LoopOf(f.Block(in.Target)) >= 0 {
				return f, in
			}
		}
	}
	t.Fatal("pick has no branch on data")
	return nil, nil
}

// TestFiles names the branch behind imprecise samples with the code where phones and
// their tools have it.
func TestFiles(t *testing.T) {
	whole, stripped, oat, debug := libraryOf(t, branchtest.PickSource)
	file, err := objfile.New(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	id := file.BuildID()
	f, jump := pickBranch(t, whole, disasm.Options{})
	const entry = "lib/arm64-v8a/libx.so"
	apk := branchtest.Stored(t, entry, whole)
	inAPK := uint64(bytes.Index(apk, whole[:64]))
	var offset uint64 // of the code in the file
	for _, s := range file.Segments() {
		if s.Executable {
			offset = s.Offset - s.Vaddr
		}
	}
	const app = "/data/app/~~x/base.apk"
	for _, test := range []struct {
		name  string
		files map[string][]byte
		path  string // as recorded
		// at is where the file starts in what is mapped, simpleperf is set if that made the
		// recording, with the symbols of the file.
		at         uint64
		simpleperf bool
		noID       bool
		dso, want  string
	}{
		{name: "library", files: map[string][]byte{"libx.so": whole}, path: "/data/app/libx.so"},
		{name: "in perf's cache", files: map[string][]byte{".build-id/" + id[:2] + "/" + id[2:] + "/elf": whole}, path: "/data/app/libx.so"},
		{name: "in simpleperf's binary_cache", files: map[string][]byte{"build_id_list": []byte("0x" + id + "=deep/x.so\n"), "deep/x.so": whole}, path: "/data/app/libx.so"},
		{name: "somewhere", files: map[string][]byte{"a/b/c.so": whole}, path: "/data/app/libx.so"},
		{name: "of an APK", files: map[string][]byte{"data/app/~~x/base.apk": apk}, path: app + "!/" + entry},
		{name: "of an APK, beside it", files: map[string][]byte{"lib/libx.so": whole}, path: app + "!/" + entry},
		{name: "APK that is mapped", files: map[string][]byte{"base.apk": apk}, path: app, at: inAPK, noID: true, dso: app + "!/" + entry},
		{name: "symbols apart", files: map[string][]byte{"libx.so": stripped, ".build-id/" + id[:2] + "/" + id[2:] + ".debug": debug}, path: "/data/app/libx.so"},
		{name: "OAT file with symbols in .gnu_debugdata", files: map[string][]byte{"base.odex": oat}, path: "/data/app/oat/arm64/base.odex"},
		{name: "OAT file whose methods the recording has", files: map[string][]byte{"base.odex": stripped}, path: "/data/app/oat/arm64/base.odex", simpleperf: true},
		{name: "OAT file without methods", files: map[string][]byte{"base.odex": stripped}, path: "/data/app/oat/arm64/base.odex", want: "no function known"},
		{name: "symbols alone", files: map[string][]byte{"libx.so": debug}, path: "/data/app/libx.so", want: "no binary"},
		{name: "another build", files: map[string][]byte{"libx.so": readSlowdown(t)}, path: "/data/app/libx.so", want: "the binary is of another build"},
		{name: "nothing", path: "/data/app/libx.so", want: "no binary"},
	} {
		t.Run(test.name, func(t *testing.T) {
			attrs := strings.Replace(missAttr, "type=hardware config=5", "type=raw config=0x22", 1) + strings.Replace(branchAttr, "type=hardware config=4", "type=raw config=0x21", 1)
			build := " build_id_size=20 build_id=" + id
			misc := "USER|MMAP_BUILD_ID"
			if test.noID {
				build, misc = "", "USER"
			}
			const start uint64 = 0x7000000000
			text := "header\n" + attrs + fmt.Sprintf("MMAP2 misc=%s pid=10 tid=10 start=%#x len=0x100000 pgoff=%#x prot=READ|EXEC%s filename=%q sample_id={pid=10,tid=10,time=1,id=1,cpu=0}\n", misc, start, test.at, build, test.path)
			text += smSamples(20, 1, 10, start+jump.Next()+offset, "") + smSamples(40, 2, 100, start+f.Start+offset, "")
			text += "feature ARCH arch=\"aarch64\"\n"
			if test.simpleperf {
				text += fmt.Sprintf("feature META_INFO\nmeta key=\"simpleperf_version\" value=\"1\"\nfeature FILE2\nfile2 path=%q type=ELF min_vaddr=%#x\nsymbol2 vaddr=%#x len=%d name=\"void app.Main.pick(int[])\"\n", test.path, 0, f.Start, f.End-f.Start)
			}
			fs := fstest.MapFS{}
			for name, data := range test.files {
				fs[name] = &fstest.MapFile{Data: data}
			}
			opt := &branch.Options{Names: symbolizer.Options{Objects: objectstest.Stored(fs)}}
			data := perffiletest.Fixture(t, text)
			table, err := readBytes("app.data", data, opt)
			if err != nil {
				t.Fatal(err)
			}
			branchtest.CheckTable(t, table)
			if test.want != "" {
				if diff := cmp.Diff(map[string]int64{test.want: 20}, table.Sampled.Attribution.Unnamed); diff != "" {
					t.Error(diff)
				}
				return
			}
			if len(table.Branches) == 0 {
				t.Fatalf("no branches: %v", table.Sampled.Attribution.Unnamed)
			}
			if test.dso == "" {
				test.dso = test.path
			}
			b := &table.Branches[0]
			found := b.Address == jump.Addr || slices.ContainsFunc(b.Sampled.Candidates, func(c branch.RowCandidate) bool { return c.Address == jump.Addr })
			if !found || b.DSO != test.dso || !strings.Contains(b.Function, "pick") || b.BuildID != id || table.Sampled.Functions[0].DSO != test.dso {
				t.Errorf("%s %s %#x %s, want %s %#x", b.DSO, b.BuildID, b.Address, b.Function, test.dso, jump.Addr)
			}
			// What the table says finds the code again.
			if test.simpleperf {
				return
			}
			if l, err := annotate.Function(table, "pick", opt.Names.Objects); err != nil || l.Start != f.Start {
				t.Errorf("annotated: %+v, %v", l, err)
			}
		})
	}
}

// TestFilesOfStacks reads branch stacks of a library in an APK that is mapped.
func TestFilesOfStacks(t *testing.T) {
	whole, _, _, _ := libraryOf(t, branchtest.PickSource)
	_, jump := pickBranch(t, whole, disasm.Options{})
	header, err := elf.NewFile(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	offset := uint64(0)
	for _, p := range header.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			offset = p.Off - p.Vaddr
		}
	}
	const entry = "lib/arm64-v8a/libx.so"
	apk := branchtest.Stored(t, entry, whole)
	at := uint64(bytes.Index(apk, whole[:64]))
	const start uint64 = 0x7000000000
	from, to := start+jump.Addr+offset, start+jump.Target+offset
	missed := fmt.Sprintf("from=%#x,to=%#x,flags=MISPRED", from, to)
	other := fmt.Sprintf("from=%#x,to=%#x,flags=PREDICTED", from, to+4)
	text := brAttr + fmt.Sprintf("MMAP2 misc=USER pid=10 tid=10 start=%#x len=0x100000 pgoff=%#x prot=READ|EXEC filename=\"/data/app/base.apk\" sample_id={pid=10,tid=10,time=1}\n", start, at) +
		brSample(10, 5, missed) + brSample(10, 6, missed) + brSample(10, 7, other) + "feature ARCH arch=\"aarch64\"\n"
	opt := &branch.Options{Names: symbolizer.Options{Objects: objectstest.Stored(fstest.MapFS{"base.apk": &fstest.MapFile{Data: apk}})}}
	table, err := readFixture(t, text, opt)
	if err != nil {
		t.Fatal(err)
	}
	branchtest.CheckTable(t, table)
	b := &table.Branches[0]
	if b.DSO != "/data/app/base.apk!/"+entry || b.Function != "pick" || b.Address != jump.Addr || b.Kind != branch.Conditional || b.Stacks.Taken != 2 {
		t.Errorf("%+v", b)
	}
	if n := table.Samples.Dropped[stacks.DropInconsistent]; n != 1 {
		t.Errorf("%d samples contradict the library, want 1", n)
	}
}
