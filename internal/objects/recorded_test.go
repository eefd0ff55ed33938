package objects_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"profdiff/internal/objects"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/perfsession"
)

const (
	idA = "aa02030405060708090a0b0c0d0e0f1011121314"
	idB = "bb02030405060708090a0b0c0d0e0f1011121314"
)

// A root is the directory of files of a machine.
type root string

// machine is a root with a name of the machine, and how its files are found.
func machine(t *testing.T) (root, *objects.Machine) {
	t.Helper()
	dir := root(t.TempDir())
	dir.write(t, "proc/sys/kernel/hostname", []byte("here\n"))
	env := map[string]string{"PROFDIFF_SYSROOT": string(dir), "HOME": string(dir) + "/home"}
	return dir, objects.ThisMachine(func(name string) string { return env[name] })
}

// write makes a file, which was last changed an hour before now.
func (r root) write(t *testing.T, name string, data []byte) string {
	t.Helper()
	at := filepath.Join(string(r), name)
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, data, 0o666); err != nil {
		t.Fatal(err)
	}
	changed := time.Now().Add(-time.Hour)
	if err := os.Chtimes(at, changed, changed); err != nil {
		t.Fatal(err)
	}
	return at
}

// program is a small program.
func program(id string, size uint64) objectstest.ELF {
	return objectstest.ELF{BuildID: id, Vaddr: 0x1000, Size: size, Symbols: []objectstest.Symbol{{Name: "work", Addr: 0x1100, Size: 0x40}}}
}

// identity is that of a file as it is now.
func identity(t *testing.T, name string) perfsession.Identity {
	t.Helper()
	var s syscall.Stat_t
	if err := syscall.Stat(name, &s); err != nil {
		t.Fatal(err)
	}
	device := perfsession.Device{Major: uint32(s.Dev >> 8 & 0xfff), Minor: uint32(s.Dev&0xff | s.Dev>>12&^0xff)}
	return perfsession.Identity{Device: device, Inode: s.Ino, Mapped: []perfsession.Part{{Off: 0x1000, End: 0x2000}}}
}

// TestRecorded takes a file of this machine only if it is the recorded one.
func TestRecorded(t *testing.T) {
	now := time.Now()
	here := objects.Recording{Host: "here", Ended: now}
	for _, test := range []struct {
		name      string
		id        string // of the file
		recorded  string // build ID
		recording objects.Recording
		then      func(t *testing.T, at string, file *objects.Recorded) // after it was recorded
		refused   string                                                // why, "" if it is taken
		warning   string
	}{
		{"build ID", idA, idA, objects.Recording{}, nil, "", ""},
		{"build ID, changed in its time", idA, idA, here, func(t *testing.T, at string, _ *objects.Recorded) {
			touch(t, at, now.Add(time.Hour))
		}, "", ""},
		{"another build ID", idB, idA, here, nil, "its build ID is " + idB + ", that of the recording " + idA, ""},
		{"the file has none", "", idA, here, nil, "its build ID is absent, that of the recording " + idA, ""},
		{"the recording has none", idA, "", here, nil, "", "unchanged"},
		{"neither has one", "", "", here, nil, "", "unchanged"},
		{"changed in place", "", "", here, func(t *testing.T, at string, _ *objects.Recorded) {
			touch(t, at, now.Add(time.Minute))
		}, "it was changed after it was recorded", ""},
		{"replaced by one with an older time", "", "", here, func(t *testing.T, at string, _ *objects.Recorded) {
			rename(t, at, at+".old")
			copyFile(t, at+".old", at)
			touch(t, at, now.Add(-2*time.Hour))
		}, "it was replaced after it was recorded", ""},
		{"its code is of another size", "", "", here, func(t *testing.T, at string, _ *objects.Recorded) {
			if err := os.WriteFile(at, program("", 0x3000).Build(t), 0o666); err != nil {
				t.Fatal(err)
			}
			touch(t, at, now.Add(-time.Hour))
		}, "its code is not where the recording has it", ""},
		{"deleted while it ran", "", "", here, func(_ *testing.T, _ string, file *objects.Recorded) {
			file.Path += " (deleted)"
		}, "it was replaced while it ran", ""},
		{"replaced while it was recorded", "", "", here, func(_ *testing.T, _ string, file *objects.Recorded) {
			file.Several = true
		}, "it was replaced while it was recorded", ""},
		{"on another machine, by chance with that inode", "", "", objects.Recording{Host: "there", Ended: now}, func(_ *testing.T, _ string, file *objects.Recorded) {
			file.Device.Minor++
		}, "is not known to be that of the machine of the recording", ""},
		{"a file system that hides inodes", "", "", here, func(_ *testing.T, _ string, file *objects.Recorded) {
			file.Device.Minor++
		}, "", "is taken for the recorded file by its path and by where its code is mapped"},
		{"the time is not known", "", "", objects.Recording{Host: "here"}, nil, "when it was recorded, it is not known", ""},
		{"nothing is known", "", "", objects.Recording{}, func(_ *testing.T, _ string, file *objects.Recorded) {
			file.Identity = perfsession.Identity{}
		}, "is not known to be that of the machine of the recording", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, m := machine(t)
			at := dir.write(t, "bin/a", program(test.id, 0).Build(t))
			file := objects.Recorded{Path: "/bin/a", BuildID: test.recorded, Identity: identity(t, at)}
			if test.then != nil {
				test.then(t, at, &file)
			}
			files := objects.New(objects.Options{Machine: m}).Of(test.recording)
			o, err := files.Names(file)
			if (err == nil) != (test.refused == "") {
				t.Fatalf("%v, %v", o, err)
			}
			if err == nil && o.Symbols() == nil {
				t.Error("no symbols")
			}
			if tried := files.Tried(file.Path, file.BuildID); test.refused != "" && (len(tried) == 0 || !strings.Contains(tried[0].Why, test.refused)) {
				t.Errorf("tried %+v, want %q", tried, test.refused)
			}
			warnings := strings.Join(files.Warnings(), "\n")
			if files.Unchanged(file) {
				warnings += "unchanged"
			}
			if (warnings == "") != (test.warning == "") || !strings.Contains(warnings, test.warning) {
				t.Errorf("warnings %q, want %q", warnings, test.warning)
			}
		})
	}
}

