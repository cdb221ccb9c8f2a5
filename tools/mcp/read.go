package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quill-grid/quill/events/diff"
	"github.com/quill-grid/quill/events/filter"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/jobstory"
	"github.com/quill-grid/quill/tools/outlook"
)

// ListIn is the input of list.
type ListIn struct {
	Kind   ListKind  `json:"kind" jsonschema:"what is listed; queues are queue instances"`
	Users  []string  `json:"users,omitempty" jsonschema:"of jobs: only those of these users"`
	States JobStates `json:"states,omitempty" jsonschema:"of jobs: letters of qstat -s: p pending, r running, s suspended, a all, h held, hu ho hs by user, operator, system, hd hj by predecessors, ha until a time"`
	At     string    `json:"at,omitempty" jsonschema:"as of a moment: number of an event list, a time, or a span back as -2h; empty: now; not of proposals"`
	Offset int       `json:"offset,omitempty" jsonschema:"rows to skip: next of the page before"`
	Limit  int       `json:"limit,omitempty" jsonschema:"rows, 50 unless given, at most 500"`
}

// Listing is the output of list.
type Listing struct {
	Notice string `json:"notice"`
	Seq    uint64 `json:"seq" jsonschema:"number of the last event list"`
	Total  int    `json:"total"`
	Next   int    `json:"next,omitempty" jsonschema:"offset of the next page; absent: this was the last"`
	Rows   []any  `json:"rows" jsonschema:"rows as in the JSON documents of the commands, described by the resources urn:quill:schema:... : jobs by qstat-reduced, queues by qstat-full, cluster_queues by qstat-cqueue, hosts by qhost, quotas by qquota, reservations by qrstat, proposals by quill-proposals"`
}

func (s *session) list(ctx context.Context, _ *sdk.CallToolRequest, in ListIn) (Listing, error) {
	switch {
	case in.Kind != "jobs" && len(in.Users) > 0:
		return Listing{}, fmt.Errorf("users is of jobs, not of %s", in.Kind)
	case in.Kind != "jobs" && in.States != "":
		return Listing{}, fmt.Errorf("states is of jobs, not of %s", in.Kind)
	case in.Kind == "proposals" && in.At != "":
		return Listing{}, errors.New("proposals are listed as they are now: leave out at")
	}
	c, err := s.connect(ctx)
	if err != nil {
		return Listing{}, err
	}
	defer c.Close()
	var all []any
	var seq uint64
	if in.Kind == "proposals" {
		all, err = s.proposals(ctx, c)
	} else {
		var st *state.State
		if st, err = s.past(ctx, c, in.At); err == nil {
			seq = st.Seq
			all, err = rowsOf(st, in)
		}
	}
	if err != nil {
		return Listing{}, err
	}
	page, next, err := paged(all, in.Offset, in.Limit)
	for i := range page {
		if err == nil {
			page[i], err = cleaned(page[i])
		}
	}
	return Listing{notice, seq, len(all), next, page}, err
}

// rowsOf returns the rows of a listing.
func rowsOf(st *state.State, in ListIn) ([]any, error) {
	v := view.Of(st)
	switch in.Kind {
	case "jobs":
		return jobRows(st, v, in)
	case "queues":
		rows, err := v.Queues(view.QueueFilter{}, "load_avg")
		if errors.Is(err, view.ErrNone) {
			return nil, nil
		}
		pointers := func(yield func(*view.Queue) bool) {
			for i := range rows {
				if !yield(&rows[i]) {
					return
				}
			}
		}
		none := slices.Values([]*view.Job(nil))
		return members(err, document.QueuesOf(document.QueueShow{}, document.JobShow{View: v}, pointers, none, nil))
	case "cluster_queues":
		rows, err := v.ClusterQueues(view.QueueFilter{})
		if errors.Is(err, view.ErrNone) {
			return nil, nil
		}
		return members(err, document.ClusterQueuesOf(rows, true))
	case "hosts":
		rows, err := v.Hosts(view.HostFilter{})
		return members(err, document.HostsOf(rows, document.HostParts{}))
	case "quotas":
		return members(nil, document.QuotasOf(v.Quotas(view.QuotaFilter{})))
	case "reservations":
		return members(nil, document.ReservationsOf(v, v.Reservations(grid.Names{"*"}), nil, false, false))
	}
	return nil, fmt.Errorf("there is no listing %q", in.Kind)
}

