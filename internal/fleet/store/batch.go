package store

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/table"
	"profdiff/internal/radix"
)

// A Batch is what one file in each table has: profiles of one release and one day.
type Batch struct {
	Profiles   []fleet.Profile
	Functions  []fleet.Function
	Stacks     []Stack
	Samples    []fleet.Sample
	Facts      []fleet.ProfileFunction
	Categories []fleet.ProfileCategory
}

// A Stack is a row of the table of stacks before it is written. Stacks of one profile may have a thousand times more frames
// than there are functions, so that frames are small numbers until then.
type Stack struct {
	ID        [16]byte // [fleet.StackID] of its frames
	Frames    []int32  // leaf to root: indices in Functions
	Functions []int64  // ids, which stacks may share
}

// NewStack makes the row of a stack of functions, leaf to root.
func NewStack(functions ...int64) Stack {
	s := Stack{ID: fleet.StackID(functions), Functions: functions}
	for i := range functions {
		s.Frames = append(s.Frames, int32(i))
	}
	return s
}

// Write puts the rows into the order of their tables, names the batch after them and writes it into the store in dir,
// which need not be there yet. Writing it again changes nothing. A batch without profiles is nothing.
func (b *Batch) Write(dir string) (id string, err error) {
	if len(b.Profiles) == 0 {
		return "", errors.New("a batch without profiles")
	}
	part := PartitionOf(&b.Profiles[0])
	for i := range b.Profiles {
		if p := PartitionOf(&b.Profiles[i]); p != part {
			return "", fmt.Errorf("one batch has profiles of %v and of %v", part, p)
		}
	}
	b.sort()
	id = b.name()
	for i := range b.Profiles {
		b.Profiles[i].BatchID = id
	}
	for i := range b.Samples {
		b.Samples[i].BatchID = id
	}
	for i := range b.Facts {
		b.Facts[i].BatchID = id
	}
	for i := range b.Categories {
		b.Categories[i].BatchID = id
	}
	if err := errors.Join(
		write(part, dir, fleet.TableFunctions, id, b.Functions),
		writeStacks(part.Path(dir, fleet.TableStacks, id), b.Stacks),
		write(part, dir, fleet.TableSamples, id, b.Samples),
		write(part, dir, fleet.TableProfileFunctions, id, b.Facts),
		write(part, dir, fleet.TableProfileCategories, id, b.Categories),
	); err != nil {
		return "", err
	}
	return id, write(part, dir, fleet.TableProfiles, id, b.Profiles)
}

func write[T table.Row](part Partition, dir, name, id string, rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	return table.Write(part.Path(dir, name, id), rows)
}

// writeStacks writes rows of functions, a part of them at a time.
func writeStacks(name string, stacks []Stack) error {
	if len(stacks) == 0 {
		return nil
	}
	w, err := table.Create[fleet.Stack](name)
	if err != nil {
		return err
	}
	// A group is 2^16 rows as those of other lists, or fewer if they have many frames.
	const mostRows, mostFrames = 1 << 16, 1 << 20
	var rows []fleet.Stack
	var ids []int64
	for len(stacks) > 0 {
		n, frames := 0, 0
		for n < min(len(stacks), mostRows) && (n == 0 || frames+len(stacks[n].Frames) <= mostFrames) {
			frames += len(stacks[n].Frames)
			n++
		}
		rows, ids = rows[:0], slices.Grow(ids[:0], frames)
		for _, s := range stacks[:n] {
			first := len(ids)
			for _, f := range s.Frames {
				ids = append(ids, s.Functions[f])
			}
			rows = append(rows, fleet.Stack{StackID: s.ID, Frames: ids[first:len(ids):len(ids)]})
		}
		if err := w.Write(rows); err != nil {
			return errors.Join(err, w.Discard())
		}
		w.EndGroup()
		stacks = stacks[n:]
	}
	return w.Close()
}

// sort puts rows into the order of their tables. Functions and stacks are each there once afterwards.
func (b *Batch) sort() {
	slices.SortFunc(b.Profiles, func(x, y fleet.Profile) int {
		return cmp.Or(cmp.Compare(x.ProfileID, y.ProfileID), cmp.Compare(x.SampleType, y.SampleType))
	})
	slices.SortFunc(b.Functions, func(x, y fleet.Function) int { return cmp.Compare(x.FunctionID, y.FunctionID) })
	b.Functions = slices.Compact(b.Functions)
	slices.SortFunc(b.Stacks, func(x, y Stack) int { return bytes.Compare(x.ID[:], y.ID[:]) })
	b.Stacks = slices.CompactFunc(b.Stacks, func(x, y Stack) bool { return x.ID == y.ID })
	slices.SortFunc(b.Samples, func(x, y fleet.Sample) int {
		if c := cmp.Compare(x.SampleType, y.SampleType); c != 0 {
			return c
		}
		if c := cmp.Compare(x.ProfileID, y.ProfileID); c != 0 {
			return c
		}
		return cmp.Or(bytes.Compare(x.StackID[:], y.StackID[:]), cmp.Compare(x.Thread, y.Thread))
	})
	b.sortFacts()
	slices.SortFunc(b.Categories, func(x, y fleet.ProfileCategory) int {
		return cmp.Or(cmp.Compare(x.SampleType, y.SampleType), cmp.Compare(x.Category, y.Category), cmp.Compare(x.ProfileID, y.ProfileID))
	})
}

