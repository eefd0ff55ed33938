package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
)

// cpuName returns the name of the first CPU by /proc/cpuinfo. Virtual machines hide the
// model, hence the numbers.
func cpuName() (string, error) {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "", err
	}
	defer f.Close()
	return parseCPU(bufio.NewScanner(f))
}

func parseCPU(lines *bufio.Scanner) (string, error) {
	facts := make(map[string]string)
	for lines.Scan() && lines.Text() != "" {
		key, value, _ := strings.Cut(lines.Text(), ":")
		facts[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	if err := lines.Err(); err != nil {
		return "", err
	}
	if facts["model name"] == "" {
		return "", fmt.Errorf("/proc/cpuinfo does not name the CPU")
	}
	return fmt.Sprintf("%s (family %s, model %s, stepping %s)", facts["model name"], facts["cpu family"], facts["model"], facts["stepping"]), nil
}

// firstLine returns the first line that a program prints.
func firstLine(ctx context.Context, name string, args ...string) (string, error) {
	out, err := output(ctx, name, args...)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line, nil
}
