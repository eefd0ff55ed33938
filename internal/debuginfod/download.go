package debuginfod

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/scratch"
)

var (
	errSlow    = fmt.Errorf("it sent less than %d KiB in DEBUGINFOD_TIMEOUT", slowest>>10)
	errTooLong = errors.New("time is up")
)

// errTooLarge is a file that exceeds the bound on size.
type errTooLarge int64

func (e errTooLarge) Error() string { return fmt.Sprintf("it is larger than %d bytes", int64(e)) }

// errLocal is what goes wrong on this machine.
type errLocal struct{ error }

func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: connectTime}).DialContext
	t.RegisterProtocol("file", http.NewFileTransportFS(regular{os.DirFS("/")}))
	return t
}

// regular opens regular files only: to open a FIFO can take for ever.
type regular struct{ fs.FS }

// Open opens a regular file.
func (r regular) Open(name string) (fs.File, error) {
	if info, err := fs.Stat(r.FS, name); err != nil || !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return r.FS.Open(name)
}

// checkRedirect follows a server a few times, but not out of encryption or to files of this
// machine.
func checkRedirect(to *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL.Scheme
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirections", maxRedirects)
	case to.URL.Scheme != from && (from != "http" || to.URL.Scheme != "https"):
		return fmt.Errorf("a redirection from %s to %s", from, to.URL.Scheme)
	}
	return nil
}

// An answer is what a server answers to a request.
type answer struct {
	from     *server
	response *http.Response
	err      error
	watch    *watch
}

// download asks all servers for a file and puts it into the cache.
func (c *Client) download(kind Kind, buildID, name string) (path string, err error) {
	limit := c.left
	if c.maxTime > 0 {
		limit = min(limit, c.maxTime)
	}
	ctx, cancel := context.WithTimeoutCause(c.ctx, limit, errTooLong)
	defer cancel() // ends what other servers send
	answers := make(chan answer, len(c.servers))
	asked := 0
	for _, s := range c.servers {
		if !s.failed {
			asked++
			go func() { answers <- c.ask(ctx, s, fmt.Sprintf("%s/%s/%s", s.base, buildID, kind)) }()
		}
	}
	absent := 0
	path = c.cache.path(kind, buildID)
	for range asked {
		a := <-answers
		err := cmp.Or(a.err, context.Cause(ctx))
		if err == nil {
			err = c.take(a, path, buildID, name)
		}
		local, isLocal := errors.AsType[errLocal](err)
		tooLarge, isTooLarge := errors.AsType[errTooLarge](err)
		switch {
		case err == nil:
			return path, nil
		case c.ctx.Err() != nil:
			return "", ErrFailed
		case isLocal:
			c.stop(fmt.Sprintf("debuginfod is not asked: its cache cannot be used: %v", local))
			return "", ErrFailed
		case errors.Is(err, ErrNotFound):
			absent++
		case errors.Is(context.Cause(ctx), errTooLong):
			c.opt.Warn(fmt.Sprintf("debuginfod: %s was not there after %v; DEBUGINFOD_MAXTIME=SECONDS allows more", name, limit.Round(time.Millisecond)))
			return "", ErrFailed
		case isTooLarge:
			c.opt.Warn(fmt.Sprintf("debuginfod: %s of %s is not taken: %v, which DEBUGINFOD_MAXSIZE can change", name, a.from.name, tooLarge))
		default:
			a.from.failed = true
			c.opt.Warn(fmt.Sprintf("debuginfod: %s is not asked any more, after it was for %s: %v", a.from.name, name, err))
		}
	}
	if absent < len(c.servers) {
		return "", ErrFailed
	}
	c.cache.miss(path)
	return "", ErrNotFound
}

// ask sends a request. The answer has the response if the server has the file: take closes
// it, or the end of the context of download.
func (c *Client) ask(ctx context.Context, s *server, address string) answer {
	a := answer{from: s, watch: watchOver(ctx, c.timeout)}
	req, err := http.NewRequestWithContext(a.watch.ctx, http.MethodGet, address, nil)
	if err != nil {
		a.err = err
		return a
	}
	req.Header = c.headers.Clone()
	a.watch.start()
	response, err := c.http.Do(req)
	a.watch.stop()
	if err != nil {
		// Without the address, which is long and which the warning names in short.
		if in, ok := errors.AsType[*url.Error](err); ok {
			err = in.Err
		}
		a.err = cmp.Or(context.Cause(a.watch.ctx), err)
		c.logf("%s: %v", address, a.err)
		return a
	}
	c.logf("%s: %s", address, response.Status)
	switch response.StatusCode {
	case http.StatusOK:
		a.response = response
		return a
	case http.StatusNotFound, http.StatusGone:
		a.err = ErrNotFound
	case http.StatusNotAcceptable: // by X-DEBUGINFOD-MAXSIZE
		a.err = errTooLarge(c.maxSize)
	default:
		a.err = fmt.Errorf("it answered %s", response.Status)
	}
	response.Body.Close()
	return a
}

