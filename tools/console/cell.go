package console

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/filter"
	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/jobstory"
	"github.com/quill-grid/quill/tools/outcome"
	"github.com/quill-grid/quill/tools/outlook"
	"github.com/quill-grid/quill/tools/web/mirror"
)

// Backend is where pages have everything from. Every error that a person can do something about is a *Problem.
type Backend interface {
	Name() string
	// Master is the host of the leading qmaster, "" when it is not known.
	Master() string
	// Streams returns where the log and the recorded scheduling runs are stored now; none: it is not known.
	Streams(ctx context.Context) []gdi.Stream
	// Session returns who sends a request, and a function that ends its use. csrf is the field of a form; requests that
	// change nothing have none.
	Session(r *http.Request, csrf string) (Session, func(), error)

	// KeepPage has the next log-in of a browser lead to the page that it asks for.
	KeepPage(w http.ResponseWriter, r *http.Request)

	// Moment returns the cell as of a time or the number of an event list, "": now.
	Moment(ctx context.Context, at string) (*Moment, error)
	// Changed returns when there is a list after seq, or false when ctx has ended.
	Changed(ctx context.Context, seq uint64) bool
	// Begin is the place where the log begins.
	Begin(ctx context.Context) Place
	// Trend returns what happened until a moment.
	Trend(ctx context.Context, m *Moment) mirror.Trend
	// Load returns what a host has reported after a time, until a moment.
	Load(m *Moment, host string, after grid.Time) []mirror.LoadPoint

	// PartWait is how long a page waits for a part that costs more than reading the state; it is shown without it then.
	PartWait() time.Duration
	Jobs(ctx context.Context, m *Moment, q JobQuery) (JobPage, error)
	// Job returns all about a job; its Job is nil when there is none.
	Job(m *Moment, job uint32) (JobFacts, error)
	// Waiting returns why tasks wait, each in one group, or Later.
	Waiting(ctx context.Context, m *Moment) ([]explain.Group, error)
	// Ended returns the newest accounting records that a filter selects, the newest first, of a bounded stretch of the
	// log.
	Ended(ctx context.Context, m *Moment, f view.AccountingFilter, most int) ([]*grid.Accounting, error)
	// Ran returns the records of attempts that ended after a time, the newest first, and since when they are complete.
	Ran(ctx context.Context, m *Moment, f view.AccountingFilter, after grid.Time) (records []*grid.Accounting,
		known grid.Time, err error)
	// Story returns that of a job, or of one of its tasks, with what is foreseen for it, and what the job used over time.
	Story(ctx context.Context, m *Moment, job, task uint32) (*jobstory.Story, []UsagePoint, error)
	// Plan returns the starts that the algorithm of the cell foresees for the first jobs in line, or Later.
	Plan(ctx context.Context, m *Moment) (Plan, error)
	// Parameters returns those of the algorithm of the cell at a moment, with what they mean.
	Parameters(m *Moment) []grid.Param
	// Preview returns what the next scheduling run would do as the cell is configured at a moment, and with other
	// attributes of its scheduler configuration, or parameters of an algorithm, ALGORITHM.NAME: of a table the text has
	// a line for each row.
	Preview(ctx context.Context, m *Moment, changes grid.Values) (now, then outlook.Preview, err error)
	// Algorithms returns the names that sched_conf(5) algorithm may have.
	Algorithms() []string
	// Explain returns the view of the algorithm of the cell at a moment, in its own terms, or Later.
	Explain(ctx context.Context, m *Moment) ([]string, error)
	// Runs returns the last RunsMost scheduling runs that changed something, the newest first, of a bounded stretch of the
	// log, or Later. Orders and refusals are known of runs that were recorded, and only if the session may read records.
	Runs(ctx context.Context, m *Moment, s Session) ([]Run, error)
	// Try begins a comparison of what was recorded with what would have been. One of a user runs at a time.
	Try(s Session, w WhatIf) (id string, err error)
	// Trials returns the comparisons of a user, the newest first; with an id only this one.
	Trials(s Session, id string) []Trial
	// TrialBounds returns how many event lists a comparison may have, and how long it may take.
	TrialBounds() (lists uint64, longest time.Duration)
	// Cancel ends a comparison of a user.
	Cancel(s Session, id string)
	// Lists returns event lists up to one, the newest first, reduced to the events that pass a filter. It reads a bounded
	// stretch of the log; next is where to continue, 0: the log has no more.
	Lists(ctx context.Context, upTo uint64, f *filter.Filter, most int) (lists []events.List, next uint64, err error)
}

// Session is a person who is logged in.
type Session interface {
	User() string
	CSRF() string
	// Valid reports whether the session has not ended.
	Valid() bool
	// SubmitLine returns how a job was submitted, "" when this user may not read it or it is gone.
	SubmitLine(ctx context.Context, job uint32) string
	// Output reads a part of an output file.
	Output(ctx context.Context, what gdi.Output) (*gdi.Part, error)
	// Proposals returns the changes that programs have proposed, as far as the user may see them: the own ones, a manager
	// all.
	Proposals(ctx context.Context) ([]*grid.Proposal, error)
	// End logs out.
	End(ctx context.Context, w http.ResponseWriter) error
	// Do carries out an action as the API does, and returns what qmaster answers about each of its objects and the number
	// of the list with the change. With an error there are requests without an answer: with the same Key those that
	// qmaster has carried out are not done again.
	Do(ctx context.Context, a Action) (outcomes []Outcome, seq uint64, err error)
}

