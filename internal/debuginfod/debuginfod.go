// Package debuginfod gets object files and their debug information by build ID from debuginfod
// servers, and shares what it got with the other clients of this machine (GDB, perf, elfutils).
//
//  1. The environment says which servers there are (DEBUGINFOD_URLS) and what may be asked of
//     them: without servers there is no client.
//  2. A file that the cache holds is taken from there. An empty one says that no server had
//     it when it was asked for, and holds for a while.
//  3. All servers are asked at once, and the first that has the file sends it: into a file
//     beside its place in the cache, no faster than a bound on size and no slower than
//     100 KiB in each DEBUGINFOD_TIMEOUT.
//  4. What arrived is checked: it has to be a whole ELF file with the build ID that was asked
//     for. Only then it is moved to its place, so that nobody sees a part of it.
//  5. A server that fails is said once and not asked again. All that a command asks for shares
//     one limit of time.
//
// Sources: debuginfod(8) for the requests, debuginfod-client-config(7) for the environment and
// the cache, debuginfod/debuginfod-client.c of elfutils 0.188 to 0.193 for the names in it. That
// library is C. Of those for Go, go.kacmar.sk/debuginfod (v0) reads no environment and has a
// cache of its own without negative entries, which no other client would share; others start
// the program debuginfod-find, which is mostly not installed where profiles are read.
package debuginfod

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"profdiff/internal/objfile"
)

// A Kind is what is asked for of a build ID, named as in the address of a request.
type Kind string

// Debuginfo is a file with debug information and symbols, Executable one with the code.
const (
	Debuginfo  Kind = "debuginfo"
	Executable Kind = "executable"
)

var (
	// ErrNotFound says that no server has the file.
	ErrNotFound = errors.New("no debuginfod server has it")
	// ErrFailed says that whether a server has the file is not known. A warning said why.
	ErrFailed = errors.New("debuginfod failed")
)

const (
	// defaultTimeout is that of the C client.
	defaultTimeout = 90 * time.Second
	// slowest is what a server has to send in each timeout, as in the C client.
	slowest = 100 << 10
	// defaultMaxSize bounds a file if DEBUGINFOD_MAXSIZE does not. Debug information of
	// browsers and kernels, the largest that distributions have, is 1 to 3 GB.
	defaultMaxSize = 4 << 30
	// commandTime bounds what a command waits for servers, over all files, if
	// DEBUGINFOD_MAXTIME does not allow one file more.
	commandTime = 2 * time.Minute
	// connectTime is how long a server may take to be reached.
	connectTime = 10 * time.Second
	// maxRedirects is how often a server may send on to another place.
	maxRedirects = 5
	// maxBuildID is the longest build ID in bytes, as in the C client.
	maxBuildID = 64
)

// Options say how a client reaches the user.
type Options struct {
	Getenv func(string) string
	// Warn is called for each thing that the user should know.
	Warn func(text string)
	// Progress, if it is not nil, is called now and then while a file is downloaded, and
	// with the zero Progress when that is over.
	Progress func(Progress)
	// Log is where DEBUGINFOD_VERBOSE tells of each request.
	Log io.Writer
	// UserAgent names the program to servers.
	UserAgent string
}

// Progress is the state of a download.
type Progress struct {
	Name   string // of the file that is asked for
	Server string
	// Done is how many bytes arrived, Total how many there are, 0 if the server did not say.
	Done, Total int64
}

// A Client asks the servers of the environment. Its methods may be called concurrently;
// files are downloaded one after the other.
type Client struct {
	opt     Options
	ctx     context.Context // of the command that the client is for
	http    *http.Client
	headers http.Header
	cache   cache

	logging sync.Mutex

	timeout, maxTime time.Duration // 0: no bound
	maxSize          int64

	mu      sync.Mutex
	servers []*server
	left    time.Duration // what the command may still wait
	over    bool          // and was told that it may not
	known   map[request]result
}

// A server is one that may be asked.
type server struct {
	base   string // of addresses, up to and with /buildid
	name   string // for messages
	failed bool
}

type request struct {
	kind Kind
	id   string
}

type result struct {
	path string
	err  error
}

// New returns a client for a command, nil if the environment names no server. What is under
// way ends with ctx.
func New(ctx context.Context, opt Options) *Client {
	c := &Client{opt: opt, ctx: ctx, headers: make(http.Header), known: make(map[request]result)}
	if c.servers = c.serversOf(opt.Getenv("DEBUGINFOD_URLS")); len(c.servers) == 0 {
		return nil
	}
	dir := cacheDir(opt.Getenv)
	if dir == "" {
		opt.Warn("debuginfod is not asked: without HOME there is no place for its cache, which DEBUGINFOD_CACHE_PATH can name")
		return nil
	}
	c.cache = cache{dir: dir}
	c.timeout = time.Duration(c.number("DEBUGINFOD_TIMEOUT", int64(defaultTimeout/time.Second))) * time.Second
	c.maxTime = time.Duration(c.number("DEBUGINFOD_MAXTIME", 0)) * time.Second
	c.maxSize = cmp.Or(c.number("DEBUGINFOD_MAXSIZE", 0), defaultMaxSize)
	c.left = max(commandTime, c.maxTime)
	c.headers.Set("User-Agent", opt.UserAgent)
	if c.maxSize != defaultMaxSize {
		c.headers.Set("X-DEBUGINFOD-MAXSIZE", strconv.FormatInt(c.maxSize, 10))
	}
	if name := opt.Getenv("DEBUGINFOD_HEADERS_FILE"); name != "" {
		if err := readHeaders(c.headers, name); err != nil {
			opt.Warn(fmt.Sprintf("DEBUGINFOD_HEADERS_FILE: %v", err))
		}
	}
	if opt.Log == nil || opt.Getenv("DEBUGINFOD_VERBOSE") == "" {
		c.opt.Log = io.Discard
	}
	c.http = &http.Client{Transport: newTransport(), CheckRedirect: checkRedirect}
	return c
}

