package symbolizer

import "profdiff/internal/perffile"

// recordedKinds are the kinds of files that recordings have symbols of.
var recordedKinds = map[perffile.DSOType]FileKind{
	perffile.DSOKernel: KernelImage, perffile.DSOKernelModule: KernelModule,
	perffile.DSOELF: ELFFile, perffile.DSODex: DEXFile, perffile.DSOSymbolMap: SymbolMapFile,
}

// AddRecording adds the symbols that a perf.data file has of files.
func (z *Symbolizer) AddRecording(file *perffile.File) error {
	for f, err := range file.SymbolFiles() {
		if err != nil {
			return err
		}
		kind, ok := recordedKinds[f.Type]
		if !ok {
			kind = UnknownFile
		}
		r := &RecordedFile{Path: f.Path, Kind: kind, MinVaddr: f.MinVaddr, Offset: f.OffsetOfMinVaddr, HasOffset: f.HasOffset, DexOffsets: f.DexFileOffsets}
		r.Symbols = make([]RecordedSymbol, len(f.Symbols))
		for i, s := range f.Symbols {
			r.Symbols[i] = RecordedSymbol{Addr: s.Addr, Len: uint64(s.Len), Name: s.Name}
		}
		z.AddRecorded(r)
	}
	return nil
}