// TestRootUnderSymfs takes a file without a build ID from the root of a machine that the user
// names, unless something that is known of the recording contradicts.
func TestRootUnderSymfs(t *testing.T) {
	now := time.Now()
	for _, test := range []struct {
		name      string
		recording objects.Recording
		refused   string // why, "" if it is taken
	}{
		{"a format without host and time", objects.Recording{}, ""},
		{"this machine", objects.Recording{Host: "here", Ended: now}, ""},
		{"changed afterwards", objects.Recording{Ended: now.Add(-2 * time.Hour)}, "it was changed after it was recorded"},
		{"another machine", objects.Recording{Host: "there"}, "is not known to be that of the machine of the recording"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, m := machine(t)
			dir.write(t, "proc/self/stat", nil) // shows that it is a root
			dir.write(t, "bin/a", program("", 0).Build(t))
			symfs := objects.SearchPath{Name: string(dir), FS: os.DirFS(string(dir))}
			files := objects.New(objects.Options{Symfs: []objects.SearchPath{symfs}, Machine: m}).Of(test.recording)
			file := objects.Recorded{Path: "/bin/a"}
			if _, _, err := files.Code(file, 0); (err == nil) != (test.refused == "") {
				t.Errorf("got %v", err)
			}
			if tried := files.Tried(file.Path, ""); test.refused != "" && (len(tried) == 0 || !strings.Contains(tried[0].Why, test.refused)) {
				t.Errorf("tried %+v, want %q", tried, test.refused)
			}
		})
	}
}

func touch(t *testing.T, name string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestIrregular opens nothing that is no regular file: it would hang here.
func TestIrregular(t *testing.T) {
	for name, make := range map[string]func(at string) error{
		"FIFO":      func(at string) error { return syscall.Mkfifo(at, 0o666) },
		"directory": func(at string) error { return os.Mkdir(at, 0o777) },
		"device":    func(at string) error { return os.Symlink("/dev/zero", at) },
		"terminal":  func(at string) error { return os.Symlink("/dev/tty", at) },
		"link to nothing": func(at string) error {
			return os.Symlink("nothing", at)
		},
		"link to a FIFO": func(at string) error {
			if err := syscall.Mkfifo(at+".fifo", 0o666); err != nil {
				return err
			}
			return os.Symlink(at+".fifo", at)
		},
		"socket": func(at string) error {
			l, err := net.Listen("unix", at)
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, m := machine(t)
			// As a file of this machine, under --symfs, and beside a recording.
			places := []string{"bin/a", "symfs/bin/a", "recorded/symbols/bin/a", "symfs/build_id_list", "home/.debug/.build-id/aa/" + idA[2:] + "/elf"}
			for _, place := range places {
				at := filepath.Join(string(dir), place)
				if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
					t.Fatal(err)
				}
				t.Chdir(filepath.Dir(at)) // names of sockets are short
				if err := make(filepath.Base(at)); err != nil {
					t.Fatal(err)
				}
			}
			symfs := filepath.Join(string(dir), "symfs")
			files := objects.New(objects.Options{Symfs: []objects.SearchPath{{Name: symfs, FS: os.DirFS(symfs)}}, Machine: m})
			files = files.Of(objects.Recording{Dir: filepath.Join(string(dir), "recorded"), Host: "here", Ended: time.Now()})
			for _, id := range []string{idA, ""} {
				if o, err := files.Names(objects.Recorded{Path: "/bin/a", BuildID: id}); err == nil {
					t.Errorf("found %s", o.Name())
				}
			}
			if f := files.File("/bin/a"); f != nil {
				t.Errorf("opened %s", f.Name)
			}
		})
	}
}

