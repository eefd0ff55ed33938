package stackdump

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// tombstoneOf is the tombstone of testdata/tombstone.txt in protobuf.
func tombstoneOf() []byte {
	frame := func(relPC int, file, function string, more ...any) []byte {
		fields := []any{1, relPC, 2, uint64(0x7b00000000) + uint64(relPC), 3, uint64(0x7fd3027000)}
		if function != "" {
			fields = append(fields, 4, function, 5, 12)
		}
		return ingesttest.Message(append(append(fields, 6, file), more...)...)
	}
	const (
		libc   = "/apex/com.android.runtime/lib64/bionic/libc.so"
		libcID = "cd953571180b7f5f8ae5570dad29595f"
		libart = "/apex/com.android.art/lib64/libart.so"
		app    = "/data/app/~~q==/com.example.shop-w=="
	)
	render := ingesttest.Message(
		1, 2896, 2, "Render", 3, ingesttest.Message(1, "rax", 2, 0), 6, 1, 7, "a note",
		4, frame(0xb2c3, app+"/lib/x86_64/librender.so", "render::Tile::raster(render::Rect const&)", 8, "0102030405060708"),
		4, frame(0x331a10, libart, "art::interpreter::Native(int)"),
		4, frame(0xffe54, app+"/oat/x86_64/base.odex", "art_jni_trampoline"),
		4, frame(0x412340, "/memfd:jit-cache (deleted)", "com.example.shop.a.c", 7, 0x2000000),
		4, frame(0x331a10, libart, "nterp_helper"),
		4, frame(0xfa3c, "[anon:dalvik-classes.dex extracted in memory from /data/app/x (y)/base.apk]", "com.example.shop.Main.run"),
		4, frame(0x3606ae, libart, "art_quick_invoke_stub"),
		4, frame(0x11ba9, "/system/bin/app_process64", "main", 8, "9d2e"),
		4, frame(0x50cc9, libc, "__libc_init", 8, libcID),
	)
	guest := ingesttest.Message(1, 2896, 4, frame(0x12e64, "/system/lib64/arm64/libc.so", "tgkill"))
	return ingesttest.Message(
		1, 3, 2, "example/device/device:14/UP1A.231005.007/1:user/release-keys", 3, "0", 4, "2023-11-14 22:13:20.175592859+0000",
		5, 2875, 6, 2896, 7, 10147, 8, "u:r:isolated_app:s0", 9, "com.example.shop:renderer", 9, "--flag", 10, ingesttest.Message(1, 11), 14, "x",
		16, ingesttest.Message(1, 2896, 2, render),
		16, ingesttest.Message(1, 2875, 2, ingesttest.Message(1, 2875, 2, "hop:renderer", 4, frame(0xa2d58, libc, "__epoll_pwait", 8, libcID))),
		16, ingesttest.Message(1, 2899, 2, ingesttest.Message(1, 2899, 2, "gone")),
		17, ingesttest.Message(1, 1), 18, ingesttest.Message(1, "main"), 20, 3, 22, 4096, 24, 1, 25, ingesttest.Message(1, 2896, 2, guest), 4711, "of the maker",
	)
}

// TestTombstoneProto compares a tombstone in both forms.
func TestTombstoneProto(t *testing.T) {
	data := tombstoneOf()
	if !RecogniseTombstone(data).Is {
		t.Error("is not taken for a tombstone")
	}
	for _, opt := range []reading.Options{{PID: true, TID: true}, {ShowARTFrames: true, UnknownOffset: true}} {
		got := ingesttest.Read(t, ReadTombstone, data, &opt)
		want := ingesttest.Read(t, Read, dumpFileOf(t, "tombstone.txt"), &opt)
		if d := cmp.Diff(dumpSamples(t, want), dumpSamples(t, got), cmp.AllowUnexported(dumpSample{})); d != "" {
			t.Errorf("samples (-text +protobuf):\n%s", d)
		}
		if d := cmp.Diff(want.Mappings, got.Mappings); d != "" {
			t.Errorf("mappings (-text +protobuf):\n%s", d)
		}
		const render = 9 // the locations of the first thread
		if d := cmp.Diff(want.Locations[:render], got.Locations[:render]); d != "" {
			t.Errorf("locations (-text +protobuf):\n%s", d)
		}
		if d := cmp.Diff(want.Accounting, got.Accounting); d != "" {
			t.Errorf("accounting (-text +protobuf):\n%s", d)
		}
		recording := run.Recording{
			Format: "Android tombstones in protobuf", Arch: "x86_64", Build: "example/device/device:14/UP1A.231005.007/1:user/release-keys",
			Start: time.Date(2023, 11, 14, 22, 13, 20, 175592859, time.UTC),
		}
		if d := cmp.Diff(recording, got.Recording); d != "" {
			t.Errorf("recording (-want +got):\n%s", d)
		}
	}
}

