package android

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/record/command"
)

// An adb is the connection to one device.
type adb struct{ serial string }

// An attached device is a line of adb devices -l.
type attached struct {
	serial, state, model string
}

func parseDevices(text string) (list []attached) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 2 || strings.HasPrefix(line, "List of devices") || strings.HasPrefix(line, "*") {
			continue
		}
		d := attached{serial: f[0], state: f[1]}
		if f[1] == "no" {
			d.state = "no permissions"
		}
		for _, w := range f[2:] {
			if model, ok := strings.CutPrefix(w, "model:"); ok {
				d.model = model
			}
		}
		list = append(list, d)
	}
	return list
}

// shortly bounds calls that do not wait for a command of the user.
const shortly = 60 * time.Second

func bounded(ctx context.Context, what string) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, shortly, fmt.Errorf("%s: no answer in %v", what, shortly))
}

// connect finds the device to record on.
func connect(ctx context.Context, serial string) (*adb, error) {
	ctx, cancel := bounded(ctx, "adb devices")
	defer cancel()
	r, err := command.Run(ctx, []string{"adb", "devices", "-l"}, nil)
	if errors.Is(err, command.ErrNotFound) {
		return nil, errors.New("adb is not installed: install the package adb, or the Android SDK Platform-Tools")
	}
	if err != nil {
		return nil, err
	}
	list := parseDevices(string(r.Output))
	var d *attached
	switch i := slices.IndexFunc(list, func(a attached) bool { return a.serial == serial }); {
	case i >= 0:
		d = &list[i]
	case len(list) == 0:
		return nil, errors.New("no Android device is attached: connect one that has USB debugging switched on, or start an emulator")
	case serial != "":
		return nil, fmt.Errorf("no device %s is attached; there is %s", serial, deviceNames(list))
	case len(list) > 1:
		return nil, fmt.Errorf("%d devices are attached, choose one with --device SERIAL: %s", len(list), deviceNames(list))
	default:
		d = &list[0]
	}
	switch d.state {
	case "device":
		return &adb{d.serial}, nil
	case "unauthorized", "authorizing":
		return nil, fmt.Errorf("device %s is unauthorized: confirm on its screen that this computer may debug it", d.serial)
	case "offline":
		return nil, fmt.Errorf("device %s is offline: connect it again, or restart it", d.serial)
	case "no permissions":
		return nil, fmt.Errorf("device %s: this user has no permissions for it: udev needs a rule for the device", d.serial)
	}
	return nil, fmt.Errorf("device %s is in the state %s, not ready for commands", d.serial, d.state)
}

