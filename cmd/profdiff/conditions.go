package main

import (
	"path/filepath"

	"profdiff/internal/run"
)

// addConditions adds what the folder notes of the machine during a run.
func (f *folder) addConditions(r *run.Run) {
	r.Recording.Bound = f.Plan.Window()
	r.Recording.Conditions.Governor = f.Machine.Governor
	for i := range f.Runs {
		noted := &f.Runs[i]
		if filepath.Join(f.dir, filepath.FromSlash(noted.File)) != filepath.Clean(r.Name) {
			continue
		}
		r.Recording.Command = f.Plan.Side(noted.Side).Run
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
