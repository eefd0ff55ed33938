// Package browser opens reports in a headless Chromium, for tests and measurements.
package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Keys for Page.Keys, beside letters.
const (
	Up     = kb.ArrowUp
	Down   = kb.ArrowDown
	Left   = kb.ArrowLeft
	Right  = kb.ArrowRight
	Enter  = kb.Enter
	Tab    = kb.Tab
	Escape = kb.Escape
)

// ErrMissing is returned where there is no browser.
var ErrMissing = errors.New("chromium is not installed")

// Options say how a page is seen.
type Options struct {
	Width, Height int64 // 1440 by 900
	Media         string
	Dark          bool
	ForcedColors  bool
	NoScript      bool
	// Deficiency of color vision: deuteranopia, achromatopsia, …
	Deficiency string
}

// A Page is a page in a browser of its own, with an empty profile.
type Page struct {
	ctx    context.Context
	cancel []func()

	mu       sync.Mutex
	problems []string
	requests []string
}

// timeout is the most that a page may take in all, on a machine with other work.
const timeout = 3 * time.Minute

// Open starts a browser and shows an address; it waits until the page is ready.
func Open(parent context.Context, url string, opt Options) (*Page, error) {
	path, err := find()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "profdiff-browser-")
	if err != nil {
		return nil, err
	}
	p := &Page{cancel: []func(){func() { os.RemoveAll(dir) }}}
	flags := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	ctx, cancel := context.WithTimeout(parent, timeout)
	p.cancel = append(p.cancel, cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, flags...)
	p.cancel = append(p.cancel, cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	p.cancel = append(p.cancel, cancel)
	p.ctx = ctx
	if err := p.open(url, opt); err != nil {
		p.Close()
		return nil, fmt.Errorf("chromium: %w", err)
	}
	return p, nil
}

func find() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrMissing
}

func (p *Page) open(url string, opt Options) error {
	if err := chromedp.Do(p.ctx, chromedp.Navigate("about:blank")); err != nil {
		return err
	}
	if err := chromedp.Listen(p.ctx, p.heard); err != nil {
		return err
	}
	if err := p.prepare(opt); err != nil {
		return err
	}
	return p.show(url, opt)
}

func (p *Page) show(url string, opt Options) error {
	steps := []chromedp.Action[chromedp.Void]{chromedp.Navigate(url)}
	if !opt.NoScript {
		steps = append(steps, chromedp.WaitReady(chromedp.CSS("html[data-ready]")))
	}
	return chromedp.Do(p.ctx, steps...)
}

// Show shows another address in the same browser, and waits until it is ready. From then
// on Problems and Requests tell of this page.
func (p *Page) Show(url string, opt Options) error {
	if err := p.prepare(opt); err != nil {
		return err
	}
	p.mu.Lock()
	p.problems, p.requests = nil, nil
	p.mu.Unlock()
	return p.show(url, opt)
}

// Reload reads the page again, with the state that its address has.
func (p *Page) Reload() error {
	return chromedp.Do(p.ctx, chromedp.Reload(), chromedp.WaitReady(chromedp.CSS("html[data-ready]")))
}

// prepare sets what the page is seen with.
func (p *Page) prepare(opt Options) error {
	if opt.Width == 0 {
		opt.Width, opt.Height = 1440, 900
	}
	var features []*emulation.MediaFeature
	if opt.Dark {
		features = append(features, &emulation.MediaFeature{Name: "prefers-color-scheme", Value: "dark"})
	}
	if opt.ForcedColors {
		features = append(features, &emulation.MediaFeature{Name: "forced-colors", Value: "active"})
	}
	_, err := chromedp.Call(p.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: opt.Width, Height: opt.Height, DeviceScaleFactor: 1})
	errs := []error{err}
	add := func(err error) { errs = append(errs, err) }
	_, err = chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: opt.Media, Features: features})
	add(err)
	_, err = chromedp.Call(p.ctx, network.Enable, network.EnableParams{})
	add(err)
	_, err = chromedp.Call(p.ctx, log.Enable, struct{}{})
	add(err)
	_, err = chromedp.Call(p.ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	add(err)
	_, err = chromedp.Call(p.ctx, emulation.SetEmulatedVisionDeficiency, emulation.SetEmulatedVisionDeficiencyParams{Type: emulation.SetEmulatedVisionDeficiencyType(cmp.Or(opt.Deficiency, "none"))})
	add(err)
	_, err = chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: opt.NoScript})
	add(err)
	return errors.Join(errs...)
}

// heard keeps what is written to the console, errors, violations of the policy, and what is loaded.
func (p *Page) heard(ev any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		p.exception(e.ExceptionDetails)
	case *log.EventEntryAdded:
		p.problems = append(p.problems, fmt.Sprintf("%s: %s", e.Entry.Level, e.Entry.Text))
	case *runtime.EventConsoleAPICalled:
		var text []string
		for _, a := range e.Args {
			text = append(text, cmp.Or(string(a.Value), a.Description))
		}
		p.problems = append(p.problems, fmt.Sprintf("console.%s: %s", e.Type, strings.Join(text, " ")))
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *network.EventWebSocketCreated:
		p.requests = append(p.requests, e.URL)
	}
}

