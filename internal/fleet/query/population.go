package query

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
	"strings"

	"profdiff/internal/fleet"
)

// A Population is the profiles of two releases that are compared.
type Population struct {
	Question
	Sides  [2]Side
	Models []Stratum // that are compared, by weight
	// Left are profiles of both releases that are in no comparison, by reason.
	Left []Left
	// Both is the number of devices that are in both releases.
	Both int64
	// Same is the number of profiles that both releases have with the same bytes.
	Same int64
	// InUnits are the devices of both sides if units are compared in place of devices. Only those of models that are compared count.
	InUnits [2]int64

	// ledger is the number of profiles that have what they are divided by.
	ledger   [2]int64
	profiles map[string]*[2]member // by id, of both sides
	batches  map[string]int32
	units    []unit
	strata   []stratum // by unit.stratum: side 0 or 1 of model i is 2*i or 2*i+1
}

// A Side is one release.
type Side struct {
	Release   string
	Profiles  int64 // that are compared
	Devices   int64 // or units, of roll-ups
	Samples   int64
	Weight    float64 // of all profiles that are compared
	Divisor   float64 // likewise
	First     int64   // when the first profile was taken, since 1970, in ns
	Last      int64
	Durations int64 // sum
}

// A Stratum is a model of devices.
type Stratum struct {
	Name    string
	Weight  float64  // the same on both sides; all together are 1
	Devices [2]int64 // of both sides

	before int // its stratum in base, which the one in head follows
}

// Left are profiles that are in no comparison.
type Left struct {
	Reason   string
	Profiles [2]int64 // of both sides
}

// A member is a profile that is compared, if its batch is not 0.
type member struct{ unit, batch int32 }

// A unit is a device in a release.
type unit struct {
	stratum int32
	w       uint64 // what it is divided by
	weight  uint64
}

// A stratum is a release and a model.
type stratum struct {
	n       int64
	sw, sww wide
	// Of sw and sww, and the weight of the model.
	w, ww, weight float64
}

// least is the number of devices a side without which a model shows no variance.
const least = 2

// ErrNothing is wrapped by errors of releases that cannot be compared.
var ErrNothing = errors.New("nothing to compare")

// deviceKey tells devices apart: a model that changed is another device.
type deviceKey struct {
	side          int
	model, device string
}

// NewPopulation is what a ledger has of two releases. It yields each profile once for a sample type.
func NewPopulation(q Question, profiles iter.Seq2[fleet.Profile, error]) (*Population, error) {
	p := &Population{Question: q, profiles: make(map[string]*[2]member), batches: make(map[string]int32)}
	p.Sides[0].Release, p.Sides[1].Release = q.Before, q.After
	b := &populating{Population: p, left: make(map[string]*Left), units: make(map[deviceKey]int32), models: make(map[string]int32), devices: make(map[string]int)}
	for row, err := range profiles {
		if err != nil {
			return nil, err
		}
		if err := b.add(&row, 1, 1); err != nil {
			return nil, err
		}
	}
	if err := b.finish(); err != nil {
		return nil, err
	}
	return p, nil
}

// NewRolledUp is what the roll-up of a ledger has of two releases. Units take the place of profiles and of devices.
func NewRolledUp(q Question, units iter.Seq2[fleet.Unit, error]) (*Population, error) {
	p := &Population{Question: q, profiles: make(map[string]*[2]member), batches: make(map[string]int32)}
	p.Sides[0].Release, p.Sides[1].Release = q.Before, q.After
	b := &populating{Population: p, left: make(map[string]*Left), units: make(map[deviceKey]int32), models: make(map[string]int32), devices: make(map[string]int)}
	for u, err := range units {
		if err != nil {
			return nil, err
		}
		row := fleet.Profile{
			ProfileID: unitKey(u.ReleaseID, u.DeviceModel, u.UnitID), ReleaseID: u.ReleaseID, DeviceModel: u.DeviceModel, DeviceID: fmt.Sprint(u.ReleaseID, " ", u.UnitID),
			SampleType: u.SampleType, Weight: u.Weight, WorkUnits: u.WorkUnits,
		}
		missing := q.Per == Work && u.WorkUnits == nil
		if u.DurationNS != nil {
			row.DurationNS = *u.DurationNS
		} else {
			missing = missing || q.Per == Second
		}
		if u.SampleCount != nil {
			row.SampleCount = *u.SampleCount
		}
		if missing && u.SampleType == q.SampleType {
			return nil, fmt.Errorf("%w of roll-ups per %s: a profile of %s, release %s, does not tell it; comparisons of all facts leave such profiles out", ErrNothing, q.Per, u.DeviceModel, u.ReleaseID)
		}
		if err := b.add(&row, u.Profiles, u.Devices); err != nil {
			return nil, err
		}
	}
	if err := b.finish(); err != nil {
		return nil, err
	}
	return p, nil
}