// take moves what a server sends to its place in the cache, if it is what was asked for.
func (c *Client) take(a answer, path, buildID, name string) error {
	defer a.response.Body.Close()
	total := a.response.ContentLength
	said, err := strconv.ParseInt(a.response.Header.Get("X-DEBUGINFOD-SIZE"), 10, 64)
	if total < 0 && err == nil {
		total = said
	}
	if total > c.maxSize {
		return errTooLarge(c.maxSize)
	}
	file, err := c.cache.create(path)
	if err != nil {
		return errLocal{err}
	}
	defer scratch.Add(file.Name())()
	defer os.Remove(file.Name()) // which does nothing once it was moved
	a.watch.start()
	defer a.watch.cancel(nil)
	defer a.watch.stop()
	in := &meter{in: a.response.Body, watch: a.watch, tell: c.opt.Progress, progress: Progress{name, a.from.name, 0, max(total, 0)}}
	n, err := io.Copy(file, io.LimitReader(in, c.maxSize+1))
	in.end()
	if closeErr := file.Close(); err == nil && closeErr != nil {
		err = errLocal{closeErr}
	}
	switch _, onDisk := errors.AsType[*fs.PathError](err); {
	case onDisk: // as if the disk is full
		return errLocal{err}
	case err != nil:
		return cmp.Or(context.Cause(a.watch.ctx), err)
	case n > c.maxSize:
		return errTooLarge(c.maxSize)
	case total >= 0 && n != total && !a.response.Uncompressed:
		return fmt.Errorf("it sent %d of %d bytes", n, total)
	}
	if err := check(file.Name(), buildID); err != nil {
		return fmt.Errorf("what it sent is not the file: %s", strings.TrimPrefix(err.Error(), file.Name()+": "))
	}
	modified, err := http.ParseTime(a.response.Header.Get("Last-Modified"))
	if err != nil {
		modified = time.Now()
	}
	if err := c.cache.put(file.Name(), path, modified); err != nil {
		return errLocal{err}
	}
	c.logf("%s: %d bytes", path, n)
	return nil
}

// A watch ends a request whose server is too slow.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil: no bound
	within time.Duration
	n      int64 // what was sent since the timer was set
}

func watchOver(parent context.Context, within time.Duration) *watch {
	w := &watch{within: within}
	w.ctx, w.cancel = context.WithCancelCause(parent)
	if within > 0 {
		w.timer = time.AfterFunc(within, func() { w.cancel(errSlow) })
		w.timer.Stop()
	}
	return w
}

// start waits for the server from now on.
func (w *watch) start() {
	if w.timer != nil {
		w.n = 0
		w.timer.Reset(w.within)
	}
}

// stop waits no more.
func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// sent notes what the server sent.
func (w *watch) sent(n int) {
	if w.n += int64(n); w.n >= slowest {
		w.start()
	}
}

// A meter counts what is read through it.
type meter struct {
	in       io.Reader
	watch    *watch
	tell     func(Progress) // nil: nobody
	progress Progress
	told     time.Time
}

// Read reads from the server.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.in.Read(p)
	m.watch.sent(n)
	m.progress.Done += int64(n)
	if now := time.Now(); m.tell != nil && now.Sub(m.told) > 100*time.Millisecond {
		m.told = now
		m.tell(m.progress)
	}
	return n, err
}

func (m *meter) end() {
	if m.tell != nil {
		m.tell(Progress{})
	}
}

// readHeaders adds what a file says to send with each request: lines of NAME: VALUE.
func readHeaders(h http.Header, name string) error {
	const maxHeaders = 64 << 10
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", name)
	}
	lines := bufio.NewScanner(io.LimitReader(f, maxHeaders))
	for lines.Scan() {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok {
			h.Set(strings.TrimSpace(key), strings.TrimSpace(value))
		}
	}
	return lines.Err()
}
