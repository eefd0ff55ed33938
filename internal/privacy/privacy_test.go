package privacy

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
)

func TestNames(t *testing.T) {
	def := Rule{Project: "/home/me/project"}
	private := def
	private.Private = true
	for _, test := range []struct{ in, want, private string }{
		{"before/01.data", "before/01.data", "01.data"},
		{"runs/before/01.data", "before/01.data", "01.data"},
		{"01.data", "01.data", "01.data"},
		{"/01.data", "01.data", "01.data"},
		{"/home/me/project/runs/x/01.data", "x/01.data", "01.data"},
		{"/home/me/01.data", "01.data", "01.data"},
		{"/srv/customer/01.data", "01.data", "01.data"},
		// What tells the side tells nothing else.
		{"/srv/customer/before/01.data", "before/01.data", "01.data"},
		{"../customer/after/01.data", "after/01.data", "01.data"},
		{"../customer/01.data", "01.data", "01.data"},
		{"/builds/3f2a9c1d/perf.data", "3f2a9c1d/perf.data", "perf.data"},
		{`C:\Users\me\01.data`, "01.data", "01.data"},
	} {
		if got := def.Name(test.in); got != test.want {
			t.Errorf("%s is %q, want %q", test.in, got, test.want)
		}
		if got := private.Name(test.in); got != test.private {
			t.Errorf("%s is %q in private, want %q", test.in, got, test.private)
		}
	}
	full := Rule{Paths: true}
	if got := full.Name("/srv/x/01.data"); got != "/srv/x/01.data" {
		t.Errorf("with paths it is %q", got)
	}
}

// TestWrite has files of many kinds named in JSON.
func TestWrite(t *testing.T) {
	rule := &Rule{Project: "/home/alice/acme"}
	in := map[string]string{
		"input":    "/tmp/alice/before/01.data",
		"project":  "/home/alice/acme/bench/02.data",
		"function": "LazyCompile:*f /home/alice/acme/lib/a.js:10",
		"relative": "runs/before/01.data",
		"none":     "a/b is 1/2 of \"x\"",
	}
	want := map[string]string{
		"input": "before/01.data", "project": "bench/02.data", "function": "LazyCompile:*f …/a.js:10",
		"relative": "runs/before/01.data", "none": "a/b is 1/2 of \"x\"",
	}
	write := func(w io.Writer) error {
		text, err := json.MarshalIndent(in, "", " ")
		if err != nil {
			return err
		}
		for i := range text { // in the smallest pieces that there are
			if _, err := w.Write(text[i : i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	var out bytes.Buffer
	if err := rule.Write(&out, []string{in["input"], in["project"]}, write); err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s: %q, want %q", name, got[name], w)
		}
	}
	var all bytes.Buffer
	if err := (&Rule{Paths: true}).Write(&all, nil, write); err != nil || !bytes.Contains(all.Bytes(), []byte("/home/alice/acme/lib")) {
		t.Errorf("%v: paths that may be told are not: %s", err, all.String())
	}
}
