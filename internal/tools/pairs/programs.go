package main

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// testdata has the programs that use the libraries, the same for both versions.
//
//go:embed testdata
var testdata embed.FS

// sides is something of the version before, and of that after.
type sides[T any] [2][]T

// A pair is one program with two versions of what it is made of.
type pair struct {
	name, title string
	versions    [2]version
	args        []string
	// build makes the program of one version in the folder dir, of the sources in src.
	make func(p *pair, v *version, src, dir string) error
}

// A version says where the sources are from: a crate or a Go module.
type version struct {
	crate, version string // of crates.io
	folder         string // of the crate, where the sources are
	module         string // of Go, with its version
	environment    string // for go build
}

var pairs = []pair{
	{
		name: "lua", title: "Lua 5.3.6 → 5.4.6", args: []string{"lua.lua"}, make: buildC,
		versions: [2]version{
			{crate: "lua-src", version: "546.0.2", folder: "lua-5.3.6"},
			{crate: "lua-src", version: "546.0.2", folder: "lua-5.4.6"},
		},
	},
	{
		name: "sqlite", title: "SQLite 3.33 → 3.46", make: buildC,
		versions: [2]version{
			{crate: "libsqlite3-sys", version: "0.20.1", folder: "sqlite3"},
			{crate: "libsqlite3-sys", version: "0.30.1", folder: "sqlite3"},
		},
	},
	{
		name: "json", title: "Go's encoding/json v1 → v2", make: buildGo,
		versions: [2]version{{}, {environment: "GOEXPERIMENT=jsonv2"}},
	},
	{
		name: "zstd", title: "Zstandard 1.4.9 → 1.5.6", args: []string{"sqlite3.c"}, make: buildC,
		versions: [2]version{
			{crate: "zstd-sys", version: "1.4.20+zstd.1.4.9", folder: "zstd/lib"},
			{crate: "zstd-sys", version: "2.0.13+zstd.1.5.6", folder: "zstd/lib"},
		},
	},
	{
		name: "lz4", title: "LZ4 1.9.2 → 1.10.0", args: []string{"sqlite3.c"}, make: buildC,
		versions: [2]version{
			{crate: "lz4-sys", version: "1.9.2", folder: "liblz4/lib"},
			{crate: "lz4-sys", version: "1.11.1+lz4-1.10.0", folder: "liblz4/lib"},
		},
	},
	{
		name: "goldmark", title: "goldmark 1.4.0 → 1.7.8", args: []string{"text.md"}, make: buildGo,
		versions: [2]version{
			{module: "github.com/yuin/goldmark@v1.4.0"},
			{module: "github.com/yuin/goldmark@v1.7.8"},
		},
	},
}

// sources of the programs in C, by the name of the pair: patterns of files and what else gcc needs.
var sources = map[string][]string{
	"lua":    {"*.c", "-DLUA_COMPAT_5_3", "-DLUA_USE_POSIX", "-lm"},
	"sqlite": {"sqlite3.c", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", "-lm"},
	"zstd":   {"common/*.c", "compress/*.c", "decompress/*.c", "-DZSTD_DISABLE_ASM"},
	"lz4":    {"lz4.c", "lz4hc.c"},
}

// build makes both versions below dir, if they are not there, and returns their commands.
func (p *pair) build(dir string) (commands [2][]string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return commands, err
	}
	var args []string
	for _, name := range p.args {
		file, err := p.argument(dir, name)
		if err != nil {
			return commands, err
		}
		args = append(args, file)
	}
	for i, side := range []string{"old", "new"} {
		out := filepath.Join(dir, side)
		commands[i] = append([]string{filepath.Join(out, p.name)}, args...)
		if _, err := os.Stat(commands[i][0]); err == nil {
			continue
		}
		if err := os.MkdirAll(out, 0o755); err != nil {
			return commands, err
		}
		v := &p.versions[i]
		src := ""
		if v.crate != "" {
			if src, err = v.fetch(filepath.Join(out, "fetch")); err != nil {
				return commands, err
			}
		}
		if err := p.make(p, v, src, out); err != nil {
			return commands, err
		}
	}
	return commands, nil
}

