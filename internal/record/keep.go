package record

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// A keeper keeps with recordings of this machine what names their addresses.
type keeper struct {
	passed map[string]bool // build IDs of what cannot be kept, which is noted once
}

// keep keeps what the samples of a recording that began at a time need, and is not there yet.
// Beside a recording that is alone, there is but one more name.
func (b *keeper) keep(file string, objects []Object, began time.Time, alone bool) (notes []string, err error) {
	dir := filepath.Dir(file)
	objects, names, err := sampled(file, objects)
	if err != nil {
		return nil, err
	}
	if notes, err = b.keepObjects(dir, objects); err != nil {
		return notes, err
	}
	more, err := keepNamesOfCode(dir, "/", names, began)
	if err != nil {
		return notes, err
	}
	kallsyms := filepath.Join(dir, KallsymsName)
	if alone {
		kallsyms = filepath.Join(dir, SymbolsName, KallsymsName)
		if err := os.MkdirAll(filepath.Dir(kallsyms), dirMode); err != nil {
			return notes, err
		}
	}
	return append(notes, more...), keepKallsyms(kallsyms)
}

// keepObjects copies the object files that samples hit and that are not there yet, with what
// was split off them. Those that cannot be had are noted, once.
func (b *keeper) keepObjects(dir string, objects []Object) (notes []string, err error) {
	for _, o := range objects {
		if o.IsKept(dir) || b.passed[o.ID] {
			continue
		}
		if o.Path == vdsoPath {
			if err := o.keepVDSO(dir); err != nil {
				return notes, err
			}
			continue
		}
		err := o.Keep(dir, o.Path, "")
		what := "is not kept: "
		if err == nil {
			err = o.keepDebug(dir)
			what = ""
		}
		if why, passed := errors.AsType[PassError](err); passed {
			if b.passed == nil {
				b.passed = make(map[string]bool)
			}
			b.passed[o.ID] = true
			notes = append(notes, o.Path+": "+what+string(why))
		} else if err != nil {
			return notes, err
		}
	}
	return notes, nil
}
