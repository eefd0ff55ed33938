package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
	"profdiff/internal/ingest"
	"profdiff/internal/input"
	"profdiff/internal/objects"
	"profdiff/internal/retrace"
)

// bounds are the bounds of what a worker reads and keeps.
type bounds struct {
	// size is that of a profile in bytes, and that of what it decompresses to.
	size int64
	// stacks are the distinct stacks of functions of a profile, and frames the frames of these.
	stacks, frames int
	// rows are the rows of samples and facts of a batch, and batchFrames the frames of its stacks.
	rows, batchFrames int
}

// usual are the bounds of all workers: others would write other files.
var usual = bounds{size: 256 << 20, stacks: 1 << 20, frames: 1 << 24, rows: 4 << 20, batchFrames: 1 << 25}

// A Worker reads the profiles of specs and writes their rows.
type Worker struct {
	// Dir is the store.
	Dir string
	// Jobs is how many profiles are read at a time, at least 1. It changes nothing but the time.
	Jobs int
	// Options make the options by which profiles are read, one for each job. Names come from the profile and from
	// what these have: object files of the machine would be others elsewhere.
	Options func() *ingest.Options

	mappings map[string]*retrace.Mapping // by the files of a spec, the last one
	readers  []*reader                   // by job: what is known of names is of use to the next spec
	bounds   *bounds                     // other ones, of tests
}

// Work does what a spec says, and returns the receipt of it, which [store.WriteReceipt] keeps. An error is one of the store or of the
// spec: those of profiles are in the receipt.
func (w *Worker) Work(ctx context.Context, spec *Spec) (*store.Receipt, error) {
	mapping, err := w.mapping(spec.Mappings)
	if err != nil {
		return nil, err
	}
	if w.bounds == nil {
		w.bounds = &usual
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b := &builder{
		dir: w.Dir, bounds: w.bounds, had: make(map[string]uint64), open: make(map[store.Partition]*openBatch),
		receipt: &store.Receipt{Spec: spec.ID, Release: spec.Release, Batches: []string{}, Weights: make(map[string]int64), Rows: make(map[string]int64)},
	}
	for i, result := range w.read(ctx, spec, mapping) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := b.add(&spec.Profiles[i], result); err != nil {
			return nil, err
		}
	}
	if err := b.flush(); err != nil {
		return nil, err
	}
	if !b.receipt.Profiles.Balanced() || !b.receipt.Samples.Balanced() {
		return nil, fmt.Errorf("spec %s: the receipt does not balance: profiles %+v, samples %+v", spec.ID, b.receipt.Profiles, b.receipt.Samples)
	}
	return b.receipt, nil
}

// mapping reads the mappings of a release, which specs share.
func (w *Worker) mapping(files []string) (*retrace.Mapping, error) {
	if len(files) == 0 {
		return nil, nil
	}
	key := strings.Join(files, "\x00")
	if m, ok := w.mappings[key]; ok {
		return m, nil
	}
	var all *retrace.Mapping
	for _, name := range files {
		if err := input.Read(name, nil, func(src *input.Source) (err error) {
			if all == nil {
				all, err = retrace.Parse(src.Reader)
				return err
			}
			return all.Add(src.Reader)
		}); err != nil {
			return nil, err
		}
	}
	w.mappings = map[string]*retrace.Mapping{key: all}
	return all, nil
}

// A result is what became of a profile.
type result struct {
	rows *profileRows
	err  error
}

// read reads the profiles of a spec, several at a time, and yields what became of them in their order. No more are read ahead
// than there are jobs.
func (w *Worker) read(ctx context.Context, spec *Spec, mapping *retrace.Mapping) func(yield func(int, result) bool) {
	return func(yield func(int, result) bool) {
		jobs := max(1, w.Jobs)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		done := make([]chan result, jobs)
		readers := w.readers
		w.readers = nil // a reader may still read when this is stopped
		for job := range done {
			done[job] = make(chan result)
			if job == len(readers) {
				readers = append(readers, new(reader))
			}
			r := readers[job]
			if r.opt == nil || r.opt.Retrace != mapping {
				r.opt = w.Options()
				r.opt.Retrace = mapping
				r.decoder = newDecoder(w.bounds, mapping)
			}
			go func() {
				for i := job; i < len(spec.Profiles); i += jobs {
					rows, err := r.read(spec.Release, &spec.Profiles[i])
					select {
					case done[job] <- result{rows, err}:
					case <-ctx.Done():
						return
					}
				}
			}()
		}
		for i := range spec.Profiles {
			select {
			case r := <-done[i%jobs]:
				if !yield(i, r) {
					return
				}
			case <-ctx.Done():
				yield(i, result{err: ctx.Err()})
				return
			}
		}
		w.readers = readers
	}
}

