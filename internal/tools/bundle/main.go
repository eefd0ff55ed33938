// Bundle builds the script and the style sheet of HTML reports from their sources.
//
//	go -C internal/tools run ./bundle ../report/html
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bundle FOLDER, which is that of the package html")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// write builds into dist of the package html, which is at dir.
func write(dir string) error {
	files, err := build(dir)
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, "dist", name), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// build returns the built files by their names in dist.
func build(dir string) (map[string][]byte, error) {
	ui, err := filepath.Abs(filepath.Join(dir, "ui"))
	if err != nil {
		return nil, err
	}
	// DecompressionStream is what the page needs beside: Firefox and Safari have it from
	// these versions, Chrome for longer.
	engines := []api.Engine{{Name: api.EngineChrome, Version: "94"}, {Name: api.EngineFirefox, Version: "113"}, {Name: api.EngineSafari, Version: "16.4"}}
	files := make(map[string][]byte)
	alias := map[string]string{"preact": "./vendor/preact/preact.mjs", "preact/hooks": "./vendor/preact/hooks.mjs"}
	for _, part := range []struct{ source, name string }{
		{"src/app.tsx", "app.js"},
		{"src/aside.tsx", "aside.js"},
		{"src/sections.tsx", "sections.js"},
		{"src/overtime.tsx", "overtime.js"},
		{"src/app.css", "app.css"},
	} {
		opt := api.BuildOptions{
			AbsWorkingDir: ui, EntryPoints: []string{part.source}, Outdir: "/dist", Bundle: true,
			MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
			Format: api.FormatIIFE, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone,
			Engines: engines, JSXFactory: "h", JSXFragment: "Fragment", Alias: alias,
		}
		if part.name != "app.js" && part.name != "app.css" {
			opt.Plugins = []api.Plugin{{Name: "kit", Setup: func(b api.PluginBuild) {
				b.OnResolve(api.OnResolveOptions{Filter: `^\./kit$`}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
					return api.OnResolveResult{Path: filepath.Join(ui, "src/kit-shared.ts")}, nil
				})
			}}}
		}
		result := api.Build(opt)
		if len(result.Errors) > 0 {
			return nil, errors.New(api.FormatMessages(result.Errors, api.FormatMessagesOptions{})[0])
		}
		if len(result.OutputFiles) != 1 {
			return nil, fmt.Errorf("%s: %d files", part.source, len(result.OutputFiles))
		}
		files[part.name] = result.OutputFiles[0].Contents
	}
	return files, nil
}
