package gridserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// Explain is the present view of the algorithm, a table of the bands and one
// of the active sessions in order: what a run at this time would decide by.
func (d *Decider) Explain(at algorithm.Run, m *Model) (lines []string) {
	at.Monitor, at.Log, at.Wake = nil, nil, nil
	r := newRun(at, m, func(orders.Order) bool { return true })
	order := r.order()
	r.episode()
	row := func(format string, args ...any) {
		lines = append(lines, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
	row("mode %s, %d engines, %d idle, %d active sessions", r.Mode, r.engines, r.idle, r.active())
	if r.sla() {
		row("%-16s %8s %8s %8s %8s %8s %8s %8s", "group", "value", "target", "need", "extra", "share", "running", "demand")
		for g, v := range r.SLAGroups {
			t := r.m.bands[g]
			row("%-16s %8s %8d %8d %8d %8d %8d %8d", v.Name, v.Text, r.quota.target[g], r.quota.need[g], r.quota.extra[g],
				r.quota.share[g], t.running, t.demand)
		}
	}
	row("%-10s %-16s %8s %8s %8s %12s %14s", "session", "band", "ideal", "running", "pending", "usage_s", "normalised")
	for _, c := range order {
		ideal := "-"
		if c.band < r.urgentBand() && r.ideals != nil {
			ideal = fmt.Sprint(r.ideals[c.band].idealOf(c.cap()))
		}
		own, virtual := c.usage(r.Now, r.window())
		before, _ := virtual.Float64()
		row("%-10d %-16s %8s %8d %8d %12.1f %14.1f", c.id, r.bandName(c.band), ideal, c.running, c.pending+c.stopped,
			(float64(own)+before)/1000, c.score.near/1000)
	}
	return lines
}

func (r *run) active() (n int) {
	for _, t := range r.m.bands {
		n += t.active
	}
	return n
}

// order is that of all active sessions: the urgent first, then as they are
// served.
func (r *run) order() (out []*candidate) {
	r.m.sessions.Scan(func(id uint32, s *session) bool {
		if s.active() {
			out = append(out, r.candidate(s.placeInLine()))
		}
		return true
	})
	slices.SortStableFunc(out, func(a, b *candidate) int {
		urgent := r.urgentBand()
		if a.band != b.band && (a.band == urgent || b.band == urgent || r.SerialPriority && !r.sla()) {
			return int(b.band) - int(a.band)
		}
		if a.before(b) {
			return -1
		}
		return 1
	})
	return out
}
