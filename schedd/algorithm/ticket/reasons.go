package ticket

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/reason"
)

// reportReasons reports why jobs wait: per category, and once for all what closes queues.
func (r *run) reportReasons() {
	if r.Stopped {
		return
	}
	reasons := r.Reasons()
	reasons.Closed()
	for _, a := range r.blocked(reasons.Off) {
		reasons.Group(a.group, func() reason.Reason {
			if a.limited && !a.failed {
				return reason.Reason{Code: reason.UserLimit}
			}
			return r.m.Cluster.Why(a.group.Need)
		})
	}
	reasons.Rest(func(category string) bool { // not blocked any more, or no job waits
		g := r.m.Named(category)
		return g == nil || r.attempted(g) != nil
	})
}

// blocked lists the categories that could not start, in a fixed order, if
// anybody wants to know.
func (r *run) blocked(off bool) (out []*categoryProgress) {
	if off {
		return nil
	}
	for _, a := range r.tried.made[:r.tried.next] {
		if a.limited || a.failed {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b *categoryProgress) int { return strings.Compare(a.group.Category, b.group.Category) })
	return out
}
