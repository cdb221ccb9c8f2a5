package console

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/chart"
	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/web/mirror"
)

var overviewPage = page{"/{$}", "overview", "Cell", showOverview, false}

// Bounds of the lists of the page.
const (
	reasonsShown  = 8
	troubleShown  = 10
	failuresShown = 10
	chartParts    = 120
)

// overview is the cell at a glance.
type overview struct {
	view.Summary
	waits
	NoReasons string            // why there are no Reasons
	All       view.ClusterQueue // sums of the rows of qstat -g c
	Bar       bar               // of All
	Slots     []part            // likewise
	Tasks     []part
	Reasons   []reason
	Charts    []chart.Chart
	Window    string
	Windows   []string
	Trouble   []trouble
	Quiet     int // hosts without trouble
	Failures  []failureGroup
	Causes    int       // of failures, in all
	Ended     int       // tasks with attempts that ended in the window
	Since     grid.Time // Failures are known since then; 0: of the whole window
	Master    string
	Stored    []stored
}

// stored is a copy of a stream on a server.
type stored struct {
	What, Server, State string
	Bad                 bool
}

// streamWords are the streams of a cell.
var streamWords = map[string]string{gdi.EventStream: "event log", gdi.DebugStream: "recorded runs"}

// storedOf returns all copies of streams: of each the leader first.
func storedOf(streams []gdi.Stream) (out []stored) {
	for _, s := range streams {
		what := cmp.Or(streamWords[s.Name], s.Name)
		lead := stored{What: what, Server: s.Leader, State: "leads"}
		switch {
		case s.Leader == "":
			lead.State, lead.Bad = "no server leads", true
		case len(s.Replicas) == 0:
			lead.State = "the only copy"
		}
		out = append(out, lead)
		for _, r := range s.Replicas {
			out = append(out, stored{what, r.Server, r.State(), r.Offline || !r.Current})
		}
	}
	return out
}

// reason is why jobs wait.
type reason struct {
	Text  string
	Name  string // all of them are a filter of the jobs
	Tasks int
	Bar   bar
}

// trouble is a host that an operator should look at.
type trouble struct{ Host, Why string }

// failureGroup is the tasks with attempts that failed of one cause.
type failureGroup struct {
	Cause       string
	Jobs, Tasks int
	Last        *grid.Accounting // the newest
}

// windows are the spans of charts, in minutes.
var windows = map[string]int{"10m": 10, "1h": 60, "6h": 360, "24h": 1440}

var windowNames = []string{"10m", "1h", "6h", "24h"}

// window returns the span of the charts of a page.
func window(r *request) (name string, minutes int, err error) {
	name = cmp.Or(r.query.Get("window"), "1h")
	if minutes = windows[name]; minutes == 0 {
		minutes = windows["1h"]
		err = &Problem{Status: 422, Field: "window",
			Text: fmt.Sprintf("%q is not a span of the charts: 10m, 1h, 6h or 24h", name)}
	}
	return name, minutes, err
}

func showOverview(r *request) (any, error) {
	m := r.moment
	o := &overview{Summary: m.View.Summary(), Master: r.cell().Master(), Windows: windowNames}
	if m.Live {
		o.Stored = storedOf(r.cell().Streams(r.Context()))
	}
	o.All = m.View.AllSlots()
	o.Bar = slotsBar(o.All)
	o.Slots = []part{{"available", "rest", float64(o.All.Available)}, {"reserved", "waiting", float64(o.All.Reserved)},
		{"temporarily not", "gone", float64(o.All.Temporary)}, {"need an operator", "held", float64(o.All.Manual)}}
	tally := m.State.Tally()
	for _, s := range taskStates {
		o.Tasks = append(o.Tasks, part{s.name, s.class, float64(s.of(&tally))})
	}
	groups, err := r.cell().Waiting(r.Context(), m)
	if o.NoReasons, err = o.missing(err); err != nil {
		return nil, err
	}
	o.Reasons = rankGroups(groups)
	o.Trouble, o.Quiet = troubles(m)
	var minutes int
	var bad error
	o.Window, minutes, bad = window(r)
	after := m.Now - grid.Time(minutes)*60_000
	records, known, err := r.cell().Ran(r.Context(), m, view.AccountingFilter{Master: true}, after)
	if err != nil {
		return nil, err
	}
	if known > after {
		o.Since = known
	}
	o.Failures, o.Ended = failures(records)
	o.Causes = len(o.Failures)
	o.Failures = o.Failures[:min(o.Causes, failuresShown)]
	o.Charts = charts(r.cell().Trend(r.Context(), m), m.Now, minutes)
	return o, bad
}

// taskStates are the states of tasks, in the tile and in the chart.
var taskStates = []struct {
	name, class string
	always      bool // in the chart, even without such a task
	of          func(*state.Tally) int
}{
	{"waiting", "waiting", true, func(n *state.Tally) int { return n.Pending }},
	{"running", "running", true, func(n *state.Tally) int { return n.Running }},
	{"starting", "good", false, func(n *state.Tally) int { return n.Starting }},
	{"suspended", "suspended", false, func(n *state.Tally) int { return n.Suspended }},
	{"held", "held", false, func(n *state.Tally) int { return n.Held }},
	{"error", "error", false, func(n *state.Tally) int { return n.Error }},
}

