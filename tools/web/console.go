package web

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/filter"
	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/console"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/past"
	"github.com/quill-grid/quill/tools/web/problem"
)

// Bounds of what pages of the console read from the log.
const (
	endedLists = 20_000 // event lists, for the last accounting records
	ranMost    = 20_000 // records, for what ran when
	trendLists = 100_000
	logFirst   = 200     // event lists that are read from the log at a time, at first: a page shows few
	logStretch = 2_000   // ... and at most
	logLists   = 20_000  // ... for a page; the next one continues
	logEvents  = 200_000 // the same of events of kept lists
	beginAge   = time.Minute
)

// consoleCell is the cell as the console sees it.
type consoleCell struct {
	*handlers

	mu       sync.Mutex
	begin    console.Place // where the log begins
	asked    time.Time     // when that was read
	backfill sync.Once
	// partWait is how long a page waits for a part that costs more than reading the state.
	partWait time.Duration
	plans    foreseen[console.Plan]
	views    foreseen[[]string]
	groups   foreseen[[]explain.Group]
	runs     [2]foreseen[[]console.Run] // without and with records
	trials   trials
}

// pageProblem is a problem as pages have it.
func pageProblem(err error) *console.Problem {
	p := (*huma.ErrorModel)(nil)
	if limit := (*problem.Limited)(nil); errors.As(err, &limit) {
		return &console.Problem{Status: http.StatusTooManyRequests, Text: limit.Error(), Log: true}
	}
	if !errors.As(err, &p) {
		return &console.Problem{Status: http.StatusInternalServerError, Text: err.Error()}
	}
	out := &console.Problem{Status: p.Status, Text: p.Detail, Log: p.Status == http.StatusUnauthorized}
	if len(p.Errors) > 0 {
		_, out.Field, _ = strings.Cut(p.Errors[0].Location, ".")
	}
	if len(p.Errors) > 1 { // of qmaster, one for each object
		out.Text = ""
		for _, e := range p.Errors {
			out.Text += e.Message + "\n"
		}
	}
	return out
}

// pageError is an error as pages have it.
func pageError(err error) error {
	p := (*huma.ErrorModel)(nil)
	if err == nil || !errors.As(err, &p) {
		return err
	}
	return pageProblem(err)
}

func (c *consoleCell) Name() string { return c.options.Cell }

func (c *consoleCell) Master() string { return c.leader() }

func (c *consoleCell) Streams(ctx context.Context) []gdi.Stream { return c.handlers.streams.get(ctx) }

func (c *consoleCell) Session(r *http.Request, csrf string) (console.Session, func(), error) {
	one, err := c.entry.AuthenticateForm(r, csrf)
	if err != nil {
		p := pageProblem(err)
		if csrf := (*huma.ErrorModel)(nil); errors.As(err, &csrf) && csrf.Type == problem.Prefix+problem.TypeCSRF {
			p = &console.Problem{
				Status: p.Status, Text: "Nothing was done: the form is not of a page of this session. Load the page again."}
		}
		if p.Log && p.Status == http.StatusUnauthorized {
			p.Text = "The console shows the cell to its users, and acts with their rights."
			if c.entry.HasCookie(r) {
				p.Text = "The session has ended. " + p.Text
			}
		}
		return nil, nil, p
	}
	*r = *r.WithContext(entry.WithCredential(r.Context(), one)) // for turnOf
	return &consoleSession{c, one}, one.Release, nil
}

func (c *consoleCell) Moment(ctx context.Context, at string) (*console.Moment, error) {
	m, err := c.handlers.moment(ctx, &Reading{At: at})
	if err != nil {
		return nil, pageError(err)
	}
	return &console.Moment{State: m.State, View: m.View(), Now: m.Now, Present: grid.TimeOf(c.options.Now()),
		Live: at == "", Cluster: m.Cluster}, nil
}

func momentOf(m *console.Moment) mirror.Moment {
	return mirror.Moment{State: m.State, Cluster: m.Cluster, Now: m.Now}
}

func (c *consoleCell) Changed(ctx context.Context, seq uint64) bool {
	return c.mirror.WaitFor(ctx, seq+1, answerWait)
}

func (c *consoleCell) Begin(ctx context.Context) console.Place {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked.IsZero() && time.Since(c.asked) < beginAge {
		return c.begin
	}
	c.asked = time.Now()
	first := gdi.Place{Seq: 1}
	p, err := c.reader.Open(ctx, first, first, true)
	if err != nil {
		return c.begin
	}
	defer p.Close()
	mark, _ := p.Span()
	c.begin = console.Place{Seq: mark.Seq, At: mark.At}
	return c.begin
}

