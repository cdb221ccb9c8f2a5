package outcome

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/quill-grid/quill/pkg/chart"
)

//go:embed report.html
var page string

var reportPage = template.Must(template.New("report").Parse(page))

// report is what the page shows.
type report struct {
	Style             template.CSS
	Title, Subject    string
	Policies          []string
	Command           []string // that made it, by words
	Figures, Projects []Line
	Pictures          []picture
}

// picture is a chart with its text and its numbers.
type picture struct {
	*chart.Chart
	Caption string
	Numbers chart.Numbers
}

// Wide and Small are the picture for wide windows and for phones.
func (p picture) Wide() template.HTML  { return p.Draw(chart.Wide) }
func (p picture) Small() template.HTML { return p.Draw(chart.Narrow) }

// Report writes tables and pictures as one page, which needs nothing else.
func (c *Comparison) Report(to io.Writer, command string) error {
	r := &report{Style: template.CSS(chart.Style()), Title: "Schedules of " + c.Workload, Subject: c.subject(),
		Command: strings.Fields(command),
		Figures: c.Figures(false), Projects: c.Divisions()}
	for _, o := range c.Columns {
		r.Policies = append(r.Policies, c.label(o.Of))
	}
	add := func(p *chart.Chart, caption string) {
		r.Pictures = append(r.Pictures, picture{p, caption, p.Numbers()})
	}
	add(c.Curves(),
		fmt.Sprintf("Slots in use, in percent of all %s, and %s that wait. Each step is the mean of 1/%d of the time.",
			c.Machine, c.Unit, curvePieces))
	shares, err := c.Shares()
	if err == nil {
		add(shares,
			"What part of the slots in use each project has. Dashed lines are where the projects would meet if each had what it is entitled to. "+
				"Idle is time in which nothing ran.")
	} else if !errors.Is(err, ErrNoProjects) {
		return err
	}
	return reportPage.Execute(to, r)
}
