package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/filter"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/web/mirror"
)

// TestConditions: the stream has all conditions of qevent.
func TestConditions(t *testing.T) {
	c := newCell(t, 1)
	op := c.server.api.OpenAPI().Paths["/v1/events"].Get
	for _, line := range filter.Legend() {
		if !slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == line[0] && p.Description != "" }) {
			t.Errorf("there is no condition %s", line[0])
		}
	}
}

// serve serves the API over a network of this host.
func (c *testCell) serve() *httptest.Server {
	server := httptest.NewServer(c.server.handler)
	c.t.Cleanup(server.Close)
	return server
}

// read returns the SSE stream of a request.
func read(t *testing.T, ctx context.Context, url string, last uint64) *http.Response {
	r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = as("alice")
	r.Header.Set("Last-Event-ID", strconv.FormatUint(last, 10))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		t.Fatalf("%d %s", answer.StatusCode, text)
	}
	return answer
}

// received are the events of a stream until one of the list to, as "SEQ EVENT KEY", and the last id.
func received(body io.Reader, most int) (got []string, last uint64, end string) {
	in := bufio.NewScanner(body)
	in.Buffer(nil, 1<<20)
	n := 0
	var pending []string // of a list that is not complete
	complete := false
	for in.Scan() {
		name, value, _ := strings.Cut(in.Text(), ": ")
		switch {
		case name == "event":
			end = value
		case name == "data" && end != "":
			return got, last, value
		case name == "id":
			last, _ = strconv.ParseUint(value, 10, 64)
			complete = true
		case name == "data":
			var e struct {
				Seq        uint64
				Event, Key string
			}
			_ = json.Unmarshal([]byte(value), &e)
			pending = append(pending, fmt.Sprintf("%d %s %s", e.Seq, e.Event, e.Key))
		case in.Text() == "" && complete:
			got, pending, complete = append(got, pending...), nil, false
			if n++; n == most {
				return got, last, ""
			}
		}
	}
	return got, last, ""
}

// TestEventsUntilThePast: a stream up to a list that was before its begin ends at once.
func TestEventsUntilThePast(t *testing.T) {
	c := newCell(t, 2)
	seq := c.c.Core.State().Seq
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	answer := read(t, ctx, c.serve().URL+"/v1/events?to=1", seq)
	defer answer.Body.Close()
	if got, _, end := received(answer.Body, 3); len(got) > 0 || end != fmt.Sprintf(`{"end":"to","resume":%d}`, seq+1) {
		t.Errorf("%q, end %q", got, end)
	}
}

// TestNoGap: readers that are interrupted at any point, and continue where they were, receive each event that passes
// their filter, while lists are made and the hub forgets all but a few.
func TestNoGap(t *testing.T) {
	c := newCell(t, 2)
	c.server.mirror.Hub.Keep = 40
	server := c.serve()
	const jobs = 60
	filters := []string{"", "kind=JOB", "user=user3", "host=h1", "cause=submit,orders&kind=JATASK"}
	got := make([][]string, len(filters))
	var readers sync.WaitGroup
	target := make(chan uint64)
	for i, f := range filters {
		readers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			last, want := uint64(1), <-target
			for last < want {
				ctx, cancel := context.WithCancel(t.Context())
				answer := read(t, ctx, server.URL+"/v1/events?to="+strconv.FormatUint(want, 10)+"&"+f, last)
				more, seq, _ := received(answer.Body, 1+random.IntN(30))
				got[i] = append(got[i], more...)
				cancel()
				answer.Body.Close()
				if last = max(last, seq); len(more) == 0 && seq >= want {
					break
				}
			}
		})
	}
	first := c.c.Core.State().Seq
	for range filters {
		target <- first + jobs
	}
	for n := range jobs + 40 {
		c.submit(fmt.Sprintf("user%d", n%7), "sleep", "1")
		if n%5 == 0 {
			c.run()
		}
	}
	readers.Wait()
	for i, f := range filters {
		if want := c.passed(f, first+jobs); !slices.Equal(got[i], want) {
			t.Errorf("%q: %d events received, %d have happened\n%s\n\n%s", f, len(got[i]), len(want), strings.Join(got[i], "\n"),
				strings.Join(want, "\n"))
		}
	}
}

// passed are the events from list 2 to another that pass a filter.
func (c *testCell) passed(query string, to uint64) (out []string) {
	f, err := filter.Parse(strings.ReplaceAll(query, "&", " "))
	if err != nil {
		c.t.Fatal(err)
	}
	before := state.New()
	for _, l := range c.lists {
		if l.Seq > 1 && l.Seq <= to {
			for _, e := range f.Of(l, before).Events {
				out = append(out, fmt.Sprintf("%d %s %s", l.Seq, e.Name(), e.Key))
			}
		}
		before.Apply(l)
	}
	return out
}

// TestEnds: the last word of a stream says why it ends and where to continue.
func TestEnds(t *testing.T) {
	c := newCell(t, 1)
	c.server.mirror.Hub.Keep = 10
	slow := &blocked{header: http.Header{}, entered: make(chan struct{}), free: make(chan struct{})}
	done := make(chan struct{})
	r := httptest.NewRequest("GET", "/v1/events", nil)
	r.Header = as("alice")
	go func() {
		defer close(done)
		c.server.handler.ServeHTTP(slow, r)
	}()
	<-slow.entered
	at := c.c.Core.State().Seq
	for range 20 {
		c.submit("alice", "sleep", "1")
	}
	close(slow.free)
	<-done
	if want := fmt.Sprintf(`{"end":"slow","resume":%d}`, at+1); !strings.Contains(slow.text(), want) {
		t.Errorf("a slow reader was told %q, not %s", slow.text(), want)
	}

	ctx, cancel := context.WithCancel(t.Context())
	stopped := httptest.NewRequestWithContext(ctx, "GET", "/v1/events", nil)
	stopped.Header = as("alice")
	cancel()
	w := httptest.NewRecorder()
	c.server.handler.ServeHTTP(w, stopped)
	if want := fmt.Sprintf(`{"end":"stop","resume":%d}`, at+21); !strings.Contains(w.Body.String(), want) {
		t.Errorf("told %q, not %s", w.Body, want)
	}

	c.cut = 8
	if w := c.request("GET", "/v1/events?from=3", "", as("alice")); w.Code != http.StatusGone ||
		!strings.Contains(w.Body.String(), "event list 3 is not in the log: it has lists 8 to") {
		t.Errorf("%d %s", w.Code, w.Body)
	}

	later := state.New()
	later.Seq = at + 1000
	c.server.mirror.Hub.Restart(later) // lists were missed, and the log does not have them
	if _, _, has, _ := c.server.mirror.Hub.NextAfter(at+20, mirror.Few); has {
		t.Error("a gap is not seen")
	}
	c.server.mirror.Hub.Follow(&mirror.Update{List: events.List{Seq: at + 1001}})
	if last, _, has, _ := c.server.mirror.Hub.NextAfter(at+1000, mirror.Few); !has || last != at+1001 {
		t.Error("the hub does not continue")
	}
}

// blocked is a reader that takes nothing before it is free.
type blocked struct {
	header  http.Header
	entered chan struct{}
	free    chan struct{}
	once    sync.Once
	mu      sync.Mutex
	all     strings.Builder
}

func (b *blocked) Header() http.Header { return b.header }
func (b *blocked) WriteHeader(int)     {}
func (b *blocked) Flush()              {}
func (b *blocked) Write(p []byte) (int, error) {
	b.once.Do(func() { close(b.entered) })
	<-b.free
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *blocked) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}
