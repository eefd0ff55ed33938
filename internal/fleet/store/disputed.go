package store

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/table"
)

// Disputed are profiles that are in several batches of a release, of which these say different things, see [Said]: a list was
// corrected, or two lists do not agree. The version that read them is the same, so that the least name of a batch decides which
// of them the view has, and that is chance.
type Disputed struct {
	Profiles int64 `json:"profiles"`
	// What is said differently of one of them, and where: Counts is what the view has.
	What        string `json:"what"`
	Counts      string `json:"counts"`
	CountsIn    string `json:"counts_in"` // a file of the ledger, relative to the store
	Otherwise   string `json:"otherwise"`
	OtherwiseIn string `json:"otherwise_in"`
}

// said is what a list or a recording says of a profile.
func said(p *fleet.Profile) [7][2]string {
	known := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	number := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	work, at := "", ""
	if p.WorkUnits != nil {
		work = strconv.FormatInt(*p.WorkUnits, 10)
	}
	if p.TimeNS != 0 {
		at = time.Unix(0, p.TimeNS).UTC().Format(time.RFC3339Nano)
	}
	return [...][2]string{
		{"device", p.DeviceID},
		{"device_model", p.DeviceModel},
		{"time", at},
		{"duration", number(p.DurationNS)},
		{"work_units", work},
		{"abi", known(p.ABI)},
		{"os_build", known(p.OSBuild)},
	}
}

// Said is a hash of what a list or a recording says of a profile: its device and model, when and for how long it was taken, its units of
// work, ABI and build. Two rows of which it differs do not agree.
func Said(p *fleet.Profile) uint64 {
	h := fnv.New64a()
	for _, s := range said(p) {
		io.WriteString(h, s[1])
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// A claim is what a batch says of a profile that the view has of another one.
type claim struct {
	said uint64
	file file
}

// Disputed counts the profiles of the selected releases of which batches say different things, nil if there are none. Where no profile
// is in several batches it reads nothing; else the ledgers of these, with some 100 bytes in memory for each row that the view does not have.
func (s *Store) Disputed(sel Selection) (*Disputed, error) {
	claims := make(map[profileKey][]claim)
	decides := make(map[*batch]bool)
	read := func(f file, each func(key profileKey, p *fleet.Profile)) error {
		b := s.batches[f.id]
		return table.Read(f.path, func(rows []fleet.Profile) error {
			for i := range rows {
				id, err := profileBytes(rows[i].ProfileID)
				if err != nil {
					return err // cannot be: opening the store read it
				}
				each(profileKey{id, b.release, s.typeNumber(rows[i].SampleType)}, &rows[i])
			}
			return nil
		})
	}
	for _, f := range s.ledger {
		b := s.batches[f.id]
		if b.seen == b.rows || !sel.release(f.Release) {
			continue
		}
		if err := read(f, func(key profileKey, p *fleet.Profile) {
			if c := s.profile[key]; c != b && c.schema == b.schema && c.decoder == b.decoder {
				claims[key] = append(claims[key], claim{Said(p), f})
				decides[c] = true
			}
		}); err != nil {
			return nil, err
		}
	}
	found := make(map[profileKey]bool) // of no sample type
	d := new(Disputed)
	for _, f := range s.ledger {
		b := s.batches[f.id]
		if !decides[b] {
			continue
		}
		var example *fleet.Profile
		var other file
		if err := read(f, func(key profileKey, p *fleet.Profile) {
			if s.profile[key] != b {
				return
			}
			for _, c := range claims[key] {
				if c.said == Said(p) {
					continue
				}
				if len(found) == 0 {
					kept := *p
					example, other = &kept, c.file
				}
				found[profileKey{id: key.id, release: key.release}] = true
			}
		}); err != nil {
			return nil, err
		}
		if example != nil {
			if err := d.describe(s, example, f, other); err != nil {
				return nil, err
			}
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	d.Profiles = int64(len(found))
	return d, nil
}

// describe says how two batches do not agree on a profile, as the first of them has it.
func (d *Disputed) describe(s *Store, p *fleet.Profile, counts, other file) error {
	d.CountsIn, d.OtherwiseIn = s.relative(counts), s.relative(other)
	return table.Read(other.path, func(rows []fleet.Profile) error {
		for i := range rows {
			if q := &rows[i]; d.What == "" && q.ProfileID == p.ProfileID && q.SampleType == p.SampleType {
				a, b := said(p), said(q)
				for k := range a {
					if d.What == "" && a[k] != b[k] {
						d.What, d.Counts, d.Otherwise = a[k][0], cmp.Or(a[k][1], "not known"), cmp.Or(b[k][1], "not known")
					}
				}
			}
		}
		return nil
	})
}

// relative is where a file is in the store.
func (s *Store) relative(f file) string {
	name, err := filepath.Rel(s.dir, f.path)
	if err != nil {
		return f.path
	}
	return filepath.ToSlash(name)
}

// String says it in a line, and what to do.
func (d *Disputed) String() string {
	what := fmt.Sprintf("%d profiles are in several batches, which say different things of them; which batch counts is chance: of one, the %s", d.Profiles, d.What)
	if d.Profiles == 1 {
		what = "1 profile is in several batches, which say different things of it; which batch counts is chance: the " + d.What
	}
	return fmt.Sprintf("%s is %q by %s, which counts, and %q by %s; remove the file that is wrong, and ingest again what else was in it",
		what, d.Counts, d.CountsIn, d.Otherwise, d.OtherwiseIn)
}
