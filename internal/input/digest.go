package input

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"
)

// Digests are the SHA-256 of inputs by their names. They are computed while an input is
// read, so that only what nobody read has to be read for them.
type Digests map[string]*digested

// watching guards all Digests while files are opened: some are read at the same time.
var watching sync.Mutex

// A digested is a file that digests what is read of it in order.
type digested struct {
	*os.File
	info os.FileInfo

	mu   sync.Mutex
	sum  hash.Hash
	done int64 // bytes in sum
}

// Read does what [Read] does and digests the input, unless d is nil.
func (d Digests) Read(name string, stdin io.Reader, read func(*Source) error) error {
	src, err := open(name, stdin, d)
	if err != nil {
		return err
	}
	if err := read(src); err != nil {
		return fmt.Errorf("%s: %w", src.Name, errors.Join(err, src.Close()))
	}
	return src.Close()
}

// watch returns the reader to read a file by.
func (d Digests) watch(name string, f *os.File) io.Reader {
	if d == nil {
		return f
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return f
	}
	x := &digested{File: f, info: info, sum: sha256.New()}
	watching.Lock()
	defer watching.Unlock()
	d[name] = x
	return x
}

// Size is the size of the file.
func (x *digested) Size() int64 { return x.info.Size() }

// mostSkipped is how many bytes that nobody read are read for the digest: it goes on then
// with what follows them.
const mostSkipped = 16 << 10

// ReadAt reads as the file does.
func (x *digested) ReadAt(p []byte, off int64) (int, error) {
	n, err := x.File.ReadAt(p, off)
	x.mu.Lock()
	defer x.mu.Unlock()
	if gap := off - x.done; gap > 0 && gap <= mostSkipped {
		skipped := make([]byte, gap)
		if _, err := x.File.ReadAt(skipped, x.done); err == nil {
			x.sum.Write(skipped)
			x.done = off
		}
	}
	if end := off + int64(n); off <= x.done && end > x.done {
		x.sum.Write(p[x.done-off : n])
		x.done = end
	}
	return n, err
}

// digestBuffer is how much of a file is read at a time.
const digestBuffer = 256 << 10

// Of is the SHA-256 of a file, "" if it cannot be read again.
func (d Digests) Of(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	sum, done := sha256.New(), int64(0)
	if x := d[name]; x != nil && os.SameFile(x.info, info) && x.info.Size() == info.Size() && x.info.ModTime().Equal(info.ModTime()) {
		sum, done = x.sum, x.done
		delete(d, name) // the sum goes on to the end of the file, once
	}
	rest := io.NewSectionReader(f, done, max(0, info.Size()-done))
	if _, err := io.CopyBuffer(sum, struct{ io.Reader }{rest}, make([]byte, min(rest.Size()+1, digestBuffer))); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
