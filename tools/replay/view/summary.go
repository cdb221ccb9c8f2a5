package view

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// summary is the cell in a few lines: tasks by state, hosts.
type summary struct {
	jobs                                         int
	waiting, held, transfering, running, stopped int
	failed                                       int
	hosts                                        []hostLine
}

type hostLine struct {
	name        string
	used, slots int
	load        string
}

// summarize counts; it walks all jobs.
func summarize(s *state.State) (sum summary) {
	s.Each(grid.KindJob, func(o grid.Object) bool {
		j := o.(*grid.Job)
		sum.jobs++
		n := int(j.Eligible().Count())
		sum.waiting += n
		sum.held += int(j.Pending.Count()) - n
		return true
	})
	s.Each(grid.KindJATask, func(o grid.Object) bool {
		t := o.(*grid.JATask)
		switch {
		case t.State&grid.StateError != 0:
			sum.failed++
		case t.Status == grid.Transfering:
			sum.transfering++
		case t.Started() && t.State&grid.StateSuspendedAny != 0:
			sum.stopped++
		case t.Started():
			sum.running++
		default:
			sum.waiting++
		}
		return true
	})
	slots := map[string]int{}
	for _, q := range s.QInstances() {
		if c := s.CQueue(q.Queue); c != nil {
			slots[q.Host] += int(c.Slots.For(q.Host, func(group string) bool { return s.Member(group, q.Host) }))
		}
	}
	for _, h := range s.ExecHosts() {
		if h.Name == grid.GlobalHost || h.Name == "template" {
			continue
		}
		line := hostLine{name: h.Name, slots: slots[h.Name]}
		for _, t := range s.OnHost(h.Name) {
			for _, g := range t.Grants {
				if g.Host == h.Name {
					line.used += int(g.Slots)
				}
			}
		}
		if l := s.Load(h.Name); l != nil {
			if text, ok := l.Values.Get("load_avg"); ok {
				load, _ := strconv.ParseFloat(text, 64)
				line.load = fmt.Sprintf("%.2f", load)
			}
			if l.Unheard {
				line.load = "silent"
			}
		}
		sum.hosts = append(sum.hosts, line)
	}
	return sum
}

// lines prints the summary.
func (s summary) lines() []string {
	out := []string{fmt.Sprintf("%-18s%8d", "jobs", s.jobs)}
	for _, c := range []struct {
		what string
		n    int
	}{
		{"waiting (qw)", s.waiting}, {"held (hqw)", s.held}, {"transfering (t)", s.transfering},
		{"running (r)", s.running}, {"suspended (s,S,T)", s.stopped}, {"in error (E)", s.failed},
	} {
		if c.n > 0 {
			out = append(out, fmt.Sprintf("%-18s%8d", c.what, c.n))
		}
	}
	if len(s.hosts) > 0 {
		out = append(out, "", fmt.Sprintf("%-12s%7s%7s", "host", "slots", "load"))
	}
	for _, h := range s.hosts {
		out = append(out, fmt.Sprintf("%-12.12s%7s%7s", h.name, fmt.Sprintf("%d/%d", h.used, h.slots), cmp.Or(h.load, "-")))
	}
	return out
}
