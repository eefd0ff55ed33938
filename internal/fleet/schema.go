package fleet

// Schema is the version of the tables. Columns are only ever added, and what is added is
// optional: a required column that old files lack is an error in some engines and a
// silent default in others. A reader takes, of each profile, the row of the highest version.
const Schema = 1

// Names of the tables, which are the directories of a store. A file lies at
// TABLE/release=RELEASE/day=YYYY-MM-DD/b-BATCH.parquet, with RELEASE escaped as in a URL
// and the day on which the profile was taken.
const (
	TableProfiles          = "profiles"           // the ledger: written last
	TableFunctions         = "functions"          //
	TableStacks            = "stacks"             //
	TableSamples           = "samples"            //
	TableProfileFunctions  = "profile_functions"  // the fact table that comparisons read
	TableProfileCategories = "profile_categories" //
	TableRenames           = "renames"            // of the whole store: renames/r-HASH.parquet
	TableUnits             = "units"              // rolled up by compaction
	TableFunctionUnits     = "function_units"     // rolled up by compaction
)

// Profile is a row of the ledger: one profile, and one of its sample types. Rows are sorted
// by profile, then sample type. A profile without a row does not exist, whatever other tables
// hold of it: the ledger is written after them.
type Profile struct {
	ProfileID      string  `parquet:"profile_id"`             // hex, 128 bits of SHA-256 of the bytes of the file
	BatchID        string  `parquet:"batch_id,dict"`          // hex, 64 bits: where its facts are
	ReleaseID      string  `parquet:"release_id,dict"`        //
	DeviceModel    string  `parquet:"device_model,dict"`      //
	DeviceID       string  `parquet:"device_id,dict"`         // a pseudonym: never the identifier of a device
	UnitID         int32   `parquet:"unit_id"`                // 0 to 63, from a hash of the device
	TimeNS         int64   `parquet:"ts_ns"`                  // when it was taken, since 1970
	DurationNS     int64   `parquet:"duration_ns"`            // 0 if not known
	SampleType     string  `parquet:"sample_type,dict"`       // "cpu/nanoseconds"
	Weight         int64   `parquet:"weight"`                 // sum of the values of all samples
	SampleCount    int64   `parquet:"sample_count"`           //
	WorkUnits      *int64  `parquet:"work_units,optional"`    // frames, sessions, requests
	ABI            *string `parquet:"abi,optional,dict"`      //
	OSBuild        *string `parquet:"os_build,optional,dict"` //
	DecoderVersion int32   `parquet:"decoder_version"`        // what read it: another decoder makes another batch
	SchemaVersion  int32   `parquet:"schema_version"`         //
	SourceURI      string  `parquet:"source_uri"`             // as the manifest has it
}

// Function is a function by name: ids of two releases meet if module, name and file are the
// same after names were normalised. Rows are sorted by id.
type Function struct {
	FunctionID int64  `parquet:"function_id,delta"` // first 8 bytes of SHA-256(module \0 name \0 file), big endian
	Name       string `parquet:"name"`
	Module     string `parquet:"module,dict"` // without path, version and build ID
	File       string `parquet:"file,dict"`
}

// Stack is a distinct stack. Rows are sorted by id.
type Stack struct {
	StackID [16]byte `parquet:"stack_id"`    // SHA-256 of the ids of its functions, leaf to root; bytes, as engines check that strings are UTF-8
	Frames  []int64  `parquet:"frames,dict"` // ids of functions, leaf to root
}

// Sample is what one profile spent in one stack. Rows are sorted by sample type, profile, stack, thread.
type Sample struct {
	SampleType  string   `parquet:"sample_type,dict"`
	ProfileID   string   `parquet:"profile_id,dict"`
	StackID     [16]byte `parquet:"stack_id"`
	Thread      string   `parquet:"thread,dict"`
	BatchID     string   `parquet:"batch_id,dict"`
	Value       int64    `parquet:"value,dict"`
	SampleCount int64    `parquet:"sample_count,dict"`
}

// ProfileFunction is what one profile spent in one function. Rows are sorted by sample type,
// function, profile. A function that a profile does not have has no row, and counts as 0.
type ProfileFunction struct {
	SampleType string `parquet:"sample_type,dict"`
	FunctionID int64  `parquet:"function_id,delta"`
	ProfileID  string `parquet:"profile_id,dict"`
	BatchID    string `parquet:"batch_id,dict"`
	SelfValue  int64  `parquet:"self_value,dict"`
	TotalValue int64  `parquet:"total_value,dict"` // recursion counted once
}

// ProfileCategory is what one profile spent in one category of package category, such as
// system calls or locks. Rows are sorted by sample type, category, profile.
type ProfileCategory struct {
	SampleType string `parquet:"sample_type,dict"`
	Category   string `parquet:"category,dict"`
	ProfileID  string `parquet:"profile_id,dict"`
	BatchID    string `parquet:"batch_id,dict"`
	SelfValue  int64  `parquet:"self_value"`
}

// Rename says that one function of a release is another one of the other release: what a user
// declared, or what package align found. Queries replace the first id by the second. Rows are sorted by
// FromID.
type Rename struct {
	FromID int64  `parquet:"from_id"`
	ToID   int64  `parquet:"to_id"`
	Origin string `parquet:"origin,dict"` // "declared" or "aligned"
}

// Unit sums the profiles of a release, model and unit of devices: of fixed size, however many profiles.
type Unit struct {
	ReleaseID   string `parquet:"release_id,dict"`
	SampleType  string `parquet:"sample_type,dict"`
	DeviceModel string `parquet:"device_model,dict"`
	UnitID      int32  `parquet:"unit_id"`
	Profiles    int64  `parquet:"n_profiles"`
	Devices     int64  `parquet:"n_devices"`
	Weight      int64  `parquet:"w"`
	WorkUnits   *int64 `parquet:"work_units,optional"`  // missing if a profile of it lacks them
	DurationNS  *int64 `parquet:"duration_ns,optional"` // likewise
	SampleCount *int64 `parquet:"sample_count,optional"`
}

// FunctionUnit sums one function over the profiles of a [Unit].
type FunctionUnit struct {
	ReleaseID   string `parquet:"release_id,dict"`
	SampleType  string `parquet:"sample_type,dict"`
	DeviceModel string `parquet:"device_model,dict"`
	UnitID      int32  `parquet:"unit_id"`
	FunctionID  int64  `parquet:"function_id,delta"`
	SelfSum     int64  `parquet:"self_sum,dict"`
	TotalSum    int64  `parquet:"total_sum,dict"`
}
