package browser

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// ErrNoFirefox is returned where there is no Firefox.
var ErrNoFirefox = errors.New("firefox-esr is not installed")

// A Firefox is a page in a headless Firefox of its own, with an empty profile. It is driven
// by WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/), which Firefox speaks by itself:
//
//  1. The browser is started with a port of its choice and prints the address of a websocket.
//  2. Commands are JSON with a number, which their results have, too; events have none.
//  3. A session is opened; its one tab shows the page.
type Firefox struct {
	cmd    *exec.Cmd
	dir    string
	conn   *websocket.Conn
	ctx    context.Context
	cancel func()
	tab    string

	mu       sync.Mutex
	last     int
	waiting  map[int]chan reply
	problems []string
}

// A reply is the result of a command, or an event.
type reply struct {
	Type    string
	ID      int
	Result  json.RawMessage
	Error   string
	Message string
	Method  string
	Params  json.RawMessage
}

// OpenFirefox starts a browser and shows an address; it waits until the page is ready. Of the options
// it knows the size and Dark.
func OpenFirefox(parent context.Context, url string, opt Options) (*Firefox, error) {
	path, err := exec.LookPath("firefox-esr")
	if err != nil {
		if path, err = exec.LookPath("firefox"); err != nil {
			return nil, ErrNoFirefox
		}
	}
	f := &Firefox{waiting: make(map[int]chan reply)}
	f.ctx, f.cancel = context.WithTimeout(parent, timeout)
	if err = f.start(path, opt); err == nil {
		err = f.show(url, opt)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("firefox: %w", err)
	}
	return f, nil
}

// start runs the browser and connects.
func (f *Firefox) start(path string, opt Options) error {
	var err error
	if f.dir, err = os.MkdirTemp("", "profdiff-firefox-"); err != nil {
		return err
	}
	// Nothing is loaded but the page.
	prefs := map[string]any{
		"app.update.enabled": false, "browser.shell.checkDefaultBrowser": false, "datareporting.policy.dataSubmissionEnabled": false,
		"toolkit.telemetry.reportingpolicy.firstRun": false, "network.captive-portal-service.enabled": false, "network.connectivity-service.enabled": false,
		"extensions.update.enabled": false, "services.settings.server": "data:,", "remote.prefs.recommended": true,
	}
	if opt.Dark {
		prefs["ui.systemUsesDarkTheme"] = 1
	}
	var user strings.Builder
	for name, value := range prefs {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		fmt.Fprintf(&user, "user_pref(%q, %s);\n", name, text)
	}
	if err := os.WriteFile(filepath.Join(f.dir, "user.js"), []byte(user.String()), 0o600); err != nil {
		return err
	}
	f.cmd = exec.CommandContext(f.ctx, path, "--headless", "--no-remote", "--profile", f.dir, "--remote-debugging-port", "0", "about:blank")
	f.cmd.Env = append(os.Environ(), "HOME="+f.dir, "MOZ_CRASHREPORTER_DISABLE=1", "MOZ_DISABLE_CONTENT_SANDBOX=1")
	said, err := f.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := f.cmd.Start(); err != nil {
		return err
	}
	address, err := listening(said)
	if err != nil {
		return err
	}
	if f.conn, _, err = websocket.Dial(f.ctx, address+"/session", nil); err != nil {
		return err
	}
	f.conn.SetReadLimit(64 << 20) // pictures
	go f.read()
	if err := f.call("session.new", map[string]any{"capabilities": map[string]any{}}, nil); err != nil {
		return err
	}
	return f.call("session.subscribe", map[string]any{"events": []string{"log.entryAdded"}}, nil)
}

// listening is the address that the browser prints.
func listening(said io.Reader) (string, error) {
	lines := bufio.NewScanner(said)
	var all []string
	for lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "WebDriver BiDi listening on "); ok {
			go io.Copy(io.Discard, said) // or the browser waits
			return strings.TrimSpace(address), nil
		}
		all = append(all, lines.Text())
	}
	return "", fmt.Errorf("no address: %s", strings.Join(all, "; "))
}

// read takes what the browser sends until the connection ends.
func (f *Firefox) read() {
	for {
		_, data, err := f.conn.Read(f.ctx)
		var r reply
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		f.mu.Lock()
		if err != nil {
			for _, c := range f.waiting {
				c <- reply{Type: "error", Error: "connection", Message: err.Error()}
			}
			clear(f.waiting)
			f.mu.Unlock()
			return
		}
		if c := f.waiting[r.ID]; r.Type != "event" && c != nil {
			delete(f.waiting, r.ID)
			c <- r
		}
		if r.Method == "log.entryAdded" {
			var e struct{ Level, Text string }
			if json.Unmarshal(r.Params, &e) == nil && (e.Level == "error" || e.Level == "warn") {
				f.problems = append(f.problems, e.Level+": "+e.Text)
			}
		}
		f.mu.Unlock()
	}
}

