package main

import (
	"fmt"

	tables "profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
	"profdiff/internal/fleet/table"
)

// batchDevices is the number of devices of a batch.
const batchDevices = 250

// writeStore writes a store in which a device has one profile, with the sums of those that it sends. There are no stacks.
func (f *fleet) writeStore(dir string) error {
	var batches [len(releases)]store.Batch
	flush := func(release int) error {
		b := &batches[release]
		if len(b.Profiles) == 0 {
			return nil
		}
		for i := range f.program.functions {
			b.Functions = append(b.Functions, f.program.functions[i].row())
		}
		_, err := b.Write(dir)
		*b = store.Batch{}
		return err
	}
	p := &pen{f: f}
	for _, d := range f.devices {
		if d.profiles == 0 {
			continue
		}
		p.take(d)
		p.sum(&batches[d.release])
		if len(batches[d.release].Profiles) == batchDevices {
			if err := flush(d.release); err != nil {
				return err
			}
		}
	}
	for release := range batches {
		if err := flush(release); err != nil {
			return err
		}
	}
	return nil
}

// row is the function as the store has it.
func (f *function) row() tables.Function {
	return tables.Function{FunctionID: tables.FunctionID(f.module, f.name, f.file), Name: f.name, Module: f.module, File: f.file}
}

// sum adds the sums of all profiles of the device to a batch.
func (p *pen) sum(b *store.Batch) {
	name := p.f.deviceName(p.d)
	row := tables.Profile{
		ProfileID: tables.ProfileID([]byte(name)), ReleaseID: releases[p.d.release], DeviceModel: modelName(p.d.model), DeviceID: tables.Device("", name),
		TimeNS: start + int64(p.d.release)*5*day, SampleType: "cpu/nanoseconds", WorkUnits: new(int64),
		DecoderVersion: table.Decoder, SchemaVersion: tables.Schema, SourceURI: fmt.Sprintf("%s: %d profiles", name, p.d.profiles),
	}
	row.UnitID = tables.UnitID(row.DeviceID)
	self, total := make(map[int]int64), make(map[int]int64)
	for range p.d.profiles {
		drawn, counts := p.sample()
		*row.WorkUnits += drawn.work
		row.DurationNS += drawn.duration
		row.SampleCount += int64(drawn.samples)
		for stack, n := range counts {
			// No stack has a function twice: each is of another layer.
			functions := p.f.program.stacks[stack]
			self[functions[0]] += n * period
			for _, fn := range functions {
				total[fn] += n * period
			}
		}
	}
	row.Weight = row.SampleCount * period
	b.Profiles = append(b.Profiles, row)
	for fn, v := range total {
		b.Facts = append(b.Facts, tables.ProfileFunction{
			SampleType: row.SampleType, FunctionID: p.f.program.functions[fn].row().FunctionID, ProfileID: row.ProfileID, SelfValue: self[fn], TotalValue: v,
		})
	}
}
