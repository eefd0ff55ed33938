package yaml

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	word := func(line, column int, text string) *Node {
		return &Node{Kind: Word, Position: Position{line, column}, Text: text}
	}
	entry := func(line, column int, key string, value *Node) *Entry {
		return &Entry{Key: key, Position: Position{line, column}, Value: value}
	}
	for _, test := range []struct {
		name, file string
		want       *Node
	}{
		{"nothing", "", nil},
		{"a comment", "# nothing\n", nil},
		{"an empty document", "---\n", nil},
		{"a word", "--- word # of it\n", word(1, 5, "word")},
		{"a number", "+1.50", word(1, 1, "+1.50")},
		{"words", "[0x1p900, .nan, \"a\\tb\", 'it''s', 2026-01-02]", &Node{Kind: List, Position: Position{1, 1}, List: []*Node{
			word(1, 2, "0x1p900"), word(1, 11, ".nan"), word(1, 17, "a\tb"), word(1, 25, "it's"), word(1, 34, "2026-01-02"),
		}}},
		{"truth", "- true\n- 'true'\n- yes\n", &Node{Kind: List, Position: Position{1, 1}, List: []*Node{
			{Kind: Bool, Position: Position{1, 3}, Text: "true"}, word(2, 3, "true"), word(3, 3, "yes"),
		}}},
		{"keys twice", "a: x\na: y\n", &Node{Kind: Mapping, Position: Position{1, 1}, Entries: []*Entry{
			entry(1, 1, "a", word(1, 4, "x")), entry(2, 1, "a", word(2, 4, "y")),
		}}},
		{"nulls", "a:\nb: ~\nc: null\n", &Node{Kind: Mapping, Position: Position{1, 1}, Entries: []*Entry{
			entry(1, 1, "a", &Node{Position: Position{1, 3}}), entry(2, 1, "b", &Node{Position: Position{2, 4}}), entry(3, 1, "c", &Node{Position: Position{3, 4}}),
		}}},
		{"a key after a question mark", "? a\n: b\n", &Node{Kind: Mapping, Position: Position{1, 1}, Entries: []*Entry{
			entry(1, 3, "a", word(2, 3, "b")),
		}}},
		{"a text of lines", "a: |\n  x\n  y\n", &Node{Kind: Mapping, Position: Position{1, 1}, Entries: []*Entry{
			entry(1, 1, "a", word(1, 4, "x\ny")),
		}}},
		{"lists in mappings", "a:\r\n  - é: {ü: [x]} # y\r\n", &Node{Kind: Mapping, Position: Position{1, 1}, Entries: []*Entry{
			entry(1, 1, "a", &Node{Kind: List, Position: Position{2, 3}, List: []*Node{{Kind: Mapping, Position: Position{2, 5}, Entries: []*Entry{
				entry(2, 5, "é", &Node{Kind: Mapping, Position: Position{2, 8}, Entries: []*Entry{
					entry(2, 9, "ü", &Node{Kind: List, Position: Position{2, 12}, List: []*Node{word(2, 13, "x")}}),
				}}),
			}}}}),
		}}},
	} {
		got, err := Parse([]byte(test.file))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, d)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{"a: {b: c\n", "f:1:4: is no YAML: could not find flow mapping end token '}'"},
		{"a: *b\n", "f:1:4: a: anchors and aliases are not read: write it out"},
		{"a: [x, &b y]\n", "f:1:8: a[1]: anchors and aliases are not read: write it out"},
		{"a:\n  <<: {b: c}\n", "f:2:3: a: anchors and aliases are not read: write it out"},
		{"a: !!str b\n", "f:1:4: a: tags are not read"},
		{"? [a]\n: b\n", "f:2:1: is no YAML: found an invalid key for this map"},
		{"a: b\n---\nc: d\n", "f:3:1: a second document starts here: one file has one"},
		{"a:\n\tb: c\n", "f:2:1: a tab cannot indent: use spaces"},
		{"é: \xff\n", "f:1:4: byte 0xff is not UTF-8: convert the file"},
		{"a: \x01\n", "f:1:4: control character 0x1"},
		{strings.Repeat("[", 600), "f:1:513: nested too deeply"},
		{strings.Repeat("[", 65) + strings.Repeat("]", 65), "f:1:65: nested too deeply"},
		{strings.Repeat("- ", 200) + "a", "f:1:129: nested too deeply"},
		{strings.Repeat(" ", 1100) + "a", "f:1:1026: nested too deeply"},
		{"a: " + strings.Repeat("x", maxLine), "f:1:1: the line has more than 16384 bytes"},
		{strings.Repeat("\n", maxLines), "f:20001:1: the file has more than 20000 lines"},
		{"\n" + strings.Repeat("x", MaxSize), "f:2:1: the file has 1048577 bytes or more, of at most 1048576"},
	} {
		n, err := Parse([]byte(test.file))
		if n != nil || err == nil || Name("f", err).Error() != test.want {
			t.Errorf("%.40q: %v, %v, want %s", test.file, n, err, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a: b", "- a\n- {b: c, d: [e, ~, 'f']}\n", "a: |\n  b\nc: >-\n  d\n", "? a\n: b\n", "<<: *a\n", "--- &a !!x b\n--- c", "a: \"\\u00e9\\\n b\"", "%YAML 1.2\n---\n...",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := Parse(data)
		if err != nil {
			if text := Name("f", err).Error(); n != nil || !strings.HasPrefix(text, "f:") || strings.Contains(text, "\n") {
				t.Fatalf("%v, error %q", n, text)
			}
			return
		}
		var check func(n *Node, depth int)
		check = func(n *Node, depth int) {
			if depth > maxDepth || n.Kind != Mapping && n.Entries != nil || n.Kind != List && n.List != nil || !n.IsText() && n.Text != "" {
				t.Fatalf("depth %d: %+v", depth, n)
			}
			for _, e := range n.Entries {
				check(e.Value, depth+1)
			}
			for _, v := range n.List {
				check(v, depth+1)
			}
		}
		if n != nil {
			check(n, 1)
		}
	})
}
