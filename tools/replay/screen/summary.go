package screen

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
)

// summary is the cell in a few lines: tasks by state, hosts.
type summary struct {
	view.Summary
	hosts []view.HostUse
}

// summarize counts; it walks all jobs.
func summarize(s *state.State) summary {
	v := view.Of(s)
	return summary{v.Summary(), v.HostUses()}
}

// lines prints the summary.
func (s summary) lines() []string {
	out := []string{fmt.Sprintf("%-18s%8d", "jobs", s.Jobs)}
	for _, c := range []struct {
		what string
		n    int
	}{
		{"waiting (qw)", s.Waiting}, {"held (hqw)", s.Held}, {"transfering (t)", s.Transfering},
		{"running (r)", s.Running}, {"suspended (s,S,T)", s.Suspended}, {"in error (E)", s.InError},
	} {
		if c.n > 0 {
			out = append(out, fmt.Sprintf("%-18s%8d", c.what, c.n))
		}
	}
	if len(s.hosts) > 0 {
		out = append(out, "", fmt.Sprintf("%-12s%7s%7s", "host", "slots", "load"))
	}
	for _, h := range s.hosts {
		load := "-"
		switch {
		case h.Silent:
			load = "silent"
		case h.Load != nil:
			load = fmt.Sprintf("%.2f", *h.Load)
		}
		out = append(out, fmt.Sprintf("%-12.12s%7s%7s", h.Name, fmt.Sprintf("%d/%d", h.Used, h.Slots), load))
	}
	return out
}
