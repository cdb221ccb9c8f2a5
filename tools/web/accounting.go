package web

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/past"
	"github.com/quill-grid/quill/tools/web/problem"
)

// clockSkew is how far the clock of a host, by which a record has its times, may be ahead of that of qmaster.
const clockSkew = 3600

// accountingQuery selects accounting records as qacct does.
type accountingQuery struct {
	Reading
	Paging
	Job        []string `query:"job" doc:"job numbers, names, patterns"`
	User       []string `query:"user" doc:"owners: names, patterns" example:"alice"`
	Group      []string `query:"group" doc:"groups of the owners: names, patterns"`
	Queue      []string `query:"queue" doc:"queues or queue instances: all.q, all.q@node1, *@node1"`
	Host       []string `query:"host" doc:"hosts: names, patterns"`
	Project    []string `query:"project" doc:"projects: names, patterns"`
	Department []string `query:"department" doc:"departments: names, patterns"`
	Account    []string `query:"account" doc:"-A of the jobs: texts, patterns"`
	PE         []string `query:"pe" doc:"parallel environments: names, patterns"`
	AR         uint32   `query:"ar" doc:"number of an advance reservation"`
	Slots      uint32   `query:"slots" doc:"that had so many slots"`
	Master     bool     `query:"master" doc:"without the records of tasks of parallel jobs"`
	Begin      string   `query:"begin" doc:"not before this time: 2026-11-21T14:03:20, 14:03:20, -7d (before now)"`
	End        string   `query:"end" doc:"not after this time"`
	Time       string   `query:"time" doc:"what begin and end are compared with" enum:"start,end" default:"start"`
}

// Ended is an accounting record.
type Ended = accounting.Record[time.Time]

func (s *handlers) registerAccounting() {
	op := operation(http.MethodGet, "/v1/accounting", "list-accounting", "accounting",
		"Ended jobs, the last first, as qacct -j lists them")
	op.Description =
		"The records of the log: it goes back as far as KEEP_HISTORY_TIME and KEEP_HISTORY_SIZE say. A page may have fewer rows than limit, even none, and a next: " +
			"the log was read for a while without finding more."
	registerListing(s, op, func(ctx context.Context, in *accountingQuery, at mirror.Moment, all bool) (
		rows[Ended], error) {
		chosen, from, err := in.filter(s.options.Now())
		if err != nil {
			return rows[Ended]{}, err
		}
		return s.listEnded(ctx, &in.Paging, at, all, "accounting", &past.EndedJobs{AccountingFilter: chosen, From: from})
	})
	registerListing(s, operation(http.MethodGet, "/v1/jobs/{id}/accounting", "list-job-accounting", "accounting",
		"All ended tasks and attempts of a job, the last first"),
		func(ctx context.Context, in *struct {
			Reading
			Paging
			ID   uint32   `path:"id" doc:"job number" minimum:"1"`
			Task []uint32 `query:"task" doc:"tasks of an array"`
		}, at mirror.Moment, all bool,
		) (rows[Ended], error) {
			if uint64(in.ID) > at.State.Counter(grid.JobSeqNum) {
				return rows[Ended]{}, problem.New(http.StatusNotFound, problem.TypeUnknown, "path.id",
					fmt.Sprintf("job %d does not exist", in.ID))
			}
			e := &past.EndedJobs{AccountingFilter: view.AccountingFilter{Jobs: []string{strconv.FormatUint(uint64(in.ID), 10)},
				Tasks: rangesOf(in.Task)},
				Job: in.ID}
			if j := at.State.Job(in.ID); j != nil {
				e.From = j.Submit
			}
			return s.listEnded(ctx, &in.Paging, at, all, fmt.Sprint("accounting ", in.ID), e)
		})
}

// oneOrNone is a number that is asked for; 0: none is.
func oneOrNone(n uint32) []uint32 {
	if n == 0 {
		return nil
	}
	return []uint32{n}
}

func rangesOf(numbers []uint32) (out grid.Ranges) {
	for _, n := range numbers {
		out = append(out, grid.Range{First: n, Last: n, Step: 1})
	}
	return out
}

// filter returns what the query selects, and the time before which no list has any of it. The error is a problem.
func (in *accountingQuery) filter(now time.Time) (f view.AccountingFilter, from grid.Time, err error) {
	moment := func(name, text string) grid.Time {
		if text == "" {
			return 0
		}
		m, bad := opt.ParseMoment(text, now)
		if bad == nil && m.At == 0 {
			bad = fmt.Errorf("%q is not a time", text)
		}
		if bad != nil && err == nil {
			err = problem.Invalid("query."+name, bad)
		}
		return m.At
	}
	f = view.AccountingFilter{
		Jobs: in.Job, Owners: in.User, Groups: in.Group, Queues: in.Queue, Hosts: in.Host, Projects: in.Project,
		Departments: in.Department,
		Accounts:    in.Account, PEs: in.PE, ARs: oneOrNone(in.AR), Slots: oneOrNone(in.Slots), Master: in.Master,
		Begin: moment("begin", in.Begin), End: moment("end", in.End), ByEnd: in.Time == "end",
	}
	if f.Begin != 0 {
		from = f.Begin.Add(-clockSkew)
	}
	return f, from, err
}

// listEnded returns a page of records, or all that are selected; of is the listing that its cursors are of.
func (s *handlers) listEnded(
	ctx context.Context, in *Paging, at mirror.Moment, all bool, of string, e *past.EndedJobs,
) (rows[Ended], error) {
	b := s.reader.Backwards(mirror.Position{Seq: at.State.Seq + 1})
	e.Most = s.reader.PageMost
	if in.Cursor != "" {
		after, err := readCursor[mirror.Position](of, in.Cursor)
		if err != nil {
			return rows[Ended]{}, err
		}
		if after.Before(b.To) {
			b.To = after
		}
	}
	if all {
		return rows[Ended]{items: documentsOf(func(yield func(*grid.Accounting) bool) {
			for r, err := range e.Each(ctx, b) {
				switch {
				case errors.Is(err, past.ErrLong):
				case err != nil:
					panic(http.ErrAbortHandler) // the reader sees that there is more
				case !yield(r.Accounting):
					return
				}
			}
		})}, nil
	}
	var kept []*grid.Accounting
	var last mirror.Position
	for r, err := range e.Each(ctx, b) {
		switch {
		case errors.Is(err, past.ErrLong):
			return rows[Ended]{items: documentsOf(slices.Values(kept)), next: cursorOf(of, b.To)}, nil
		case err != nil:
			return rows[Ended]{}, err
		case len(kept) == in.Limit:
			return rows[Ended]{items: documentsOf(slices.Values(kept)), next: cursorOf(of, last)}, nil
		}
		kept, last = append(kept, r.Accounting), r.Position
	}
	return rows[Ended]{items: documentsOf(slices.Values(kept))}, nil
}

func documentsOf(records iter.Seq[*grid.Accounting]) iter.Seq[Ended] {
	return iter.Seq[Ended](document.RecordsOf(records))
}
