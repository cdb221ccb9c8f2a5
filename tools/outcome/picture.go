package outcome

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quill-grid/quill/pkg/chart"
)

// In how many pieces a picture cuts time: shares are coarse enough to see a part, not single jobs.
const (
	curvePieces = 360
	sharePieces = 160
)

const noData = "no data"

// Span is the time from the first submission to the last end of all outcomes, in seconds.
func (c *Comparison) Span() (first, last float64) {
	for i, o := range c.Columns {
		f, l := o.Of.span()
		if i == 0 {
			first, last = f, l
		}
		first, last = min(first, f), max(last, l)
	}
	return first, last
}

func (o *Outcome) span() (first, last float64) {
	moments := o.moments()
	return moments[0].second, moments[len(moments)-1].second
}

// picture is a chart of the comparison, without its panels.
func (c *Comparison) picture(id, title string, pieces int) (*chart.Chart, cut) {
	first, last := c.Span()
	over := newCut(first, last, pieces)
	return &chart.Chart{ID: id, Title: title, Subtitle: c.subject(), Unknown: noData,
		Axis: chart.Seconds(0, over.x(pieces)-first, "since the first submission")}, over
}

// Curves draws utilisation and queue length over time, one line for each
// outcome.
func (c *Comparison) Curves() *chart.Chart {
	picture, over := c.picture("curves", "Utilisation and queue length under "+c.policies(), curvePieces)
	use, queue := chart.Panel{Title: "Utilisation", Unit: "%", Top: 100}, chart.Panel{Title: "Queue length", Unit: c.Unit}
	early := false
	_, last := c.Span()
	for i, o := range c.Columns {
		busy, waiting := o.Of.curves(over)
		use.Series = append(use.Series, chart.Series{Name: c.label(o.Of), Class: chart.Nth(i), Values: busy, Finished: true})
		queue.Series = append(
			queue.Series, chart.Series{Name: c.label(o.Of), Class: chart.Nth(i), Values: waiting, Finished: true})
		_, end := o.Of.span()
		early = early || end < last-over.width
	}
	if early {
		picture.Note = "A line ends where the last of the " + c.Unit + " has ended."
	}
	picture.Panels = []chart.Panel{use, queue}
	return picture
}

// curves are utilisation in percent and jobs that wait, each the mean over a
// piece of time; NaN before the first submission and after the last end.
func (o *Outcome) curves(over cut) (busy, waiting []float64) {
	busy, waiting, known := make([]float64, over.n), make([]float64, over.n), make([]float64, over.n)
	moments := o.moments()
	for i := 0; i+1 < len(moments); i++ {
		m := moments[i]
		over.spread(m.second, moments[i+1].second, func(piece int, part float64) {
			busy[piece] += part * 100 * float64(m.busy) / float64(o.Slots)
			waiting[piece] += part * float64(m.waiting)
			known[piece] += part
		})
	}
	for i, k := range known {
		busy[i], waiting[i] = meanOf(busy[i], k), meanOf(waiting[i], k)
	}
	return busy, waiting
}

// meanOf is a mean; NaN of nothing.
func meanOf(sum, n float64) float64 {
	if n < 1e-9 {
		return math.NaN()
	}
	return sum / n
}

// ErrNoProjects is returned when shares are to be drawn and no job has a project.
var ErrNoProjects = errors.New("no job belongs to a project: there are no shares to draw")

// Shares draws for each outcome what part of the use each project has over
// time, one on the other, and with dashed lines what they are entitled to.
func (c *Comparison) Shares() (*chart.Chart, error) {
	if len(c.Columns[0].Of.Projects) == 0 {
		return nil, ErrNoProjects
	}
	picture, over := c.picture("shares", "Shares of projects under "+c.policies(), sharePieces)
	for _, o := range c.Columns {
		picture.Panels = append(picture.Panels, c.shares(o.Of, over))
	}
	return picture, nil
}

