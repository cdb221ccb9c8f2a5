package core

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
)

// reservationOrder reads: reserve ID.TASK [at=SECONDS] [for=SECONDS] [QUEUE@HOST=SLOTS ...] [pe=PE]
// [version=N]; at is from now on, and without for it has no end.
func (h *harness) reservationOrder(f []string, job, task uint32) orders.Order {
	o := &orders.JobReservation{Job: job, Task: task, End: grid.Never}
	if j := h.core.state.Job(job); j != nil {
		o.JobVersion = j.Version
	}
	var places []string
	for _, w := range f[2:] {
		switch name, n, _ := strings.Cut(w, "="); name {
		case "at":
			o.Start = h.now.Add(h.float(n))
		case "for":
			o.End = o.Start.Add(h.float(n))
		default:
			places = append(places, w)
		}
	}
	h.places(places, &o.Grants, &o.PE, &o.JobVersion)
	return o
}

// reservations prints what is kept free for tasks that wait.
func (h *harness) reservations() string {
	var b strings.Builder
	h.core.state.Each(grid.KindJobReservation, func(o grid.Object) bool {
		fmt.Fprintf(&b, "%s run %d\n", o.Key(), o.(*grid.JobReservation).Run)
		return true
	})
	return b.String()
}
