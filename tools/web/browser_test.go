//go:build !race

package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	pagecdp "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/quill-grid/quill/pkg/testkit"
)

// pictures writes the screenshots of the manual: go test ./tools/web -run TestBrowser/Pictures -pictures
// ../manual/console
var pictures = flag.String("pictures", "", "write screenshots of the console to this directory")

// TestBrowser has persons use the console in a headless Chromium. To start one takes longer than most of the
// tests: they share it.
func TestBrowser(t *testing.T) {
	b := startChromium(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, chromium)
	}{
		{"Pictures", testPictures},
		{"Follows", testFollows},
		{"Axe", testAxe},
		{"Keyboard", testKeyboard},
		{"TimeTravel", testTimeTravel},
		{"Confirms", testConfirms},
		{"ActsOnce", testActsOnce},
		{"SessionEnds", testSessionEnds},
		{"Play", testPlay},
		{"Zone", testZone},
		{"Tail", testTail},
		{"Provider", testProvider},
		{"Link", testLink},
		{"StoryOfUser", testStoryOfUser},
		{"StoryOfOperator", testStoryOfOperator},
		{"StoryOfManager", testStoryOfManager},
		{"Cancel", testCancel},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, b) })
	}
}

// chromium is a browser that runs until the test that has started it is over: the context to open tabs in.
type chromium struct{ ctx context.Context }

// startChromium starts a browser. Without Chromium the test is skipped.
func startChromium(t *testing.T) chromium {
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Skip("there is no chromium on the PATH: the console is not tested in a browser (Debian: apt-get install chromium)")
	}
	prints, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if text, err := os.ReadFile(prints.Name()); t.Failed() {
			t.Logf("the browser itself: %s %v", text, err)
		}
		prints.Close()
	})
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program),
		chromedp.Flag("lang", "en-GB"), chromedp.Env("TZ=Europe/Berlin", "LANG=en_GB.UTF-8"),
		chromedp.DisableGPU, chromedp.CombinedOutput(prints))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	started := make(chan error)
	// the kernel kills the browser when the thread that has started it ends, as that of a comparison does: this one stays
	go func() {
		goruntime.LockOSThread()
		defer goruntime.UnlockOSThread()
		started <- chromedp.Run(ctx)
		<-ctx.Done()
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	return chromium{ctx}
}

// tab is a page of a browser, logged in to a cell.
type tab struct {
	t        testing.TB
	ctx      context.Context
	url      string
	problems []string // errors in the console of the browser
}

// logIn opens a page for a user. Nothing of those before is left: the cookies are removed, and storage belongs to the
// address of a cell.
func (b chromium) logIn(t testing.TB, c *testCell, user string) *tab {
	server := c.serve()
	c.server.entry.SetAddress(server.URL, "")
	ctx, cancel := chromedp.NewContext(b.ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)
	page := &tab{t: t, ctx: ctx, url: server.URL}
	chromedp.ListenTarget(ctx, func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			page.problems = append(page.problems, e.ExceptionDetails.Error())
		case *log.EventEntryAdded: // also what the policy of the content has stopped
			if e.Entry.Level == log.LevelError && !strings.Contains(e.Entry.Text, "status of 4") {
				page.problems = append(page.problems, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	w := c.request(http.MethodPost, "/v1/session", `{}`,
		http.Header{"Authorization": {"Bearer token-" + user}, "Content-Type": {"application/json"}})
	var link Link
	if err := json.Unmarshal(w.Body.Bytes(), &link); err != nil {
		t.Fatal(err, w.Body)
	}
	page.do(network.ClearBrowserCookies(), log.Enable(), runtime.Enable(), emulation.SetTimezoneOverride("Europe/Berlin"),
		chromedp.Navigate(link.Link))
	return page
}

func (b *tab) do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// open shows a page, in a size and theme.
func (b *tab) open(path string, width int64, theme string) {
	b.t.Helper()
	b.resize(width, theme)
	b.do(chromedp.Navigate(b.url+path), chromedp.WaitReady("#main"))
}

// resize shows the page that is open in another size and theme, at once.
func (b *tab) resize(width int64, theme string) {
	b.t.Helper()
	b.do(emulation.SetDeviceMetricsOverride(width, 900, 1, width < 500),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme},
			{Name: "prefers-reduced-motion", Value: "reduce"}}))
}