func (p *Page) exception(d *runtime.ExceptionDetails) {
	text := d.Text
	if d.Exception != nil && d.Exception.Description != "" {
		text += ": " + d.Exception.Description
	}
	p.problems = append(p.problems, text)
}

// Problems are errors of the script, and of the policy of the page, so far.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.problems...)
}

// Requests are the addresses that were loaded, that of the page included.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

// Close ends the browser.
func (p *Page) Close() {
	for i := len(p.cancel) - 1; i >= 0; i-- {
		p.cancel[i]()
	}
}

// Eval evaluates a script that may return a promise. The policy of the page does not
// concern it.
func Eval[T any](p *Page, script string) (T, error) {
	return chromedp.Run(p.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// ColoredPixels is a script that counts the pixels of the flame graph that stand for
// decided changes: those with a color that is not the mark of the selection.
const ColoredPixels = `(() => {
	const c = document.querySelector("canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
	const m = document.createElement("canvas").getContext("2d");
	m.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--focus").trim();
	m.fillRect(0, 0, 1, 1);
	const mark = m.getImageData(0, 0, 1, 1).data;
	let n = 0;
	for (let i = 0; i < d.length; i += 4) {
		if (d[i] === mark[0] && d[i+1] === mark[1] && d[i+2] === mark[2]) continue;
		if (Math.max(d[i], d[i+1], d[i+2]) - Math.min(d[i], d[i+1], d[i+2]) > 50) n++;
	}
	return n;
})()`

// Do runs a script, and waits until the page has drawn what follows from it.
func (p *Page) Do(script string) error {
	_, err := Eval[bool](p, `(async () => { `+script+`; await new Promise(r => setTimeout(r, 0)); await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r))); return true })()`)
	return err
}

// Keys presses keys in the element that has the focus.
func (p *Page) Keys(keys string) error {
	if err := chromedp.Do(p.ctx, chromedp.KeyEvent(keys)); err != nil {
		return err
	}
	return p.Do("")
}

// Click clicks at a place of the view.
func (p *Page) Click(x, y float64) error {
	if err := chromedp.Do(p.ctx, chromedp.MouseClickXY(x, y)); err != nil {
		return err
	}
	return p.Do("")
}

// Drag moves the pointer from one place to another with its button pressed.
func (p *Page) Drag(x0, y0, x1, y1 float64) error {
	mouse := func(typ input.DispatchMouseEventType, x, y float64, buttons int64) error {
		_, err := chromedp.Call(p.ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: typ, X: x, Y: y, Button: input.MouseButtonLeft, Buttons: buttons, ClickCount: 1})
		return err
	}
	if err := errors.Join(mouse(chromedp.MouseMoved, x0, y0, 0), mouse(chromedp.MousePressed, x0, y0, 1), mouse(chromedp.MouseMoved, (x0+x1)/2, y1, 1), mouse(chromedp.MouseMoved, x1, y1, 1), mouse(chromedp.MouseReleased, x1, y1, 0)); err != nil {
		return err
	}
	return p.Do("")
}

// ShiftKeys presses keys while Shift is held.
func (p *Page) ShiftKeys(keys string) error {
	if err := chromedp.Do(p.ctx, chromedp.KeyEvent(keys, chromedp.KeyModifiers(chromedp.ModifierShift))); err != nil {
		return err
	}
	return p.Do("")
}

// Back goes back in the history.
func (p *Page) Back() error { return p.travel(-1) }

// Forward goes forward in the history.
func (p *Page) Forward() error { return p.travel(1) }

func (p *Page) travel(steps int) error {
	return p.Do(fmt.Sprintf(`await new Promise(r => {
		addEventListener("popstate", r, {once: true});
		setTimeout(r, 500); // where there is nothing to go to
		history.go(%d);
	})`, steps))
}

// Screenshot is a PNG of the view, or of all of the page.
func (p *Page) Screenshot(all bool) ([]byte, error) {
	if all {
		return chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	}
	return chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
}

// PDF prints the page.
func (p *Page) PDF() ([]byte, error) {
	return chromedp.Run(p.ctx, chromedp.PrintToPDF(chromedp.PDFPreferCSSPageSize()))
}

// CPU is the time that the main thread has worked for the page, and heap the bytes of
// its scripts.
func (p *Page) CPU() (cpu time.Duration, heap int64, err error) {
	r, err := chromedp.Call(p.ctx, performance.GetMetrics, struct{}{})
	if err != nil {
		return 0, 0, err
	}
	for _, m := range r.Metrics {
		switch m.Name {
		case "TaskDuration":
			cpu = time.Duration(m.Value * float64(time.Second))
		case "JSHeapUsedSize":
			heap = int64(m.Value)
		}
	}
	return cpu, heap, nil
}
