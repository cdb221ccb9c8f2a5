package qstat

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// finishedBytes are how far back the accounting file is read for -s z: some
// ten thousand records.
const finishedBytes = 4 << 20

// fetchFinished gets the jobs that finished last, as many as finished_jobs of
// sge_conf(5) says. The accounting file tells of them: qmaster keeps none.
// Where that file cannot be seen, nothing has finished.
func (p *printer) fetchFinished(ctx context.Context, c client.Client) error {
	limit := uint64(0)
	_, err := c.Get(ctx, gdi.Get{Kinds: []grid.Kind{grid.KindConf}}, func(o grid.Object) error {
		if conf := o.(*grid.Conf); conf.Host == grid.GlobalConf {
			limit, _ = strconv.ParseUint(conf.Get("finished_jobs"), 10, 32)
		}
		return nil
	})
	if err != nil || limit == 0 {
		return err
	}
	cell, err := client.FindCellIn(p.env.Getenv)
	if err != nil {
		return nil
	}
	file, err := os.Open(cell.Accounting())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if end, err := file.Seek(0, io.SeekEnd); err == nil {
		// What is read of the first line makes no record.
		file.Seek(max(end-finishedBytes, 0), io.SeekStart)
	}
	return p.readFinished(file, int(limit))
}

func (p *printer) readFinished(file io.Reader, limit int) error {
	there := map[uint32]*entry{}
	for _, e := range p.list.entries {
		there[e.id] = e
	}
	jobs := map[uint32]*entry{}
	err := accounting.Each(file, func(a *grid.Accounting) {
		// A task that ended may have been put back; a replay shows what was
		// finished then.
		if a.PETask != "" || a.End > p.list.now || there[a.Job].has(a.Task) {
			return
		}
		e := jobs[a.Job]
		if e == nil || e.submit != a.Submit { // numbers begin anew some day
			e = finishedJob(a)
		}
		jobs[a.Job] = e
		if e.array {
			e.parts.pending = e.parts.pending.With(a.Task)
		}
		// The job whose task finished last comes last.
		if n := slices.Index(p.finished, e); n >= 0 {
			p.finished = slices.Delete(p.finished, n, n+1)
		}
		if p.finished = append(p.finished, e); len(p.finished) > limit {
			delete(jobs, p.finished[0].id)
			p.finished = p.finished[1:]
		}
	}, nil)
	users := p.list.users
	p.finished = slices.DeleteFunc(p.finished, func(e *entry) bool {
		return len(users) > 0 && !slices.ContainsFunc(users, func(u string) bool { return owned(e.job, u) })
	})
	return err
}

// has says whether a task of the job waits or runs.
func (e *entry) has(task uint32) bool {
	switch {
	case e == nil || !e.array:
		return e != nil
	case e.parts.pending.Contains(task):
		return true
	}
	return slices.ContainsFunc(e.tasks, func(t *grid.JATask) bool { return t.ID == task })
}

// finishedJob is what the accounting knows of a job.
func finishedJob(a *grid.Accounting) *entry {
	j := &grid.Job{JobRequest: &grid.JobRequest{PE: a.PE}, Project: a.Project, Priority: a.Priority,
		ID: a.Job, Name: a.Name, Owner: a.Owner, Group: a.Group, Department: a.Department, Submit: a.Submit, Array: a.Array}
	if a.PE != "" {
		j.PERange = grid.Ranges{{First: a.Slots, Last: a.Slots, Step: 1}}
	}
	e := newEntry(j, a.End, true)
	e.slots = max(a.Slots, 1)
	return &e
}

// eachFinished calls f with the rows of finished jobs.
func (p *printer) eachFinished(f func(*row)) {
	for _, e := range p.finished {
		r := &row{entry: e, letters: "z", at: e.submit, slots: e.slots}
		if e.array {
			r.ids = e.parts.pending
		}
		f(r)
	}
}
