package web

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/web/mirror"
)

// crowded is a cell with so many pending jobs.
func crowded(b *testing.B, jobs int) *testCell {
	c := newCell(b, 2)
	l := events.List{}
	request := &grid.JobRequest{Hard: grid.Requests{{Name: "num_proc", Value: "1"}}}
	for n := range jobs {
		l.Events = append(l.Events,
			events.Add(&grid.Job{JobRequest: request, ID: uint32(n + 1), Name: fmt.Sprintf("job%d", n%7),
				Owner:  fmt.Sprintf("user%d", n%100),
				Submit: c.now.Add(float64(n)), Priority: -int16(n % 5), Tasks: grid.Range{First: 1, Last: 1, Step: 1},
				Pending: grid.Ranges{{First: 1, Last: 1, Step: 1}}}))
	}
	l.Seq = c.c.Core.State().Seq + 1
	c.sink.Apply(l)
	return c
}

// BenchmarkJobs measures requests to a cell of 100,000 pending jobs, each after a change.
func BenchmarkJobs(b *testing.B) {
	const jobs = 100_000
	c := crowded(b, jobs)
	for name, target := range map[string]string{
		"lines": "/v1/jobs", "page": "/v1/jobs?limit=100", "sorted": "/v1/jobs?state=p&user=user*&sort=-submit&limit=100",
		"one":   "/v1/jobs/5000",
		"queue": "/v1/jobs?queue=all.q&limit=100",
	} {
		b.Run(name, func(b *testing.B) {
			h := as("alice")
			if name == "lines" {
				h.Set("Accept", typeNDJSON)
			}
			seq, _ := c.server.mirror.Seq()
			for b.Loop() {
				seq++
				c.sink.Apply(events.List{Seq: seq, Events: []events.Event{events.Mod(&grid.Counter{Name: "n", Value: seq})}})
				if w := c.request("GET", target, "", h); w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body)
				}
			}
		})
	}
}

// BenchmarkPages measures pages of the console in a cell of 100,000 pending jobs, each after a change.
func BenchmarkPages(b *testing.B) {
	c := crowded(b, 100_000)
	cookie := c.logIn("root").cookie
	for _, p := range append(slices.Clone(largePages), "/jobs?sort=-id&user=user3", "/jobs/5000") {
		b.Run(p, func(b *testing.B) {
			seq, _ := c.server.mirror.Seq()
			most := time.Duration(0)
			for b.Loop() {
				seq++
				c.sink.Apply(events.List{Seq: seq, Events: []events.Event{events.Mod(&grid.Counter{Name: "n", Value: seq})}})
				begun := time.Now()
				if w := c.request("GET", p, "", http.Header{"Cookie": {cookie}}); w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body)
				}
				most = max(most, time.Since(begun))
			}
			b.ReportMetric(float64(most.Milliseconds()), "ms-most")
		})
	}
}

// BenchmarkScrape measures metrics of a cell of 1,000,000 pending jobs, each after a change.
func BenchmarkScrape(b *testing.B) {
	c := crowded(b, 1_000_000)
	for name, target := range map[string]string{"cell": "/metrics", "jobs": "/metrics/jobs",
		"grid": "/metrics/jobs?alias=grid"} {
		b.Run(name, func(b *testing.B) {
			seq, _ := c.server.mirror.Seq()
			for b.Loop() {
				seq++
				c.sink.Apply(events.List{Seq: seq, Events: []events.Event{events.Mod(&grid.Counter{Name: "n", Value: seq})}})
				if w := c.request("GET", target, "", as("alice")); w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body)
				}
			}
		})
	}
}

// BenchmarkMomentAgain measures a request for a moment of the past that was asked for before, in a cell of 100,000
// pending jobs.
func BenchmarkMomentAgain(b *testing.B) {
	c := crowded(b, 100_000)
	now, err := c.server.mirror.Now()
	if err != nil {
		b.Fatal(err)
	}
	seq := now.State.Seq
	c.server.mirror.Moments.Restart(now.State) // the next list is marked
	c.server.mirror.Moments.Follow(&mirror.Update{State: now.State})
	for n := range uint64(20) {
		c.sink.Apply(events.List{Seq: seq + n + 1, Events: []events.Event{events.Mod(&grid.Counter{Name: "n", Value: n})}})
	}
	cookie := c.logIn("alice").cookie
	at := fmt.Sprintf("at=%d", seq+1)
	for name, target := range map[string]string{"jobs": "/v1/jobs?limit=100&" + at,
		"sorted": "/v1/jobs?sort=-priority&limit=100&" + at, "page": "/jobs?" + at, "cell": "/?" + at} {
		b.Run(name, func(b *testing.B) {
			h := as("alice")
			if target[1] != 'v' {
				h = http.Header{"Cookie": {cookie}}
			}
			for b.Loop() {
				if w := c.request("GET", target, "", h); w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body)
				}
			}
		})
	}
}