func jobRows(st *state.State, v *view.View, in ListIn) ([]any, error) {
	states := view.JobStates(view.JobsPresent)
	if in.States != "" {
		var ok bool
		if states, ok = view.ParseJobStates(string(in.States)); !ok {
			return nil, fmt.Errorf("%q is not letters of qstat -s", in.States)
		}
	}
	jobs, err := v.Jobs(st.At, view.JobFilter{Users: in.Users, States: states}, view.JobShow{})
	if errors.Is(err, view.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return members(nil, document.JobsOf(document.JobShow{View: v}, jobs.Running(), jobs.Waiting(), nil))
}

// members returns the elements of all lists of a document.
func members(err error, d document.Document) (out []any, _ error) {
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := document.Write(&b, d); err != nil {
		return nil, err
	}
	var lists map[string]json.RawMessage
	if err := json.Unmarshal(b.Bytes(), &lists); err != nil {
		return nil, err
	}
	for _, name := range []string{"jobs_running", "jobs_pending", "queues", "hosts", "quota_usage", "ars"} {
		var rows []any
		if list := lists[name]; list != nil {
			if err := json.Unmarshal(list, &rows); err != nil {
				return nil, err
			}
		}
		out = append(out, rows...)
	}
	return out, nil
}

func (s *session) proposals(ctx context.Context, c *client.Remote) (out []any, err error) {
	st, err := client.Fetch(ctx, c, gdi.Get{Kinds: []grid.Kind{grid.KindProposal}})
	if err != nil {
		return nil, err
	}
	for _, p := range st.Proposals() {
		out = append(out, document.ProposalOf(p, codec.Verbs(p)))
	}
	return out, nil
}

// JobIn names a job.
type JobIn struct {
	Job   uint32 `json:"job" jsonschema:"number of the job"`
	Task  uint32 `json:"task,omitempty" jsonschema:"task of an array"`
	Since string `json:"since,omitempty" jsonschema:"of a job that is over: where to begin to read the log, as -7d, which is usual"`
}

// Story is the output of why.
type Story struct {
	Notice string `json:"notice"`
	Story  any    `json:"story" jsonschema:"as quill why --json, described by the resource urn:quill:schema:quill-why; of long stories the last 200 steps"`
}

// stepsMost is how many steps of a story are shown.
const stepsMost = 200

func (s *session) why(ctx context.Context, _ *sdk.CallToolRequest, in JobIn) (Story, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return Story{}, err
	}
	defer c.Close()
	since := in.Since
	if since == "" {
		since = "-7d"
	}
	submit, err := client.Submitted(ctx, c, in.Job)
	from := gdi.Before(submit)
	if err == nil && (in.Since != "" || submit == 0) {
		from, err = s.placeOf(since)
	}
	if err != nil {
		return Story{}, err
	}
	log, closes, err := s.log(ctx, c, from, gdi.Place{})
	if err != nil {
		return Story{}, err
	}
	defer closes()
	var damage error
	story, err := jobstory.Read(log, in.Job, in.Task, 1<<63, grid.TimeOf(s.now()),
		outlook.Options{JobsMost: outlookJobs, Stop: func() bool { return ctx.Err() != nil }},
		func(err error) { damage = err })
	if err = errors.Join(err, damage); err != nil {
		return Story{}, err
	}
	if n := len(story.Steps); n > stepsMost {
		story.Steps = story.Steps[n-stepsMost:]
	}
	shown, err := cleaned(story)
	return Story{notice, shown}, err
}

// outlookJobs is with how many jobs the algorithm of the cell runs to foresee a start.
const outlookJobs = 100_000

// HistoryIn is the input of history.
type HistoryIn struct {
	From   string `json:"from" jsonschema:"begin: number of an event list, a time, or a span back as -2h"`
	To     string `json:"to,omitempty" jsonschema:"end; empty: now"`
	Filter string `json:"filter,omitempty" jsonschema:"conditions as of qevent: job=4711 kind=JATASK user=alice cause=qconf"`
	Limit  int    `json:"limit,omitempty" jsonschema:"events, 50 unless given, at most 500"`
}

// Events is the output of history.
type Events struct {
	Notice string `json:"notice"`
	Events []any  `json:"events" jsonschema:"events with what they change, as qevent -json -changes"`
	Next   uint64 `json:"next,omitempty" jsonschema:"from of the next page; absent: this was the last"`
}

