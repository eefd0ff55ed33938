package batch

import (
	"errors"
	"io/fs"
	"os"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
	"profdiff/internal/fleet/table"
	"profdiff/internal/input"
)

// reasonStored is why a profile of a list is in no spec.
const reasonStored = "stored already"

// Stored are the profiles that a store has, as this version of profdiff reads them: some 200 bytes each in memory.
type Stored struct {
	profiles map[storedKey]stored
	texts    map[string]string
}

// A storedKey is a profile of a release: the same bytes in another one are another.
type storedKey struct{ id, release string }

// A stored profile has what the ledger says that a list may say, too.
type stored struct {
	model, device, abi, build string
	time, duration, work      int64
}

// ReadStored reads the ledger of the store in dir, which need not be there yet.
func ReadStored(dir string) (*Stored, error) {
	s := &Stored{profiles: make(map[storedKey]stored), texts: make(map[string]string)}
	from, err := store.Open(dir)
	if errors.Is(err, store.ErrEmpty) || errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	for p, err := range from.Profiles(store.Selection{}) {
		if err != nil {
			return nil, err
		}
		if p.SchemaVersion < fleet.Schema || p.DecoderVersion < table.Decoder {
			continue // to be read again
		}
		row := stored{model: s.text(p.DeviceModel), device: s.text(p.DeviceID), time: p.TimeNS, duration: p.DurationNS, work: -1}
		if p.ABI != nil {
			row.abi = s.text(*p.ABI)
		}
		if p.OSBuild != nil {
			row.build = s.text(*p.OSBuild)
		}
		if p.WorkUnits != nil {
			row.work = *p.WorkUnits
		}
		s.profiles[storedKey{p.ProfileID, s.text(p.ReleaseID)}] = row
	}
	return s, nil
}

// text is a text that is kept once.
func (s *Stored) text(t string) string {
	kept, ok := s.texts[t]
	if !ok {
		s.texts[t], kept = t, t
	}
	return kept
}

// has reports whether the store has a profile with the bytes of a file, and whether it says of it what the list says. What cannot
// be read here is left to the worker, who says why.
func (s *Stored) has(release string, p *Profile) (has, agrees bool) {
	if len(s.profiles) == 0 {
		return false, false
	}
	id := fileID(p.Path)
	row, ok := s.profiles[storedKey{id, release}]
	if !ok {
		return false, false
	}
	device := p.Device
	if device == "" {
		device = unknownDevice(id)
	}
	said := func(listed, has string) bool { return listed == "" || valid(listed) == has }
	return true, device == row.device && said(p.Model, row.model) && said(p.ABI, row.abi) && said(p.OSBuild, row.build) &&
		(p.TimeNS == 0 || p.TimeNS == row.time) && (p.DurationNS == 0 || p.DurationNS == row.duration) && (p.WorkUnits == nil || *p.WorkUnits == row.work)
}

// fileID is the id of the profile in a file, as the worker has it, "" if there is none.
func fileID(name string) string {
	// A pipe has nothing to be read twice.
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > usual.size {
		return ""
	}
	digests := input.Digests{}
	if err := digests.Read(name, nil, func(*input.Source) error { return nil }); err != nil {
		return ""
	}
	return profileID(digests, name)
}

// profileID is the id of a profile that was read, as [fleet.ProfileID] makes it of the bytes; "" if it has none of its own.
func profileID(digests input.Digests, name string) string {
	id := digests.Of(name)
	return id[:min(len(id), 32)]
}