// serversOf reads DEBUGINFOD_URLS: addresses with spaces between them, and tags, which say
// of those that follow whether they have to sign files.
func (c *Client) serversOf(urls string) (list []*server) {
	signed := false
	for word := range strings.FieldsSeq(urls) {
		if policy, ok := strings.CutPrefix(word, "ima:"); ok {
			signed = policy != "ignore"
			continue
		}
		u, err := url.Parse(word)
		switch {
		case err != nil || !slices.Contains([]string{"http", "https", "file"}, u.Scheme):
			c.opt.Warn(fmt.Sprintf("DEBUGINFOD_URLS: %s is passed over: it is no address that starts with https://, http:// or file://", word))
			continue
		case signed:
			c.opt.Warn(fmt.Sprintf("DEBUGINFOD_URLS: %s is passed over: its files are to be signed, which is not checked here", word))
			continue
		}
		base := strings.TrimSuffix(word, "/") + "/buildid"
		if !slices.ContainsFunc(list, func(s *server) bool { return s.base == base }) {
			list = append(list, &server{base: base, name: cmp.Or(u.Host, u.Path)})
		}
	}
	return list
}

// number reads a variable that holds a number, which is not negative.
func (c *Client) number(name string, otherwise int64) int64 {
	text := c.opt.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	const most = int64(1<<63-1) / int64(time.Second)
	if err != nil || strings.HasSuffix(name, "TIME") && n > most {
		c.opt.Warn(fmt.Sprintf("%s=%s is not used: it is no number", name, text))
		return otherwise
	}
	return max(n, 0)
}

// Find returns where on this machine a file with a build ID is, which is in lower-case
// hexadecimal. name is what the recording calls it, for messages. The error is [ErrNotFound]
// or [ErrFailed].
func (c *Client) Find(kind Kind, buildID, name string) (path string, err error) {
	if len(buildID) < 2 || len(buildID) > 2*maxBuildID || len(buildID)%2 != 0 || strings.Trim(buildID, "0123456789abcdef") != "" {
		return "", ErrNotFound
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.known[request{kind, buildID}]
	if !ok {
		r.path, r.err = c.find(kind, buildID, name)
		c.known[request{kind, buildID}] = r
	}
	return r.path, r.err
}

func (c *Client) find(kind Kind, buildID, name string) (path string, err error) {
	if err := c.cache.clean(); err != nil {
		c.stop(fmt.Sprintf("debuginfod is not asked: its cache cannot be used: %v", err))
	}
	path = c.cache.path(kind, buildID)
	switch state, err := c.cache.state(path); {
	case err == nil && state == held && check(path, buildID) == nil:
		c.logf("%s: in the cache", path)
		return path, nil
	case err == nil && state == missed:
		c.logf("%s: no server had it a while ago", path)
		return "", ErrNotFound
	}
	if c.left <= 0 && !c.over {
		c.over = true
		c.opt.Warn(fmt.Sprintf("debuginfod: %s and more are not asked for: servers were waited for long enough. What arrived is kept, so that another try goes on; DEBUGINFOD_MAXTIME=SECONDS allows more", name))
	}
	if c.left <= 0 {
		return "", ErrFailed
	}
	start := time.Now()
	defer func() { c.left -= time.Since(start) }()
	return c.download(kind, buildID, name)
}

// stop asks no server any more.
func (c *Client) stop(why string) {
	for _, s := range c.servers {
		if !s.failed {
			s.failed = true
			if why != "" {
				c.opt.Warn(why)
			}
			why = ""
		}
	}
}

// check reports why a file is not the whole ELF file with a build ID.
func check(path, buildID string) error {
	f, err := objfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Whole(); err != nil {
		return err
	}
	if id := f.BuildID(); id != buildID {
		return fmt.Errorf("its build ID is %s, not %s", cmp.Or(id, "absent"), buildID)
	}
	return nil
}

// logf writes a line of the log. Servers are asked side by side.
func (c *Client) logf(format string, args ...any) {
	c.logging.Lock()
	defer c.logging.Unlock()
	fmt.Fprintf(c.opt.Log, "debuginfod: "+format+"\n", args...)
}
