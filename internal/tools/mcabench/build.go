package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// compilers of the listings, by the compiler of the case and the machine. GNU as, which
// checks what gcc has made, reads what Clang has made too.
var compilers = map[string]map[string][]string{
	"gcc":   {"x86-64": {"gcc"}, "aarch64": {"aarch64-linux-gnu-gcc"}},
	"clang": {"x86-64": {"clang", "--target=x86_64-linux-gnu"}, "aarch64": {"clang", "--target=aarch64-linux-gnu"}},
}

// compilerFlags are the flags that only one compiler has or needs. Clang would unroll
// loops, so that an iteration was more than a unit.
var compilerFlags = map[string][]string{
	"gcc":   {"-fno-tree-loop-distribute-patterns"},
	"clang": {"-fno-unroll-loops", "-fno-slp-vectorize", "-fno-builtin", "-fno-addrsig", "-fno-verbose-asm"},
}

// flags are what the listings are compiled with: without vectors, as most code with
// branches stays; for the oldest machine of each kind; functions at the start of a cache
// line.
var flags = map[string][]string{
	"x86-64":  append([]string{"-march=x86-64"}, commonFlags...),
	"aarch64": append([]string{"-march=armv8-a"}, commonFlags...),
}

var commonFlags = []string{
	"-std=gnu11", "-ffreestanding", "-Wall", "-Wextra", "-Werror", "-O2", "-fno-tree-vectorize",
	"-falign-functions=64", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
	"-fno-stack-protector", "-fcf-protection=none",
}

// output runs a program and returns its standard output.
func output(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return out, nil
}

// compile returns the listing of one side.
func compile(ctx context.Context, c *Case, side, arch string) ([]byte, error) {
	compiler := compilers[c.Compiler][arch]
	if compiler == nil {
		return nil, fmt.Errorf("%s: compiler %q for %s", c.Name, c.Compiler, arch)
	}
	args := append(slices.Clone(compiler[1:]), compilerFlags[c.Compiler]...)
	for _, f := range flags[arch] {
		if arch != "x86-64" && strings.HasPrefix(f, "-fcf-") {
			continue // known to x86 only
		}
		args = append(args, f)
	}
	out, err := output(ctx, compiler[0], append(args, "-S", "-o", "-", c.source(side))...)
	if err != nil {
		return nil, err
	}
	return canonical(out), nil
}

// assemble writes the listings of a case.
func assemble(ctx context.Context, c *Case) error {
	for _, side := range Sides {
		for _, arch := range Arches {
			text, err := compile(ctx, c, side, arch)
			if err != nil {
				return err
			}
			if err := os.WriteFile(c.listing(side, arch), text, 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}

// layouts is how many programs there are of a case that differ in their addresses only.
const layouts = 8

// build makes the program of a case in the folder dir: the driver, the data and the
// listings of both sides as they are kept, whatever today's compiler would make of
// their sources. The program has line numbers of the listings. The layout, from 0, moves
// the functions and the data to other addresses.
func build(ctx context.Context, c *Case, dir string, layout int) (string, error) {
	program, driver := filepath.Join(dir, fmt.Sprint(c.Name, ".", layout)), filepath.Join(dir, "driver.o")
	programFlags := []string{"-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", "-fno-pie"}
	if _, err := os.Stat(driver); err != nil { // else it was built for the case before
		source := filepath.Join(filepath.Dir(c.Dir), "driver.c")
		if _, err := output(ctx, "gcc", append(programFlags, "-c", "-o", driver, source)...); err != nil {
			return "", err
		}
	}
	// By steps of functions and data that are aligned to cache lines, and not by a power
	// of two.
	padding := filepath.Join(dir, fmt.Sprint("padding.", layout, ".s"))
	text := fmt.Sprintf(".text\n.skip %d\n.bss\n.skip %d\n.section .note.GNU-stack,\"\",@progbits\n", layout*5*64, layout*3*64)
	if err := os.WriteFile(padding, []byte(text), 0o666); err != nil {
		return "", err
	}
	args := append(programFlags, "-static", "-no-pie", "-o", program, driver, padding, filepath.Join(c.Dir, "data.c"))
	for _, side := range Sides {
		object := filepath.Join(dir, c.Name+"."+side+".o")
		if _, err := output(ctx, "gcc", "-c", "-Wa,-gdwarf-4", "-o", object, c.listing(side, "x86-64")); err != nil {
			return "", err
		}
		rename := c.Function + "=" + sideSymbol(c.Function, side)
		if _, err := output(ctx, "objcopy", "--redefine-sym", rename, object); err != nil {
			return "", err
		}
		args = append(args, object)
	}
	_, err := output(ctx, "gcc", args...)
	return program, err
}