// unitKey names a unit of a roll-up as if it were a profile.
func unitKey(release, model string, unit int32) string {
	return fmt.Sprint(unit, "\x00", release, "\x00", model)
}

// A populating is a population that is made.
type populating struct {
	*Population
	left    map[string]*Left
	units   map[deviceKey]int32
	models  map[string]int32
	devices map[string]int // bit by side
	rows    []counted      // by profile
}

// counted is what a profile adds to its side.
type counted struct {
	unit              int32
	samples, duration int64
	time              int64
	profiles, devices int64 // of a unit of a roll-up
}

func (b *populating) add(row *fleet.Profile, profiles, devices int64) error {
	side := slices.Index([]string{b.Before, b.After}, row.ReleaseID)
	if side < 0 || row.SampleType != b.SampleType {
		return nil
	}
	of, known := b.profiles[row.ProfileID]
	if known && of[side].batch > 0 {
		return fmt.Errorf("profile %s is twice in the ledger, in release %s and batch %s for the second time", row.ProfileID, row.ReleaseID, row.BatchID)
	}
	divisor := b.divisor(row)
	switch {
	case row.Weight <= 0:
		b.leave("no samples", side, profiles)
		return nil
	case divisor <= 0:
		b.leave(map[Per]string{Work: "no units of work", Second: "no duration"}[b.Per], side, profiles)
		return nil
	}
	model, ok := b.models[row.DeviceModel]
	if !ok {
		model = int32(len(b.Models))
		name := strings.Clone(row.DeviceModel)
		b.models[name] = model
		b.Models = append(b.Models, Stratum{Name: name})
		b.strata = append(b.strata, stratum{}, stratum{})
	}
	key := deviceKey{side, b.Models[model].Name, row.DeviceID}
	at, ok := b.units[key]
	if !ok {
		at = int32(len(b.Population.units))
		key.device = strings.Clone(row.DeviceID)
		b.units[key] = at
		b.Population.units = append(b.Population.units, unit{stratum: 2*model + int32(side)})
		b.devices[key.device] |= 1 << side
	}
	u := &b.Population.units[at]
	if !add(&u.w, divisor) || !add(&u.weight, row.Weight) {
		return fmt.Errorf("the profiles of device %s in release %s sum up to more than 64 bits", row.DeviceID, row.ReleaseID)
	}
	batch, ok := b.batches[row.BatchID]
	if !ok {
		batch = int32(len(b.batches) + 1)
		b.batches[strings.Clone(row.BatchID)] = batch
	}
	if known {
		b.Same++
	} else {
		of = new([2]member)
		b.profiles[strings.Clone(row.ProfileID)] = of
	}
	of[side] = member{at, batch}
	b.ledger[side] += profiles
	b.rows = append(b.rows, counted{at, row.SampleCount, row.DurationNS, row.TimeNS, profiles, devices})
	return nil
}

// add adds a positive number and reports whether the sum has room.
func add(sum *uint64, v int64) bool {
	s, carry := bits.Add64(*sum, uint64(v), 0)
	*sum = s
	return carry == 0
}

func (b *populating) leave(reason string, side int, n int64) {
	l, ok := b.left[reason]
	if !ok {
		l = &Left{Reason: reason}
		b.left[reason] = l
	}
	l.Profiles[side] += n
}

