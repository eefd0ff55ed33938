package batch

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
)

func TestManifest(t *testing.T) {
	work := int64(60)
	want := []Listed{
		{Profile: Profile{Path: "/lists/a.pb.gz", Source: "a.pb.gz", Model: "phone", TimeNS: 1763632800000000000, DurationNS: 30e9, WorkUnits: &work, ABI: "arm64", OSBuild: "x, y"}, Release: "1.0", Identifier: "serial"},
		{Profile: Profile{Path: "/b", Source: "/b", Device: "00ff", TimeNS: 86400e9}, Release: "2"},
	}
	for name, list := range map[string]string{
		"csv": "path,release,device_model,device,device_id,time,duration,work_units,abi,os_build\n" +
			"a.pb.gz,1.0,phone,serial,,2025-11-20T10:00:00Z,30s,60,arm64,\"x, y\"\n/b,2,,,00ff,1970-01-02,,,,\n",
		"json": `{"path":"a.pb.gz","release":"1.0","device_model":"phone","device":"serial","time":1763632800000000000,"duration":30000000000,"work_units":60,"abi":"arm64","os_build":"x, y"}
{"path":"/b","release":2,"device_id":"00ff","time":"1970-01-02","abi":null}`,
	} {
		var got []Listed
		if err := Manifest(strings.NewReader(list), "/lists", func(l Listed) error { got = append(got, l); return nil }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestManifestRefused(t *testing.T) {
	for list, want := range map[string]string{
		"":                               "is no list of profiles",
		"a,b\n":                          "names no column path",
		"path,speed\na,1\n":              `line 2: column "speed" is none of path, release`,
		"path,time\na,soon\n":            `line 2: time: "soon" is no time`,
		"path,time\na,2500-01-01\n":      "is no time",
		"path,duration\na,-3s\n":         "is no duration",
		"path,work_units\na,1.5\n":       "is no whole number",
		"path,device,device_id\na,b,c\n": "has a device and a device_id",
		"path,release\n,1\n":             "line 2: has no path",
		"path,release\na\n":              "wrong number of fields",
		`{"path":["a"]}`:                 "object 1: path: is neither text nor a number",
		`{"path":"a"} x`:                 "object 2: invalid character",
	} {
		err := Manifest(strings.NewReader(list), "", func(Listed) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: the error is %v, want one line with %q", list, err, want)
		}
	}
}

// TestPlan checks that specs have one release and one day, no identifiers of devices, and that what was changed is refused.
func TestPlan(t *testing.T) {
	var lines []string
	p := Plan{Size: 2, Salt: "s", Emit: func(s *Spec) error {
		data, err := json.Marshal(s)
		lines = append(lines, string(data))
		return err
	}}
	const day = 86400e9
	for _, l := range []Listed{
		{Profile: Profile{Path: "/x/serial/2", TimeNS: 1}, Release: "b", Identifier: "serial"},
		{Profile: Profile{Path: "/x/serial77/1", Source: "serial/serial77/1", TimeNS: 2}, Release: "b", Identifier: "serial"},
		{Profile: Profile{Path: "/x/3", TimeNS: day}, Release: "b"},
		{Profile: Profile{Path: "/x/4", TimeNS: 3}, Release: "b"},
		{Profile: Profile{Path: "/x/5"}, Release: "a"},
	} {
		if err := p.Add(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range lines {
		s, err := Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s.Release)
		for _, q := range s.Profiles {
			got = append(got, q.source())
		}
		if _, err := Parse([]byte(strings.Replace(line, "/x/", "/y/", 1))); err == nil {
			t.Errorf("a spec that was changed is taken: %s", line)
		}
	}
	d := fleet.Device("s", "serial")
	if diff := cmp.Diff([]string{"b", "/x/" + d + "/2", d + "/serial77/1", "a", "/x/5", "b", "/x/4", "b", "/x/3"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := p.Add(Listed{Profile: Profile{Path: "a"}}); err == nil || !strings.Contains(err.Error(), "has no release") {
		t.Errorf("%v: want a profile without a release to be refused", err)
	}
}

// TestStored plans lists again that a store has: what it has is in no spec, and what it does not have, has otherwise, or cannot be
// looked at is.
func TestStored(t *testing.T) {
	root, dir := fleetOf(t, 6, 20, 20, 5), t.TempDir()
	var disputed int64
	list := func(change func(*Listed)) (specs []*Spec, left store.Account) {
		stored, err := ReadStored(dir)
		if err != nil {
			t.Fatal(err)
		}
		p := Plan{Size: 100, Salt: "salt", Stored: stored, Emit: func(s *Spec) error { specs = append(specs, s); return nil }}
		if err := Directories(root, "", func(l Listed) error { change(&l); return p.Add(l) }); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		disputed = p.Disputed
		return specs, p.Left
	}
	same := func(*Listed) {}
	specs, left := list(same)
	if n := work(t, dir, 1, specs...).Profiles.Out; n != 6 || left.In != 0 {
		t.Fatalf("%d of 6 came into a store that was empty, and %d had been there", n, left.In)
	}
	work2 := int64(2)
	for _, c := range []struct {
		name   string
		change func(*Listed)
		again  int // profiles that are to be read again
	}{
		{"the same", same, 0},
		{"without model", func(l *Listed) { l.Model = "" }, 0},
		{"another release", func(l *Listed) { l.Release = strings.Replace(l.Release, "1.0", "2", 1) }, 3},
		{"another device", func(l *Listed) { l.Identifier = "x" }, 6},
		{"no device", func(l *Listed) { l.Identifier = "" }, 6},
		{"another model", func(l *Listed) { l.Model = "x" }, 6},
		{"another time", func(l *Listed) { l.TimeNS = 1 }, 6},
		{"another duration", func(l *Listed) { l.DurationNS = 1 }, 6},
		{"work", func(l *Listed) { l.WorkUnits = &work2 }, 6},
		{"an ABI", func(l *Listed) { l.ABI = "x" }, 6},
		{"a build", func(l *Listed) { l.OSBuild = "x" }, 6},
		{"no file", func(l *Listed) { l.Path = filepath.Join(root, "none") }, 6},
	} {
		specs, left := list(c.change)
		again := 0
		for _, s := range specs {
			again += len(s.Profiles)
		}
		if again != c.again || left.In != int64(6-c.again) || !left.Balanced() {
			t.Errorf("%s: %d are read again, want %d, and left %+v", c.name, again, c.again, left)
		}
		// Another release may say anything, and what is no file has no bytes.
		if want := int64(c.again); c.name != "another release" && c.name != "no file" && disputed != want || c.again < 6 && disputed != 0 {
			t.Errorf("%s: of %d the list says something else, want %d", c.name, disputed, want)
		}
	}
}

func FuzzManifest(f *testing.F) {
	f.Add("path,release,device\na,1,d\n")
	f.Add(`{"path":"a","release":1}`)
	f.Fuzz(func(t *testing.T, list string) {
		if !utf8.ValidString(list) || strings.ContainsAny(list, "\x00\\") {
			return // such names are other names as JSON
		}
		p := Plan{Size: 3, Emit: func(s *Spec) error {
			data, err := json.Marshal(s)
			if err == nil {
				_, err = Parse(data)
			}
			if err != nil {
				t.Errorf("a spec is not taken: %v", err)
			}
			return nil
		}}
		if err := Manifest(strings.NewReader(list), "/d", p.Add); err == nil {
			_ = p.Close()
		}
	})
}
