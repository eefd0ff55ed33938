package main

import (
	"path/filepath"
	"time"

	"profdiff/internal/run"
)

// addConditions adds what the folder notes of a run: what was recorded, and what the machine
// did meanwhile.
func (f *folder) addConditions(r *run.Run) {
	r.Recording.Bound = f.Plan.Window()
	r.Recording.Conditions.Governor = f.Machine.Governor
	for i := range f.Runs {
		noted := &f.Runs[i]
		if filepath.Join(f.dir, filepath.FromSlash(noted.File)) != filepath.Clean(r.Name) {
			continue
		}
		recorded := f.Plan.Side(noted.Side)
		r.Recording.Command, r.Recording.Commit = recorded.Run, recorded.Commit.String()
		r.Recording.CommandTime = time.Duration(noted.CommandSeconds * float64(time.Second))
		c := &noted.Conditions
		r.Recording.Conditions = run.Conditions{
			Governor: f.Machine.Governor, FrequencyMHz: c.FrequencyMHz, FrequencyLimitMHz: c.FrequencyLimitMHz,
			Throttled: c.Throttled, ThermalStatus: c.ThermalStatus,
			Cores: f.Machine.Cores, BackgroundCPUs: c.BackgroundCPUs, StolenCPUs: c.StolenCPUs,
		}
		if noted.Seconds > 0 {
			r.Recording.Conditions.OwnCPUs = (noted.UserSeconds + noted.SystemSeconds) / noted.Seconds
		}
	}
}
