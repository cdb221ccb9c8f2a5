package ticket

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

func (r *run) starting(j *grid.Job, id uint32, n *sched.Need, p sched.Placement) {}

func (r *run) reserving(j *grid.Job, id uint32, n *sched.Need, p sched.Placement, at grid.Time) {}