// Action is what a person does with jobs or queue instances.
type Action struct {
	Key  string // of the action: what was done under it is not done again
	Verb string // hold, release, delete, alter, signal, submit, configure, approve, reject
	// jobs, JOB or JOB.TASKS; queue instances; of configure, KIND/NAME; of approve and reject, numbers of proposals
	Refs    []string
	Queues  bool     // Refs are queue instances
	Signal  string   // of signal: suspend, unsuspend, reschedule, clear, disable, enable
	Options []string // of alter and resubmit: words of qalter and qsub; of configure, ATTRIBUTE=VALUE for each of Refs
}

// Outcome is what qmaster answers about an object of an action.
type Outcome struct {
	Status int // of HTTP, 200: it was done
	Text   string
}

// Moment is the cell at one event list.
type Moment struct {
	State   *state.State
	Cluster *sched.Cluster
	View    *view.View
	Now     grid.Time // what counts as the present
	Present grid.Time // when the request came
	Live    bool      // the moment is the present
}

// Place is an event list.
type Place struct {
	Seq uint64
	At  grid.Time
}

// Plan is the starts that are foreseen.
type Plan struct {
	Starts  []outlook.Planned
	Waiting int // jobs that wait in line
	Most    int // of them were considered, at most
}

// UsagePoint is what the tasks of a job have used until a time, as their hosts reported it.
type UsagePoint struct {
	At     grid.Time
	CPU    float64 // seconds
	Memory float64 // bytes, of those that run
	// Unsampled: tasks run, and no host has reported the memory of any.
	Unsampled bool
}

// Run is a scheduling run.
type Run struct {
	Number              string
	First, Last         uint64 // event lists with what it changed
	At                  grid.Time
	Starts, Tasks, Jobs int // tasks that it started, other tasks and jobs that it changed: priorities, suspensions
	Waits               int // reports of why jobs wait
	Recorded            bool
	Orders              int
	Refused             []string
}

// WhatIf is what is to be compared with what was recorded.
type WhatIf struct {
	From, To   string            // the stretch of the log
	Algorithms []string          // none: that of the configuration
	Conf       string            // scheduler configuration as qconf prints it, "": as recorded
	Tree       string            // share tree, likewise
	Shares     map[string]string // functional shares of projects
}

// Trial is a comparison.
type Trial struct {
	ID       string
	WhatIf   WhatIf
	Asked    time.Time
	From, To grid.Time          // of the stretch
	Step     string             // what it does now; "": it has ended
	Part     float64            // how much of it is done, 0 ... 1
	At       grid.Time          // up to when it has replayed; 0: it does not replay now
	Deadline time.Time          // when it ends at the latest; zero: it has not begun
	Lists    uint64             // event lists of the stretch; 0: not known yet
	Failed   string             // why there is no result
	Compared outcome.Comparison // what was recorded, then each variant that has ended
	Notes    []string
}

// JobQuery selects and orders rows of jobs, in the words of the API.
type JobQuery struct {
	User, Project, Name         []string
	Queue, PE, Resource, Admits []string // of the queue instance, as -q, -pe, -l, -U of qstat
	State, Sort, Cursor         string
	Limit                       int
	Why                         string // only those of a group of Waiting
}

// JobPage is a page of rows.
type JobPage struct {
	Rows []view.Job
	Next string // cursor of the next page, "": this is the last one
}

// JobFacts is all about a job, and its rows as qstat has them.
type JobFacts struct {
	view.JobDetail
	Rows []view.Job
}

// Problem is an error for the person at the browser.
type Problem struct {
	Status int
	Field  string // the field of a form that is wrong, "": none
	Text   string
	Log    bool // a log-in helps
}

func (p *Problem) Error() string { return p.Text }

// Later returns the problem of a part of a page that is still being made.
func Later() *Problem {
	return &Problem{Status: http.StatusServiceUnavailable, Field: later, Text: laterText}
}

const (
	later     = "later"
	laterText = "This is being worked out; a page that follows the cell shows it as soon as it is known, others when they are loaded again."
	laterBeat = 300 * time.Millisecond
)

// waits notes the parts of a page that are not there yet.
type waits struct{ Waits bool }

// missing returns what a page shows instead of a part, "" when it is there. An error that is no *Problem ends the page.
func (w *waits) missing(err error) (text string, bad error) {
	p := (*Problem)(nil)
	if !errors.As(err, &p) {
		return "", err
	}
	w.Waits = w.Waits || p.Field == later
	return p.Text, nil
}

// Beat is how often the page is made anew while nothing happens in the cell.
func (w *waits) Beat() time.Duration {
	if w.Waits {
		return laterBeat
	}
	return 0
}
