package callgrind

import "testing"

func TestRecognise(t *testing.T) {
	for head, want := range map[string]bool{
		"# callgrind format\nversion: 1\n":                       true,
		"version: 1\ncreator: callgrind-3.19.0\nevents: Ir\n":    true,
		"\n# comment\r\nversion: 1\r\nevents: Ir\r\n":            true,
		"\ufeffevents: Ir Bc\n":                                  true,
		"desc: I1 cache: 32768 B\ncmd: ls\nevents: Ir\nfl=a.c\n": true,
		"version: 1\ncmd: ls\n":                                  false,
		"version: 1\nevents: Ir":                                 false,
		"main;f 3\n":                                             false,
		"cmd: ls\nmain;f 3\nevents: Ir\n":                        false,
		"":                                                       false,
	} {
		if got := Recognise([]byte(head)).Is; got != want {
			t.Errorf("Recognise(%q) is %v", head, got)
		}
	}
}
