package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/problem"
)

// jobsQuery selects and orders rows of jobs.
type jobsQuery struct {
	Reading
	Paging
	User     []string `query:"user" doc:"owners: names, patterns, @groups; without it all" example:"alice"`
	State    string   `query:"state" doc:"letters as of qstat -s: p pending, r running, s suspended, z finished, hu ho hs hd hj ha held, a all" example:"pr" default:"prs"`
	Queue    []string `query:"queue" doc:"wildcard queues: tasks that run in one of their instances, pending jobs that could" example:"all.q"`
	PE       []string `query:"pe" doc:"parallel environments: tasks in queue instances that offer one of them, pending jobs that could run there"`
	Resource []string `query:"resource" doc:"resources as of qstat -l: tasks in queue instances that have so much, used or not, pending jobs that could run there" example:"arch=lx-amd64"`
	Admits   []string `query:"admits" doc:"users: tasks in queue instances that admit one of them, pending jobs that could run there"`
	Project  []string `query:"project" doc:"projects: names, patterns"`
	Name     []string `query:"name" doc:"job names: names, patterns"`
	Sort     string   `query:"sort" doc:"column, with - in front descending; without it as qstat has it: started tasks by job, then pending ones in the order in which they are considered" enum:"id,-id,priority,-priority,submit,-submit,start,-start,name,-name,user,-user,state,-state,slots,-slots"`
}

// Detail is all about a job: qstat -j, and what qstat shows of it.
type Detail struct {
	document.JobDetail
	Rows []document.Job `json:"rows" doc:"the rows of qstat: started tasks, then pending ones"`
}

// documents are rows as JSON has them.
func documents(rows iter.Seq[*view.Job]) iter.Seq[document.Job] {
	return iter.Seq[document.Job](document.JobsOf(document.JobShow{}, rows, nil, nil).Running)
}

func (s *handlers) registerJobs() {
	registerListing(s, operation(http.MethodGet, "/v1/jobs", "list-jobs", "jobs", "Jobs and tasks, as qstat lists them"),
		s.listJobs)
	registerObject(s, operation(http.MethodGet, "/v1/jobs/{id}", "get-job", "jobs",
		"A job and why it waits, as qstat -j shows it"), s.getJob)
}

// listJobs returns the rows of a page, or all that are selected.
func (s *handlers) listJobs(_ context.Context, in *jobsQuery, at mirror.Moment, all bool) (rows[document.Job], error) {
	if !all {
		kept, next, err := s.jobPage(in, at)
		return rows[document.Job]{items: documents(slices.Values(kept)), next: next}, err
	}
	selected, err := in.selection(at)
	if err != nil {
		return rows[document.Job]{}, err
	}
	if in.Sort == "" {
		return rows[document.Job]{items: documents(selected(true))}, nil
	}
	kept, _, err := in.order().page(&in.Paging, true, selected(false))
	return rows[document.Job]{items: documents(slices.Values(kept))}, err
}

// page returns a page of the rows that the query selects and keep leaves, nil: all of them, and the cursor of the next
// one. The error is a problem.
func (in *jobsQuery) page(
	at mirror.Moment, keep func(iter.Seq[*view.Job]) iter.Seq[*view.Job],
) ([]*view.Job, string, error) {
	selected, err := in.selection(at)
	if err != nil {
		return nil, "", err
	}
	found := selected(false)
	if keep != nil {
		found = keep(found)
	}
	return in.order().page(&in.Paging, false, found)
}

// selection returns the rows that the query selects; ordered: as qstat has them, which costs more. The error is a
// problem.
func (in *jobsQuery) selection(at mirror.Moment) (func(ordered bool) iter.Seq[*view.Job], error) {
	states, ok := view.ParseJobStates(in.State)
	if !ok {
		return nil, problem.Invalid("query.state", fmt.Errorf("%q is not letters of qstat -s", in.State))
	}
	queues, err := queueFilter(in.Queue, in.PE, in.Resource, in.Admits)
	if err != nil {
		return nil, err
	}
	jobs, err := at.View().Jobs(at.Now, view.JobFilter{Users: in.users(), States: states, Queues: queues}, view.JobShow{})
	switch {
	case errors.Is(err, view.ErrNone):
		return func(bool) iter.Seq[*view.Job] { return slices.Values([]*view.Job(nil)) }, nil
	case err != nil:
		return nil, badQueues(err)
	}
	if states&view.JobsFinished != 0 {
		for _, j := range at.State.Finished() {
			jobs.AddFinished(j)
		}
	}
	return in.selected(jobs, at), nil
}