func TestTombstoneProtoErrors(t *testing.T) {
	head := ingesttest.Message(2, "a/b", 4, "", 5, 1, 6, 1)
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "is a dump without threads"},
		{"no threads", head, "is a dump without threads"},
		{"cut off", tombstoneOf()[:200], "tombstone: field "},
		{"type of a field", ingesttest.Message(5, "x"), "tombstone: field 5 at 0x1: wrong wire type 2"},
		{"type of the threads", append(head[:len(head):len(head)], ingesttest.Message(16, 1)...), "tombstone: field 16 at "},
		{"thread", append(head[:len(head):len(head)], ingesttest.Message(16, ingesttest.Message(2, "\xff"))...), "tombstone: field "},
		{"frame", append(head[:len(head):len(head)], ingesttest.Message(16, ingesttest.Message(2, ingesttest.Message(4, ingesttest.Message(1, "x"))))...), "tombstone: field 1 at "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := ReadTombstone(ingesttest.Source(t, tt.data), &reading.Options{})
			if err == nil || r != nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	for _, data := range [][]byte{nil, ingesttest.Message(2, "a/b"), ingesttest.Message(2, "ab", 4, "", 5, 1, 6, 1), ingesttest.Message(2, "a/b", 4, "", 5, 1, 6, "x"), tombstoneOf()[:200]} {
		if RecogniseTombstone(data).Is {
			t.Errorf("%q is taken for a tombstone", data)
		}
	}
	if !RecogniseTombstone(head).Is {
		t.Errorf("%q is not taken for a tombstone", head)
	}
	long := append(head[:len(head):len(head)], bytes.Repeat(ingesttest.Message(19, "x"), input.HeadSize)...) // only its start is known
	if RecogniseTombstone(long[:input.HeadSize-2]).Is {
		t.Error("what ends within a field is taken for a tombstone")
	}
	if !RecogniseTombstone(ingesttest.Source(t, long).Head).Is {
		t.Error("a long tombstone is not taken for one")
	}
}

func FuzzTombstoneProto(f *testing.F) {
	f.Add(tombstoneOf())
	f.Add(ingesttest.Message(2, "a/b", 4, "", 5, 1, 6, 1, 16, ingesttest.Message(2, ingesttest.Message(1, 1, 4, ingesttest.Message(1, 1, 6, "x.apk", 7, 9)))))
	f.Add(ingesttest.Message(16, ingesttest.Message(2, ingesttest.Message(4, ingesttest.Message(4, "_Z1fv", 8, "0a")))))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
			return // gzip is undone before
		}
		ingesttest.Fuzz(t, ReadTombstone, data, &reading.Options{PID: true, TID: true})
		ingesttest.Fuzz(t, ReadTombstone, data, &reading.Options{ShowARTFrames: true, UnknownOffset: true})
		RecogniseTombstone(data)
	})
}

// TestTombstoneProtoMemory checks that threads take no memory until they are read.
func TestTombstoneProtoMemory(t *testing.T) {
	data := []byte("\x08\x01\x12\x03a/b\x22\x01x\x28\x01\x30\x01")
	for range 1 << 20 {
		data = append(data, 0x82, 0x01, 0x00) // a thread
	}
	src := ingesttest.Source(t, data)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := ReadTombstone(src, &reading.Options{})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if r.Accounting.In != 1<<20 || r.Accounting.TotalDropped() != 1<<20 {
		t.Errorf("accounting %s", &r.Accounting)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 12*uint64(len(data)) {
		t.Errorf("%d bytes are allocated for %d", n, len(data))
	}
}
