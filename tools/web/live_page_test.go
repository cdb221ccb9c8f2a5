package web

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/quill-grid/quill/tools/console"
)

// TestFollowedPage: a browser that follows a page gets all of it first. What is shown may have changed without an event
// list since the page was loaded, as a comparison that has ended, here one of a longer stretch than the log has.
func TestFollowedPage(t *testing.T) {
	c := newCell(t, 2)
	c.submit("alice", "render")
	c.run()
	c.end(1, 0)
	server := c.serve()
	c.makeLink("root", false)
	c.openLink()
	if _, err := c.server.cell.Try(person{user: "root"}, console.WhatIf{From: "-30d"}); err != nil {
		t.Fatal(err)
	}
	<-c.server.cell.trials.kept[0].ended
	r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/whatif/1", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Cookie": {c.browser.cookie}, "Accept": {"text/event-stream"}}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	var text strings.Builder
	for lines.Scan() && lines.Text() != "" {
		text.WriteString(lines.Text() + "\n")
	}
	if got := text.String(); !strings.HasPrefix(got, "event: main\n") || !strings.Contains(got, "Side by side") {
		t.Errorf("the first event: %.200q", got)
	}
}

// TestNotice: pages say that a proposed change waits to those who may decide on it.
func TestNotice(t *testing.T) {
	c := authorizationCell(t)
	for user, want := range map[string]bool{"alice": true, "root": true, "bob": false} {
		c.makeLink(user, false)
		c.openLink()
		for path, want := range map[string]bool{"/jobs": want, "/proposals": false} {
			page := c.request(http.MethodGet, path, "",
				http.Header{"Cookie": {c.browser.cookie}, "Accept": {"text/html"}}).Body.String()
			if got := strings.Contains(page, "A proposed change waits for your decision"); got != want {
				t.Errorf("%s for %s: %v, not %v", path, user, got, want)
			}
		}
	}
}
