package objfile

import (
	"bytes"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// splitBeside finds split debug information as debuggers do: in a package beside the
// program, then where the compiler put it. Units that are in neither are appended to missing.
func splitBeside(exe string, missing ...*[]SplitUnit) func(SplitUnit) iter.Seq[*File] {
	opened := make(map[string]*File)
	return func(s SplitUnit) iter.Seq[*File] {
		return func(yield func(*File) bool) {
			for _, name := range []string{exe + ".dwp", s.Path()} {
				f, ok := opened[name]
				if !ok {
					f, _ = Open(name)
					opened[name] = f
				}
				if f != nil && !yield(f) {
					return
				}
			}
			for _, list := range missing {
				*list = append(*list, s)
			}
		}
	}
}

// splitProgram compiles two units with flags and links them.
func splitProgram(t *testing.T, compiler string, flags ...string) (exe string) {
	t.Helper()
	dir := t.TempDir()
	exe = filepath.Join(dir, "program")
	for name, src := range map[string]string{"library.o": "library.cc", "inline.o": "inline.cc"} {
		args := slices.Concat([]string{"-O2"}, flags, []string{"-c", "-o", name})
		if name == "inline.o" {
			args = append(args, "-Dmain=other")
		}
		tryRun(t, dir, compiler, append(args, source(t, src))...)
	}
	run(t, dir, compiler, "-o", exe, "library.o", "inline.o")
	return exe
}

// TestSplit compares what debug information says that was split off with what the same
// says in the program.
func TestSplit(t *testing.T) {
	for _, compiler := range []string{"g++", "clang++"} {
		for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
			if testing.Short() && (compiler != "g++" || version != "-gdwarf-5") {
				continue // each takes the compiler seconds
			}
			whole := splitProgram(t, compiler, version)
			f := open(t, whole)
			addrs := addresses(t, f, 2000)
			l := lines(t, f)
			want := framesAt(l, addrs)
			functions := slices.Collect(l.Functions())
			tests := []struct {
				name  string
				flags []string
				pack  []string // program that makes a package
			}{
				{"dwo", []string{"-gsplit-dwarf"}, nil},
				{"dwo, compressed", []string{"-gsplit-dwarf", "-gz"}, nil},
				{"dwo in objects", []string{"-gsplit-dwarf=single"}, nil},
				{"type units", []string{"-gsplit-dwarf", "-fdebug-types-section"}, nil},
				{"inlined calls in the program", []string{"-gsplit-dwarf", "-fsplit-dwarf-inlining"}, nil},
				{"package", []string{"-gsplit-dwarf"}, []string{"llvm-dwp-19", "-e", "program", "-o", "program.dwp"}},
				{"package of binutils", []string{"-gsplit-dwarf"}, []string{"dwp", "-e", "program", "-o", "program.dwp"}},
			}
			for _, test := range tests {
				t.Run(compiler+" "+version+" "+test.name, func(t *testing.T) {
					if testing.Short() && test.name != "package" {
						t.Skip("takes the compiler seconds")
					}
					t.Parallel()
					exe := splitProgram(t, compiler, append(test.flags, version)...)
					if test.pack != nil {
						tryRun(t, filepath.Dir(exe), test.pack[0], test.pack[1:]...)
						dwo, _ := filepath.Glob(filepath.Join(filepath.Dir(exe), "*.dwo"))
						for _, name := range dwo {
							if err := os.Remove(name); err != nil {
								t.Fatal(err)
							}
						}
						if len(dwo) != 2 {
							t.Errorf("%d .dwo files", len(dwo))
						}
					}
					l := lines(t, open(t, exe))
					var missing []SplitUnit
					l.SetSplit(splitBeside(exe, &missing))
					got := framesAt(l, addrs)
					if missing != nil {
						t.Errorf("missing: %v", missing)
					}
					// GCC does not say in which namespace a class is that has a type unit.
					scope := cmp.Comparer(func(a, b Frame) bool {
						if test.name == "type units" {
							const scope = "app::(anonymous namespace)::"
							a.Name, b.Name = strings.TrimPrefix(a.Name, scope), strings.TrimPrefix(b.Name, scope)
						}
						return a == b
					})
					if diff := cmp.Diff(want, got, scope); diff != "" {
						t.Errorf("frames (-in the program +split):\n%s", diff)
					}
					if diff := cmp.Diff(functions, slices.Collect(l.Functions()), scope); diff != "" && test.name != "type units" {
						t.Errorf("functions (-in the program +split):\n%s", diff)
					}
				})
			}
		}
	}
}

