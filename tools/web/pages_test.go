package web

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/web/mirror"
)

// TestJobPages: a page of jobs of a moment of the past is made once, of however many jobs; another query, another time
// of the present and the present itself have pages of their own.
func TestJobPages(t *testing.T) {
	c := newCell(t, 1)
	for range 12 {
		c.submit("alice", "sleep", "1")
	}
	end := c.lists[len(c.lists)-1].Seq
	if !c.server.mirror.WaitFor(t.Context(), end, reachWait) {
		t.Fatal("the mirror does not follow")
	}
	past := fmt.Sprint(end - 2)
	page := func(at string, in jobsQuery) ([]*view.Job, string) {
		t.Helper()
		m, err := c.server.moment(t.Context(), &Reading{At: at})
		if err != nil {
			t.Fatal(err)
		}
		in.State = "prs"
		rows, next, err := c.server.jobPage(&in, m)
		if err != nil || len(rows) == 0 {
			t.Fatal(len(rows), err)
		}
		return rows, next
	}
	query := jobsQuery{Paging: Paging{Limit: 4}}
	first, next := page(past, query)
	again, same := page(past, query)
	if first[0] != again[0] || len(first) != 4 || next == "" || next != same {
		t.Error("the page is made again")
	}
	if second, _ := page(past, jobsQuery{Paging: Paging{Limit: 4, Cursor: next}}); second[0].ID != first[3].ID+1 {
		t.Errorf("the second page begins with job %d", second[0].ID)
	}
	if sorted, _ := page(past, jobsQuery{Paging: Paging{Limit: 4}, Sort: "-id"}); sorted[0].ID != 10 {
		t.Errorf("the sorted page begins with job %d", sorted[0].ID)
	}
	if other, _ := page(fmt.Sprint(end-1), query); other[0] == first[0] {
		t.Error("a page is that of another moment")
	}
	now, _ := page("", query)
	if later, _ := page("", query); later[0] == now[0] {
		t.Error("a page of the present is kept")
	}
	for n := range 3 * mirror.JobPagesMost {
		page(past, jobsQuery{Paging: Paging{Limit: 5 + n}})
	}
	if again, _ := page(past, query); again[0] == first[0] {
		t.Error("all pages are kept")
	}
	m, _ := c.server.moment(t.Context(), &Reading{At: past})
	if n := c.server.mirror.Moments.Pages(m.State).Len(); n != mirror.JobPagesMost {
		t.Errorf("%d pages are kept", n)
	}
	m.Now++
	in := jobsQuery{Paging: Paging{Limit: 4}, State: "prs"}
	if rows, _, err := c.server.jobPage(&in, m); err != nil || rows[0] == again[0] {
		t.Error("a page is that of another time", err)
	}
	if _, _, err := c.server.jobPage(&jobsQuery{Paging: Paging{Limit: 4, Cursor: "?"}, State: "prs"}, m); err == nil {
		t.Error("a bad cursor is accepted")
	}
}
