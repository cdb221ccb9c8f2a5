package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/chart"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/outcome"
)

var (
	whatIfPage = page{path: "/whatif", name: "whatif", menu: "What-if", show: showWhatIf}
	trialPage  = page{path: "/whatif/{id}", name: "trial", show: showTrial}
)

// projectsTried bounds the projects whose shares a form has.
const projectsTried = 40

// whatIf is the form, and what was compared before.
type whatIf struct {
	WhatIf
	Algorithms []choice
	Projects   []projectShares
	Trials     []Trial
	Lines      int // of the configuration
}

type projectShares struct {
	Name, Shares string
}

func showWhatIf(r *request) (any, error) {
	return whatIfOf(r, WhatIf{From: defaultFrom(r), To: r.query.Get("at")}), nil
}

// defaultFrom is an hour before the moment.
func defaultFrom(r *request) string {
	at := r.moment.Now - 3600*1000
	if begin := r.cell().Begin(r.Context()).At; at < begin {
		at = begin
	}
	return at.Std().UTC().Format("2006-01-02T15:04:05Z")
}

// whatIfOf is the form with what was filled in.
func whatIfOf(r *request, w WhatIf) *whatIf {
	d := &whatIf{WhatIf: w, Trials: r.cell().Trials(r.session, "")}
	for _, name := range r.cell().Algorithms() {
		d.Algorithms = append(d.Algorithms, choice{name, name, slices.Contains(w.Algorithms, name)})
	}
	st := r.moment.State
	if d.Conf == "" {
		d.Conf = conf.EditText(st.SchedConf())
	}
	d.Lines = min(strings.Count(d.Conf, "\n")+1, 24)
	if tree := st.ShareTree(); tree != nil && d.Tree == "" {
		d.Tree = conf.EditText(tree)
	}
	st.Each(grid.KindProject, func(o grid.Object) bool {
		p := o.(*grid.Project)
		shares, given := w.Shares[p.Name]
		if !given {
			shares = fmt.Sprint(p.FShare)
		}
		d.Projects = append(d.Projects, projectShares{p.Name, shares})
		return len(d.Projects) < projectsTried
	})
	return d
}

// try begins a comparison, POST /whatif.
func (c *Console) try(w http.ResponseWriter, r *http.Request) {
	session, release, bad := c.formSession(w, r)
	if session == nil {
		return
	}
	defer release()
	ctx, cancel := context.WithTimeout(r.Context(), pageWait)
	defer cancel()
	q := &request{Request: r.WithContext(ctx), console: c, session: session, query: r.URL.Query(), page: &whatIfPage}
	var err error
	if q.moment, err = c.cell.Moment(ctx, ""); err == nil {
		err = bad
	}
	if err != nil {
		c.refuse(w, r, q, err)
		return
	}
	asked := readWhatIf(q)
	id, err := c.cell.Try(session, changedOnly(q, asked))
	p := (*Problem)(nil)
	switch {
	case err == nil:
		http.Redirect(w, r, "/whatif/"+id, http.StatusSeeOther)
	case errors.As(err, &p) && p.Field != "":
		f := c.frame(q)
		f.Data, f.Problem, f.Live = whatIfOf(q, asked), p, false
		c.write(w, r, p.Status, whatIfPage.name, f)
	default:
		c.refuse(w, r, q, err)
	}
}

// readWhatIf reads the form.
func readWhatIf(r *request) WhatIf {
	form := r.PostForm
	text := func(name string) string { return strings.TrimSpace(strings.ReplaceAll(form.Get(name), "\r\n", "\n")) }
	w := WhatIf{From: text("from"), To: text("to"), Algorithms: form["algorithm"], Conf: text("conf"), Tree: text("tree"), Shares: map[string]string{}}
	for name := range form {
		if project, is := strings.CutPrefix(name, "shares."); is {
			w.Shares[project] = text(name)
		}
	}
	return w
}

// changedOnly leaves out what is as it is now.
func changedOnly(r *request, w WhatIf) WhatIf {
	st := r.moment.State
	if w.Conf == strings.TrimSpace(conf.EditText(st.SchedConf())) {
		w.Conf = ""
	}
	if tree := st.ShareTree(); tree != nil && w.Tree == strings.TrimSpace(conf.EditText(tree)) {
		w.Tree = ""
	}
	changed := map[string]string{}
	for name, shares := range w.Shares {
		if p := st.Project(name); p == nil || fmt.Sprint(p.FShare) != shares {
			changed[name] = shares
		}
	}
	w.Shares = changed
	return w
}

// cancel ends a comparison, POST /whatif/{id}/cancel.
func (c *Console) cancel(w http.ResponseWriter, r *http.Request) {
	session, release, _ := c.formSession(w, r)
	if session == nil {
		return
	}
	defer release()
	id := r.PathValue("id")
	c.cell.Cancel(session, id)
	http.Redirect(w, r, "/whatif/"+id, http.StatusSeeOther)
}

