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
	runsShown    = 30
	explainShown = 200 // lines
)

// scheduler is who decides and what it has decided.
type scheduler struct {
	Algorithm  string
	Algorithms []choice
	Params     []grid.Param
	Explain    []string
	More       int // lines of it that are not shown
	Runs       []Run
	Recorded   bool // of a run more is known than its events
	Starts     chart.Chart
	Interval   string
	Text       string
	Windows    []string
	Window     string
}

func showScheduler(r *request) (any, error) {
	c := r.moment.State.SchedConf()
	d := &scheduler{Algorithm: c.Algorithm, Params: c.Section(c.Algorithm), Interval: string(c.ScheduleInterval), Text: conf.EditText(c), Windows: windowNames}
	for _, name := range r.cell().Algorithms() {
		d.Algorithms = append(d.Algorithms, choice{name, name, name == c.Algorithm})
	}
	var minutes int
	var bad, err error
	d.Window, minutes, bad = window(r)
	if d.Explain, err = r.cell().Explain(r.Context(), r.moment); err != nil {
		return nil, err
	}
	if d.More = len(d.Explain) - explainShown; d.More > 0 {
		d.Explain = d.Explain[:explainShown]
	}
	if d.Runs, err = r.cell().Runs(r.Context(), r.moment, r.session, runsShown); err != nil {
		return nil, err
	}
	d.Recorded = slices.ContainsFunc(d.Runs, func(one Run) bool { return one.Recorded })
	all := charts(r.cell().Trend(r.Context(), r.moment), r.moment.Now, minutes)
	d.Starts = all[1]
	return d, bad
}

// Explained is the lines of explain as one text.
func (d *scheduler) Explained() string { return strings.Join(d.Explain, "\n") }