// TestSplitElsewhere takes no debug information but that of the same build, and says what
// is missing.
func TestSplitElsewhere(t *testing.T) {
	for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
		if testing.Short() && version == "-gdwarf-4" {
			continue // takes the compiler seconds
		}
		exe := splitProgram(t, "g++", version, "-gsplit-dwarf")
		other := splitProgram(t, "g++", version, "-gsplit-dwarf", "-DOTHER")
		addrs := addresses(t, open(t, exe), 300)
		l := lines(t, open(t, exe))
		var missing []SplitUnit
		l.SetSplit(func(s SplitUnit) iter.Seq[*File] {
			s.Dir = filepath.Dir(other)
			return splitBeside(other, &missing)(s)
		})
		for _, frames := range framesAt(l, addrs) {
			if len(frames) > 1 || len(frames) == 1 && frames[0].Name != "" {
				t.Fatalf("%s: of another build: %v", version, frames)
			}
		}
		if len(missing) == 0 || missing[0].Name != "library.dwo" && missing[0].Name != "inline.dwo" || missing[0].ID == 0 {
			t.Errorf("%s: missing %v", version, missing)
		}
	}
}

// TestSplitAgainst compares with other readers of split debug information.
func TestSplitAgainst(t *testing.T) {
	for _, compiler := range []string{"g++", "clang++"} {
		for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
			t.Run(compiler+" "+version, func(t *testing.T) {
				if testing.Short() && (compiler != "g++" || version != "-gdwarf-4") {
					t.Skip("takes the compiler seconds")
				}
				exe := splitProgram(t, compiler, version, "-gsplit-dwarf", "-fno-split-dwarf-inlining")
				testFramesAgainst(t, exe, true, "llvm-symbolizer", "--no-demangle", "--inlines", "--output-style=LLVM", "-a", "-e")
			})
		}
	}
}

// splitIndexOf is a .debug_cu_index with a row for each ID, whose parts start at 100 times
// the number of the row and the number of the section.
func splitIndexOf(big bool, version int, slots uint64, ids ...uint64) []byte {
	w := newWriter(big)
	if version == 5 {
		w.u16(5)
		w.u16(0)
	} else {
		w.u32(uint32(version))
	}
	columns := []uint32{sectInfo, sectAbbrev, 4, sectStrOffsets, sectRnglists}
	w.u32(uint32(len(columns)))
	w.u32(uint32(len(ids)))
	w.u32(uint32(slots))
	hash, rows := make([]uint64, slots), make([]uint32, slots)
	for i, id := range ids {
		slot := id & (slots - 1)
		for rows[slot] != 0 {
			slot = (slot + (id>>32&(slots-1) | 1)) & (slots - 1)
		}
		hash[slot], rows[slot] = id, uint32(i+1)
	}
	for _, id := range hash {
		w.u64(id)
	}
	for _, row := range rows {
		w.u32(row)
	}
	for _, c := range columns {
		w.u32(c)
	}
	for i := range ids {
		for _, c := range columns {
			w.u32(uint32(100*(i+1)) + c)
		}
	}
	for range ids {
		for range columns {
			w.u32(10)
		}
	}
	return w.Bytes()
}

func splitIndexContents(data []byte, big bool) *contents {
	return &contents{name: ".debug_cu_index", big: big, r: bytes.NewReader(data), size: uint64(len(data))}
}

