package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/asm"
	"profdiff/internal/branch"
	"profdiff/internal/predict"
	"profdiff/internal/predict/hot"
)

// A codeKind is what an input of predict is.
type codeKind string

// What inputs of predict are.
const (
	recordingFile codeKind = "a recording"
	assembly      codeKind = "assembly"
	objectFile    codeKind = "an object file"
	linkedFile    codeKind = "a program or a library"
	archive       codeKind = "an archive"
	sourceFile    codeKind = "source code"
)

// sources are the extensions of what compilers read.
var sources = []string{".c", ".cc", ".cpp", ".cxx", ".rs", ".go", ".java", ".kt", ".swift"}

func isAssembly(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".s", ".asm":
		return true
	}
	return false
}

// listed reports whether an input is code alone, in full.
func (k codeKind) listed() bool { return k == assembly || k == objectFile }

// codeKindOf says by its name or its first bytes what an input is: what has no code is taken
// for a recording.
func codeKindOf(name string) (codeKind, error) {
	switch {
	case isAssembly(name):
		return assembly, nil
	case slices.Contains(sources, strings.ToLower(filepath.Ext(name))):
		return sourceFile, nil
	}
	if name == "-" || isDir(name) {
		return recordingFile, nil
	}
	head, err := readStart(name, 20) // of Elf64_Ehdr in elf.h, to the end of e_machine
	if err != nil {
		return "", err
	}
	switch {
	case strings.HasPrefix(string(head), "!<arch>\n"), strings.HasPrefix(string(head), "!<thin>\n"):
		return archive, nil
	case len(head) < 18 || string(head[:4]) != "\x7fELF":
		return recordingFile, nil
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if head[5] == 2 { // ELFDATA2MSB
		order = binary.BigEndian
	}
	if order.Uint16(head[16:]) == 1 { // ET_REL
		return objectFile, nil
	}
	return linkedFile, nil
}

// readObject is the code of an object file that was not linked.
func (f *predictFlags) readObject(ctx context.Context, name string) (*asm.Listing, error) {
	tool, err := f.tool(ctx)
	if err != nil {
		return nil, err
	}
	functions, arch, err := tool.Functions(ctx, name)
	if err != nil {
		return nil, err
	}
	if a := asm.Arch(arch); a != asm.X8664 && a != asm.AArch64 {
		return nil, fmt.Errorf("%s: is for %s: loops are predicted for %s and %s", name, arch, asm.X8664, asm.AArch64)
	}
	return hot.Listing(functions, asm.Arch(arch)), nil
}

// predictLinked predicts a function of two linked files of which nothing was recorded.
func (s *stdio) predictLinked(cmd *cobra.Command, f *predictFlags, inputs []string) (*predict.Prediction, error) {
	work, err := f.work(cmd)
	if err != nil {
		return nil, err
	}
	l, err := f.in.loader(cmd, s)
	if err != nil {
		return nil, err
	}
	finder := s.finder(l.opt.Objects, &f.in)
	options := &branch.Options{AllowTruncated: f.in.allowTruncated}
	options.Names.Objects = l.opt.Objects
	var sides [2]*predict.SideInput
	for i, name := range inputs {
		if sides[i], err = finder.Side(name, nil, name); err != nil {
			return nil, err
		}
		if branches := []string{f.branchesBefore, f.branchesAfter}[i]; branches != "" {
			t, err := s.readBranches(branches, options)
			if err != nil {
				return nil, err
			}
			if err := sides[i].AddBranches(l.opt.Objects, t); err != nil {
				return nil, fmt.Errorf("%s: %w", t.Name, err)
			}
		}
	}
	opt := predict.PairOptions{Functions: f.functions(), Loops: [2]int{f.loop, f.loop}, Work: work}
	return s.predictSides(cmd, f, sides, nil, opt)
}