func (c *consoleCell) Trend(_ context.Context, m *console.Moment) mirror.Trend {
	c.backfill.Do(func() { go c.fillCharts() })
	const most = 25 * 3600 * 1000 // milliseconds: the longest chart
	return c.mirror.Charts.Trend(m.Now-most, m.Now)
}

func (c *consoleCell) Load(m *console.Moment, host string, after grid.Time) []mirror.LoadPoint {
	c.backfill.Do(func() { go c.fillCharts() })
	return c.mirror.Charts.Load(host, after, m.Now)
}

// fillCharts adds what was before this server began to the trend and the loads.
func (c *consoleCell) fillCharts() {
	before := c.mirror.Charts.Began()
	if before == 0 || c.reader.History == nil {
		return
	}
	p, err := c.reader.Open(context.Background(), gdi.Place{Seq: max(before, trendLists+1) - trendLists},
		gdi.Place{Seq: before}, false)
	if err != nil {
		c.options.Logger.Warn("cannot read the log for the charts of the console", "error", err)
		return
	}
	defer p.Close()
	first, _ := p.Span()
	st, err := p.Full(first.Seq)
	if err != nil {
		c.options.Logger.Warn("cannot read the log for the charts of the console", "error", err)
		return
	}
	var old mirror.Trend
	var loads mirror.Loads
	lists := mirror.NewRecent(mirror.StretchEvents)
	lists.BeginAfter(st)
	for l, err := range p.Lists(st.Seq + 1) {
		if err != nil || l.Seq > before {
			break
		}
		st.Apply(l)
		old.Add(l, st)
		loads.Add(l)
		lists.Add(l.Public())
	}
	c.mirror.Recent.Prepend(lists)
	c.mirror.Charts.Prepend(old, loads)
}

func (c *consoleCell) Jobs(ctx context.Context, m *console.Moment, q console.JobQuery) (console.JobPage, error) {
	in := &jobsQuery{Paging: Paging{Limit: q.Limit, Cursor: q.Cursor}, User: q.User, State: q.State,
		Queue: q.Queue, PE: q.PE, Resource: q.Resource, Admits: q.Admits, Project: q.Project, Name: q.Name, Sort: q.Sort}
	column, _ := strings.CutPrefix(q.Sort, "-")
	if jobOrders[column] == nil {
		return console.JobPage{}, &console.Problem{Status: http.StatusUnprocessableEntity, Field: "sort",
			Text: "There is no column " + q.Sort + "."}
	}
	page := func() ([]*view.Job, string, error) { return c.jobPage(in, momentOf(m)) }
	if q.Why != "" {
		groups, err := c.Waiting(ctx, m)
		if err != nil {
			return console.JobPage{}, err
		}
		page = func() ([]*view.Job, string, error) {
			return in.page(momentOf(m), func(rows iter.Seq[*view.Job]) iter.Seq[*view.Job] {
				return keepWhy(groups, q.Why, rows)
			})
		}
	}
	kept, next, err := page()
	out := console.JobPage{Next: next}
	for _, r := range kept {
		out.Rows = append(out.Rows, *r)
	}
	return out, pageError(err)
}

// keepWhy leaves the rows of jobs that wait for a reason.
func keepWhy(groups []explain.Group, why string, rows iter.Seq[*view.Job]) iter.Seq[*view.Job] {
	is := map[uint32]bool{}
	for _, g := range groups {
		if g.Name() == why {
			for _, j := range g.Jobs {
				is[j] = true
			}
		}
	}
	return func(yield func(*view.Job) bool) {
		for r := range rows {
			if is[r.ID] && r.Section == view.JobPending && !yield(r) {
				return
			}
		}
	}
}

func (c *consoleCell) Job(m *console.Moment, job uint32) (out console.JobFacts, err error) {
	at := momentOf(m)
	found := detailsOf(at, job).Jobs()
	if len(found) == 0 {
		return out, nil
	}
	out.JobDetail = found[0]
	for r := range rowsOf(job, at) {
		out.Rows = append(out.Rows, *r)
	}
	return out, nil
}

func (c *consoleCell) KeepPage(w http.ResponseWriter, r *http.Request) { c.entry.KeepPage(w, r) }

func (c *consoleCell) PartWait() time.Duration { return c.partWait }

func (c *consoleCell) Waiting(ctx context.Context, m *console.Moment) ([]explain.Group, error) {
	at := ""
	if !m.Live {
		at = strconv.FormatUint(m.State.Seq, 10)
	}
	return c.groups.find(ctx, c, m, func(ctx context.Context) ([]explain.Group, error) {
		own, err := c.Moment(ctx, at) // its cluster is not used by the page meanwhile
		if err != nil {
			return nil, err
		}
		return explain.New(own.State, own.Cluster, m.Now, time.Local).Groups(nil), nil
	})
}

