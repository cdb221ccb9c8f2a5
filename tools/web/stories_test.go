//go:build !race

package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/grid"
)

// get returns what the API, and so the commands, have of a resource as a manager sees it.
func (c *testCell) get(path string) (out map[string]any) {
	c.t.Helper()
	w := c.request(http.MethodGet, path, "", as("root"))
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK {
		c.t.Fatal(path, w.Code, w.Body)
	}
	return out
}

// follow clicks a link or button and waits for the page that it leads to.
func (b *tab) follow(selector, then string) {
	b.t.Helper()
	b.do(chromedp.Click(selector))
	b.until(then)
}

// testStoryOfUser: carol finds out why her job waits, and releases it; then it starts.
func testStoryOfUser(t *testing.T, with chromium) {
	c := busy(t)
	b := with.logIn(t, c, "carol")
	b.open("/", 1280, "light")
	b.follow(`nav a[href="/jobs"]`, `location.pathname === "/jobs"`)
	b.do(chromedp.SetValue(`input[name=user]`, "carol"), chromedp.Click(`.filters button`))
	b.until(`location.search.includes("user=carol") && !document.querySelector("#main").textContent.includes("toobig")`)
	b.follow(`a[href="/jobs/18"]`,
		`location.pathname === "/jobs/18" && document.querySelector("#main").textContent.includes("What would have to change")`)
	if text := eval[string](b, `document.querySelector("#main").textContent`); !strings.Contains(text, "hold") {
		t.Errorf("the page of a held job: %s", text)
	}
	b.follow(`button[value=release]`, `document.querySelector("button[name=confirmed]")`)
	b.follow(`button[name=confirmed]`, `document.querySelector("#main").textContent.includes("modified hold of job 18")`)
	b.clean()
	if job := c.c.Core.State().Job(18); job.AnyHold() {
		t.Error("the job is held")
	}
	for range 30 { // slots become free until it is its turn
		if len(c.c.Core.State().Tasks(18)) > 0 {
			break
		}
		c.c.Core.State().Each(grid.KindJob, func(o grid.Object) bool {
			c.end(o.(*grid.Job).ID, 0)
			return true
		})
		c.run()
	}
	b.open("/jobs/18", 1280, "light")
	b.until(`document.querySelector("h1").textContent.match(/starting|running/)`)
	if row := c.get("/v1/jobs/18"); !strings.Contains(toJSON(row), `"all.q@`) {
		t.Errorf("the job has not started: %v", row)
	}
}

func toJSON(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// testStoryOfOperator: olga drains a host: what runs there ends, and nothing starts there any more.
func testStoryOfOperator(t *testing.T, with chromium) {
	c := busy(t)
	b := with.logIn(t, c, "olga")
	b.open("/hosts", 1280, "light")
	b.follow(`a[href="/hosts/h5"]`, `location.pathname === "/hosts/h5"`)
	b.do(chromedp.Click(`input[value="all.q@h5"]`))
	b.follow(`button[value=disable]`, `document.querySelector("button[name=confirmed]")`)
	b.follow(`button[name=confirmed]`, `document.querySelector("#main").textContent.includes("Done")`)
	b.follow(
		`a.primary`, `location.pathname === "/hosts/h5" && document.querySelector("#main").textContent.includes("disabled")`)
	b.until(`document.querySelector("#livebadge").textContent === "Live"`)
	for _, task := range c.c.Core.State().OnHost("h5") {
		c.end(task.Job, 0)
	}
	b.until(`document.querySelector("#main").textContent.includes("No task runs on this host")`)
	c.run()
	b.clean()
	if row := toJSON(c.get("/v1/queues?queue=all.q@h5")); !strings.Contains(row, `"state":"d"`) ||
		!strings.Contains(row, `"slots_used":0`) {
		t.Errorf("the host is not drained: %s", row)
	}
}

// testStoryOfManager: root compares what other shares would have done, and makes them those of the cell.
func testStoryOfManager(t *testing.T, with chromium) {
	c := busy(t)
	b := with.logIn(t, c, "root")
	b.open("/scheduler", 1280, "light")
	b.follow(`a[href="/whatif"]`, `location.pathname === "/whatif"`)
	b.do(chromedp.SetValue(`input[name="shares.film"]`, "100"), chromedp.SetValue(`input[name="shares.trailer"]`, "300"))
	b.follow(`.stack button`,
		`location.pathname === "/whatif/1" && document.querySelector("#main").textContent.includes("Side by side")`)
	if text := eval[string](b, `document.querySelector("#main").textContent`); !strings.Contains(
		text, "trailer: % of use while it waits") || !strings.Contains(text, "75.0") {
		t.Errorf("the comparison: %s", text)
	}
	b.follow(`form[action="/act"] button`, `document.querySelector("button[name=confirmed]")`)
	b.follow(`button[name=confirmed]`, `document.querySelector("#main").textContent.includes("modified")`)
	b.follow(`a.primary`, `location.pathname === "/shares"`)
	b.clean()
	for name, want := range map[string]string{"film": "100", "trailer": "300"} {
		if row := toJSON(c.get("/v1/config/project/" + name)); !strings.Contains(row, `"fshare":`+want+`,`) {
			t.Errorf("the shares of %s: %s", name, row)
		}
	}
}

// testCancel: who has asked for a comparison presses Cancel while it waits for its turn, and again while it is made;
// the page says so, and another one may be asked for.
func testCancel(t *testing.T, with chromium) {
	c := busy(t)
	b := with.logIn(t, c, "root")
	turn := c.server.cell.trials.turn
	leave, err := turn.Wait(t.Context(), fair.User{Name: "another"}, 1) // that of another user is made
	if err != nil {
		t.Fatal(err)
	}
	b.open("/whatif", 1280, "light")
	b.follow(`.stack button`, `location.pathname === "/whatif/1" && document.querySelector("progress")`)
	if text := eval[string](b, `document.querySelector("#main").textContent`); !strings.Contains(
		text, "waits for its turn") {
		t.Errorf("the page of a comparison that waits: %s", text)
	}
	b.follow(`form[action="/whatif/1/cancel"] button`,
		`document.querySelector("#main").textContent.includes("It was cancelled.") && !document.querySelector("progress")`)
	leave()
	b.open("/whatif", 1280, "light")
	b.follow(`.stack button`,
		`location.pathname === "/whatif/2" && document.querySelector("#main").textContent.includes("Side by side")`)
	b.clean()
}
