package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/testkit"
)

// stuckClient is a client that reads some writes and then none.
type stuckClient struct {
	header http.Header
	reads  int
	stuck  chan<- struct{}
	until  <-chan struct{}
}

func (s *stuckClient) Header() http.Header { return s.header }
func (s *stuckClient) WriteHeader(int)     {}
func (s *stuckClient) Flush()              {}
func (s *stuckClient) Write(b []byte) (int, error) {
	if s.reads--; s.reads >= 0 {
		return len(b), nil
	}
	s.stuck <- struct{}{}
	<-s.until
	return 0, errors.New("the client has gone")
}

// TestSlowReadersOfLog: a user with many streams of what the log has, none of which is read, does not keep another user
// from reading the log; nor does a client that goes while it waits for a turn.
func TestSlowReadersOfLog(t *testing.T) {
	for _, reads := range []int{0, 1} { // before the log is read, and while it is
		c := newCell(t, 1)
		for range 40 {
			c.submit("alice", "-N", strings.Repeat("x", 200), "render", strings.Repeat("scene", 200))
		}
		ctx, gone := context.WithCancel(t.Context())
		stuck := make(chan struct{}, 100)
		var streams sync.WaitGroup
		for range c.server.reader.Copies.User + 20 {
			r := httptest.NewRequestWithContext(ctx, "GET", "/v1/events?from=1", nil)
			r.Header = as("mallory")
			streams.Go(func() {
				c.server.handler.ServeHTTP(&stuckClient{http.Header{}, reads, stuck, ctx.Done()}, r)
			})
		}
		for range c.server.reader.Copies.User {
			<-stuck
		}
		testkit.Until(t, "the other streams wait", testkit.Patience, func() (bool, string) {
			return c.server.reader.Copies.Queued() == 20, fmt.Sprint(c.server.reader.Copies.Queued())
		})
		short, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		r := httptest.NewRequestWithContext(short, "GET", "/v1/events?from=1&to=5", nil)
		r.Header = as("alice")
		w := httptest.NewRecorder()
		c.server.handler.ServeHTTP(w, r)
		if cancel(); w.Code != 200 || !strings.Contains(w.Body.String(), `"end":"to"`) {
			t.Errorf("with %d: alice gets %d %.300s", reads, w.Code, w.Body)
		}
		gone()
		streams.Wait()
		if n := c.server.reader.Copies.Count() + c.server.reader.Turns.Count() + c.server.readers.Count(); n != 0 {
			t.Errorf("with %d: %d places are held after the end", reads, n)
		}
	}
}

// TestLivePages: a user with as many live pages as one may have gets no more, and another user does.
func TestLivePages(t *testing.T) {
	c := newCell(t, 1)
	ctx, gone := context.WithCancel(t.Context())
	stuck := make(chan struct{}, 1000)
	var pages sync.WaitGroup
	open := func(user string) int {
		r := httptest.NewRequestWithContext(ctx, "GET", "/jobs", nil)
		r.Header = as(user)
		r.Header.Set("Accept", "text/event-stream")
		w := &statusClient{stuckClient: stuckClient{http.Header{}, 0, stuck, ctx.Done()}, status: make(chan int, 1)}
		pages.Go(func() { c.server.handler.ServeHTTP(w, r) })
		return <-w.status
	}
	n := 0
	for open("mallory") == 200 {
		n++
	}
	if n != 32 {
		t.Errorf("mallory has %d live pages", n)
	}
	if status := open("alice"); status != 200 {
		t.Errorf("alice gets %d", status)
	}
	gone()
	pages.Wait()
}

// statusClient is a stuckClient that reports the status.
type statusClient struct {
	stuckClient
	status chan int
}

func (s *statusClient) WriteHeader(status int) { s.status <- status }

func (s *statusClient) SetWriteDeadline(time.Time) error { return nil }

// TestListingsOfOne: a user whose clients do not read listings does not keep another user from getting one.
func TestListingsOfOne(t *testing.T) {
	c := newCell(t, 1)
	for range 4 {
		c.submit("alice", "-N", "one", "render")
	}
	ctx, gone := context.WithCancel(t.Context())
	stuck := make(chan struct{}, 1000)
	var listings sync.WaitGroup
	for range c.server.answers.Total {
		r := httptest.NewRequestWithContext(ctx, "GET", "/v1/jobs", nil)
		r.Header = as("mallory")
		listings.Go(func() { c.server.handler.ServeHTTP(&stuckClient{http.Header{}, 0, stuck, ctx.Done()}, r) })
	}
	for range c.server.answers.User {
		<-stuck
	}
	if w := c.request("GET", "/v1/jobs", "", as("alice")); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	gone()
	listings.Wait()
	if n := c.server.answers.Count(); n != 0 {
		t.Errorf("%d places are held after the end", n)
	}
}