// eval returns the value of an expression.
func eval[T any](b *tab, expression string) (out T) {
	b.t.Helper()
	b.do(chromedp.Evaluate(expression, &out, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
		return p.WithAwaitPromise(true)
	}))
	return out
}

// until waits for an expression to be true. A page that is being loaded does not have its elements yet: an error is not
// true.
func (b *tab) until(expression string) {
	b.t.Helper()
	expression = "(() => { try { return " + expression + " } catch { return false } })()"
	var err error
	for range 20 {
		err = chromedp.Run(b.ctx, chromedp.Poll(expression, nil, chromedp.WithPollingInterval(20*time.Millisecond),
			chromedp.WithPollingTimeout(testkit.Patience)))
		away := func(text string) bool { return strings.Contains(err.Error(), text) } // another page was loaded meanwhile
		if err == nil || !away("context with specified id") && !away("context was destroyed") && !away("target navigated") {
			break
		}
	}
	if err != nil {
		b.t.Fatalf("%s: %v at %s: %s %v", expression, err, eval[string](b, "location.href"),
			eval[string](b, `document.body.textContent.slice(0, 400)`), b.problems)
	}
}

// picture returns the page as it is seen.
func (b *tab) picture(path string) {
	b.t.Helper()
	var taken []byte
	height := eval[int64](b, "Math.min(Math.max(document.documentElement.scrollHeight, 600), 1500)")
	width := eval[int64](b, "innerWidth")
	b.do(emulation.SetDeviceMetricsOverride(width, height, 1, width < 500),
		chromedp.ActionFunc(func(ctx context.Context) (err error) {
			taken, err = pagecdp.CaptureScreenshot().Do(ctx)
			return err
		}))
	var out bytes.Buffer
	full, err := png.Decode(bytes.NewReader(taken))
	if err == nil {
		err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, reduced(full))
	}
	if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path, out.Bytes(), 0o644)); err != nil {
		b.t.Fatal(err)
	}
}

// distance is how different two colours are.
func distance(a, b color.RGBA) int {
	return max(abs(int(a.R)-int(b.R)), abs(int(a.G)-int(b.G)), abs(int(a.B)-int(b.B)))
}

func abs(n int) int { return max(n, -n) }