// sortFacts sorts facts by sample type, function and profile. There are millions of them, so that they are sorted by the ranks of
// these, which are in the other tables; where a fact is of what is not there, by comparing all.
func (b *Batch) sortFacts() {
	var types, profiles []string
	for i := range b.Profiles {
		types, profiles = append(types, b.Profiles[i].SampleType), append(profiles, b.Profiles[i].ProfileID)
	}
	slices.Sort(types)
	typeRank, profileRank, functionRank := ranks(slices.Compact(types)), ranks(slices.Compact(profiles)), make(map[int64]int, len(b.Functions))
	for i := range b.Functions {
		functionRank[b.Functions[i].FunctionID] = i + 1
	}
	type place struct {
		rank uint64
		row  int32
	}
	places := make([]place, len(b.Facts))
	var last fleet.ProfileFunction
	var ofType, ofProfile int
	complete := true
	for i := range b.Facts {
		f := &b.Facts[i]
		if i == 0 || f.SampleType != last.SampleType || f.ProfileID != last.ProfileID {
			last, ofType, ofProfile = *f, typeRank[f.SampleType], profileRank[f.ProfileID]
		}
		function := functionRank[f.FunctionID]
		complete = complete && ofType > 0 && ofProfile > 0 && function > 0
		places[i] = place{uint64(((ofType-1)*len(b.Functions)+function-1)*len(profiles) + ofProfile), int32(i)}
	}
	if !complete {
		slices.SortFunc(b.Facts, func(x, y fleet.ProfileFunction) int {
			return cmp.Or(cmp.Compare(x.SampleType, y.SampleType), cmp.Compare(x.FunctionID, y.FunctionID), cmp.Compare(x.ProfileID, y.ProfileID))
		})
		return
	}
	radix.Sort(places, func(p *place) uint64 { return p.rank })
	sorted := make([]fleet.ProfileFunction, len(places))
	for i, p := range places {
		sorted[i] = b.Facts[p.row]
	}
	b.Facts = sorted
}

// ranks numbers texts that are sorted from 1.
func ranks(sorted []string) map[string]int {
	rank := make(map[string]int, len(sorted))
	for i, s := range sorted {
		rank[s] = i + 1
	}
	return rank
}

// name is the hash of the versions and of all rows but functions and stacks, whose ids are hashes already: what is read with other
// names or other metadata is another batch.
func (b *Batch) name() string {
	sum := sha256.New()
	d := newDigest(sum)
	d.numbers(fleet.Schema, table.Decoder)
	for i := range b.Profiles {
		p := &b.Profiles[i]
		d.strings(p.ProfileID, p.ReleaseID, p.DeviceModel, p.DeviceID, p.SampleType, p.SourceURI)
		d.numbers(p.TimeNS, p.DurationNS, p.Weight, p.SampleCount, int64(p.DecoderVersion), int64(p.SchemaVersion))
		optional(d, p.WorkUnits, func(v int64) { d.numbers(v) })
		optional(d, p.ABI, func(s string) { d.strings(s) })
		optional(d, p.OSBuild, func(s string) { d.strings(s) })
	}
	for i := range b.Facts {
		f := &b.Facts[i]
		d.strings(f.SampleType, f.ProfileID)
		d.numbers(f.FunctionID, f.SelfValue, f.TotalValue)
	}
	for i := range b.Samples {
		k := &b.Samples[i]
		d.strings(k.SampleType, k.ProfileID, k.Thread)
		d.Write(k.StackID[:])
		d.numbers(k.Value, k.SampleCount)
	}
	for i := range b.Categories {
		c := &b.Categories[i]
		d.strings(c.SampleType, c.Category, c.ProfileID)
		d.numbers(c.SelfValue)
	}
	d.Flush()
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// A digest hashes values so that no two lists of them are the same bytes.
type digest struct{ *bufio.Writer }

func newDigest(sum hash.Hash) *digest { return &digest{bufio.NewWriterSize(sum, 32<<10)} }

func (d *digest) numbers(values ...int64) {
	b := d.AvailableBuffer()
	for _, v := range values {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	d.Write(b)
}

func (d *digest) strings(values ...string) {
	b := d.AvailableBuffer()
	for _, s := range values {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	d.Write(b)
}

func optional[T any](d *digest, v *T, write func(T)) {
	if v == nil {
		d.numbers(0)
		return
	}
	d.numbers(1)
	write(*v)
}