// call sends a command, and waits for its result.
func (f *Firefox) call(method string, params map[string]any, result any) error {
	done := make(chan reply, 1)
	f.mu.Lock()
	f.last++
	id := f.last
	f.waiting[id] = done
	f.mu.Unlock()
	data, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	if err != nil {
		return err
	}
	if err := f.conn.Write(f.ctx, websocket.MessageText, data); err != nil {
		return err
	}
	select {
	case r := <-done:
		if r.Type == "error" {
			return fmt.Errorf("%s: %s: %s", method, r.Error, r.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(r.Result, result)
	case <-f.ctx.Done():
		return f.ctx.Err()
	}
}

// show opens the address in the tab that the browser has.
func (f *Firefox) show(url string, opt Options) error {
	var tree struct{ Contexts []struct{ Context string } }
	if err := f.call("browsingContext.getTree", map[string]any{}, &tree); err != nil {
		return err
	}
	if len(tree.Contexts) == 0 {
		return errors.New("no tab")
	}
	f.tab = tree.Contexts[0].Context
	size := map[string]any{"width": cmp.Or(opt.Width, 1440), "height": cmp.Or(opt.Height, 900)}
	if err := f.call("browsingContext.setViewport", map[string]any{"context": f.tab, "viewport": size}, nil); err != nil {
		return err
	}
	if err := f.call("browsingContext.navigate", map[string]any{"context": f.tab, "url": url, "wait": "complete"}, nil); err != nil {
		return err
	}
	_, err := EvalFirefox[bool](f, `(async () => { while (!document.documentElement.dataset.ready) await new Promise(r => setTimeout(r, 20)); return true })()`)
	return err
}

// EvalFirefox evaluates a script that may return a promise. What it returns has JSON.
func EvalFirefox[T any](f *Firefox, script string) (T, error) {
	var v T
	var out struct {
		Type             string
		Result           struct{ Value string }
		ExceptionDetails struct{ Text string }
	}
	err := f.call("script.evaluate", map[string]any{
		"expression": "(async () => JSON.stringify(await (" + script + ")))()", "target": map[string]any{"context": f.tab}, "awaitPromise": true,
	}, &out)
	if err == nil && out.Type == "exception" {
		err = errors.New(out.ExceptionDetails.Text)
	}
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal([]byte(out.Result.Value), &v)
}

// Do runs a script, and waits until the page has drawn what follows from it.
func (f *Firefox) Do(script string) error {
	_, err := EvalFirefox[bool](f, `(async () => { `+script+`; await new Promise(r => setTimeout(r, 0)); await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r))); return true })()`)
	return err
}

// firefoxKeys are the keys of this package as WebDriver calls them.
var firefoxKeys = map[string]string{Up: "\ue013", Down: "\ue015", Left: "\ue012", Right: "\ue014", Enter: "\ue007", Tab: "\ue004", Escape: "\ue00c"}

// Keys presses keys in the element that has the focus.
func (f *Firefox) Keys(keys string) error {
	var actions []map[string]any
	for _, k := range keys {
		key := cmp.Or(firefoxKeys[string(k)], string(k))
		actions = append(actions, map[string]any{"type": "keyDown", "value": key}, map[string]any{"type": "keyUp", "value": key})
	}
	return f.perform(map[string]any{"type": "key", "id": "keys", "actions": actions})
}

// Click clicks at a place of the view.
func (f *Firefox) Click(x, y float64) error {
	return f.perform(map[string]any{"type": "pointer", "id": "mouse", "actions": []map[string]any{
		{"type": "pointerMove", "x": int(x), "y": int(y)}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0},
	}})
}

func (f *Firefox) perform(source map[string]any) error {
	if err := f.call("input.performActions", map[string]any{"context": f.tab, "actions": []any{source}}, nil); err != nil {
		return err
	}
	return f.Do("")
}

// Back goes back in the history.
func (f *Firefox) Back() error {
	if err := f.call("browsingContext.traverseHistory", map[string]any{"context": f.tab, "delta": -1}, nil); err != nil {
		return err
	}
	return f.Do("")
}

// Screenshot is a PNG of the view.
func (f *Firefox) Screenshot() ([]byte, error) {
	var out struct{ Data string }
	if err := f.call("browsingContext.captureScreenshot", map[string]any{"context": f.tab}, &out); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(out.Data)
}

// Problems are errors and warnings of the page so far.
func (f *Firefox) Problems() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.problems...)
}

// Close ends the browser.
func (f *Firefox) Close() {
	if f.conn != nil {
		f.conn.Close(websocket.StatusNormalClosure, "")
	}
	f.cancel()
	if f.cmd != nil && f.cmd.Process != nil {
		f.cmd.Wait()
	}
	// Its other processes may still write there.
	for range 50 {
		if os.RemoveAll(f.dir) == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