func (c *consoleCell) Ended(
	ctx context.Context, m *console.Moment, f view.AccountingFilter, most int,
) (out []*grid.Accounting, err error) {
	e := &past.EndedJobs{AccountingFilter: f, Most: endedLists}
	if len(f.Jobs) == 1 {
		if job, err := strconv.ParseUint(f.Jobs[0], 10, 32); err == nil {
			e.Job, e.Most = uint32(job), c.reader.PageMost
		}
	}
	b := c.reader.Backwards(mirror.Position{Seq: m.State.Seq + 1})
	for r, err := range e.Each(ctx, b) {
		p := (*huma.ErrorModel)(nil)
		switch {
		case errors.Is(err, past.ErrLong), errors.As(err, &p) && p.Status == http.StatusGone:
			return out, nil
		case err != nil:
			return out, pageError(err)
		}
		if out = append(out, r.Accounting); len(out) == most {
			break
		}
	}
	return out, nil
}

func (c *consoleCell) Ran(
	ctx context.Context, m *console.Moment, f view.AccountingFilter, after grid.Time,
) (out []*grid.Accounting, known grid.Time, err error) {
	known = m.Now
	e := &past.EndedJobs{AccountingFilter: f, Most: endedLists, From: after}
	b := c.reader.Backwards(mirror.Position{Seq: m.State.Seq + 1})
	for r, err := range e.Each(ctx, b) {
		p := (*huma.ErrorModel)(nil)
		switch {
		case errors.Is(err, past.ErrLong), errors.As(err, &p) && p.Status == http.StatusGone:
			return out, known, nil
		case err != nil:
			return out, known, pageError(err)
		case len(out) == ranMost:
			return out, r.Ended(), nil
		case r.Ended() > after:
			out = append(out, r.Accounting)
		}
		known = min(known, r.Ended())
	}
	return out, max(after, c.Begin(ctx).At), nil
}

func (c *consoleCell) Lists(
	ctx context.Context, upTo uint64, f *filter.Filter, most int,
) (out []events.List, next uint64, err error) {
	if !f.NeedsState() {
		seen := 0
		upTo, err = c.mirror.Recent.Backward(upTo, func(l events.List) bool {
			if chosen := chosenIn(l, f, nil); len(chosen.Events) > 0 {
				out = append(out, chosen)
			}
			seen += len(l.Events)
			return len(out) < most && seen < logEvents && ctx.Err() == nil
		})
		if err != nil || ctx.Err() != nil {
			return out, 0, cmp.Or(err, ctx.Err())
		}
		if seen >= logEvents {
			return out, upTo, nil
		}
	}
	read, size := uint64(0), uint64(logFirst)
	for upTo > 0 && len(out) < most && read < logLists {
		from := max(upTo, size) - size + 1
		read, size = read+size, min(2*size, logStretch)
		part, first, err := c.readStretch(ctx, from, upTo, f)
		if err != nil {
			return out, 0, pageError(err)
		}
		for _, l := range slices.Backward(part) {
			if len(out) == most {
				return out, l.Seq, nil
			}
			out = append(out, l)
		}
		if first > from || from == 1 {
			return out, 0, nil
		}
		upTo = from - 1
	}
	return out, upTo, nil
}

// chosenIn returns a list with the events that pass a filter; before is the state before it, for filters that need it.
func chosenIn(l events.List, f *filter.Filter, before *state.State) events.List {
	if f.Empty() {
		return l
	}
	return f.Of(l, mirror.MemoryOf(before))
}

// readStretch returns the lists of a part of the log, oldest first, reduced to what passes a filter, and the first list
// that the log has of it.
func (c *consoleCell) readStretch(
	ctx context.Context, from, to uint64, f *filter.Filter,
) (out []events.List, first uint64, err error) {
	p, err := c.reader.Open(ctx, gdi.Place{Seq: from}, gdi.Place{Seq: to}, !f.NeedsState())
	if err != nil {
		return nil, 0, err
	}
	defer p.Close()
	mark, _ := p.Span()
	first = mark.Seq
	var st *state.State // what was before, for filters that need it
	if f.NeedsState() {
		if st, err = p.Full(max(first, from) - 1); err != nil || st.Seq >= max(first, from) {
			st = nil
		}
	}
	for l, err := range p.Lists(max(first, from)) {
		switch {
		case err != nil:
			return out, first, problem.Unreachable(err)
		case l.Seq > to:
			return out, first, nil
		case ctx.Err() != nil:
			return out, first, ctx.Err()
		case l.Seq < from:
			continue
		}
		l = l.Public()
		chosen := chosenIn(l, f, st)
		if st != nil {
			st.Apply(l)
		}
		if len(chosen.Events) > 0 {
			out = append(out, chosen)
		}
	}
	return out, first, nil
}