// finish leaves models out that one side has too few devices of, and weights the others.
func (b *populating) finish() error {
	p := b.Population
	for i := range p.units {
		u := &p.units[i]
		s := &p.strata[u.stratum]
		s.n++
		s.sw.add(u.w)
		s.sww.addProduct(u.w, u.w)
	}
	whole := 0.0
	for i := range p.Models {
		m := &p.Models[i]
		m.before = 2 * i
		a, c := &p.strata[2*i], &p.strata[2*i+1]
		m.Devices = [2]int64{a.n, c.n}
		if min(a.n, c.n) >= least {
			m.Weight = a.sw.float() + c.sw.float()
			whole += m.Weight
		}
	}
	b.count()
	for i := range p.Models {
		p.Models[i].Weight /= whole
		for side := range p.Sides {
			s := &p.strata[2*i+side]
			s.w, s.ww, s.weight = s.sw.float(), s.sww.float(), p.Models[i].Weight
			if s.weight > 0 {
				p.Sides[side].Divisor += s.w
			}
		}
	}
	for _, l := range b.left {
		p.Left = append(p.Left, *l)
	}
	slices.SortFunc(p.Left, func(a, c Left) int { return strings.Compare(a.Reason, c.Reason) })
	p.Models = slices.DeleteFunc(p.Models, func(m Stratum) bool { return !(m.Weight > 0) })
	slices.SortFunc(p.Models, func(a, c Stratum) int {
		return cmp.Or(-cmp.Compare(a.Weight, c.Weight), strings.Compare(a.Name, c.Name))
	})
	return p.check()
}

// count counts what is compared, and what is left out with its model.
func (b *populating) count() {
	p := b.Population
	for _, r := range b.rows {
		at := p.units[r.unit].stratum
		s := &p.Sides[at%2]
		if m := &p.Models[at/2]; !(m.Weight > 0) {
			b.leave("a model with fewer than 2 devices in a release", int(at%2), r.profiles)
			continue
		}
		if s.Profiles == 0 {
			s.First, s.Last = r.time, r.time
		}
		s.Profiles += r.profiles
		if b.RolledUp {
			p.InUnits[at%2] += r.devices
		}
		s.Samples += r.samples
		s.Durations += r.duration
		s.First, s.Last = min(s.First, r.time), max(s.Last, r.time)
	}
	for i := range p.units {
		u := &p.units[i]
		if p.Models[u.stratum/2].Weight > 0 {
			p.Sides[u.stratum%2].Devices++
			p.Sides[u.stratum%2].Weight += float64(u.weight)
		}
	}
	for _, sides := range b.devices {
		if sides == 3 {
			p.Both++
		}
	}
}

// check refuses what shows nothing.
func (p *Population) check() error {
	if len(p.Models) > 0 {
		return nil
	}
	var left [2]int64
	var why []string
	for _, l := range p.Left {
		left[0] += l.Profiles[0]
		left[1] += l.Profiles[1]
		why = append(why, fmt.Sprintf("%d: %s", l.Profiles[0]+l.Profiles[1], l.Reason))
	}
	for side, release := range []string{p.Before, p.After} {
		if left[side] == 0 {
			return fmt.Errorf("%w: release %s has no profiles of %s", ErrNothing, release, p.SampleType)
		}
	}
	return fmt.Errorf("%w: of %d profiles none is left (%s); a model of devices needs 2 devices in each release", ErrNothing, left[0]+left[1], strings.Join(why, "; "))
}

// devices are those of both sides.
func (p *Population) devices() [2]int64 { return [2]int64{p.Sides[0].Devices, p.Sides[1].Devices} }

// half is what half a sample of a side is of what it is divided by.
func (p *Population) half(side int) float64 {
	s := &p.Sides[side]
	if s.Samples <= 0 || s.Divisor <= 0 {
		return 0
	}
	return s.Weight / float64(s.Samples) / 2 / s.Divisor
}

// Whole is everything that profiles have, by what they are divided by. A share of everything shows
// nothing.
func (p *Population) Whole() Row {
	t := p.newTally()
	for i := range p.units {
		t.x[i] = p.units[i].weight
		t.touched = append(t.touched, int32(i))
	}
	return t.row()
}

// wide is a sum of products of two numbers of 64 bits.
type wide [3]uint64

func (w *wide) add(x uint64) { w.add128(0, x) }

func (w *wide) addProduct(x, y uint64) { w.add128(bits.Mul64(x, y)) }

func (w *wide) add128(hi, lo uint64) {
	var carry uint64
	w[0], carry = bits.Add64(w[0], lo, 0)
	w[1], carry = bits.Add64(w[1], hi, carry)
	w[2] += carry
}

func (w *wide) float() float64 {
	if w[2] == 0 && w[1] == 0 {
		return float64(w[0])
	}
	return math.Ldexp(float64(w[2]), 128) + math.Ldexp(float64(w[1]), 64) + float64(w[0])
}
