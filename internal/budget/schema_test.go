package budget

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// fileSchema infers the schema of budget files from the Go types that the reader fills in.
func fileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	pattern := func(p string) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Pattern: p} }
	number := func() *jsonschema.Schema {
		zero := 0.0
		return &jsonschema.Schema{Type: "number", ExclusiveMinimum: &zero}
	}
	word := func(list []string) *jsonschema.Schema {
		s := &jsonschema.Schema{Type: "string"}
		for _, w := range list {
			s.Enum = append(s.Enum, w)
		}
		return s
	}
	one := 1.0
	fraction := number()
	fraction.ExclusiveMaximum = &one
	amount := `^[0-9][0-9_,]*(\.[0-9]+)?([eE][+-]?[0-9]+)? *(%|[a-zA-Zµ]+(/[a-z]+)?)?$`
	relative := `^ *[+-] *[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)? *%$`
	s, err := jsonschema.For[File](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[Relative]():       pattern(relative),
		reflect.TypeFor[Share]():          pattern(`^ *[0-9]*\.?[0-9]+ *%$`),
		reflect.TypeFor[Fraction]():       fraction,
		reflect.TypeFor[Amount]():         {AnyOf: []*jsonschema.Schema{number(), pattern(amount)}},
		reflect.TypeFor[Ceiling]():        {AnyOf: []*jsonschema.Schema{number(), pattern(amount), pattern(relative)}},
		reflect.TypeFor[Date]():           pattern(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`),
		reflect.TypeFor[Normalize]():      pattern(`^(work:.+|reference|instructions|total|none|auto)$`),
		reflect.TypeFor[RatePair]():       pattern(`^.*[^ ] / [^ ].*$`),
		reflect.TypeFor[TestName]():       word(TestName("").words()),
		reflect.TypeFor[OnUnproven]():     word(OnUnproven("").words()),
		reflect.TypeFor[OnMissing]():      word(OnMissing("").words()),
		reflect.TypeFor[OrderName]():      word(OrderName("").words()),
		reflect.TypeFor[ThrottlingName](): word(ThrottlingName("").words()),
		reflect.TypeFor[Metric]():         word(Metric("").words()),
		reflect.TypeFor[Better]():         word(Better("").words()),
		reflect.TypeFor[BranchOf]():       word(BranchOf("").words()),
		reflect.TypeFor[Of]():             word(Of("").words()),
		reflect.TypeFor[Level]():          word(Level("").words()),
		reflect.TypeFor[Fact]():           word(Fact("").words()),
	}})
	if err != nil {
		t.Fatal(err)
	}
	notNull(s)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "performance budget of profdiff"
	least := 1
	s.Properties["budgets"].MinItems = &least
	return s
}

// notNull takes null out: a key without a value is an error.
func notNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if slices.Contains(s.Types, "null") {
		// Schemas of one type share the list.
		s.Types = slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" || t == "" })
		if len(s.Types) <= 1 {
			s.Type, s.Types = strings.Join(s.Types, ""), nil
		}
	}
	for _, p := range s.Properties {
		notNull(p)
	}
	notNull(s.Items)
	for _, sub := range s.AnyOf {
		notNull(sub)
	}
}

// TestSchema checks that the published schema is what follows from the types, and that it
// and the reader agree on what is valid.
func TestSchema(t *testing.T) {
	s := fileSchema(t)
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile("budget.schema.json", text, 0o666); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(Schema()), string(text)); diff != "" {
		t.Errorf("budget.schema.json differs, -update rewrites it: %s", diff)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	accepts := func(data []byte) error {
		var v any
		if err := yaml.Unmarshal(data, &v); err != nil {
			return err
		}
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		v = nil
		if err := json.Unmarshal(text, &v); err != nil {
			return err
		}
		return resolved.Validate(v)
	}
	files, err := filepath.Glob("testdata/valid/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no valid files: %v", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(name, data); err != nil {
			t.Error(err)
		}
		if err := accepts(data); err != nil {
			t.Errorf("%s: schema: %v", name, err)
		}
	}
	const valid = "version: 1\nbudgets:\n  - id: a\n    match: {function: f}\n    limit: {fail: +5%}\n"
	if err := accepts([]byte(valid)); err != nil {
		t.Error(err)
	}
	for _, data := range []string{
		valid + "more: 1\n",
		"version: 1\nbudgets: []\n",
		"version: 1\n",
		"version: 1\nbudgets:\n  - id: a\n    limit: {fail: 5%}\n",
		"version: 1\nbudgets:\n  - id: a\n    limit: {fail: 0.05}\n",
		"version: 1\nbudgets:\n  - id: a\n    limit: {fail: }\n",
		"version: 1\nbudgets:\n  - id: a\n    max: {fail: +5%}\n",
		"version: 1\nbudgets:\n  - id: a\n    metric: most\n    limit: {fail: +5%}\n",
		"version: 1\nbudgets:\n  - match: {function: f}\n    limit: {fail: +5%}\n",
		valid + "waivers: [{budget: a, ceiling: +9%, until: tomorrow, reason: x}]\n",
		valid + "waivers: [{budget: a, ceiling: +9%, until: 2026-01-01}]\n",
	} {
		if _, err := Parse("test.yaml", []byte(data)); err == nil {
			t.Errorf("the reader accepts %q", data)
		}
		if accepts([]byte(data)) == nil {
			t.Errorf("the schema accepts %q", data)
		}
	}
}
