package batch

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
	"profdiff/internal/input"
)

// A Listed is a profile of a list.
type Listed struct {
	Profile
	Release string
	// Identifier is the device as the list names it, "" if it has a pseudonym already or is not known.
	Identifier string
}

// A Plan says how lists become specs.
type Plan struct {
	// Size is the number of profiles of a spec.
	Size int
	// Salt makes pseudonyms of devices, see [fleet.Device].
	Salt string
	// Mappings are files of R8 or ProGuard by release.
	Mappings map[string][]string
	// Stored are profiles that no spec is to have, nil for none.
	Stored *Stored
	// Emit takes the specs.
	Emit func(*Spec) error
	// Left accounts for the profiles that no spec has.
	Left store.Account
	// Disputed counts the profiles of specs that Stored has with the same bytes, and of which the list says something else.
	Disputed int64
	// Unmapped counts the profiles that no spec has and that are of a release with Mappings: they keep the names that they were read with.
	Unmapped int64

	// open are the profiles of specs that are not full, by release and day.
	open map[[2]string][]Profile
}

// Add adds a profile. Memory is bounded by the releases and days that are open at a time.
func (p *Plan) Add(l Listed) error {
	if l.Release == "" {
		return fmt.Errorf("%s: has no release: a column release of the manifest, directories RELEASE/MODEL/DEVICE or --release tell it", l.Path)
	}
	if l.Identifier != "" {
		l.Device = fleet.Device(p.Salt, l.Identifier)
		l.Source = replaceWord(l.source(), l.Identifier, l.Device)
	}
	if l.Source == l.Path {
		l.Source = ""
	}
	if p.Stored != nil {
		switch has, agrees := p.Stored.has(l.Release, &l.Profile); {
		case has && agrees:
			p.Left.In++
			p.Left.Drop(reasonStored, 1)
			if len(p.Mappings[l.Release]) > 0 {
				p.Unmapped++
			}
			return nil
		case has:
			p.Disputed++
		}
	}
	if p.open == nil {
		p.open = make(map[[2]string][]Profile)
	}
	key := [2]string{l.Release, l.day()}
	p.open[key] = append(p.open[key], l.Profile)
	if len(p.open[key]) < p.Size {
		return nil
	}
	return p.emit(key)
}

// replaceWord replaces a word that is not part of a longer one.
func replaceWord(s, old, by string) string {
	part := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	var b strings.Builder
	for rest := s; ; {
		i := strings.Index(rest, old)
		if i < 0 {
			return b.String() + rest
		}
		end := i + len(old)
		before, _ := utf8.DecodeLastRuneInString(rest[:i])
		after, _ := utf8.DecodeRuneInString(rest[end:])
		if i == 0 && b.Len() > 0 || i > 0 && part(before) || end < len(rest) && part(after) {
			b.WriteString(rest[:end])
		} else {
			b.WriteString(rest[:i] + by)
		}
		rest = rest[end:]
	}
}

// Close emits what is left.
func (p *Plan) Close() error {
	for _, key := range slices.SortedFunc(maps.Keys(p.open), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		if err := p.emit(key); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) emit(key [2]string) error {
	s := &Spec{Release: key[0], Mappings: p.Mappings[key[0]], Profiles: p.open[key]}
	delete(p.open, key)
	// In order of the devices: what is of one device is in few batches.
	slices.SortStableFunc(s.Profiles, func(a, b Profile) int { return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Path, b.Path)) })
	if err := s.name(); err != nil {
		return err
	}
	return p.Emit(s)
}

// Directories lists profiles in directories: root/RELEASE/MODEL/DEVICE/…/FILE. With a release, it lists all files below root, and
// what device a profile is of is not known. A root that is a file is a profile.
func Directories(root, release string, each func(Listed) error) error {
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return input.PathError(err)
		}
		if name != root && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		skip := error(nil)
		if d.IsDir() {
			if !input.IsRecording(name) {
				return nil
			}
			skip = filepath.SkipDir
		}
		if input.IsBackup(name) {
			return skip
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		l := Listed{Release: release}
		l.Path, l.Source = name, path.Join(filepath.Base(root), filepath.ToSlash(rel))
		if release == "" {
			parts := strings.Split(filepath.ToSlash(rel), "/")
			if len(parts) < 4 {
				return fmt.Errorf("%s: is not in directories RELEASE/MODEL/DEVICE below %s: --release says of which release all files are, and a manifest all that is known of each", name, root)
			}
			l.Release, l.Model, l.Identifier = parts[0], parts[1], parts[2]
		}
		return errors.Join(each(l), skip)
	})
}
