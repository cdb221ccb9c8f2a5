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

// A qmaster whose lease has ended sends nothing more, not even what became durable before, nor after a late renewal: an answer that
// was dropped is never followed by a later one.
func TestOutboxOfDeposed(t *testing.T) {
	leads, left := true, 0
	var failures []error
	b := &outbox{
		facts: accountingFiles{&accounting{absent: true}, &accounting{absent: true}}, reporting: newReporting("", "", nil),
		failed: func(err error) { failures = append(failures, err) }, leads: func() bool { return leads }, durable: frame.Point{Seq: 9},
	}
	for i, does := range []bool{true, false, true} {
		leads = does
		b.put(outcome{seq: uint64(i + 1), leave: func() { left++ }})
	}
	if left != 1 || len(failures) != 1 || !errors.Is(failures[0], errDeposed) {
		t.Errorf("%d of 1 have left: %v", left, failures)
	}
}

// TestCountedWhenDurable: metrics show no list before it is durable.
func TestCountedWhenDurable(t *testing.T) {
	m, s := NewMetrics(), state.New()
	m.begin(&QMaster{}, s)
	b := &outbox{
		facts: accountingFiles{&accounting{absent: true}, &accounting{absent: true}}, reporting: newReporting("", "", nil),
		leads: func() bool { return true },
	}
	l := events.List{Seq: 1, Events: []events.Event{events.Add(&grid.Job{ID: 1, JobRequest: &grid.JobRequest{}}), events.Add(&grid.Load{Host: "h"})}}
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
