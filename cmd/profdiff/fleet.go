package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/fleet/batch"
	"profdiff/internal/fleet/store"
	"profdiff/internal/ingest"
	"profdiff/internal/input"
	"profdiff/internal/objects"
	"profdiff/internal/report/text"
)

func newFleetCmd(std *stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Compare releases over the profiles of many devices",
		Example: `  profdiff fleet ingest profiles --out store
  profdiff fleet compare store --html report.html`,
		Long: `Compare releases over the profiles of many devices. A store is a directory of Parquet
tables, which engines such as DuckDB, Spark, Trino, ClickHouse and DataFusion read as
they are. profdiff fleet ingest makes one on this machine; plan and worker are the two
halves of it, for whatever runs commands on many machines: Spark's pipe, Kubernetes
jobs, Slurm arrays.

Tables, rows and names of files depend on the profiles alone. It does not matter how many workers there
are, which of them die, or what is done twice: what is complete is written over itself,
and what is not is never counted. A profile that is in several batches of a release counts once.`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	cmd.AddCommand(newFleetIngestCmd(std), newFleetPlanCmd(std), newFleetWorkerCmd(std), newFleetCompareCmd(std), newFleetSQLCmd(std), newFleetShowCmd(std), newFleetCompactCmd(std), newFleetRenameCmd(std), newFleetDeleteCmd(std))
	for _, c := range cmd.Commands() {
		if c.Annotations == nil {
			c.Annotations = map[string]string{needsLess: smallerStore}
		}
	}
	return cmd
}

// smallerStore is how a command on a store needs less memory that has no flag for it.
const smallerStore = "a store of fewer profiles needs less"

// oneStore refuses arguments of a command on a store that are not one store.
func oneStore(cmd *cobra.Command, inputs []string) error {
	if len(inputs) > 1 {
		return fmt.Errorf("one store, and %s is another: %s STORE", inputs[1], cmd.CommandPath())
	}
	return firstStore(cmd, inputs)
}

// firstStore refuses arguments of a command on a store that begin with none.
func firstStore(cmd *cobra.Command, inputs []string) error {
	if len(inputs) == 0 || inputs[0] == "" {
		return fmt.Errorf("name the store, the directory that profdiff fleet ingest made: %s STORE", cmd.CommandPath())
	}
	return nil
}

// noInputs refuses arguments of a command that reads its standard input.
func noInputs(cmd *cobra.Command, inputs []string) error {
	if len(inputs) > 0 {
		return fmt.Errorf("%s is read on standard input: %s … < %[1]s", inputs[0], cmd.CommandPath())
	}
	return nil
}

// planFlags are the flags of commands that list profiles.
type planFlags struct {
	manifest string
	release  string
	saltFile string
	size     int
	mappings []string
}

func (f *planFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.manifest, "manifest", "", "read the list of profiles from `FILE`: CSV with a line of names of columns, or a JSON object a line; columns are "+
		strings.Join(batch.Columns(), ", "))
	fs.StringVar(&f.release, "release", "", "all profiles are of the release `NAME`, whatever directories they are in")
	fs.StringVar(&f.saltFile, "salt-file", "", "make pseudonyms of devices with the secret in `FILE`")
	fs.IntVar(&f.size, "batch", 2000, "put `N` profiles into a batch")
	fs.StringArrayVar(&f.mappings, "proguard-mapping", nil, "undo the renaming of ProGuard or R8 in a release by `RELEASE=FILE`, its mapping.txt (repeatable)")
}

// planHelp says how profiles are listed.
const planHelp = `INPUT are directories RELEASE/MODEL/DEVICE/… with profiles of any format that profdiff
reads; with --release, directories and files of that release, each of a device of its
own. --manifest names a list instead that tells of each profile its path and release,
and its device_model, device, time, duration, work_units (frames, sessions, requests),
abi and os_build as far as they are known. Relative paths are relative to the manifest.
What the list does not tell, the profile does, if it can: its time and duration, of
recordings of simpleperf the device model.

The identifier of a device is never written: DEVICE and the column device become
pseudonyms, hashes with the secret in --salt-file. Without a secret, whoever can guess an
identifier can tell that its device is there. The column device_id has pseudonyms
already. A path that names the device has the pseudonym instead.`

// mostBatch bounds the size of a batch: a line of the plan and the ids of its profiles are kept.
const mostBatch = 20_000

