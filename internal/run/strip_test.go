package run

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWithoutDirectories tells paths in a text from what only has slashes.
func TestWithoutDirectories(t *testing.T) {
	tests := []struct{ text, want string }{
		{"/home/ann/src/main.c", "main.c"},
		{"render file:///home/ann/app.js:12", "render app.js:12"},
		{"{closure@/home/ann/src/main.rs:3:5}", "{closure@main.rs:3:5}"},
		{`C:\Users\ann\a.exe`, "a.exe"},
		{"size 3 of '/srv/x/b.so' and /lib/c.so", "size 3 of 'b.so' and c.so"},
		{"(Ljava/lang/String;)V", "(Ljava/lang/String;)V"},
		{"github.com/ann/mod/pkg.(*T).Do", "github.com/ann/mod/pkg.(*T).Do"},
		{"Foo$$Lambda/0x01/run", "Foo$$Lambda/0x01/run"},
		{"kworker/0:1", "kworker/0:1"},
		{"operator/(a, b)", "operator/(a, b)"},
		{"[kernel.kallsyms]", "[kernel.kallsyms]"},
	}
	for _, tt := range tests {
		if got := withoutDirectories(tt.text); got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestStrip looks for secrets in all that is left of a run, and that nothing else is gone.
func TestStrip(t *testing.T) {
	r := &Run{
		Recording: Recording{
			Format: "perf.data", CommandLine: "perf record /home/secret/tool --password=secret", Command: "tool secret", Commit: "abc secret", Host: "secret.example",
			Kernel: "6.1-secret", Build: "secret",
		},
		Events:   []Event{{Name: "cycles", Samples: 2, Weight: 2}},
		Mappings: []Mapping{{}, {File: "/home/secret/tool", BuildID: "11"}, {File: "[kernel.kallsyms]", Kind: KernelMapping, Start: 0xffffffff81000000, BuildID: "5ec4e7"}, {File: "/home/secret/v1/lib.so", Parts: 2}},
		Functions: []Function{
			{Name: "main", File: "/home/secret/main.c"},
			{Name: "schedule"},
			{Name: "[kernel.kallsyms+ffffffff81000010]", Unknown: true},
			{Name: "f@0xffffffff81000020", Origin: "0xffffffff81000020"},
		},
		Locations: []Location{
			{Mapping: 1, Address: 0x1000, Lines: []Line{{Function: 0}}},
			{Mapping: 2, Address: 0xffffffff81000000, Lines: []Line{{Function: 1}}},
			{Mapping: 2, Address: 0xffffffff81000010, Lines: []Line{{Function: 2}, {Function: 3}}},
			{Mapping: 3, Address: 0x2000, Lines: []Line{{Function: 0}}},
		},
		Warnings:   []string{"/home/secret/tool: was replaced", "the kernel is at 0xffffffff81000000"},
		Accounting: Accounting{In: 2, Out: 2},
	}
	var said []string
	for _, what := range Privates {
		said = append(said, r.Strip(what))
	}
	want := []string{"paths: directories in 5 names", "commands: 4 of command line, command, commit and host", "kernel: 2 addresses, version and build"}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
	var left bytes.Buffer
	if err := json.NewEncoder(&left).Encode(r); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"secret", "5ec4e7", "ffffffff81", "18446744071578845"} {
		if strings.Contains(left.String(), secret) {
			t.Errorf("%s is left: %s", secret, left.String())
		}
	}
	var files []string
	for _, m := range r.Mappings {
		files = append(files, m.File)
	}
	if diff := cmp.Diff([]string{"", "tool", "[kernel.kallsyms]", "v1/lib.so"}, files); diff != "" {
		t.Error(diff)
	}
	if f := r.Functions; f[0].Name != "main" || f[0].File != "main.c" || f[1].Name != "schedule" || f[2].Name != "[kernel.kallsyms]" || f[3].Name != "f@0x…" {
		t.Errorf("functions %+v", f)
	}
}
