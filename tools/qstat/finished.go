package qstat

import (
	"context"
	"math"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// fetchFinished gets the jobs that ended or were deleted last. qmaster keeps as
// many as finished_jobs of sge_conf(5) says.
func (p *printer) fetchFinished(ctx context.Context, c client.Client) error {
	finished := listing{now: p.list.now, whole: true, users: p.list.users, reckoning: p.list.reckoning}
	finished.reckoning.within = nil // what has left is worth nothing
	get := gdi.Get{Kinds: []grid.Kind{grid.KindJob}, Where: gdi.Where{Brief: true, Finished: true}}
	if _, err := c.Get(ctx, get, func(o grid.Object) error { finished.add(o); return nil }); err != nil {
		return err
	}
	finished.keepOwned()
	p.finished = finished.entries
	return nil
}

// eachFinished calls f with the rows of finished jobs.
func (p *printer) eachFinished(f func(*row)) {
	for _, e := range p.finished {
		r := &row{entry: e, letters: "z", at: e.submit, slots: e.slots, finished: true}
		if e.array {
			r.ids = grid.Ranges{e.job.Tasks}
		}
		f(r)
	}
}

// unknown are the tickets of a finished job.
var unknown = tickets{math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), 0}
