package unwind

// A trampoline is the code that a signal handler returns to, which asks the kernel to restore
// what was interrupted.
type trampoline struct{}
