package simulator

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// startPETasks has the script of a parallel job start tasks on its hosts, as it would
// with qrsh -inherit, sometimes more than it may.
func (w *World) startPETasks(a report.Attempt) {
	j, t := w.master.sure.Job(a.Job), w.master.sure.Task(a.Job, a.Task)
	if j == nil || t == nil || t.PE == "" {
		return
	}
	for n := range w.rand.IntN(2 + int(t.Slots())) {
		w.after(6*w.rand.Float64(), func() {
			if w.running[taskOf(a)] != a {
				return
			}
			w.clients.askAs(j.Owner, &gdi.StartTask{
				Job: a.Job, Task: a.Task, Host: t.Grants[w.rand.IntN(len(t.Grants))].Host,
				Launch: &grid.Launch{Args: []string{"ring"}},
			}, fmt.Sprintf("inherit%s-%d", a, n))
		})
	}
}

// notOverInherited counts what a task has started on a host: no more than it has
// slots there.
func (w *World) notOverInherited(p *grid.PETask) {
	s := w.master.sure
	t := s.Task(p.Job, p.Task)
	if p.ID == grid.PastUsage {
		return
	}
	if t == nil || !t.Started() {
		w.fail("%d.%d:%s is there without its job", p.Job, p.Task, p.ID)
		return
	}
	slots, used := uint32(0), uint32(0)
	for _, g := range t.Grants {
		if g.Host == p.Host {
			slots += g.Slots
		}
	}
	for _, o := range s.PETasks(p.Job, p.Task) {
		if o.ID != grid.PastUsage && o.Host == p.Host {
			used++
		}
	}
	if used > slots {
		w.fail("%d.%d has %d tasks on %s, and %d slots", p.Job, p.Task, used, p.Host, slots)
	}
}

// endsWithout holds the end of a task against what it has started: nothing of it
// is left, but on hosts that are unknown.
func (w *World) endsWithout(job, id uint32) {
	for k, a := range w.running {
		if k.job == job && k.id == id && k.petask != "" && !w.Silence {
			w.fail("%s has outlived its job", a)
		}
	}
}