func TestSplitIndex(t *testing.T) {
	ids := []uint64{0x1_0000_0003, 0x2_0000_0003, 0x3_0000_0003, 7, 0xffff_ffff_ffff_ffff}
	for _, big := range []bool{false, true} {
		for _, version := range []int{2, 5} {
			x, err := readSplitIndex(splitIndexContents(splitIndexOf(big, version, 8, ids...), big))
			if err != nil {
				t.Fatal(err)
			}
			for i, id := range ids {
				row := uint64(100 * (i + 1))
				want := contributions{info: row + 1, abbrev: row + 3, strOffsets: row + 6, rnglists: row + 8}
				if version == 2 {
					want.rnglists = 0 // the column has macros
				}
				if got, ok, err := x.find(id); got != want || !ok || err != nil {
					t.Errorf("big %v, version %d: %#x: got %v, %v, %v", big, version, id, got, ok, err)
				}
			}
			for _, id := range []uint64{0, 3, 0x4_0000_0003} {
				if _, ok, err := x.find(id); ok || err != nil {
					t.Errorf("big %v, version %d: %#x: found %v, %v", big, version, id, ok, err)
				}
			}
		}
	}
	full, err := readSplitIndex(splitIndexContents(splitIndexOf(false, 5, 4, 1, 2, 3, 4), false))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := full.find(5); ok || err != nil {
		t.Errorf("in a full index: found %v, %v", ok, err)
	}
	good := splitIndexOf(false, 5, 8, ids...)
	bad := func(at int, value byte) []byte {
		data := slices.Clone(good)
		data[at] = value
		return data
	}
	many := bad(12, 0)
	many[15] = 0x80 // 2^31 slots
	for _, test := range []struct {
		data []byte
		want string
	}{
		{nil, ".debug_cu_index: needs 2 bytes, has 0 at 0x0"},
		{good[:len(good)-1], ".debug_cu_index: needs 200 bytes, has 199"},
		{bad(0, 6), ".debug_cu_index: version 6: not supported"},
		{bad(4, 99), ".debug_cu_index: 8 slots, 99 columns, 5 units at 0x0"},
		{bad(12, 7), ".debug_cu_index: 7 slots, 5 columns, 5 units at 0x0"},
		{many, ".debug_cu_index: offset 0x"},
	} {
		if _, err := readSplitIndex(splitIndexContents(test.data, false)); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	x, err := readSplitIndex(splitIndexContents(bad(16+8*8+4*7, 99), false)) // the row of slot 7
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := x.find(7); err == nil || !strings.Contains(err.Error(), "row 99 of 5") {
		t.Errorf("a row that is not there: got %v", err)
	}
}

func FuzzSplitIndex(f *testing.F) {
	for _, big := range []bool{false, true} {
		f.Add(splitIndexOf(big, 2, 8, 1, 2, 3), uint64(2), big)
		f.Add(splitIndexOf(big, 5, 2, 1, 3), uint64(5), big)
	}
	f.Fuzz(func(t *testing.T, data []byte, id uint64, big bool) {
		bounded(t, len(data), func() {
			x, err := readSplitIndex(splitIndexContents(data, big))
			if (x == nil) != (err != nil) && err == nil {
				t.Fatalf("value and error: %v, %v", x, err)
			}
			if err != nil {
				return
			}
			if at, ok, _ := x.find(id); !ok && at != (contributions{}) {
				t.Errorf("not found, but %v", at)
			}
		})
	})
}

// compiledSplit returns a small program and its .dwo file, nil if there is no compiler.
func compiledSplit(f *testing.F, flags ...string) (exe, dwo []byte) {
	f.Helper()
	if exe = compiled(f, flags...); exe == nil {
		return nil, nil
	}
	l, err := parseELF(f, exe).Lines()
	if err != nil {
		f.Fatal(err)
	}
	l.SetSplit(func(s SplitUnit) iter.Seq[*File] {
		return func(func(*File) bool) { dwo, err = os.ReadFile(s.Path()) }
	})
	l.Frames(l.index[0].lo)
	if err != nil || dwo == nil {
		f.Fatalf("%d bytes, %v", len(dwo), err)
	}
	return exe, dwo
}

// FuzzSplit reads a .dwo file or a package for a program.
func FuzzSplit(f *testing.F) {
	for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
		if exe, dwo := compiledSplit(f, version, "-gsplit-dwarf"); exe != nil {
			f.Add(exe, dwo)
		}
	}
	f.Fuzz(func(t *testing.T, exe, dwo []byte) {
		bounded(t, len(exe)+len(dwo), func() {
			program, err := New(bytes.NewReader(exe), int64(len(exe)))
			if err != nil {
				return
			}
			split, err := New(bytes.NewReader(dwo), int64(len(dwo)))
			if err != nil {
				return
			}
			l, err := program.Lines()
			if err != nil {
				return
			}
			l.SetSplit(func(SplitUnit) iter.Seq[*File] { return slices.Values([]*File{split}) })
			for _, s := range l.index[:min(len(l.index), 16)] {
				checkFrames(t, l, s.lo)
			}
			for range l.Functions() {
			}
		})
	})
}
