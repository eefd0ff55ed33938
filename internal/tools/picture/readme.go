package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A readmePicture is one of those in the README.
type readmePicture struct {
	file    string // in testdata
	command string // writes the report to reportName, as the README has it below the picture
	view    string // the fragment of the address
	shot    shot
}

const reportName = "profdiff-report.html"

const heap = "profdiff diff profiles/message-heap --ops 12000000 --branches-before profiles/message-heap/callgrind/before.out --branches-after profiles/message-heap/callgrind/after.out --html-source profiles/message-heap --html " + reportName

var readmePictures = []readmePicture{
	{
		"report.png", "profdiff diff profiles/usb-freeze --html " + reportName, "",
		shot{Part: "header, .verdict, .movers"},
	},
	{
		"flame.png", "profdiff diff profiles/releases/lua --html " + reportName, "view=flame",
		shot{Part: "#app", Do: `[...document.querySelectorAll(".changes button")].find(b => b.textContent.startsWith("sweeplist")).click()`},
	},
	{
		"time.png", "profdiff diff profiles/usb-freeze --html " + reportName, "view=times&event=2&span=0.470-0.510",
		shot{Part: "#app .bar-top, #app .legend"},
	},
	{
		"source.png", heap, "view=source&function=heap_sift_up",
		shot{Part: "#app"},
	},
}

// writeReadme makes all pictures of the README again, from the recordings in the repository at root.
func writeReadme(root string) error {
	dir, err := os.MkdirTemp("", "profdiff-picture-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, report := filepath.Join(dir, "profdiff"), filepath.Join(dir, reportName)
	if err := run(root, "go", "build", "-o", program, "./cmd/profdiff"); err != nil {
		return err
	}
	for _, r := range readmePictures {
		args := strings.Fields(strings.ReplaceAll(r.command, reportName, report))
		if err := run(root, program, append(args[1:], "--quiet")...); err != nil {
			return err
		}
		if err := write([]string{report + "#" + r.view, filepath.Join(root, "testdata", r.file)}, window(r.shot)); err != nil {
			return fmt.Errorf("%s: %w", r.file, err)
		}
	}
	return nil
}

// window is a shot of a window in which the README's pictures are taken.
func window(s shot) shot {
	s.Width, s.Height = 1280, 1000
	return s
}

func run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}
