package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"profdiff/internal/calibrate"
	"profdiff/internal/record/android"
	"profdiff/internal/record/command"
	"profdiff/internal/scratch"
)

// A deviceCalibration measures an Android device with a profdiff that runs there.
type deviceCalibration struct {
	android.Program
	adb bool
}

// measure returns what the profdiff on the device measured.
func (d *deviceCalibration) measure(ctx context.Context, std *stdio) (*calibrate.File, error) {
	dir, forget, err := scratch.Dir("", "profdiff")
	if err != nil {
		return nil, err
	}
	defer forget()
	defer os.RemoveAll(dir)
	if d.Serial == "" {
		d.Serial = os.Getenv("ANDROID_SERIAL")
	}
	d.Build = func(ctx context.Context, abi string) (string, error) { return buildForDevice(ctx, dir, abi) }
	output, stderr, err := d.Run(ctx)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(stderr) {
		if warning, ok := strings.CutPrefix(strings.TrimSpace(line), "profdiff: warning: "); ok {
			std.warn("%s", warning)
		}
	}
	f, err := calibrate.Read(bytes.NewReader(output))
	if err != nil {
		return nil, fmt.Errorf("what calibrate wrote on the device: %w", err)
	}
	return f, nil
}

// deviceArchitectures are those of Go by ABIs of Android, for which there are kernels.
var deviceArchitectures = map[string]string{"arm64-v8a": "arm64", "x86_64": "amd64"}

// buildForDevice builds this program for a device, where its sources are the module of the
// current directory.
func buildForDevice(ctx context.Context, dir, abi string) (string, error) {
	arch := deviceArchitectures[abi]
	if arch == "" {
		return "", fmt.Errorf("the device has the ABI %q: a core is measured on arm64-v8a and x86_64", abi)
	}
	file := filepath.Join(dir, "profdiff")
	// A program for Linux without cgo is static, and needs nothing of Android.
	environment := []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=" + arch}
	words := append(append([]string{"env"}, environment...), "go", "build", "-o", file, "profdiff/cmd/profdiff")
	stderr := &command.Tail{Max: 64 << 10}
	if _, err := command.Run(ctx, words, stderr); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", fmt.Errorf("no program for the device: in the sources of profdiff run %s go build -o profdiff-%s ./cmd/profdiff, and give it with --binary profdiff-%s (building it here: %s)",
			strings.Join(environment, " "), arch, arch, command.LastLine(stderr.Bytes()))
	}
	return file, nil
}