func (s *session) history(ctx context.Context, _ *sdk.CallToolRequest, in HistoryIn) (Events, error) {
	out := Events{Notice: notice, Events: []any{}}
	limit := in.Limit
	if limit == 0 {
		limit = rowsUsual
	}
	if limit < 0 || limit > rowsMost {
		return out, fmt.Errorf("limit is at most %d", rowsMost)
	}
	f, err := filter.Parse(in.Filter)
	if err != nil {
		return out, err
	}
	from, err := s.placeOf(in.From)
	to := gdi.Place{}
	if err == nil && in.To != "" {
		to, err = s.placeOf(in.To)
	}
	if err != nil {
		return out, err
	}
	c, err := s.connect(ctx)
	if err != nil {
		return out, err
	}
	defer c.Close()
	before := from
	if from.Seq > 1 {
		before.Seq--
	}
	log, closes, err := s.log(ctx, c, before, to)
	if err != nil {
		return out, err
	}
	defer closes()
	first, err := log.At(before)
	if err != nil {
		return out, err
	}
	st, err := log.Full(first)
	if err != nil {
		return out, err
	}
	for l, err := range log.Lists(st.Seq + 1) {
		if err != nil {
			return out, err
		}
		if len(out.Events) >= limit {
			out.Next = l.Seq
			break
		}
		kept := f.Of(l, st)
		changes := diff.List(st, kept, time.UTC)
		for i, e := range kept.Events {
			row, err := cleaned(document.EventOf(&kept, e, append([]diff.Change{}, changes[i]...)))
			if err != nil {
				return out, err
			}
			out.Events = append(out.Events, row)
		}
		st.Apply(l)
	}
	return out, nil
}

// Expected is the output of expected_start.
type Expected struct {
	Notice  string   `json:"notice"`
	Waits   bool     `json:"waits" jsonschema:"false: no task of the job waits"`
	Start   string   `json:"expected_start,omitempty" jsonschema:"by the algorithm of the cell; absent: none can be foreseen"`
	Alone   string   `json:"earliest_alone,omitempty" jsonschema:"if it were the first job"`
	Where   string   `json:"where,omitempty" jsonschema:"queue instances"`
	Answer  string   `json:"answer,omitempty" jsonschema:"why it waits, in a sentence"`
	Held    bool     `json:"held,omitempty" jsonschema:"it has reasons of its own to wait: a hold, predecessors, a start time"`
	Never   bool     `json:"never,omitempty" jsonschema:"nothing gives back what it lacks at a known time"`
	Ahead   int      `json:"jobs_ahead" jsonschema:"jobs that are considered before it"`
	Closest []string `json:"closest" jsonschema:"queue instances that lack the least"`
}

func (s *session) expectedStart(ctx context.Context, _ *sdk.CallToolRequest, in JobIn) (Expected, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return Expected{}, err
	}
	defer c.Close()
	st, err := s.present(ctx, c)
	if err != nil {
		return Expected{}, err
	}
	if st.Job(in.Job) == nil {
		return Expected{}, fmt.Errorf("job %d does not exist", in.Job)
	}
	return expected(ctx, st, in.Job, in.Task), nil
}

// expected foresees the start of a job in a state.
func expected(ctx context.Context, st *state.State, job, task uint32) Expected {
	out := Expected{Notice: notice, Closest: []string{}}
	j := st.Job(job)
	waits := slices.ContainsFunc(st.Tasks(job), func(t *grid.JATask) bool { return !t.Started() })
	if out.Waits = len(j.Pending) > 0 || waits; !out.Waits {
		return out
	}
	o := outlook.Of(st, j, task, st.At,
		outlook.Options{JobsMost: outlookJobs, Stop: func() bool { return ctx.Err() != nil }})
	first := o.First().Kind
	out.Held, out.Never, out.Ahead = first == explain.Own, first == explain.Never || o.Endless, len(o.Ahead)
	out.Answer = cleanText(o.Sentence())
	if o.Start != nil {
		out.Start, out.Where = moment(o.Start.At), cleanText(o.Start.Where)
	}
	if o.Alone != nil {
		out.Alone = moment(o.Alone.At)
	}
	for _, n := range o.Closest {
		out.Closest = append(out.Closest, cleanText(n.Instance))
	}
	return out
}

func moment(t grid.Time) string { return t.Std().UTC().Format(time.RFC3339) }
