package console

import (
	"errors"
	"slices"
	"strconv"

	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
)

var jobsPage = page{"/jobs", "jobs", "Jobs", showJobs, false}

// limits are the sizes of pages of jobs.
const (
	limitPlain = 100
	limitMost  = 1000 // fewer are shown where the page would be too large
)

// jobs is a page of the listing.
type jobs struct {
	waits
	NoRows  string // why there are none
	Rows    []jobRow
	Next    string
	Tally   state.Tally
	States  []choice
	Busy    choice
	Columns []column
	Limit   int
	Verbs   []*verb
}

// jobRow is a row of the listing. At of a finished job is its end, 0: that is not known.
type jobRow struct {
	view.Job
	Badge badge
}

// choice is a filter that a person can choose with one click.
type choice struct {
	Value, Text string
	Here        bool
}

// column is a column of a listing.
type column struct {
	Text, Sort, Class string
	Order             string // ascending or descending: the listing is sorted by it
	Next              string // the order that its head asks for
}

// stateChoices are those of qstat -s that people use.
var stateChoices = []choice{{Value: "", Text: "All"}, {Value: "r", Text: "Running"}, {Value: "p", Text: "Pending"},
	{Value: "h", Text: "Held"}, {Value: "s", Text: "Suspended"}, {Value: "z", Text: "Finished"}}

var jobColumns = []column{
	{Text: "Job", Sort: "id", Class: "num"}, {Text: "Name", Sort: "name"}, {Text: "Owner", Sort: "user"},
	{Text: "State", Sort: "state"},
	{Text: "Priority", Sort: "priority", Class: "num"}, {Text: "Since", Sort: "submit"}, {Text: "Queue", Sort: ""},
	{Text: "Slots", Sort: "slots", Class: "num"}, {Text: "Tasks"},
}

func showJobs(r *request) (any, error) {
	j := &jobs{Tally: r.moment.State.Tally(), Limit: limitPlain}
	for _, name := range []string{"hold", "release", "alter", "delete", "suspend", "unsuspend", "reschedule", "clear"} {
		j.Verbs = append(j.Verbs, verbOf(name))
	}
	sorted := r.query.Get("sort")
	for _, c := range jobColumns {
		c.Next = c.Sort
		switch {
		case c.Sort == "":
		case sorted == c.Sort:
			c.Order, c.Next = "ascending", "-"+c.Sort
		case sorted == "-"+c.Sort:
			c.Order = "descending"
		}
		j.Columns = append(j.Columns, c)
	}
	var bad error
	if text := r.query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > limitMost {
			bad = &Problem{Status: 422, Field: "limit", Text: "Rows are a number from 1 to " + strconv.Itoa(limitMost) + "."}
		} else {
			j.Limit = n
		}
	}
	letters := r.query.Get("state")
	j.States = slices.Clone(stateChoices)
	why := r.query.Get("why")
	for i := range j.States {
		j.States[i].Here = j.States[i].Value == letters && why == ""
	}
	j.Busy = choice{string(explain.Busy), "Waiting for room", why == string(explain.Busy)}
	if !explain.NamesGroup(why) && bad == nil {
		bad = &Problem{Status: 422, Field: "state",
			Text: "A why is never, closed, busy, planned, turn, job:CODE or algorithm:CODE, as the Cell page has them."}
	}
	if why != "" {
		letters = "p"
	}
	if letters == "" {
		letters = "prs"
	}
	if bad != nil {
		return j, bad
	}
	page, err := r.cell().Jobs(r.Context(), r.moment, JobQuery{User: r.list("user"),
		Queue: r.list("queue"), PE: r.list("pe"),
		Resource: r.list("resource"), Admits: r.list("admits"), Project: r.list("project"), Name: r.list("name"),
		State: letters, Sort: sorted, Cursor: r.query.Get("cursor"), Limit: r.most(j.Limit), Why: why})
	if p := (*Problem)(nil); errors.As(err, &p) && p.Field == later {
		j.NoRows, err = j.missing(err)
	}
	j.Next = page.Next
	for _, row := range page.Rows {
		j.Rows = append(j.Rows, jobRow{row, stateOf(row.State)})
	}
	if err == nil {
		err = j.end(r)
	}
	return j, err
}

// end sets how and when the finished jobs have ended.
func (j *jobs) end(r *request) error {
	filter, since := view.AccountingFilter{Master: true}, r.moment.Now
	for i := range j.Rows {
		if row := &j.Rows[i]; row.Section == view.JobFinished {
			filter.Jobs = append(filter.Jobs, strconv.FormatUint(uint64(row.ID), 10))
			since = min(since, row.At)
		}
	}
	if len(filter.Jobs) == 0 {
		return nil
	}
	records, known, err := r.cell().Ran(r.Context(), r.moment, filter, since-1)
	if err != nil {
		return err
	}
	of := map[uint32][]*grid.Accounting{}
	for _, a := range records {
		of[a.Job] = append(of[a.Job], a)
	}
	for i := range j.Rows {
		row := &j.Rows[i]
		if row.Section != view.JobFinished || len(of[row.ID]) == 0 && row.At < known {
			continue // the records begin later
		}
		o := view.OutcomeOfJob(row.ID, of[row.ID])
		row.Badge = badge{outcomeClasses[o.Worst()], o.Text(max(int(row.Tasks.Count()), 1))}
		if row.At = o.End; o.End == 0 {
			row.Badge.Class = "gone"
		}
	}
	return nil
}