// rankGroups returns the groups of the most tasks.
func rankGroups(groups []explain.Group) (out []reason) {
	tasks := 0
	for _, g := range groups {
		tasks += g.Tasks
		out = append(out, reason{Text: g.Text, Name: g.Name(), Tasks: g.Tasks})
	}
	out = out[:min(len(out), reasonsShown)]
	for i := range out {
		out[i].Bar = bar{float64(tasks), []part{{"", "waiting", float64(out[i].Tasks)}}}
	}
	return out
}

// troubles returns hosts that do not report, with load sensors that report nothing, or with queue instances that an
// operator should look at.
func troubles(m *Moment) (out []trouble, quiet int) {
	why := map[string][]string{}
	for _, h := range m.View.HostUses() {
		why[h.Name] = nil
		if h.Silent {
			why[h.Name] = []string{"does not report"}
		}
	}
	hosts, err := m.View.Hosts(view.HostFilter{})
	if err != nil {
		hosts = nil // there are none
	}
	for _, h := range hosts {
		if h.SensorTrouble != "" {
			why[h.Name] = append(why[h.Name], "load sensor "+h.SensorTrouble)
		}
	}
	queues, err := m.View.Queues(view.QueueFilter{}, "load_avg")
	if err != nil {
		queues = nil // there are none
	}
	for _, q := range queues {
		if words := queueTrouble(&q); len(words) > 0 {
			why[q.Host] = append(why[q.Host], q.Queue+": "+strings.Join(words, ", "))
		}
	}
	for host, words := range why { // order: sorted below
		if len(words) == 0 {
			quiet++
			continue
		}
		out = append(out, trouble{host, strings.Join(words, "; ")})
	}
	slices.SortFunc(out, func(a, b trouble) int { return cmp.Compare(a.Host, b.Host) })
	return out, quiet
}

// queueTrouble explains the states of an instance in which it takes no jobs.
func queueTrouble(q *view.Queue) (out []string) {
	for _, s := range queueStates {
		if q.State&s.state != 0 && s.trouble {
			out = append(out, s.word)
		}
	}
	if q.Message != "" {
		out = append(out, q.Message)
	}
	return out
}

// queueStates are the states of queue instances in words.
var queueStates = []struct {
	state   grid.QueueState
	word    string
	trouble bool
}{
	{grid.QueueError, "error", true}, {grid.QueueUnknown, "no report", true}, {grid.QueueAlarm, "load alarm", true},
	{grid.QueueSuspendAlarm, "suspend alarm", true}, {grid.QueueDisabled, "disabled", true},
	{grid.QueueSuspended, "suspended", true},
	{grid.QueueAmbiguous, "ambiguous configuration", true}, {grid.QueueOrphaned, "orphaned", true},
	{grid.QueueCalDisabled, "disabled by calendar", false}, {grid.QueueCalSuspended, "suspended by calendar", false},
	{grid.QueueSuspendedSubordinate, "suspended by a subordinate list", false},
}

// failures groups the tasks with attempts that failed or were rescheduled by cause, the cause of most jobs first.
// Records are the newest first; ended is of how many tasks they are.
func failures(records []*grid.Accounting) (out []failureGroup, ended int) {
	type jobOf struct {
		group int
		job   uint32
	}
	type taskOf struct {
		jobOf
		task uint32
	}
	at, jobs, tasks := map[string]int{}, map[jobOf]bool{}, map[taskOf]bool{}
	for _, a := range records {
		if all := (taskOf{jobOf{-1, a.Job}, a.Task}); !tasks[all] {
			tasks[all] = true
			ended++
		}
		o := view.OutcomeOf(a)
		if !o.IsFailure() && o.Ending != view.Rescheduled {
			continue
		}
		cause := cmp.Or(o.Cause, string(o.Ending))
		i, known := at[cause]
		if !known {
			i = len(out)
			at[cause] = i
			out = append(out, failureGroup{Cause: cause, Last: a})
		}
		job := jobOf{i, a.Job}
		if task := (taskOf{job, a.Task}); !tasks[task] {
			tasks[task] = true
			out[i].Tasks++
		}
		if !jobs[job] {
			jobs[job] = true
			out[i].Jobs++
		}
	}
	slices.SortStableFunc(out, func(a, b failureGroup) int {
		return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), cmp.Compare(b.Tasks, a.Tasks))
	})
	return out, ended
}

// charts returns those of the last minutes.
func charts(t mirror.Trend, now grid.Time, minutes int) []chart.Chart {
	each := grid.Time(minutes) * 60_000 / chartParts
	end := (now/each + 1) * each
	parts := t.Slices(end, chartParts, each)
	values := func(of func(mirror.Slice) float64) []float64 {
		out := make([]float64, len(parts))
		for i, s := range parts {
			if out[i] = of(s); !s.Known {
				out[i] = math.NaN()
			}
		}
		return out
	}
	seconds := float64(each) / 1000
	begin := end - chartParts*each
	var tasks []chart.Series
	for _, state := range taskStates {
		one := chart.Series{Name: state.name, Class: state.class,
			Values: values(func(s mirror.Slice) float64 { return float64(state.of(&s.Tally)) })}
		if state.always || slices.ContainsFunc(one.Values, func(v float64) bool { return v > 0 }) {
			tasks = append(tasks, one)
		}
	}
	return []chart.Chart{
		overTime("queue", "Tasks", begin, end, tasks...),
		overTime("rate", "Starts and ends per second", begin, end,
			chart.Series{Name: "starts", Class: "running", Form: chart.Bars,
				Values: values(func(s mirror.Slice) float64 { return float64(s.Starts) / seconds })},
			chart.Series{Name: "ends", Class: "held",
				Values: values(func(s mirror.Slice) float64 { return float64(s.Ends) / seconds })}),
	}
}
