package web

import (
	"fmt"
	"net/http"
	"reflect"
	"testing"

	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/web/past"
)

// TestAccountingPages: the pages of accounting are all its records, the last first, wherever they are read: from
// memory, partly from the log, which may have no more than its end, or all from there in stretches.
func TestAccountingPages(t *testing.T) {
	c := newCell(t, 3)
	c.server.mirror.Ledger.Keep, c.server.reader.ListsFirst = 20, 7
	want := 0
	for n := range 60 {
		c.submit("alice", "-N", fmt.Sprint("job", n%7), "sleep", "1")
		c.run()
		c.end(uint32(n+1), uint32(n%2))
		want++
	}
	whole := linesOf[Ended](c, "/v1/accounting")
	for n, row := range whole {
		if int(row.Job) != want-n {
			t.Fatalf("row %d is of job %d", n, row.Job)
		}
	}
	if len(whole) != want {
		t.Fatalf("%d records of %d", len(whole), want)
	}
	for _, where := range []string{"memory and log", "log"} {
		for _, limit := range []int{1, 9, 100} {
			if where == "log" {
				c.server.mirror.Ledger.Restart(state.New())
				c.server.mirror.Ledger.Restart(c.c.Core.State())
			}
			if pages := pagesOf[Ended](c, "/v1/accounting?", limit); !reflect.DeepEqual(pages, whole) {
				t.Errorf("%s, %d rows a page: %d records of %d", where, limit, len(pages), len(whole))
			}
		}
	}
	c.server.reader.PageMost = 10 // a page that costs more has fewer rows, and lines have all
	c.server.mirror.Ledger.Restart(state.New())
	c.server.mirror.Ledger.Restart(c.c.Core.State())
	if rows := linesOf[Ended](c, "/v1/accounting?"); !reflect.DeepEqual(rows, whole) {
		t.Errorf("lines that cost more than a page: %d records of %d", len(rows), want)
	}
	if p := get[page[Ended]](c, "/v1/accounting?limit=100"); len(p.Items) == want || p.Next == "" {
		t.Errorf("a page that costs more: %d records, next %q", len(p.Items), p.Next)
	}
	c.server.reader.PageMost = past.ListsMost
	for _, job := range []int{1, 30, 60} {
		if rows := linesOf[Ended](c, fmt.Sprintf("/v1/jobs/%d/accounting", job)); len(rows) != 1 || int(rows[0].Job) != job {
			t.Errorf("job %d: %d records", job, len(rows))
		}
	}
	c.cut = c.c.Core.State().Seq / 2 // the log begins later
	c.server.mirror.Ledger.Restart(state.New())
	c.server.mirror.Ledger.Restart(c.c.Core.State())
	if rows := pagesOf[Ended](c, "/v1/accounting?", 7); len(rows) < want/3 || len(rows) >= want ||
		!reflect.DeepEqual(rows, whole[:len(rows)]) {
		t.Errorf("of a log that was cut: %d records of %d", len(rows), want)
	}
	c.server.reader.History = nil
	if w := c.request("GET", "/v1/accounting", "", as("alice")); w.Code != http.StatusGone {
		t.Errorf("without a log: %d", w.Code)
	}
}
