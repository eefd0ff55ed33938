package objectstest

import (
	"archive/zip"
	"bytes"
	"os"
	"testing"
	"testing/fstest"

	"profdiff/internal/objects"
)

// Dir is a store of the files in a directory.
func Dir(dir string) *objects.Store {
	return objects.New(objects.Options{Symfs: []objects.SearchPath{{Name: dir, FS: os.DirFS(dir)}}})
}

// Stored is a store of files, which are called symfs0/…, symfs1/… and so on.
func Stored(files ...fstest.MapFS) *objects.Store {
	var paths []objects.SearchPath
	for i, f := range files {
		paths = append(paths, objects.SearchPath{Name: "symfs" + string(rune('0'+i)), FS: f})
	}
	return objects.New(objects.Options{Symfs: paths})
}

// ReadFile is a file in a file system.
func ReadFile(t testing.TB, path string) *fstest.MapFile {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: data, Mode: 0o644}
}

// Kallsyms is a list of the kernel's symbols in a file.
func Kallsyms(t testing.TB, path string) *objects.Kallsyms {
	t.Helper()
	list, err := objects.ParseKallsyms(path, bytes.NewReader(ReadFile(t, path).Data))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// APK is an archive with one stored entry.
func APK(t testing.TB, entry string, data []byte) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateHeader(&zip.FileHeader{Name: entry, Method: zip.Store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b.Bytes(), Mode: 0o644}
}
