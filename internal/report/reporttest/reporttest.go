// Package reporttest compares what reports write with expected files and schemas.
package reporttest

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"profdiff/internal/report/text"
)

var update = flag.Bool("update", false, "rewrite expected outputs")

// long matches numbers with so many digits that the last depend on how the compiler rounds:
// some CPUs multiply and add in one step (GOAMD64=v3, arm64).
var long = regexp.MustCompile(`-?[0-9]+\.[0-9]{11,}(e[-+][0-9]+)?`)

// rounded rounds long numbers to 12 digits.
func rounded(t *testing.T, text []byte) string {
	t.Helper()
	return long.ReplaceAllStringFunc(string(text), func(number string) string {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatal(err)
		}
		return strconv.FormatFloat(v, 'g', 12, 64)
	})
}

// Golden compares got with a file, or rewrites the file with -update. Numbers are compared
// with 12 digits.
func Golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rounded(t, want), rounded(t, got)); diff != "" {
		t.Errorf("%s differs, -update rewrites it: %s", file, diff)
	}
}

// Schema infers the schema of a document from its Go type and checks that the
// published one is the same.
func Schema[T any](t *testing.T, file string) *jsonschema.Resolved {
	t.Helper()
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[text.Number]():   {Types: []string{"null", "number"}},
		reflect.TypeFor[text.Interval](): {Types: []string{"null", "array"}, Items: &jsonschema.Schema{Types: []string{"null", "number"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	Golden(t, file, append(text, '\n'))
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// Validate checks a document against a schema.
func Validate(t *testing.T, s *jsonschema.Resolved, document []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Error(err)
	}
}

// BaseRun is a small recording as runtest builds it.
const BaseRun = `
cpu-cycles main app!main;app!work;libc!memcpy 100 300
cpu-cycles pool-1 app!main;app!work 50
branch-misses main app!main;libc![libc.so] 1 1
`

// HeadRun is the other side of BaseRun.
const HeadRun = `
cpu-cycles main app!main;app!work;libc!memcpy 200
cpu-cycles pool-2 app!main;app!fresh 70
branch-misses main app!main 1
`

// Written is what write writes: UTF-8 without control characters.
func Written(t *testing.T, write func(w io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(b.Bytes()) {
		t.Error("output is not UTF-8")
	}
	for _, r := range b.String() {
		if r < ' ' && r != '\n' || r == 0x7f {
			t.Fatalf("output has the control character %#x", r)
		}
	}
	return b.Bytes()
}