// shares stacks the projects. Time in which nothing ran is idle; after the last end nothing is known.
func (c *Comparison) shares(o *Outcome, over cut) chart.Panel {
	use := make([][]float64, len(o.Projects)) // slot seconds, by project and piece of time
	for i := range use {
		use[i] = make([]float64, over.n)
	}
	all, known := make([]float64, over.n), make([]float64, over.n)
	o.stretches(func(first, last float64, busy, _ []int64) {
		over.spread(first, last, func(piece int, part float64) {
			known[piece] += part
			for i, b := range busy {
				use[i][piece] += part * float64(b)
				all[piece] += part * float64(b)
			}
		})
	})
	idle := make([]float64, over.n)
	for piece, k := range known {
		switch {
		case k < 1e-9:
			idle[piece] = math.NaN()
		case all[piece] == 0:
			idle[piece] = 100
		}
		for i := range use {
			if use[i][piece] = meanOf(use[i][piece], all[piece]) * 100; k > 0 && all[piece] == 0 {
				use[i][piece] = 0
			}
		}
	}
	panel := chart.Panel{Title: c.label(o), Unit: "% of use", Top: 100}
	entitled := 0.0
	for i, p := range o.Projects {
		panel.Series = append(panel.Series, chart.Series{Name: p.Name, Class: chart.Nth(i), Form: chart.Area,
			Values: use[i], Finished: true})
	}
	if slices.Contains(idle, 100) {
		panel.Series = append(panel.Series, chart.Series{Name: "idle", Class: chart.Idle, Form: chart.Area,
			Values: idle, Finished: true})
	}
	for i := 0; i+1 < len(o.Projects); i++ {
		if entitled += o.Projects[i].Entitled; entitled > 0 {
			panel.Series = append(panel.Series, chart.Series{Name: "entitled up to " + o.Projects[i].Name, Class: chart.Limit,
				Values: []float64{100 * entitled}, Finished: true})
		}
	}
	return panel
}

// GanttMost is how many jobs a Gantt chart shows at most: more could not be
// seen.
const GanttMost = 5000

// ganttUsers is how many users have a colour of their own.
const ganttUsers = 6

// Gantt draws which job of an outcome has which slots over time. Jobs of a user
// have a colour; users with little work share one.
func (c *Comparison) Gantt() (*chart.Chart, error) {
	o := c.Columns[0].Of
	if len(o.Jobs) > GanttMost {
		return nil, fmt.Errorf("a Gantt chart of %d jobs cannot be read; it shows at most %d", len(o.Jobs), GanttMost)
	}
	picture, over := c.picture("gantt", "Who has which "+c.Machine+" under "+c.policies(), 1)
	users := o.users()
	var series []chart.Series
	for i, u := range users[:min(len(users), ganttUsers)] {
		series = append(series, chart.Series{Name: fmt.Sprintf("user %d", u), Class: chart.Nth(i), Form: chart.Boxes})
	}
	if n := len(users) - ganttUsers; n > 0 {
		series = append(series, chart.Series{Name: fmt.Sprintf("%d other users", n), Class: chart.Nth(7), Form: chart.Boxes})
	}
	for _, b := range o.bars() {
		j := &o.Jobs[b.job]
		s := &series[min(slices.Index(users, j.User), ganttUsers)]
		s.Boxes = append(s.Boxes, chart.Box{From: j.Start - over.first, To: j.End - over.first, Low: float64(b.first),
			High: float64(b.last)})
	}
	picture.Panels = []chart.Panel{{Title: c.Machine, Height: 2, Top: float64(o.Slots), Series: series}}
	return picture, nil
}

// users are those of jobs, the one with the most work first.
func (o *Outcome) users() (users []int) {
	work := map[int]float64{}
	for i := range o.Jobs {
		j := &o.Jobs[i]
		if _, known := work[j.User]; !known {
			users = append(users, j.User)
		}
		work[j.User] += j.run() * float64(j.Slots)
	}
	slices.SortFunc(users, func(a, b int) int {
		if work[a] != work[b] {
			return cmp.Compare(work[b], work[a])
		}
		return cmp.Compare(a, b)
	})
	return users
}

// bar is a job, or a part of one, on neighbouring slots.
type bar struct {
	job         int
	first, last int64 // slots, last not included
}

// bars gives each job slots, the lowest that are free.
func (o *Outcome) bars() (bars []bar) {
	freeAt := make([]float64, o.Slots) // second at which a slot is free
	for _, i := range o.startOrder() {
		j := o.Jobs[i]
		left := j.Slots
		for at := int64(0); at < o.Slots && left > 0; at++ {
			if freeAt[at] > j.Start {
				continue
			}
			freeAt[at] = j.End
			left--
			if n := len(bars) - 1; n >= 0 && bars[n].job == i && bars[n].last == at {
				bars[n].last++
			} else {
				bars = append(bars, bar{i, at, at + 1})
			}
		}
	}
	return bars
}
