package core

import (
	"embed"
	"encoding/json"
	"io/fs"
	"sync"

	"profdiff/internal/asm"
	"profdiff/internal/llvm"
)

// files are the stored cores: what was measured on CPUs, with its source.
//
//go:embed cores/*.json
var files embed.FS

// stored are the cores by LLVM's name. They are files of this package: an error in one
// is a bug that the tests find.
var stored = sync.OnceValue(func() map[string]*Core {
	names, err := fs.Glob(files, "cores/*.json")
	if err != nil {
		panic(err)
	}
	all := make(map[string]*Core)
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err)
		}
		c := new(Core)
		if err := json.Unmarshal(text, c); err != nil {
			panic(name + ": " + err.Error())
		}
		if len(c.Probes) > 0 {
			c, err = FromProbes(asm.X8664, c.Name, llvm.Model{}, c.Probes, c)
		} else {
			err = c.prepare()
		}
		if err != nil {
			panic(name + ": " + err.Error())
		}
		all[c.Name] = c
	}
	return all
})

// Of returns the stored core of a CPU by LLVM's name, nil if none was measured.
func Of(name string) *Core { return stored()[name] }

// Tried reports whether kernels were measured on a CPU, or on one with the same core, so that it is known
// how well probes tell what such a core does.
func Tried(name string) bool { return Of(name) != nil || name == "sapphirerapids" }
