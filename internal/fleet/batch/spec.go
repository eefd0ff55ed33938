// Package batch plans the work of reading many profiles and does one piece of it.
//
//  1. [Plan] takes a list of profiles, from a manifest or from directories, and cuts it into pieces of one release and, where
//     the list tells it, one day: a [Spec] each, a line of JSON. The same list gives the same specs.
//  2. A [Worker] takes a spec, reads its profiles through the door of package ingest and writes their rows into a store. It
//     is a pure function of the spec and the profiles: whoever does it, wherever and however often, writes the same files. So
//     whatever runs commands can run workers, and may run one twice.
//  3. A profile becomes rows of [decoder]: names are undone and normalised so that they meet those of other releases (see
//     [namer]), stacks are stacks of functions, sums are checked against the total.
//  4. What is no profile, or more than bounds allow, is dropped with its reason, and the rest goes on. The
//     [store.Receipt] accounts for all of it: in = out + dropped, of profiles and of samples.
//
// Memory is bounded by what one profile may be, and by the rows of a batch: before they are too many, the batch is written
// and another one begun, at the same profile whoever does it.
package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Spec is a piece of work: profiles of one release.
type Spec struct {
	// ID is the hash of the rest.
	ID      string `json:"spec"`
	Release string `json:"release"`
	// Mappings are files of R8 or ProGuard by which names of the release are undone.
	Mappings []string  `json:"mappings,omitempty"`
	Profiles []Profile `json:"profiles"`
}

// A Profile is what is known of a profile before it is read.
type Profile struct {
	Path string `json:"path"`
	// Source is what the store has for Path: without the identifier of the device.
	Source string `json:"source,omitempty"`
	Model  string `json:"device_model,omitempty"`
	// Device is a pseudonym. Without one, the profile counts as a device of its own.
	Device string `json:"device_id,omitempty"`
	// TimeNS is when it was taken, since 1970; 0 is what the profile says.
	TimeNS     int64  `json:"ts_ns,omitempty"`
	DurationNS int64  `json:"duration_ns,omitempty"`
	WorkUnits  *int64 `json:"work_units,omitempty"`
	ABI        string `json:"abi,omitempty"`
	OSBuild    string `json:"os_build,omitempty"`
}

// source is what messages and the store call the profile.
func (p *Profile) source() string {
	if p.Source != "" {
		return p.Source
	}
	return p.Path
}

// day is the day of a profile whose time is known.
func (p *Profile) day() string {
	if p.TimeNS == 0 {
		return ""
	}
	return time.Unix(0, p.TimeNS).UTC().Format(time.DateOnly)
}

// name fills in the ID.
func (s *Spec) name() error {
	unnamed := *s
	unnamed.ID = ""
	data, err := json.Marshal(unnamed)
	sum := sha256.Sum256(data)
	s.ID = hex.EncodeToString(sum[:8])
	return err
}

// Parse reads a line of a plan.
func Parse(line []byte) (*Spec, error) {
	s := new(Spec)
	if err := json.Unmarshal(line, s); err != nil {
		return nil, fmt.Errorf("is no spec of profdiff fleet plan: %w", err)
	}
	said := s.ID
	if err := s.name(); err != nil {
		return nil, err
	}
	switch {
	case said != s.ID:
		return nil, fmt.Errorf("spec %q was changed: what it has is spec %s", said, s.ID)
	case s.Release == "" || len(s.Profiles) == 0:
		return nil, fmt.Errorf("spec %s has no release or no profiles", s.ID)
	case slices.ContainsFunc(s.Profiles, func(p Profile) bool { return p.Path == "" || strings.ContainsRune(p.Path, 0) }):
		return nil, fmt.Errorf("spec %s has a profile without a path", s.ID)
	}
	return s, nil
}