func (in *jobsQuery) users() grid.Names {
	if slices.Contains(in.User, "*") {
		return nil
	}
	return in.User
}

// selected returns the rows that the query selects; ordered: as qstat has them, which costs more.
func (in *jobsQuery) selected(jobs *view.Jobs, at mirror.Moment) func(ordered bool) iter.Seq[*view.Job] {
	projects, names := compiled(in.Project), compiled(in.Name)
	return func(ordered bool) iter.Seq[*view.Job] {
		// Descending orders mostly begin with the newest jobs: a page that has its rows early compares the others once.
		waiting := jobs.Unordered(strings.HasPrefix(in.Sort, "-"))
		if ordered {
			waiting = jobs.Waiting()
		}
		return func(yield func(*view.Job) bool) {
			for _, section := range []iter.Seq[*view.Job]{jobs.Running(), waiting, jobs.Finished()} {
				for r := range section {
					if len(names) > 0 && !matches(names, r.Name) || len(projects) > 0 && !matches(projects, projectOf(at, r.ID)) {
						continue
					}
					if !yield(r) {
						return
					}
				}
			}
		}
	}
}

func projectOf(at mirror.Moment, job uint32) string {
	if j := at.State.Job(job); j != nil {
		return j.Project
	}
	return ""
}

func compiled(words []string) (out []pattern.Expression) {
	for _, w := range words {
		out = append(out, pattern.Compile(w, false))
	}
	return out
}

func matches(patterns []pattern.Expression, name string) bool {
	return slices.ContainsFunc(patterns, func(p pattern.Expression) bool { return p.Match(name) })
}

// getJob returns one job.
func (s *handlers) getJob(_ context.Context, in *struct {
	Reading
	ID uint32 `path:"id" doc:"job number" minimum:"1"`
}, at mirror.Moment,
) (Detail, error) {
	d := detailsOf(at, in.ID)
	found := d.Jobs()
	if len(found) == 0 {
		return Detail{}, problem.New(http.StatusNotFound, problem.TypeUnknown, "path.id",
			fmt.Sprintf("job %d does not exist", in.ID))
	}
	out := Detail{Rows: []document.Job{}}
	out.Rows = slices.AppendSeq(out.Rows, documents(rowsOf(in.ID, at)))
	for one := range document.JobDetailsOf(d.View(), found, nil, true).Jobs {
		out.JobDetail = one
	}
	out.Reasons = append(append([]string{}, d.Global()...), out.Reasons...)
	return out, nil
}

// detailsOf returns all about one job.
func detailsOf(at mirror.Moment, job uint32) *view.Details {
	key := []grid.Key{{ID: job}}
	d := view.NewDetails(at.Now, true)
	add := func(o grid.Object) bool { d.Add(grid.Public(o)); return true } // the log may have more than the mirror
	core.Query(at.State, gdi.Get{Kinds: []grid.Kind{grid.KindCentry, grid.KindConf, grid.KindSchedConf}}, add)
	core.Query(at.State,
		gdi.Get{Kinds: []grid.Kind{grid.KindJobScheddInfo, grid.KindJATask, grid.KindJob, grid.KindPriority},
			Where: gdi.Where{Keys: key, Why: true}}, add)
	core.Query(at.State, gdi.Get{Kinds: []grid.Kind{grid.KindJob},
		Where: gdi.Where{Keys: key, Brief: true, Waiting: true}}, func(o grid.Object) bool {
		d.AddSuccessor(o.(*grid.Job))
		return true
	})
	d.Done()
	return d
}

