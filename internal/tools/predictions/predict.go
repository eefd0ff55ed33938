package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// An interval is what is known of a number.
type interval struct{ centre, lo, hi float64 }

func (i interval) String() string { return fmt.Sprintf("×%.2f [%.2f, %.2f]", i.centre, i.lo, i.hi) }

// holds tells whether a number is inside.
func (i interval) holds(x float64) bool { return i.lo <= x && x <= i.hi }

// winner is 1 where more than 1 is certain, -1 where less is, and 0 where 1 may be.
func (i interval) winner() int {
	switch {
	case i.lo > 1:
		return 1
	case i.hi < 1:
		return -1
	}
	return 0
}

// prediction is the file of the prediction of a pair, with the flags that profdiff asked for or without.
func (s *settings) prediction(p *pair, asked bool) string {
	name := "prediction"
	if s.calibration != "" {
		name += ".calibrated"
	}
	if asked {
		name += ".asked"
	}
	return s.path(p, name)
}

// predict predicts all pairs: each once without a flag, and where profdiff then asked for some, once with them.
func (s *settings) predict(ctx context.Context) error {
	for i := range s.pairs {
		p := &s.pairs[i]
		if err := s.predictPair(ctx, p, s.prediction(p, false)); err != nil {
			return err
		}
		if p.asked != nil {
			if err := s.predictPair(ctx, p, s.prediction(p, true), p.asked...); err != nil {
				return err
			}
		}
	}
	return nil
}

// predictPair writes what profdiff says of a pair to a file that is not there yet.
func (s *settings) predictPair(ctx context.Context, p *pair, file string, flags ...string) error {
	if exists(file) {
		return nil
	}
	args := append([]string{
		"predict", s.path(p, "recorded/before"), s.path(p, "recorded/after"),
		"--branches-before", s.counts(p, sides[0]), "--branches-after", s.counts(p, sides[1]),
	}, flags...)
	if s.calibration != "" {
		args = append(args, "--calibration", s.calibration)
	}
	cmd := exec.CommandContext(ctx, s.profdiff, args...)
	var out, remarks strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &remarks
	start := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	text := fmt.Sprintf("$ profdiff %s\n%s\n%s\nexit code %d, %.1f s, of CPUs %.1f s, at %s\n", strings.Join(args, " "), &remarks, &out,
		cmd.ProcessState.ExitCode(), time.Since(start).Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), start.UTC().Format(time.TimeOnly))
	return os.WriteFile(file, []byte(text), 0o444)
}

var (
	speedUp = regexp.MustCompile(`(?m)^predicted\s+` + ratio)
	// Profdiff widens an interval that does not reach to what it sees in the recordings.
	widened = regexp.MustCompile(`beyond\s+what\s+the\s+code\s+explains,\s+` + ratio)
	seconds = regexp.MustCompile(`(?m)^exit code \d+, ([0-9.]+) s, of CPUs ([0-9.]+) s`)
)

const ratio = `×([0-9.]+)\s+\[([0-9.]+),\s+([0-9.]+)\]`

// A forecast is what was predicted of a pair.
type forecast struct {
	ok      bool     // a speed-up was
	speed   interval // as printed
	alone   interval // before what the recordings measured widened it
	seconds string
}

// forecast reads what was predicted of a pair.
func (s *settings) forecast(p *pair, asked bool) (f forecast, err error) {
	text, err := os.ReadFile(s.prediction(p, asked))
	if err != nil {
		return f, err
	}
	if m := seconds.FindSubmatch(text); m != nil {
		f.seconds = fmt.Sprintf("%s (%s)", m[1], m[2])
	}
	if f.speed, f.ok, err = found(speedUp, text); err != nil || !f.ok {
		return f, err
	}
	alone, ok, err := found(widened, text)
	if !ok {
		alone = f.speed
	}
	f.alone = alone
	return f, err
}

// found finds a speed-up with its interval.
func found(pattern *regexp.Regexp, text []byte) (speed interval, ok bool, err error) {
	m := pattern.FindSubmatch(text)
	if m == nil {
		return speed, false, nil
	}
	for i, to := range []*float64{&speed.centre, &speed.lo, &speed.hi} {
		if *to, err = strconv.ParseFloat(string(m[i+1]), 64); err != nil {
			return speed, false, err
		}
	}
	return speed, true, nil
}