// A reader reads one profile after the other.
type reader struct {
	opt *ingest.Options
	decoder
}

// read reads a profile. All errors are refusals, also where profdiff itself fails: there are other profiles.
func (r *reader) read(release string, p *Profile) (rows *profileRows, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			rows, err = nil, refuse(reasonBug, "%v, %s", fault, faultPlace())
			r.decoder = newDecoder(r.bounds, r.opt.Retrace)
		}
	}()
	digests := input.Digests{}
	err = digests.Read(p.Path, nil, func(src *input.Source) error {
		if err := src.LimitSize(r.bounds.size); err != nil {
			return err
		}
		// When a file was copied says nothing of the profile.
		src.Created, src.Modified = time.Time{}, time.Time{}
		format, err := ingest.Detect(src)
		if err != nil {
			return err
		}
		recording, err := ingest.ReadAs(format, src, r.opt)
		if err != nil {
			return err
		}
		id := profileID(digests, p.Path)
		if id == "" {
			return refuse(reasonUnread, "it has no bytes of its own: a profile is a file")
		}
		rows, err = r.rows(recording, headOf(id, release, p, recording), undone[format.Name])
		return err
	})
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(p.Path); err == nil {
			rows.bytes = info.Size()
		}
	}
	if err != nil {
		if _, ok := errors.AsType[*refusal](err); !ok {
			reason := reasonUnread
			if errors.Is(err, input.ErrSize) {
				reason = reasonLarge
			}
			err = &refusal{reason, err}
		}
		return nil, err
	}
	return rows, nil
}

// faultPlace is where profdiff failed, in a function that recovers: the innermost function of its own.
func faultPlace() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for failed := false; ; {
		frame, more := frames.Next()
		if failed = failed || frame.Function == "runtime.gopanic"; failed && strings.HasPrefix(frame.Function, "profdiff/") {
			return fmt.Sprintf("in %s, %s:%d", frame.Function, filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return "where is not known"
		}
	}
}

// A builder makes batches of profiles and accounts for all of them.
type builder struct {
	dir     string
	bounds  *bounds
	receipt *store.Receipt
	had     map[string]uint64 // what is said of profiles, by id
	open    map[store.Partition]*openBatch
	rows    int
	frames  int
}

// An openBatch is a batch that is not written yet. Rows are joined once, when there are all of them: they are millions.
type openBatch struct {
	profiles  []*profileRows
	functions map[int64]bool
	stacks    map[[16]byte]bool
}

// add adds what became of a profile.
func (b *builder) add(p *Profile, r result) error {
	b.receipt.Profiles.In++
	if r.err == nil {
		row := &r.rows.Profiles[0]
		switch said, ok := b.had[row.ProfileID]; {
		case ok && said == store.Said(row):
			r.err = refuse(reasonDuplicate, "it is profile %s", row.ProfileID)
		case ok:
			r.err = refuse(reasonDisputed, "it is profile %s, and counts as the first of both in the order of devices says", row.ProfileID)
		}
	}
	if r.err != nil {
		why, ok := errors.AsType[*refusal](r.err)
		if !ok {
			return r.err
		}
		b.receipt.Profiles.Drop(why.reason, 1)
		b.receipt.Dropped = append(b.receipt.Dropped, store.Dropped{Source: p.source(), Reason: why.reason, Detail: detail(why.err, p)})
		return nil
	}
	rows := r.rows
	if n := len(rows.Samples) + len(rows.Facts); b.rows > 0 && (b.rows+n > b.bounds.rows || b.frames+rows.frames > b.bounds.batchFrames) {
		if err := b.flush(); err != nil {
			return err
		}
	}
	b.had[rows.Profiles[0].ProfileID] = store.Said(&rows.Profiles[0])
	b.account(rows)
	part := store.PartitionOf(&rows.Profiles[0])
	o := b.open[part]
	if o == nil {
		o = &openBatch{functions: make(map[int64]bool), stacks: make(map[[16]byte]bool)}
		b.open[part] = o
	}
	o.add(rows)
	b.rows += len(rows.Samples) + len(rows.Facts)
	b.frames += rows.frames
	return nil
}

