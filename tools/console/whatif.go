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
	Lines      int    // of the configuration
	ListsMost  uint64 // event lists of a stretch
	Longest    string // that a comparison may take
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
	lists, longest := r.cell().TrialBounds()
	d.ListsMost, d.Longest = lists, span(longest.Seconds())
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
	w := WhatIf{From: text("from"), To: text("to"), Algorithms: form["algorithm"], Conf: text("conf"), Tree: text("tree"),
		Shares: map[string]string{}}
	w.From = instantOf(w.From, form.Get("zone"), r.moment.Present.Std())
	w.To = instantOf(w.To, form.Get("zone"), r.moment.Present.Std())
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
	Tables []trialTable
	Charts []chart.Chart
	Apply  []string // shares of projects that can be made those of the cell
}

// trialTable has the names of the columns in its first line.
type trialTable struct {
	Title string
	Lines []outcome.Line
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
		return nil,
			&Problem{Status: http.StatusNotFound,
				Text: "You have no such comparison. They are kept until quill web ends, the last 20."}
	}
	d := &trialPart{Trial: found[0]}
	if len(d.Compared.Columns) == 0 {
		return d, nil
	}
	d.Tables = []trialTable{{"Side by side", d.Compared.Figures(false)}}
	if lines := d.Compared.Divisions(); lines != nil {
		d.Tables = append(d.Tables, trialTable{"Projects", lines})
	}
	d.Charts = trialCharts(&d.Trial)
	for name, shares := range d.WhatIf.Shares {
		d.Apply = append(d.Apply, name+"="+shares)
	}
	slices.Sort(d.Apply)
	return d, nil
}

// trialCharts are those of the report, each panel by itself, over the time of the log.
func trialCharts(t *Trial) (out []chart.Chart) {
	drawn := []*chart.Chart{t.Compared.Curves()}
	if shares, err := t.Compared.Shares(); err == nil { // else no task has a project
		drawn = append(drawn, shares)
	}
	first, last := t.Compared.Span()
	axis := chart.Clock(t.From.Add(first), t.From.Add(last))
	for _, c := range drawn {
		for i, p := range c.Panels {
			title := p.Title + ", " + p.Unit
			p.Title, p.Unit = "", ""
			out = append(out, chart.Chart{ID: fmt.Sprint(c.ID, i), Title: title, Unknown: c.Unknown, Axis: axis,
				Panels: []chart.Panel{p}})
		}
	}
	return out
}