// plan emits the specs of what the flags and the inputs list, without profiles that the store in a directory has, if there is one. It
// accounts for these.
func (f *planFlags) plan(cmd *cobra.Command, std *stdio, inputs []string, dir string, emit func(*batch.Spec) error) (left store.Account, err error) {
	switch {
	case f.size < 1 || f.size > mostBatch:
		return left, usagef(cmd, "--batch is 1 to %d, not %d", mostBatch, f.size)
	case f.manifest == "" && len(inputs) == 0:
		return left, usagef(cmd, "name directories of profiles, or a list of them: --manifest FILE")
	case f.manifest != "" && len(inputs) > 0:
		return left, usagef(cmd, "--manifest lists all profiles: name no others")
	case f.manifest != "" && f.release != "":
		return left, usagef(cmd, "--release is for directories: a manifest has a column release")
	}
	p := batch.Plan{Size: f.size, Mappings: make(map[string][]string), Emit: emit}
	for _, m := range f.mappings {
		release, file, ok := strings.Cut(m, "=")
		if !ok || release == "" || file == "" {
			return left, usagef(cmd, "--proguard-mapping is RELEASE=FILE, not %q", m)
		}
		p.Mappings[release] = append(p.Mappings[release], file)
	}
	if p.Salt, err = readSalt(f.saltFile); err != nil {
		return left, err
	}
	if dir != "" {
		if p.Stored, err = batch.ReadStored(dir); err != nil {
			return left, err
		}
	}
	unsalted, listed := false, 0
	add := func(l batch.Listed) error {
		unsalted = unsalted || l.Identifier != "" && p.Salt == ""
		listed++
		return p.Add(l)
	}
	if f.manifest != "" {
		err = input.Read(f.manifest, std.in, func(src *input.Source) error { return batch.Manifest(src.Reader, src.Dir, add) })
	}
	for _, root := range inputs {
		if err == nil {
			err = batch.Directories(root, f.release, add)
		}
	}
	if err != nil {
		return left, err
	}
	if listed == 0 {
		return left, fmt.Errorf("%s: there are no profiles", strings.Join(append(inputs, f.manifest), " "))
	}
	if unsalted {
		std.warn("devices are hashed without a secret: whoever can guess the identifier of a device can tell that it is there; --salt-file FILE has one")
	}
	err = p.Close()
	if p.Disputed > 0 {
		std.warn("%s: other things are said of %s of the profiles than in the list: they are read again, and profdiff fleet show %[1]s tells which counts", dir, text.Count(p.Disputed))
	}
	if p.Unmapped > 0 {
		std.warn("%s: has %s of the profiles already, with the names that they were read with: --proguard-mapping is of no effect on them, but in a new store", dir, text.Count(p.Unmapped))
	}
	return p.Left, err
}

// readSalt reads the secret with which pseudonyms are made.
func readSalt(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	const most = 4 << 10
	data, err := readStart(name, most)
	salt := strings.TrimSpace(string(data))
	if err == nil && salt == "" {
		err = fmt.Errorf("%s: is empty: a secret is what nobody guesses", name)
	}
	return salt, err
}

// workFlags are the flags of commands that read profiles into a store.
type workFlags struct {
	out   string
	jobs  int
	symfs []string
}

func (f *workFlags) register(cmd *cobra.Command, jobs int) {
	fs := cmd.Flags()
	fs.StringVar(&f.out, "out", "", "write into the store in `DIR`, which need not be there yet")
	fs.IntVar(&f.jobs, "jobs", jobs, "read `N` profiles at a time, which changes nothing but the time")
	fs.StringArrayVar(&f.symfs, "symfs", nil, "name addresses by object files in `DIR`, by build ID, then by path (repeatable); no others are looked at: each worker has to find the same")
}

func (f *workFlags) worker(cmd *cobra.Command) (*batch.Worker, error) {
	switch {
	case f.out == "":
		return nil, usagef(cmd, "give a directory for the store: --out DIR")
	case f.jobs < 1:
		return nil, usagef(cmd, "--jobs is at least 1, not %d", f.jobs)
	}
	var paths []objects.SearchPath
	for _, dir := range f.symfs {
		if info, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("--symfs: %w", input.PathError(err))
		} else if !info.IsDir() {
			return nil, fmt.Errorf("--symfs: %s is not a directory", dir)
		}
		paths = append(paths, objects.SearchPath{Name: dir, FS: os.DirFS(dir)})
	}
	// Profiles are small, and a batch of them that is kept is not to be looked through for each few.
	debug.SetGCPercent(200)
	return &batch.Worker{Dir: f.out, Jobs: f.jobs, Options: func() *ingest.Options { return batch.Options(paths...) }}, nil
}