// argument is a file that the program reads: of testdata, or text that is the same for both.
func (p *pair) argument(dir, name string) (string, error) {
	file := filepath.Join(dir, name)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	var data []byte
	var err error
	switch name {
	case "sqlite3.c":
		v := version{crate: "libsqlite3-sys", version: "0.30.1", folder: "sqlite3"}
		var src string
		if src, err = v.fetch(filepath.Join(dir, "fetch")); err == nil {
			data, err = os.ReadFile(filepath.Join(src, name))
		}
	case "text.md":
		// A long document that comes with the module itself.
		var src string
		if src, err = moduleDir("github.com/yuin/goldmark@v1.7.8"); err == nil {
			data, err = os.ReadFile(filepath.Join(src, "_benchmark", "cmark", "_data.md"))
		}
	default:
		data, err = testdata.ReadFile("testdata/" + name)
	}
	if err != nil {
		return "", err
	}
	return file, os.WriteFile(file, data, 0o644)
}

// fetch has cargo fetch a crate, and returns the folder of the sources.
func (v *version) fetch(dir string) (string, error) {
	if err := os.MkdirAll(filepath.Join(dir, "src"), 0o755); err != nil {
		return "", err
	}
	number, _, _ := strings.Cut(v.version, "+") // what follows is no part of the version asked for
	manifest := fmt.Sprintf("[package]\nname = \"fetch\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n%s = \"=%s\"\n", v.crate, number)
	for name, text := range map[string]string{"Cargo.toml": manifest, "src/main.rs": "fn main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	if err := run(dir, "", "cargo", "fetch", "--quiet"); err != nil {
		return "", err
	}
	home := os.Getenv("CARGO_HOME")
	if home == "" {
		home = filepath.Join(os.Getenv("HOME"), ".cargo")
	}
	found, err := filepath.Glob(filepath.Join(home, "registry/src/*", v.crate+"-"+v.version, v.folder))
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("cargo fetched no %s of %s %s", v.folder, v.crate, v.version)
	}
	return found[0], nil
}

func buildC(p *pair, _ *version, src, dir string) error {
	driver := filepath.Join(dir, p.name+".c")
	text, err := testdata.ReadFile("testdata/" + p.name + ".c")
	if err != nil {
		return err
	}
	if err := os.WriteFile(driver, text, 0o644); err != nil {
		return err
	}
	args := []string{"-O2", "-static", "-fno-omit-frame-pointer", "-I" + src, "-o", filepath.Join(dir, p.name), driver}
	for _, a := range sources[p.name] {
		if strings.HasPrefix(a, "-") {
			args = append(args, a)
			continue
		}
		files, err := filepath.Glob(filepath.Join(src, a))
		if err != nil {
			return err
		}
		for _, f := range files {
			if base := filepath.Base(f); base != "lua.c" && base != "luac.c" { // programs of their own
				args = append(args, f)
			}
		}
	}
	return run(dir, "", "gcc", args...)
}

func buildGo(p *pair, v *version, _, dir string) error {
	text, err := testdata.ReadFile("testdata/" + p.name + "/main.go")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), text, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+p.name+"\n\ngo 1.26\n"), 0o644); err != nil {
		return err
	}
	if v.module != "" {
		if err := run(dir, "", "go", "get", v.module); err != nil {
			return err
		}
	}
	return run(dir, v.environment, "go", "build", "-ldflags=-w", "-o", p.name, ".")
}

func moduleDir(module string) (string, error) {
	if err := run("/", "", "go", "mod", "download", module); err != nil {
		return "", err
	}
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	return filepath.Join(strings.TrimSpace(string(out)), module), err
}

// run runs a program in a folder; what it printed is part of the error.
func run(dir, environment, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = os.Environ()
	if environment != "" {
		cmd.Env = append(cmd.Env, environment)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}
