package llvm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// preferred is the order in which versions are looked for: first those this package is
// tested with.
var preferred = [...]int{22, 19, 21, 20, 18, 17, 16, 15, 14}

// places says where tools are looked for if no directory is named.
type places struct {
	lookPath func(name string) (string, error)
	root     string // llvm-N/bin below it is searched
}

// Find looks for llvm-mca and llvm-objdump of one and the same major version: in dir
// (or dir/bin) if it is not "", else, in the order of preferred, as llvm-mca-N in PATH
// and in /usr/lib/llvm-N/bin, and last without a version in PATH.
func Find(ctx context.Context, dir string) (*Toolchain, error) {
	return find(ctx, dir, places{lookPath: exec.LookPath, root: "/usr/lib"})
}

func find(ctx context.Context, dir string, p places) (*Toolchain, error) {
	if dir != "" {
		return findIn(ctx, dir)
	}
	var broken error // the first tools that are there and cannot be used
	try := func(mca, objdump string, major int) *Toolchain {
		t, err := probe(ctx, mca, objdump, major)
		if err != nil && broken == nil {
			broken = err
		}
		return t
	}
	for _, major := range preferred {
		suffix := "-" + strconv.Itoa(major)
		mca, err1 := p.lookPath("llvm-mca" + suffix)
		objdump, err2 := p.lookPath("llvm-objdump" + suffix)
		if err1 == nil && err2 == nil {
			if t := try(mca, objdump, major); t != nil {
				return t, nil
			}
		}
		bin := filepath.Join(p.root, "llvm"+suffix, "bin")
		mca, objdump = filepath.Join(bin, "llvm-mca"), filepath.Join(bin, "llvm-objdump")
		if isFile(mca) && isFile(objdump) {
			if t := try(mca, objdump, major); t != nil {
				return t, nil
			}
		}
	}
	mca, err1 := p.lookPath("llvm-mca")
	objdump, err2 := p.lookPath("llvm-objdump")
	if err1 == nil && err2 == nil {
		if t := try(mca, objdump, 0); t != nil {
			return t, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if broken != nil {
		return nil, broken
	}
	return nil, fmt.Errorf("llvm-mca and llvm-objdump are not installed: install the package %s", debianPackage)
}

const debianPackage = "llvm-19"

// findIn finds the tools of one directory, with or without a version in their names.
func findIn(ctx context.Context, dir string) (*Toolchain, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	var present, absent string
	for _, d := range []string{dir, filepath.Join(dir, "bin")} {
		suffixes := []string{""}
		for _, major := range preferred {
			suffixes = append(suffixes, "-"+strconv.Itoa(major))
		}
		for _, suffix := range suffixes {
			mca, objdump := filepath.Join(d, "llvm-mca"+suffix), filepath.Join(d, "llvm-objdump"+suffix)
			switch {
			case isFile(mca) && isFile(objdump):
				return probe(ctx, mca, objdump, 0)
			case isFile(mca) && present == "":
				present, absent = filepath.Base(mca), filepath.Base(objdump)
			case isFile(objdump) && present == "":
				present, absent = filepath.Base(objdump), filepath.Base(mca)
			}
		}
	}
	if present != "" {
		return nil, fmt.Errorf("%s has %s and no %s: install the package %s", dir, present, absent, debianPackage)
	}
	return nil, fmt.Errorf("%s has no llvm-mca and no llvm-objdump: install the package %s", dir, debianPackage)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// probe asks both tools for their version. A major that is not 0 is the one their
// names claim.
func probe(ctx context.Context, mca, objdump string, major int) (*Toolchain, error) {
	mca, err := filepath.Abs(mca)
	if err != nil {
		return nil, err
	}
	objdump, err = filepath.Abs(objdump)
	if err != nil {
		return nil, err
	}
	v, err := versionOf(ctx, mca)
	if err != nil {
		return nil, err
	}
	o, err := versionOf(ctx, objdump)
	if err != nil {
		return nil, err
	}
	switch {
	case v.major != o.major:
		return nil, fmt.Errorf("%s is of LLVM %s and %s of LLVM %s: both must be of one version", mca, v.text, objdump, o.text)
	case major != 0 && v.major != major:
		return nil, fmt.Errorf("%s is of LLVM %s, not %d", mca, v.text, major)
	case v.major < minMajor || v.major > maxMajor:
		return nil, fmt.Errorf("%s is of LLVM %s: LLVM %d to %d is supported: install the package %s", mca, v.text, minMajor, maxMajor, debianPackage)
	}
	return &Toolchain{Major: v.major, Version: v.text, MCA: mca, Objdump: objdump}, nil
}

// version is what a tool says of itself.
type version struct {
	major int
	text  string
}

var versionLine = regexp.MustCompile(`(?m)\bLLVM version ((\d{1,4})\.\d+(?:\.\d+)?\S*)`)

// versionOf runs a tool with --version.
func versionOf(ctx context.Context, path string) (version, error) {
	out, err := run(ctx, process{
		path:    path,
		args:    []string{"--version"},
		stdout:  64 << 10,
		timeout: 20 * time.Second,
	})
	if err != nil {
		return version{}, err
	}
	return parseVersion(path, string(out.stdout))
}

func parseVersion(path, text string) (version, error) {
	m := versionLine.FindStringSubmatch(text)
	if m == nil {
		return version{}, fmt.Errorf("%s --version prints no version of LLVM", path)
	}
	major, err := strconv.Atoi(m[2])
	if err != nil {
		return version{}, fmt.Errorf("%s --version: %w", path, err)
	}
	return version{major: major, text: m[1]}, nil
}