// TestGeneratedFile: what a process tells of its code is written until it ends, a little
// after the last sample.
func TestGeneratedFile(t *testing.T) {
	dir, m := machine(t)
	const name = "/tmp/perf-10.map"
	at := filepath.Join(string(dir), name)
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte("10 10 f\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	ended := time.Now()
	for _, test := range []struct {
		host    string
		written time.Duration // after the last sample
		want    bool
	}{
		{"here", -time.Hour, true},
		{"here", time.Second, true},
		{"here", time.Hour, false}, // of another process, by chance with that number
		{"there", -time.Hour, false},
		{"", -time.Hour, false},
	} {
		if err := os.Chtimes(at, time.Time{}, ended.Add(test.written)); err != nil {
			t.Fatal(err)
		}
		files := objects.New(objects.Options{Machine: m}).Of(objects.Recording{Host: test.host, Ended: ended})
		f := files.File(name)
		if got := f != nil; got != test.want {
			t.Errorf("on %q, written %v after the last sample: found %t, want %t", test.host, test.written, got, test.want)
		}
		if f != nil {
			f.Close()
		}
	}
}

// TestOrder looks in the places one after the other.
func TestOrder(t *testing.T) {
	dir, m := machine(t)
	file := objects.Recorded{Path: "/opt/bin/a", BuildID: idA}
	recording := objects.Recording{Dir: filepath.Join(string(dir), "recorded"), Host: "there"}
	symfs := filepath.Join(string(dir), "symfs")
	// The last place is filled first: each that is filled then comes before it.
	for _, place := range []string{
		"home/.debug/.build-id/aa/" + idA[2:] + "/elf",
		"usr/lib/debug/.build-id/aa/" + idA[2:] + ".debug",
		"opt/bin/a",
		"recorded/binary_cache/a",
		"recorded/symbols/opt/bin/a",
		"symfs/any/name",
		"symfs/a",
		"symfs/opt/bin/a",
		"symfs/.build-id/aa/" + idA[2:] + "/elf",
	} {
		at := dir.write(t, place, program(idA, 0).Build(t))
		files := objects.New(objects.Options{Symfs: []objects.SearchPath{{Name: symfs, FS: os.DirFS(symfs)}}, Machine: m}).Of(recording)
		o, err := files.Names(file)
		if err != nil || o.Name() != at {
			t.Fatalf("%s: found %v, %v", place, o, err)
		}
	}
}

// TestPerfConfig finds perf's cache where its configuration says.
func TestPerfConfig(t *testing.T) {
	for _, test := range []struct {
		name   string
		files  map[string]string
		env    string // PERF_CONFIG
		cached string // where the file is
		found  bool
	}{
		{"default", nil, "", "home/.debug", true},
		{"own", map[string]string{"home/.perfconfig": "[report]\ndir = no\n[buildid]\n\tdir = ~/cache # mine\n"}, "", "home/cache", true},
		{"of the machine", map[string]string{"etc/perfconfig": "[buildid]\ndir=DIR/var/cache\n"}, "", "var/cache", true},
		{"own before that of the machine", map[string]string{"etc/perfconfig": "[buildid]\ndir=DIR/var/cache\n", "home/.perfconfig": "[buildid]\ndir = ~/cache\n"}, "", "home/cache", true},
		{"another file", map[string]string{"home/.perfconfig": "[buildid]\ndir = ~/cache\n", "x": "[buildid]\ndir = ~/third\n"}, "x", "home/third", true},
		{"turned off", map[string]string{"home/.perfconfig": "[buildid]\ndir = /dev/null\n"}, "", "home/.debug", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := root(t.TempDir())
			for name, text := range test.files {
				dir.write(t, name, []byte(strings.ReplaceAll(text, "DIR", string(dir))))
			}
			dir.write(t, test.cached+"/.build-id/aa/"+idA[2:]+"/elf", program(idA, 0).Build(t))
			env := map[string]string{"PROFDIFF_SYSROOT": string(dir), "HOME": string(dir) + "/home"}
			if test.env != "" {
				env["PERF_CONFIG"] = filepath.Join(string(dir), test.env)
			}
			files := objects.New(objects.Options{Machine: objects.ThisMachine(func(name string) string { return env[name] })})
			if _, err := files.Names(objects.Recorded{Path: "/no/path", BuildID: idA}); (err == nil) != test.found {
				t.Error(err)
			}
		})
	}
}
