package unwind

import "strings"

// isPythonTrampoline reports whether what called a function, in memory without a file, is a
// trampoline of python -X perf: only those call the interpreter from there. Python makes one for each
// of its functions (Python/asm_trampoline.S of CPython), so that each has an address.
func (u *Unwinder) isPythonTrampoline(callee codeAt) bool {
	// On AArch64 they keep a frame pointer.
	return u.arch == amd64 && callee.module != nil &&
		strings.HasPrefix(callee.module.function(callee.vaddr), "_PyEval_EvalFrameDefault")
}

// byPythonTrampoline finds the caller of a trampoline, which reserves or pushes one word before it calls. The
// caller must look like it: code of a file, behind a call of what was computed.
func (u *Unwinder) byPythonTrampoline() (end End, more bool) {
	a := u.arch
	// Later ones keep a frame pointer.
	sp, _ := u.regs.get(a.sp)
	if fp, known := u.regs.get(a.fp); known && fp == sp {
		return u.byFramePointer()
	}
	if end, more = u.asLeaf(a.word, false); !more {
		return end, false
	}
	m, bias, at, ok := u.code(u.next.PC, false)
	if !ok || m == nil {
		return NoTable, false
	}
	if c := m.callAt(at - bias); !c.is || c.callee != "" {
		return NoTable, false
	}
	return 0, true
}