// trialPart is a comparison, or how far it is.
type trialPart struct {
	Trial
	Names  []string
	Rows   []trialRow
	Shares []trialRow
	Charts []chart.Chart
	Apply  []string // shares of projects that can be made those of the cell
}

// trialRow is a figure of all columns.
type trialRow struct {
	Name   string
	Values []string
}

// Beat is how often the page is made anew while nothing happens in the cell.
func (d *trialPart) Beat() time.Duration {
	if d.Step == "" {
		return 0
	}
	return 300 * time.Millisecond
}

func showTrial(r *request) (any, error) {
	found := r.cell().Trials(r.session, r.PathValue("id"))
	if len(found) == 0 {
		return nil, &Problem{Status: http.StatusNotFound, Text: "You have no such comparison. They are kept until quill web ends, the last 20."}
	}
	d := &trialPart{Trial: found[0]}
	for _, c := range d.Columns {
		d.Names = append(d.Names, c.Of.Name)
	}
	if len(d.Columns) == 0 {
		return d, nil
	}
	d.Rows = figures(d.Columns)
	d.Shares = projectFigures(d.Outcomes)
	d.Charts = trialCharts(&d.Trial)
	for name, shares := range d.WhatIf.Shares {
		d.Apply = append(d.Apply, name+"="+shares)
	}
	slices.Sort(d.Apply)
	return d, nil
}

// figures are those of outcome.Table.
func figures(of []outcome.Column) (rows []trialRow) {
	row := func(name string, value func(outcome.Column) string) {
		one := trialRow{Name: name}
		for _, c := range of {
			one.Values = append(one.Values, value(c))
		}
		rows = append(rows, one)
	}
	row("Tasks that ended in both", func(c outcome.Column) string { return count(c.Jobs) })
	row("Wait, mean", func(c outcome.Column) string { return span(c.MeanWait) })
	row("Wait, median", func(c outcome.Column) string { return span(c.MedianWait) })
	row("Wait of 95 % at most", func(c outcome.Column) string { return span(c.WaitOf95) })
	row("Wait, longest", func(c outcome.Column) string { return span(c.MaxWait) })
	row("Wait and run, mean", func(c outcome.Column) string { return span(c.MeanFlow) })
	row("Bounded slowdown, mean", func(c outcome.Column) string { return fmt.Sprintf("%.2f", c.Slowdown) })
	row("Utilisation", func(c outcome.Column) string { return fmt.Sprintf("%.1f %%", 100*c.Utilisation) })
	row("From the first submission to the last end", func(c outcome.Column) string { return span(c.Makespan) })
	row("Waiting tasks, mean", func(c outcome.Column) string { return fmt.Sprintf("%.1f", c.MeanQueue) })
	row("Waiting tasks, most", func(c outcome.Column) string { return count(c.MaxQueue) })
	if slices.ContainsFunc(of, func(c outcome.Column) bool { return c.Lost > 0 }) {
		row("Ended and begun anew", func(c outcome.Column) string { return count(c.Lost) })
	}
	return rows
}

// projectFigures are those of outcome.ShareTable.
func projectFigures(of []*outcome.Outcome) (rows []trialRow) {
	for i, p := range of[0].Projects {
		entitled, used, wait := trialRow{Name: p.Name + ": entitled"}, trialRow{Name: p.Name + ": of what ran while it waited"}, trialRow{Name: p.Name + ": mean wait"}
		for _, o := range of {
			s := o.Shares()[i]
			entitled.Values = append(entitled.Values, fmt.Sprintf("%.1f %%", 100*s.Entitled))
			used.Values = append(used.Values, fmt.Sprintf("%.1f %%", 100*s.Contended))
			wait.Values = append(wait.Values, span(s.MeanWait))
		}
		rows = append(rows, entitled, used, wait)
	}
	return rows
}

// trialCharts draws slots in use and waiting tasks over time, all on one axis of time.
func trialCharts(t *Trial) []chart.Chart {
	first, last := t.Outcomes[0].Span()
	slots := int64(0)
	for _, o := range t.Outcomes {
		from, to := o.Span()
		first, last, slots = min(first, from), max(last, to), max(slots, o.Slots)
	}
	begin, end := t.From.Add(first), t.From.Add(last)
	tasks := plural(len(t.Outcomes[0].Jobs), "task")
	var busy, queue []chart.Series
	for i, o := range t.Outcomes {
		used, waiting := o.Pieces(first, last, chartParts)
		class := fmt.Sprintf("s%d", i%7)
		busy = append(busy, chart.Series{Name: o.Name, Class: class, Values: used, Finished: true})
		queue = append(queue, chart.Series{Name: o.Name, Class: class, Values: waiting, Finished: true})
	}
	used := overTime("busy", fmt.Sprintf("Slots in use of %d: %s", slots, tasks), begin, end, busy...)
	used.Panels[0].Least = float64(slots)
	return []chart.Chart{used, overTime("queue", "Waiting tasks: "+tasks, begin, end, queue...)}
}
