package android

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"profdiff/internal/record/command"
)

// A Program is one for a device, which is copied there, run, and removed.
type Program struct {
	// Serial is the device, see [Backend].
	Serial string
	// File is the program on this machine. If it is "", Build makes one for an ABI of Android,
	// such as arm64-v8a.
	File  string
	Build func(ctx context.Context, abi string) (file string, err error)

	Arguments []string
}

// deviceProgram is where it is on the device.
const deviceProgram = deviceTemp + "/profdiff-program"

// Run returns what the program wrote to standard output, and to standard error.
func (p *Program) Run(ctx context.Context) (output []byte, stderr string, err error) {
	a, err := connect(ctx, p.Serial)
	if err != nil {
		return nil, "", err
	}
	reply, err := a.ask(ctx, "getprop ro.product.cpu.abi", "")
	if err != nil {
		return nil, "", err
	}
	abi := strings.TrimSpace(string(reply.output))
	file := p.File
	if file == "" {
		if file, err = p.Build(ctx, abi); err != nil {
			return nil, "", err
		}
	}
	if err := a.push(ctx, file, deviceProgram); err != nil {
		return nil, "", err
	}
	run := command.Quote(append([]string{deviceProgram}, p.Arguments...)...)
	reply, err = a.shell(ctx, "cd "+deviceTemp+" && chmod 755 "+deviceProgram+" && "+run, "rm -f "+deviceProgram)
	if err != nil {
		return nil, "", err
	}
	switch reply.status {
	case 0:
		return reply.output, string(reply.stderr), nil
	case 126, 127:
		return nil, "", fmt.Errorf("%s does not run on device %s, which has the ABI %s: %s", file, a.serial, cmp.Or(abi, "unknown"), reply.lastError())
	}
	return nil, "", fmt.Errorf("device %s: %s", a.serial, strings.TrimPrefix(reply.lastError(), "profdiff: "))
}
