package internal

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// linked are the libraries in the program, without what is below them. Each costs whoever builds or
// downloads it: before a line is added here, look at what the library and all that it imports add to
// the program (.ci/size).
var linked = []string{
	"github.com/goccy/go-yaml",
	"github.com/google/pprof/profile",
	"github.com/ianlancetaylor/demangle",
	"github.com/klauspost/compress",
	"github.com/rivo/uniseg",
	"github.com/spf13/cobra",
	"github.com/spf13/pflag",
	"github.com/ulikunitz/xz",
	"golang.org/x/arch/arm64/arm64asm",
	"golang.org/x/arch/x86/x86asm",
	"golang.org/x/sys",
	"golang.org/x/term",
	// Not its distributions, which bring in matrices: see stats/student.go.
	"gonum.org/v1/gonum/mathext",
	"google.golang.org/protobuf/encoding/protowire",
	"google.golang.org/protobuf/internal",
}

// unlinked are packages of the standard library that have no place in the program. The first two call
// methods by name, after which the linker keeps all methods of all types: see report/html/template.go.
var unlinked = []string{"html/template", "encoding/gob", "net/http/pprof", "expvar", "testing", "go/types"}

// TestLinked fails where a library comes into the program unnoticed, below another one.
func TestLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../cmd/profdiff").Output()
	if err != nil {
		t.Fatal(err)
	}
	used := make(map[string]bool)
	for pkg := range strings.Lines(string(out)) {
		pkg = strings.TrimSuffix(pkg, "\n")
		if slices.Contains(unlinked, pkg) {
			t.Errorf("%s is in the program", pkg)
		}
		first, _, _ := strings.Cut(pkg, "/")
		if first == "profdiff" || first == "vendor" || !strings.Contains(first, ".") {
			continue
		}
		i := slices.IndexFunc(linked, func(lib string) bool { return pkg == lib || strings.HasPrefix(pkg, lib+"/") })
		if i < 0 {
			t.Errorf("%s is in the program: add its library to the list if it is worth its size", pkg)
			continue
		}
		used[linked[i]] = true
	}
	for _, lib := range linked {
		if !used[lib] {
			t.Errorf("%s is not in the program: remove its line", lib)
		}
	}
}