// detail is an error in a line, without what it says for each profile alike.
func detail(err error, p *Profile) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	line, _, _ = strings.Cut(line, "; profdiff reads ")
	return strings.TrimPrefix(strings.ReplaceAll(line, p.Path, p.source()), p.source()+": ")
}

// account writes a profile into the receipt.
func (b *builder) account(rows *profileRows) {
	b.receipt.Profiles.Out++
	b.receipt.Bytes += rows.bytes
	a := &rows.samples
	samples := store.Account{In: a.In, Out: a.Out}
	for reason, n := range a.Dropped {
		samples.Drop(reason, n)
	}
	samples.Drop("filtered before", a.Filtered)
	b.receipt.Samples.Add(samples)
	b.receipt.Lost += a.Lost
	for i := range rows.Profiles {
		p := &rows.Profiles[i]
		w := b.receipt.Weights
		w[p.SampleType] += min(p.Weight, math.MaxInt64-w[p.SampleType])
	}
}

// add adds the rows of a profile: functions and stacks once each.
func (o *openBatch) add(rows *profileRows) {
	var functions []fleet.Function
	for _, f := range rows.Functions {
		if !o.functions[f.FunctionID] {
			o.functions[f.FunctionID] = true
			functions = append(functions, f)
		}
	}
	var stacks []store.Stack
	for _, s := range rows.Stacks {
		if !o.stacks[s.ID] {
			o.stacks[s.ID] = true
			stacks = append(stacks, s)
		}
	}
	rows.Functions, rows.Stacks = functions, stacks
	o.profiles = append(o.profiles, rows)
}

// join is the batch of all profiles, whose rows are given up.
func (o *openBatch) join() *store.Batch {
	b := new(store.Batch)
	joinRows(&b.Profiles, o.profiles, func(r *profileRows) *[]fleet.Profile { return &r.Profiles })
	joinRows(&b.Functions, o.profiles, func(r *profileRows) *[]fleet.Function { return &r.Functions })
	joinRows(&b.Stacks, o.profiles, func(r *profileRows) *[]store.Stack { return &r.Stacks })
	joinRows(&b.Samples, o.profiles, func(r *profileRows) *[]fleet.Sample { return &r.Samples })
	joinRows(&b.Facts, o.profiles, func(r *profileRows) *[]fleet.ProfileFunction { return &r.Facts })
	joinRows(&b.Categories, o.profiles, func(r *profileRows) *[]fleet.ProfileCategory { return &r.Categories })
	return b
}

// joinRows joins the rows of one table.
func joinRows[T any](all *[]T, profiles []*profileRows, of func(*profileRows) *[]T) {
	n := 0
	for _, p := range profiles {
		n += len(*of(p))
	}
	*all = make([]T, 0, n)
	for _, p := range profiles {
		rows := of(p)
		*all, *rows = append(*all, *rows...), nil
	}
}

// flush writes the batches that are open.
func (b *builder) flush() error {
	for _, part := range slices.SortedFunc(maps.Keys(b.open), store.Partition.Compare) {
		o := b.open[part].join()
		id, err := o.Write(b.dir)
		if err != nil {
			return err
		}
		b.receipt.Batches = append(b.receipt.Batches, id)
		for name, n := range map[string]int{
			fleet.TableProfiles: len(o.Profiles), fleet.TableFunctions: len(o.Functions), fleet.TableStacks: len(o.Stacks),
			fleet.TableSamples: len(o.Samples), fleet.TableProfileFunctions: len(o.Facts), fleet.TableProfileCategories: len(o.Categories),
		} {
			b.receipt.Rows[name] += int64(n)
		}
	}
	clear(b.open)
	b.rows, b.frames = 0, 0
	return nil
}

// Options are the options of a worker that takes names from nothing but profiles and the directories that are searched.
func Options(symfs ...objects.SearchPath) *ingest.Options {
	return &ingest.Options{Objects: objects.New(objects.Options{Symfs: symfs})}
}

// Specs reads the lines of a plan.
func Specs(r io.Reader, each func(*Spec) error) error {
	lines := input.NewLines(r)
	for line, ok := lines.Next(); ok; line, ok = lines.Next() {
		if len(line) == 0 {
			continue
		}
		s, err := Parse(line)
		if err == nil {
			err = each(s)
		} else {
			err = fmt.Errorf("line %d: %w", lines.Number(), err)
		}
		if err != nil {
			return err
		}
	}
	return lines.Err()
}
