package main

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// version is the version of this program, as the go command noted it: a tag, or a commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if commit := setting(info, "vcs.revision"); v == "(devel)" && commit != "" {
		v = commit
	}
	return v
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// versionText is what --version prints: the version, what it was built from and with, and the modules in it.
func versionText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "profdiff version %s\n", version())
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b.String()
	}
	commit := setting(info, "vcs.revision")
	switch {
	case commit == "":
		commit = "unknown: built outside a repository, or with -buildvcs=false"
	case setting(info, "vcs.modified") == "true":
		commit += ", with changes that were not committed"
	}
	fmt.Fprintf(&b, "commit  %s\n", commit)
	fmt.Fprintf(&b, "built   %s for %s/%s\n", info.GoVersion, setting(info, "GOOS"), setting(info, "GOARCH"))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		fmt.Fprintf(&b, "module  %s %s %s\n", m.Path, m.Version, m.Sum)
	}
	return b.String()
}
