package objects_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"profdiff/internal/objects"
	"profdiff/internal/objects/objectstest"
)

func TestSearch(t *testing.T) {
	heap, other := objectstest.ReadFile(t, heapBinary), objectstest.ReadFile(t, otherBinary)
	id := func(suffix string) string { return ".build-id/" + heapID[:2] + "/" + heapID[2:] + suffix }
	text := &fstest.MapFile{Data: []byte("no object file"), Mode: 0o644}
	for _, test := range []struct {
		name    string
		files   fstest.MapFS
		path    string
		id      string
		found   string // "" if none
		warning string
	}{
		{"path", fstest.MapFS{heapPath[1:]: heap}, heapPath, heapID, heapPath, ""},
		{"path without a known ID", fstest.MapFS{heapPath[1:]: other}, heapPath, "", heapPath, ""},
		{"base name", fstest.MapFS{"message-heap": heap}, heapPath, heapID, "/message-heap", ""},
		{"perf's cache", fstest.MapFS{id("/elf"): heap}, heapPath, heapID, "/" + id("/elf"), ""},
		{"debug files", fstest.MapFS{id(".debug"): heap}, heapPath, heapID, "/" + id(".debug"), ""},
		{"distribution", fstest.MapFS{"usr/lib/debug/" + id(".debug"): heap}, heapPath, heapID, "/usr/lib/debug/" + id(".debug"), ""},
		{"binary_cache", fstest.MapFS{"build_id_list": &fstest.MapFile{Data: []byte("0x" + heapID + "=some/lib.so\n")}, "some/lib.so": heap}, "/x/lib.so", heapID, "/some/lib.so", ""},
		{"anywhere", fstest.MapFS{"deep/down/renamed": heap, "deep/text": text}, heapPath, heapID, "/deep/down/renamed", ""},
		{"not below the root of a system", fstest.MapFS{"deep/down/renamed": heap, "proc/self": text}, heapPath, heapID, "", ""},
		{"another build", fstest.MapFS{heapPath[1:]: other}, heapPath, heapID, "", "its build ID is 254819e9a68b52d86fa283d99c06e2299e61b3c0, that of the recording " + heapID},
		{"another build, the right one elsewhere", fstest.MapFS{heapPath[1:]: other, "right": heap}, heapPath, heapID, "/right", "is not used"},
		{"no object file", fstest.MapFS{heapPath[1:]: text}, heapPath, heapID, "", ""},
		{"padded ID", fstest.MapFS{"message-heap": heap}, heapPath, heapID + "00000000", "/message-heap", ""},
		{"library in an APK", fstest.MapFS{"data/app/base.apk": objectstest.APK(t, "lib/arm64/libx.so", heap.Data)}, "/data/app/base.apk!/lib/arm64/libx.so", heapID, "/data/app/base.apk", ""},
		{"library of an APK beside it", fstest.MapFS{"libx.so": heap}, "/data/app/base.apk!/lib/arm64/libx.so", heapID, "/libx.so", ""},
		{"replaced while in use", fstest.MapFS{heapPath[1:]: heap}, heapPath + " (deleted)", heapID, heapPath, ""},
		{"nothing", fstest.MapFS{}, heapPath, heapID, "", ""},
		{"path that leads out", fstest.MapFS{"etc/x": heap}, "/../../etc/x", heapID, "/etc/x", ""},
	} {
		s := objectstest.Stored(test.files)
		got := ""
		if o, err := s.Names(objects.Recorded{Path: test.path, BuildID: test.id}); err == nil {
			got = strings.TrimPrefix(o.Name(), "symfs0")
		}
		if got != test.found {
			t.Errorf("%s: found %q, want %q", test.name, got, test.found)
		}
		all := strings.Join(s.Warnings(), "\n")
		if test.warning == "" && all != "" || !strings.Contains(all, test.warning) {
			t.Errorf("%s: warnings %q, want %q", test.name, all, test.warning)
		}
	}
}
