package qmaster

import (
	"errors"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// A qmaster whose lease has ended sends nothing more, not even what became durable before, nor after a late renewal: an
// answer that was dropped is never followed by a later one.
func TestOutboxOfDeposed(t *testing.T) {
	deposed, left := errors.New("the lease has ended"), 0
	var failures []error
	b := &outbox{
		facts: accountingFiles{&accounting{absent: true}, &accounting{absent: true}}, reporting: newReporting("", "", nil),
		failed: func(err error) { failures = append(failures, err) }, durable: frame.Point{Seq: 9},
	}
	for i, why := range []error{nil, deposed, nil} {
		b.deposed = func() error { return why }
		b.put(outcome{seq: uint64(i + 1), leave: func() { left++ }})
	}
	if left != 1 || len(failures) != 1 || failures[0] != deposed {
		t.Errorf("%d of 1 have left: %v", left, failures)
	}
}

// TestCountedWhenDurable: metrics show no list before it is durable.
func TestCountedWhenDurable(t *testing.T) {
	m, s := NewMetrics(), state.New()
	m.begin(&QMaster{}, s)
	b := &outbox{
		facts: accountingFiles{&accounting{absent: true}, &accounting{absent: true}}, reporting: newReporting("", "", nil),
		deposed: func() error { return nil },
	}
	l := events.List{Seq: 1, Events: []events.Event{events.Add(&grid.Job{ID: 1, JobRequest: &grid.JobRequest{}}),
		events.Add(&grid.Load{Host: "h"})}}
	s.Apply(l)
	b.put(outcome{seq: l.Seq, count: m.list(l, s)})
	before := scrape(t, m)
	b.durable = frame.Point{Seq: 1}
	b.catchUp()
	after := scrape(t, m)
	for _, line := range []string{"quill_jobs 1", `quill_hosts{state="reporting"} 1`} {
		if strings.Contains(before, line) || !strings.Contains(after, line) {
			t.Errorf("%s: before it is durable\n%s\nafterwards\n%s", line, before, after)
		}
	}
}
