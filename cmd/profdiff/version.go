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

// versionText is what --version prints after "profdiff version ": the version, what it was built from
// and with, and the modules in it. To set a template would link text/template.
func versionText() string {
	var b strings.Builder
	b.WriteString(version())
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
	fmt.Fprintf(&b, "\ncommit  %s", commit)
	fmt.Fprintf(&b, "\nbuilt   %s for %s/%s", info.GoVersion, setting(info, "GOOS"), setting(info, "GOARCH"))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		fmt.Fprintf(&b, "\nmodule  %s %s %s", m.Path, m.Version, m.Sum)
	}
	return b.String()
}
