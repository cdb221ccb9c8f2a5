//go:build !race

package web

import (
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
