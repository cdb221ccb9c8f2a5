package console

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/chart"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
)

var schedulerPage = page{path: "/scheduler", name: "scheduler", menu: "Scheduler", show: showScheduler}

const (
	explainShown = 200 // lines
)

// RunsMost is how many scheduling runs are shown.
const RunsMost = 30

// scheduler is who decides and what it has decided.
type scheduler struct {
	waits
	NoExplain, NoRuns string // why there are none
	Algorithm         string
	Algorithms        []choice
	Params            []parameter
	Explain           []string
	More              int // lines of it that are not shown
	Runs              []Run
	Recorded          bool // of a run more is known than its events
	Starts            chart.Chart
	Interval          string
	Text              string
	Windows           []string
	Window            string
}

func showScheduler(r *request) (any, error) {
	c := r.moment.State.SchedConf()
	d := &scheduler{Algorithm: c.Algorithm, Params: parametersOf(r.cell().Parameters(r.moment)),
		Interval: string(c.ScheduleInterval), Text: r.cutText(conf.EditText(c)), Windows: windowNames}
	for _, name := range r.cell().Algorithms() {
		d.Algorithms = append(d.Algorithms, choice{name, name, name == c.Algorithm})
	}
	var minutes int
	var bad, err error
	d.Window, minutes, bad = window(r)
	d.Explain, err = r.cell().Explain(r.Context(), r.moment)
	if d.NoExplain, err = d.missing(err); err != nil {
		return nil, err
	}
	if d.More = len(d.Explain) - r.most(explainShown); d.More > 0 {
		d.Explain = d.Explain[:r.most(explainShown)]
	}
	d.Runs, err = r.cell().Runs(r.Context(), r.moment, r.session)
	if d.NoRuns, err = d.missing(err); err != nil {
		return nil, err
	}
	d.Runs = d.Runs[:min(len(d.Runs), r.most(RunsMost))]
	d.Recorded = slices.ContainsFunc(d.Runs, func(one Run) bool { return one.Recorded })
	all := charts(r.cell().Trend(r.Context(), r.moment), r.moment.Now, minutes)
	d.Starts = all[1]
	return d, bad
}

// Explained is the lines of explain as one text.
func (d *scheduler) Explained() string { return strings.Join(d.Explain, "\n") }

// parameter is one of the algorithm: of a table with all its rows, a line for each.
type parameter struct {
	Name, Text, Help string
	Table            bool
}

// Rows is how many lines a field for it has.
func (p parameter) Rows() int { return 1 + strings.Count(p.Text, "\n") }

func parametersOf(section []grid.Param) (out []parameter) {
	for _, p := range section {
		if n := len(out); n > 0 && out[n-1].Name == p.Name {
			out[n-1].Text += "\n" + p.Text
			continue
		}
		out = append(out, parameter{p.Name, p.Text, p.Help, p.Table})
	}
	return out
}

// parameterField begins the names of fields of a form that have parameters.
const parameterField = "parameter."

// difference is a parameter that a form changes, ALGORITHM.NAME: its new text, and the one that it has.
type difference struct {
	grid.Value
	Was string
}

// changedParameters returns the parameters of the algorithm that a form has otherwise than the cell. Lines without a
// word are left out; a field without any means the default.
func (q *request) changedParameters() (out []difference) {
	algorithm := q.moment.State.SchedConf().Algorithm
	for _, p := range parametersOf(q.cell().Parameters(q.moment)) {
		text, given := q.PostForm[parameterField+p.Name]
		if !given {
			continue
		}
		var rows []string
		for line := range strings.Lines(text[0]) {
			if line = strings.Join(strings.Fields(line), " "); line != "" {
				rows = append(rows, line)
			}
		}
		if now := strings.Join(rows, "\n"); now != p.Text {
			out = append(out, difference{grid.Value{Name: algorithm + "." + p.Name, Text: now}, p.Text})
		}
	}
	return out
}
