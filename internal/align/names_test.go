package align

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNames(t *testing.T) {
	for _, test := range []struct {
		name       string
		base, head []string
		commands   [2]string
		want       map[string]string
	}{
		{"the same", []string{"app", "libc.so.6"}, []string{"app", "libc.so.6"}, [2]string{"./app", "./app"}, nil},
		{"the program", []string{"old", "libc.so.6"}, []string{"new", "libc.so.6"}, [2]string{"./old 5", "./new 5"}, map[string]string{"new": "old"}},
		{
			"by the recorder",
			[]string{"lua-5.3", "libm.so.6"},
			[]string{"luajit", "libm.so.6"},
			[2]string{"perf record -g -o a.data build-a/lua-5.3 x.lua", "perf record -g -o b.data -- /opt/luajit x.lua"},
			map[string]string{"luajit": "lua-5.3"},
		},
		{"in a shell", []string{"gzip"}, []string{"zstd"}, [2]string{`sh -c 'A=1 ./bin/gzip<corpus >/dev/null'`, `sh -c 'zstd -c corpus|wc -c'`}, map[string]string{"zstd": "gzip"}},
		{"cut by the kernel", []string{"message-heap.be"}, []string{"message-heap.af"}, [2]string{"./message-heap.before", "./message-heap.after"}, map[string]string{"message-heap.af": "message-heap.be"}},
		{"two programs", []string{"a1", "b1"}, []string{"b2", "a2"}, [2]string{"./a1 | ./b1", "./a2 | ./b2"}, map[string]string{"a2": "a1", "b2": "b1"}},
		{"one program became two", []string{"one"}, []string{"first", "second"}, [2]string{"one", "first | second"}, nil},
		{"not the command's", []string{"app", "helper"}, []string{"app", "daemon"}, [2]string{"./app", "./app"}, nil},
		{"threads of a program", []string{"old", "old:io", "old-w"}, []string{"new", "new:io", "newer"}, [2]string{"./old", "./new"}, map[string]string{"new": "old", "new:io": "old:io"}},
		{
			"libraries",
			[]string{"libz.so.1.2.11", "libcrypto.so.1.1", "libpython3.11.so.1.0", "ld-2.31.so", "libLLVM-14.so.1"},
			[]string{"libz.so.1.2.12", "libcrypto.so.3", "libpython3.12.so.1.0", "ld-2.36.so", "libLLVM-17.so"},
			[2]string{},
			map[string]string{
				"libz.so.1.2.12": "libz.so.1.2.11", "libcrypto.so.3": "libcrypto.so.1.1", "libpython3.12.so.1.0": "libpython3.11.so.1.0",
				"ld-2.36.so": "ld-2.31.so", "libLLVM-17.so": "libLLVM-14.so.1",
			},
		},
		{"interpreters", []string{"python3.11", "clang-14"}, []string{"python3.12", "clang-16"}, [2]string{}, map[string]string{"python3.12": "python3.11", "clang-16": "clang-14"}},
		{"words for sides", []string{"heap.before"}, []string{"heap.after"}, [2]string{}, map[string]string{"heap.after": "heap.before"}},
		{"both versions at once", []string{"libz.so.1.2.11"}, []string{"libz.so.1.2.11", "libz.so.1.2.12"}, [2]string{}, nil},
		{"two that could be meant", []string{"libssl.so.1.1", "libssl.so.1.0"}, []string{"libssl.so.3"}, [2]string{}, nil},
		{"other libraries", []string{"libfoo1.so", "libm.so.6"}, []string{"libbar2.so", "libz.so.6"}, [2]string{}, nil},
		{"numbers alone", []string{"1.2"}, []string{"1.3"}, [2]string{}, nil},
	} {
		got := Names(test.base, test.head, [2][]string{CommandWords(test.commands[0]), CommandWords(test.commands[1])})
		if test.want == nil {
			test.want = map[string]string{}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
}

func TestPaths(t *testing.T) {
	base := []string{"/home/a/lua-5.3.6/lvm.c", "/home/a/lua-5.3.6/lib/x.c", "/home/a/lua-5.3.6/src/x.c", "/usr/include/y.h", "/a/only.c"}
	head := []string{"/home/b/lua-5.4.6/lvm.c", "/home/b/lua-5.4.6/src/x.c", "/home/b/lua-5.4.6/lib/x.c", "/usr/include/y.h", "/b/other.c"}
	want := map[string]string{
		"/home/b/lua-5.4.6/lvm.c":   "/home/a/lua-5.3.6/lvm.c",
		"/home/b/lua-5.4.6/src/x.c": "/home/a/lua-5.3.6/src/x.c",
		"/home/b/lua-5.4.6/lib/x.c": "/home/a/lua-5.3.6/lib/x.c",
	}
	if diff := cmp.Diff(want, Paths(base, head)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
