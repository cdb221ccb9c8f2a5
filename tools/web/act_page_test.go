//go:build !race

package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/quill-grid/quill/pkg/grid"
)

// testActsOnce: a page that reports an action can be loaded again, and left with Back and Forward: nothing is done
// again.
func testActsOnce(t *testing.T, with chromium) {
	c := busy(t)
	jobs := func() int { return c.c.Core.State().Len(grid.KindJob) }
	b := with.logIn(t, c, "carol")
	b.open("/jobs/18", 1280, "light")
	before := jobs()
	const asks = `document.querySelector("button[name=confirmed]")`
	const done = `document.querySelector(".messages") && !` + asks
	b.follow(`button[value=resubmit]`, asks)
	b.do(chromedp.Reload())
	b.until(asks)
	b.follow(`button[name=confirmed]`, done)
	b.do(chromedp.Reload())
	b.until(done)
	b.do(chromedp.NavigateBack())
	b.until(`document.querySelector("#main").textContent.includes("nightly")`)
	b.do(chromedp.NavigateForward())
	b.until(done)
	b.follow(`a.primary`, `location.pathname === "/jobs/18"`)
	b.clean()
	if n := jobs() - before; n != 1 {
		t.Errorf("%d jobs were submitted", n)
	}
}

// testSessionEnds: a page says that the session has ended, and after a log-in the browser is back at it.
func testSessionEnds(t *testing.T, with chromium) {
	c := busy(t)
	b := with.logIn(t, c, "carol")
	b.open("/jobs?state=p", 1280, "light")
	const live = `document.querySelector("#livebadge").textContent === "Live" && document.querySelector("#livebadge.live")`
	b.until(live)
	if status := eval[int](b, `fetch("/v1/session").then((r) => r.json()).then((s) => fetch("/v1/session",
		{method: "DELETE", headers: {"Quill-CSRF": s.csrf}})).then((r) => r.status)`); status != http.StatusNoContent {
		t.Fatal(status)
	}
	c.submit("alice", "sleep", "1") // the page would change
	b.until(`document.querySelector("#note").textContent.includes("The session has ended")`)
	b.until(`!document.querySelector("#livebadge.live")`)
	b.follow(`#note a`, `document.querySelector("#main h1").textContent === "Log in"`)
	c.makeLink("carol", false)
	b.do(chromedp.Navigate(b.url + c.browser.path[strings.Index(c.browser.path, "/login/"):]))
	b.until(`location.pathname + location.search === "/jobs?state=p" && ` + live)
	b.clean()
}

// testPlay: Play continues from the moment that was chosen with the slider, at each pace; the links at the top lead to
// other pages at the same moment.
func testPlay(t *testing.T, with chromium) {
	c := busy(t)
	b := with.logIn(t, c, "alice")
	b.open("/jobs", 1280, "light")
	b.until(`document.querySelector("#livebadge").textContent === "Live"`)
	eval[bool](b, `(() => { const s = document.querySelector("#slider"); s.value = 300;
		s.dispatchEvent(new Event("change", {bubbles: true})); return true; })()`)
	b.until(`document.querySelector(".timebar.past") && location.search.includes("at=2026-03-02T")`)
	const links = `[...document.querySelectorAll("nav[aria-label=Pages] a, a.brand")]`
	b.until(links + `.every((a) => a.search === location.search)`)
	at := eval[string](b, `document.querySelector(".timebar").dataset.now`)
	eval[bool](b, `document.querySelector("#pace").value = "1", true`)
	b.do(chromedp.Click("#play"))
	b.until(`document.querySelector(".timebar").dataset.now > "` + at + `"`)
	b.do(chromedp.Click("#play"))
	b.until(`document.querySelector("#play").textContent === "Play"`)
	eval[bool](b, `document.querySelector("#pace").value = "600", true`)
	b.do(chromedp.Click("#play"))
	b.until(`!document.querySelector(".timebar.past")`)
	b.until(`document.querySelector("#livebadge").textContent === "Live"`)
	b.until(links + `.every((a) => a.search === "")`)
	b.clean()
}

// testZone: times are typed in the zone in which they are shown, and all are in the order of ISO 8601.
func testZone(t *testing.T, with chromium) {
	b := with.logIn(t, busy(t), "alice")
	b.open("/log?kind=JATASK", 1280, "light")
	b.do(chromedp.SetValue("#at", "9:01"), chromedp.Click(".timebar .steps button:not([id])"))
	b.until(`new URLSearchParams(location.search).get("at") === "2026-03-02T08:01:00Z"`)
	b.until(`document.querySelector("#asof").textContent === "2026-03-02 09:01:00 GMT+1"`)
	b.until(`[...document.querySelectorAll(".fields time")].some((t) => t.textContent.startsWith("2026-03-02 09:0"))`)
	if eval[bool](b, `/\d\d\/\d\d\/\d{4}/.test(document.querySelector("#main").textContent)`) {
		t.Error("there is a time in another order")
	}
	b.do(chromedp.SetValue("input[name=since]", "09:00:30"), chromedp.Click(`form[aria-label^=Compare] button`))
	b.until(`new URLSearchParams(location.search).get("since") === "2026-03-02T08:00:30Z"`)
	b.clean()
}

// testTail: the output of a task that runs is followed in its page, until a pause and on from there; Back leads back.
func testTail(t *testing.T, with chromium) {
	c := newCell(t, 1)
	c.submit("alice", "sleep", "1")
	c.run()
	c.runs(1)
	c.writes("/out", "begun\n")
	b := with.logIn(t, c, "alice")
	b.open("/jobs/1", 1280, "light")
	b.follow(`a[href="/jobs/1/output"]`, `document.querySelector("pre.output").textContent === "begun\n"`)
	write := func(text string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.file.text += text
	}
	b.do(chromedp.Click("#tail"))
	b.until(`document.querySelector("#tail").textContent === "Pause"`)
	write("more\n")
	b.until(`document.querySelector("pre.output").textContent === "begun\nmore\n"`)
	b.do(chromedp.Click("#tail"))
	b.until(`document.querySelector("#tail").textContent === "Go on"`)
	write("rest\n")
	b.do(chromedp.Click("#tail"))
	b.until(`document.querySelector("pre.output").textContent === "begun\nmore\nrest\n"`)
	c.end(1, 0)
	b.until(`document.querySelector("#note").textContent === "The task has ended."`)
	b.do(chromedp.NavigateBack())
	b.until(`location.pathname === "/jobs/1"`)
	b.clean()
}
