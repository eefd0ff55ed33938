package callgrind

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzCallgrind checks what holds of every file, and that a file written from the
// records has the same records.
func FuzzCallgrind(f *testing.F) {
	f.Add([]byte("# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 1\ncmd: p\npart: 1\n\ndesc: I1 cache: \n\npositions: instr line\nevents: Ir Bc\nsummary: 10 2\n\nob=(1) o\nfl=(1) f\nfn=(1) g\n0x10 5 1 1\njcnd=3/8 +4 *\n* *\ncob=(2) p\ncfi=(2) h.c\ncfn=(2) h'2\ncalls=2 0x20 7\n* * 4 1\nfi=(2)\n+4 -1 5\n\ntotals: 6 1\npart: 2\nevents: Ir\nfn=(3) (1)'2\n+1 2\njump=1 2\n"))
	f.Add([]byte("events: Ir\nfl=f\nfn=g\n1 0x10\n"))
	f.Fuzz(checkFile)
}

// FuzzCachegrind puts lines below a header of cachegrind.
func FuzzCachegrind(f *testing.F) {
	f.Add([]byte("fl=./csu/libc-start.c\nfn=main\n128 2 1\n0 3111 25\nsummary: 3113 26\n"))
	f.Add([]byte("fl=a\nfn=b\n0 -1 2\nfl=c\nfn=d\n4 5\nsummary: 4 2\ndesc: x\ncmd: q\nevents: Ir\nfn=e\n1 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFile(t, append([]byte("desc: I1 cache: 1 B\ncmd: p\nevents: Ir Dr\n"), data...))
	})
}

// checkFile checks a file that may be anything.
func checkFile(t *testing.T, data []byte) {
	text, file, err := dumpText(data)
	if (err == nil) != (file != nil) {
		t.Fatalf("got file %v and error %v", file, err)
	}
	if err != nil {
		if strings.ContainsAny(err.Error(), "\r\n") || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("error %q is not one line that begins with its number", err)
		}
		return
	}
	sums := make(map[*Part][]int64)
	var encoded encoder
	file, err = Read(bytes.NewReader(data), Visitor{
		Cost: func(c *Cost) error {
			if len(c.Costs) != len(c.Part.Events) {
				t.Fatalf("%d costs of %d events", len(c.Costs), len(c.Part.Events))
			}
			if sums[c.Part] == nil {
				sums[c.Part] = make([]int64, len(c.Costs))
			}
			for i, v := range c.Costs {
				sums[c.Part][i] += v
			}
			encoded.cost(c)
			return nil
		},
		Call: func(c *Call) error { encoded.call(c); return nil },
		Jump: func(j *Jump) error { encoded.jump(j); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Parts) == 0 || file.Parts[0].Events == nil {
		t.Fatal("has no events")
	}
	for _, part := range file.Parts {
		if sum := sums[part]; sum != nil && !slices.Equal(sum, part.Sum) {
			t.Errorf("sum of a part is %v, its costs sum to %v", part.Sum, sum)
		}
	}
	if encoded.unfit || encoded.b.Len() == 0 {
		return
	}
	again, _, err := dumpText(encoded.b.Bytes())
	if err != nil {
		t.Fatalf("written again: %v\n%s", err, encoded.b.Bytes())
	}
	if want, got := records(text), records(again); !slices.Equal(want, got) {
		t.Errorf("written again it differs (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// records are the lines of a dump that are not about parts.
func records(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "part ") {
			list = append(list, line)
		}
	}
	return list
}

// An encoder writes records in the longest form. Some names can only be written with a
// number.
type encoder struct {
	b     bytes.Buffer
	part  *Part
	unfit bool
}

func (e *encoder) name(key, name string) {
	if strings.HasPrefix(name, "(") || strings.Trim(name, " \t\r") != name || strings.Contains(name, "\n") {
		e.unfit = true
	}
	fmt.Fprintf(&e.b, "%s=%s\n", key, name)
}

func (e *encoder) place(part *Part, p *Place) {
	if part != e.part {
		e.part = part
		fmt.Fprintf(&e.b, "part: 1\npositions: instr bb line\nevents: %s\n", strings.Join(part.Events, " "))
	}
	e.name("ob", p.Function.Object)
	e.name("fl", p.Function.File)
	e.name("fn", p.Function.Name)
	e.name("fi", p.File)
}

func (e *encoder) position(p *Place) string {
	return fmt.Sprintf("%#x %#x %d", p.Address, p.Block, p.Line)
}

func (e *encoder) costs(p *Place, costs []int64) {
	fmt.Fprintf(&e.b, "%s %s\n", e.position(p), strings.Trim(fmt.Sprint(costs), "[]"))
}

func (e *encoder) cost(c *Cost) {
	e.place(c.Part, &c.Place)
	e.costs(&c.Place, c.Costs)
}

func (e *encoder) call(c *Call) {
	e.place(c.Part, &c.Caller)
	e.name("cob", c.Callee.Function.Object)
	e.name("cfi", c.Callee.Function.File)
	e.name("cfn", c.Callee.Function.Name)
	fmt.Fprintf(&e.b, "calls=%d %s\n", c.Count, e.position(&c.Callee))
	e.costs(&c.Caller, c.Costs)
}

func (e *encoder) jump(j *Jump) {
	e.place(j.Part, &j.From)
	e.name("jfi", j.To.File)
	if j.To.Function != j.From.Function {
		e.name("jfn", j.To.Function.Name)
	}
	if j.Conditional {
		fmt.Fprintf(&e.b, "jcnd=%d/%d %s\n%s\n", j.Taken, j.Executed, e.position(&j.To), e.position(&j.From))
		return
	}
	fmt.Fprintf(&e.b, "jump=%d %s\n%s\n", j.Taken, e.position(&j.To), e.position(&j.From))
}