// reduced returns a picture in the most frequent of its colours that are not alike, which is a third of the size.
func reduced(full image.Image) *image.Paletted {
	count := map[color.RGBA]int{}
	size := full.Bounds()
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(full.At(x, y)).(color.RGBA) }
	for y := range size.Dy() {
		for x := range size.Dx() {
			count[at(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	var palette color.Palette
	for _, c := range colours {
		near := len(palette) >= 12 && // grounds are alike, and large
			distance(palette[palette.Index(c)].(color.RGBA), c) < 20
		if !near && len(palette) < 96 {
			palette = append(palette, c)
		}
	}
	out, index := image.NewPaletted(size, palette), map[color.RGBA]uint8{}
	for y := range size.Dy() {
		for x := range size.Dx() {
			c := at(x, y)
			i, known := index[c]
			if !known {
				i = uint8(palette.Index(c))
				index[c] = i
			}
			out.SetColorIndex(x, y, i)
		}
	}
	return out
}

// testPictures writes the screenshots of the manual with -pictures.
func testPictures(t *testing.T, with chromium) {
	if *pictures == "" {
		t.Skip("only with -pictures")
	}
	c := busy(t).compared()
	b := with.logIn(t, c, "root")
	for _, s := range shots {
		c.prepare(s.name)
		for _, kind := range []struct {
			name, theme string
			width       int64
		}{{"", "light", 1280}, {"-dark", "dark", 1280}, {"-narrow", "light", 390}} {
			b.open(s.path, kind.width, kind.theme)
			b.picture(filepath.Join(*pictures, s.name+kind.name+".png"))
		}
	}
	b.clean()
}

// testFollows: what changes in the cell is on the screen within 200 ms; what a person has typed, marked and opened
// stays.
func testFollows(t *testing.T, with chromium) {
	c := busy(t)
	b := with.logIn(t, c, "olga")
	b.open("/jobs", 1280, "light")
	b.until(`document.querySelector("#livebadge").textContent === "Live"`)
	eval[bool](b,
		`document.querySelector("#r18pending input").click(), document.querySelector("input[name=project]").value = "typed", true`)
	eval[bool](b, `new Promise((done) => requestAnimationFrame(() => done(true)))`)
	best := time.Hour
	for range 5 {
		job := fmt.Sprintf("fresh%d", time.Now().UnixNano())
		seen := make(chan time.Time, 1)
		go func() {
			var is bool
			_ = chromedp.Run(b.ctx, chromedp.Poll(fmt.Sprintf(`document.querySelector("#main").textContent.includes(%q)`, job),
				&is, chromedp.WithPollingMutation()))
			seen <- time.Now()
		}()
		begun := time.Now()
		c.submit("alice", "-N", job, "-p", "-1", "sleep", "1")
		best = min(best, (<-seen).Sub(begun))
	}
	t.Logf("change to screen: %s", best)
	if best > 200*time.Millisecond {
		t.Errorf("a change is on the screen after %s", best)
	}
	if !eval[bool](b,
		`document.querySelector("#r18pending input").checked && document.querySelector("input[name=project]").value === "typed"`) {
		t.Error("what a person has typed or marked is gone")
	}
	b.clean()
}

// clean fails when the browser has reported an error, or something that the policy of the content forbids.
func (b *tab) clean() {
	b.t.Helper()
	for _, p := range b.problems {
		b.t.Error(p)
	}
}

// testAxe: axe-core has no serious finding on any page, light or dark, wide or narrow, as it is opened and after its
// window was resized.
func testAxe(t *testing.T, with chromium) {
	packed, err := os.Open("../console/testdata/axe.min.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	axe, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	c := busy(t).compared()
	b := with.logIn(t, c, "root")
	widths := map[string]int64{"light": 1280, "dark": 390}
	for i, s := range shots {
		c.prepare(s.name)
		themes := []string{"light", "dark"}
		if i%2 > 0 { // from narrow to wide, too
			slices.Reverse(themes)
		}
		b.open(s.path, widths[themes[0]], themes[0])
		b.do(chromedp.Evaluate(string(axe), nil))
		for _, theme := range themes {
			width := widths[theme]
			b.resize(width, theme)
			found := eval[[]string](b, `axe.run(document, {resultTypes: ["violations"]}).then((r) =>
				r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => v.id + ": " + v.nodes.map((n) => n.target + " " + (n.any[0] || n.all[0] || {}).message).join("; ")))`)
			for _, f := range found {
				t.Errorf("%s %s: %s", s.path, theme, f)
			}
			if over := eval[int](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("%s at %d pixels is %d too wide", s.path, width, over)
			}
			for _, what := range eval[[]string](b, `innerWidth > 600 ? [] : [...document.querySelectorAll("#main *")].filter((e) => e.querySelector("table") && e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX === "auto").map((e) => (e.querySelector("h2") || e).textContent.slice(0, 40))`) {
				t.Errorf("%s at %d pixels: the table of %q scrolls sideways", s.path, width, what)
			}
		}
	}
	b.clean()
}

// testKeyboard: the first stop of the keyboard is the link to the content, and leads there.
func testKeyboard(t *testing.T, with chromium) {
	b := with.logIn(t, busy(t), "alice")
	b.open("/", 1280, "light")
	b.do(chromedp.KeyEvent(kb.Tab))
	if got := eval[string](b, `document.activeElement.className`); got != "skip" {
		t.Errorf("the first stop is %q", got)
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	if got := eval[string](b, `location.hash + " " + document.activeElement.id`); got != "#main main" {
		t.Errorf("after the link: %q", got)
	}
}

// testTimeTravel: the time bar shows the past, plays it forward and ends at the present.
func testTimeTravel(t *testing.T, with chromium) {
	b := with.logIn(t, busy(t), "alice")
	b.open("/jobs?state=z", 1280, "light")
	b.open("/jobs?at=2026-03-02T08:01:00Z", 1280, "light")
	b.until(`document.querySelector(".timebar.past #asof").textContent.includes("9:01:00")`) // in Berlin
	eval[bool](b, `document.querySelector("#pace").value = "600", document.querySelector("#play").click(), true`)
	b.until(`!document.querySelector(".timebar.past") && !location.search.includes("at=")`)
	b.until(`document.querySelector("#livebadge").textContent === "Live"`)
	eval[bool](b,
		`(() => { const s = document.querySelector("#slider"); s.value = 500; s.dispatchEvent(new Event("change")); return true; })()`)
	b.until(`document.querySelector(".timebar.past") && location.search.includes("at=2026-03-02T")`)
	b.clean()
}

// testConfirms: a person marks jobs, is asked, and sees what qmaster says; without a script it is the same.
func testConfirms(t *testing.T, with chromium) {
	c := busy(t)
	b := with.logIn(t, c, "olga")
	b.open("/jobs", 1280, "light")
	if !eval[bool](b, `document.querySelector("button[value=delete]").disabled`) {
		t.Error("jobs could be deleted without a mark")
	}
	b.do(chromedp.Click("#r18pending input"), chromedp.Click("button[value=release]"),
		chromedp.WaitVisible("button[name=confirmed]"))
	if n := len(c.c.Core.State().Job(18).UserHold); n == 0 {
		t.Error("the hold was removed without a confirmation")
	}
	b.do(chromedp.Click("button[name=confirmed]"), chromedp.WaitVisible(".messages"))
	if n := len(c.c.Core.State().Job(18).UserHold); n != 0 {
		t.Error("the hold was not removed")
	}
	b.clean()
}

// testProvider: after a log-in at an identity provider of another site the browser has a session, and after a refusal
// there a page with the reason.
func testProvider(t *testing.T, with chromium) {
	c, there := providerCell(t)
	there.LogIn(alice)
	b := with.logIn(t, c, "olga")
	b.url = strings.Replace(b.url, "127.0.0.1", "localhost", 1) // the provider is at 127.0.0.1
	c.server.entry.SetAddress(b.url, "")
	in := chromedp.Click(`a[href="/login/oidc"]`)
	b.do(chromedp.Navigate(b.url+"/login"), in)
	b.until(`location.href === "` + b.url +
		`/" && document.querySelector("#main") && document.body.textContent.includes("alice")`)
	there.Deny()
	b.do(chromedp.Navigate(b.url+"/login"), in)
	b.until(`document.querySelector("#main").textContent.includes("the identity provider has denied the log-in")`)
	b.clean()
}

// testLink: a person who is logged in follows a link of another site to a page.
func testLink(t *testing.T, with chromium) {
	b := with.logIn(t, busy(t), "alice")
	b.open("/", 1280, "light")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<a id="look" href="%s/jobs?state=p">look</a> <a id="in" href="%[1]s/login/x">log in</a>`, b.url)
	}))
	t.Cleanup(other.Close)
	there := chromedp.Navigate(strings.Replace(other.URL, "127.0.0.1", "localhost", 1))
	b.do(there, chromedp.Click("#look", chromedp.ByQuery), chromedp.WaitReady("#main"))
	if !eval[bool](b,
		`document.querySelector("#main a.button").textContent === "Open this page" && !document.querySelector("#main table")`) {
		t.Error("another site shows a page of a session, or it cannot be opened")
	}
	b.do(chromedp.Click("#main a.button", chromedp.ByQuery))
	b.until(`location.pathname + location.search === "/jobs?state=p" && document.querySelector("#main table")`)
	b.do(there, chromedp.Click("#in", chromedp.ByQuery), chromedp.WaitReady("#main"))
	if eval[bool](b, `document.body.textContent.includes("Open this page")`) {
		t.Error("a link of another site leads to a log-in")
	}
}