// rowsOf returns the rows of one job. A row holds until the next one.
func rowsOf(job uint32, at mirror.Moment) iter.Seq[*view.Job] {
	l := view.NewJobs(at.Now, view.JobFilter{States: view.JobsPresent}, view.JobShow{})
	get := l.Get()
	get.Where.Keys = []grid.Key{{ID: job}}
	for _, k := range get.Kinds {
		one := gdi.Get{Kinds: []grid.Kind{k}}
		if k == grid.KindJob || k == grid.KindJATask || k == grid.KindPETask || k == grid.KindPriority {
			one.Where = get.Where
		}
		core.Query(at.State, one, func(o grid.Object) bool { l.Add(o); return true })
	}
	return func(yield func(*view.Job) bool) {
		if l.Done() != nil {
			return
		}
		for _, section := range []iter.Seq[*view.Job]{l.Running(), l.Waiting()} {
			for r := range section {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// compareJobs orders rows; of equal ones identity decides.
type compareJobs = func(a, b *view.Job) int

var jobOrders = map[string]compareJobs{
	"":         compareListed,
	"id":       func(a, b *view.Job) int { return 0 },
	"priority": func(a, b *view.Job) int { return cmp.Compare(a.Priority, b.Priority) },
	"submit":   func(a, b *view.Job) int { return cmp.Compare(timeOf(a, false), timeOf(b, false)) },
	"start":    func(a, b *view.Job) int { return cmp.Compare(timeOf(a, true), timeOf(b, true)) },
	"name":     func(a, b *view.Job) int { return cmp.Compare(a.Name, b.Name) },
	"user":     func(a, b *view.Job) int { return cmp.Compare(a.Owner, b.Owner) },
	"state":    func(a, b *view.Job) int { return cmp.Compare(a.State, b.State) },
	"slots":    func(a, b *view.Job) int { return cmp.Compare(a.Slots, b.Slots) },
}

// timeOf is when a row's task started, or its job was submitted: 0 when the row has the other.
func timeOf(r *view.Job, start bool) grid.Time {
	if start != (r.Section == view.JobRunning) {
		return 0
	}
	return r.At
}

var sections = map[view.JobSection]int{view.JobRunning: 0, view.JobPending: 1, view.JobFinished: 2}

// compareListed is the order of qstat.
func compareListed(a, b *view.Job) int {
	if c := cmp.Compare(sections[a.Section], sections[b.Section]); c != 0 || a.Section != view.JobPending {
		return c
	}
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.At, b.At))
}

// compareIdentity orders rows of which no two are alike.
func compareIdentity(a, b *view.Job) int {
	if c := cmp.Compare(a.ID, b.ID); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Tasks.First(), b.Tasks.First()), cmp.Compare(a.Queue, b.Queue),
		cmp.Compare(a.State, b.State))
}

// jobKey is what the order of rows may depend on.
type jobKey struct {
	ID       uint32          `json:"i"`
	Task     uint32          `json:"t,omitempty"`
	Name     string          `json:"n,omitempty"`
	Owner    string          `json:"u,omitempty"`
	State    string          `json:"s"`
	Section  view.JobSection `json:"c"`
	Queue    string          `json:"q,omitempty"`
	Slots    uint32          `json:"l"`
	Priority float64         `json:"p"`
	At       int64           `json:"a"`
}

// order returns the order of the query.
func (in *jobsQuery) order() ordering[*view.Job, jobKey] {
	column, descending := strings.CutPrefix(in.Sort, "-")
	by := jobOrders[column]
	return ordering[*view.Job, jobKey]{
		of: "jobs " + in.Sort,
		compare: func(a, b *view.Job) int {
			c := by(a, b)
			if c == 0 {
				c = compareIdentity(a, b)
			}
			if descending {
				return -c
			}
			return c
		},
		key: func(r *view.Job) jobKey {
			return jobKey{ID: r.ID, Task: r.Tasks.First(), Name: r.Name, Owner: r.Owner, State: r.State,
				Section: r.Section, Queue: r.Queue,
				Slots: r.Slots, Priority: r.Priority, At: int64(r.At)}
		},
		row: func(k jobKey) *view.Job {
			return &view.Job{ID: k.ID, Tasks: grid.Ranges{{First: k.Task, Last: k.Task, Step: 1}}, Name: k.Name,
				Owner: k.Owner, State: k.State,
				Section: k.Section, Queue: k.Queue, Slots: k.Slots, Priority: k.Priority, At: grid.Time(k.At)}
		},
		keep: func(row, r *view.Job) *view.Job {
			if row == nil {
				row = new(view.Job)
			}
			*row = *r
			return row
		},
	}
}

// jobPage returns the rows of the page that a query asks for, which are not to be changed, and the cursor of the next
// one. The error is a problem.
func (s *handlers) jobPage(in *jobsQuery, at mirror.Moment) ([]*view.Job, string, error) {
	build := func() ([]*view.Job, string, error) { return in.page(at, nil) }
	if pages := s.mirror.Moments.Pages(at.State); pages != nil {
		return pages.Get(in.key(at), build)
	}
	return build()
}

// key is what a page of a moment depends on.
func (in *jobsQuery) key(at mirror.Moment) string {
	q := *in
	q.Reading = Reading{}
	return fmt.Sprintf("%d %#v", at.Now, q)
}