func deviceNames(list []attached) string {
	var names []string
	for _, d := range list {
		name := d.serial
		switch {
		case d.state != "device":
			name += " (" + d.state + ")"
		case d.model != "":
			name += " (" + d.model + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// A reply is what a script on the device wrote.
type reply struct {
	start  time.Time
	took   time.Duration
	status int    // of the script
	output []byte // standard output
	rest   string // standard output of what follows the script
	stderr []byte
}

// statusMark goes before the exit status of a script. It tells that the script came to
// its end, and works alike with all versions of adb.
const statusMark = "\nprofdiff-status "

// shell runs a script on the device, and then another whatever became of the first.
func (a *adb) shell(ctx context.Context, script, then string) (*reply, error) {
	text := script + "\nstatus=$?; echo; echo 'profdiff-status '$status\n" + then
	stderr := &command.Tail{Max: 256 << 10}
	r, err := command.Run(ctx, []string{"adb", "-s", a.serial, "shell", text}, stderr)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if r == nil {
		return nil, err
	}
	output := bytes.ReplaceAll(r.Output, []byte("\r\n"), []byte("\n"))
	at := bytes.LastIndex(output, []byte(statusMark))
	if at < 0 {
		return nil, a.lost(ctx, err, stderr)
	}
	line, rest, _ := strings.Cut(string(output[at+len(statusMark):]), "\n")
	status, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return nil, a.lost(ctx, err, stderr)
	}
	return &reply{start: r.Start, took: r.Duration, status: status, output: output[:at], rest: rest, stderr: stderr.Bytes()}, nil
}

// ask is shell for scripts that end soon.
func (a *adb) ask(ctx context.Context, script, then string) (*reply, error) {
	ctx, cancel := bounded(ctx, "the device "+a.serial)
	defer cancel()
	return a.shell(ctx, script, then)
}

// lost says why a call did not come to its end.
func (a *adb) lost(ctx context.Context, err error, stderr *command.Tail) error {
	why := command.LastLine(stderr.Bytes())
	if state := a.state(ctx); state != "device" {
		return fmt.Errorf("the connection to device %s was lost (state: %s): connect it again", a.serial, state)
	}
	if why == "" && err != nil {
		why = err.Error()
	}
	return fmt.Errorf("the shell of device %s ended early: %s", a.serial, cmp.Or(why, "unknown"))
}

// state is device if it can be used, unknown if adb does not know.
func (a *adb) state(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := command.Run(ctx, []string{"adb", "-s", a.serial, "get-state"}, nil)
	if err != nil {
		return "not found"
	}
	return strings.TrimSpace(string(r.Output))
}

func (a *adb) push(ctx context.Context, from, to string) error {
	stderr := &command.Tail{Max: 64 << 10}
	if _, err := command.Run(ctx, []string{"adb", "-s", a.serial, "push", from, to}, stderr); err != nil {
		return a.copyError(ctx, err, stderr, "to the device")
	}
	return nil
}

func (a *adb) pull(ctx context.Context, from, to string) error {
	stderr := &command.Tail{Max: 64 << 10}
	if _, err := command.Run(ctx, []string{"adb", "-s", a.serial, "pull", from, to}, stderr); err != nil {
		return errors.Join(a.copyError(ctx, err, stderr, "from the device"), removeIfThere(to))
	}
	return nil
}

func removeIfThere(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (a *adb) copyError(ctx context.Context, err error, stderr *command.Tail, where string) error {
	switch {
	case ctx.Err() != nil:
		return err
	case strings.Contains(string(stderr.Bytes()), "No space left"):
		return fmt.Errorf("copying %s: no space left: make room and call again, runs that are there are kept", where)
	}
	if state := a.state(ctx); state != "device" {
		return fmt.Errorf("the connection to device %s was lost (state: %s): connect it again", a.serial, state)
	}
	return fmt.Errorf("copying %s: %w", where, err)
}

// deviceWords splits a command line as words does, for the device, which has its shell
// elsewhere.
func deviceWords(line string) []string {
	w := command.Words(line)
	if w[0] == "/bin/sh" {
		w[0] = "sh"
	}
	return w
}

func deviceCommand(line string) string { return command.Quote(deviceWords(line)...) }

// failed says that a command failed, if it did.
func (r *reply) failed(line string) error {
	switch r.status {
	case 0:
		return commandError(line, r.output)
	case 126, 127:
		return fmt.Errorf("the device cannot run %s: %s (commands run in %s; adb push copies a program there)", command.FirstWord(line), cmp.Or(command.LastLine(withoutLog(r.stderr)), "unknown"), deviceTemp)
	}
	return &command.ExitError{Name: command.FirstWord(line), State: fmt.Sprintf("exit status %d on the device", r.status), Stderr: command.LastLine(withoutLog(r.stderr))}
}

func (r *reply) lastError() string {
	if line := command.LastLine(r.stderr); line != "" {
		return line
	}
	return cmp.Or(command.LastLine(r.output), "unknown")
}

// commandError finds failures that am reports only in words.
func commandError(line string, output []byte) error {
	if command.FirstWord(line) != "am" {
		return nil
	}
	for text := range strings.Lines(string(output)) {
		text = strings.TrimSpace(text)
		for _, bad := range []string{"Error: ", "Error type ", "INSTRUMENTATION_FAILED", "FAILURES!!!", "INSTRUMENTATION_RESULT: shortMsg="} {
			if strings.HasPrefix(text, bad) {
				return fmt.Errorf("%s: %s", command.FirstWord(line), text)
			}
		}
	}
	return nil
}
