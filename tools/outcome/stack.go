package outcome

import (
	"errors"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// shareColumns are the pieces of time in the picture of shares: coarse enough
// to see a part, not single jobs.
const shareColumns = 160

// sharePanel is the height of one outcome in it.
const sharePanel = 6 * vg.Centimeter

// PlotShares draws for each outcome what part of the use each project has over
// time, one on the other, and with dashed lines what they are entitled to.
func PlotShares(path string, of []*Outcome) error {
	if len(of[0].Projects) == 0 {
		return errors.New("no job belongs to a project: there are no shares to draw")
	}
	first, last := of[0].span()
	for _, o := range of[1:] {
		f, l := o.span()
		first, last = min(first, f), max(last, l)
	}
	time, over := clockOf(of), newCut(first, last, shareColumns)
	var panels []*plot.Plot
	for i, o := range of {
		p := plot.New()
		p.Title.Text, p.Y.Label.Text = o.Name, "% of use"
		time.label(p)
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = first, last+0.12*(last-first), 0, 100
		p.Legend.Top = true
		if err := o.drawShares(p, over, i == 0); err != nil {
			return err
		}
		panels = append(panels, p)
	}
	return picture(path, sharePanel, panels...)
}

func (o *Outcome) span() (first, last float64) {
	moments := o.moments()
	return moments[0].second, moments[len(moments)-1].second
}

// drawShares stacks the projects.
func (o *Outcome) drawShares(p *plot.Plot, over cut, legend bool) error {
	use := make([][]float64, len(o.Projects)) // slot seconds, by project and piece of time
	for i := range use {
		use[i] = make([]float64, over.n)
	}
	all := make([]float64, over.n)
	o.stretches(func(first, last float64, busy, _ []int64) {
		over.spread(first, last, func(piece int, part float64) {
			for i, b := range busy {
				use[i][piece] += part * float64(b)
				all[piece] += part * float64(b)
			}
		})
	})
	below, entitled := make([]float64, over.n), 0.0
	for i, project := range o.Projects {
		var lower, upper plotter.XYs
		for piece := range over.n {
			left, right := over.x(piece), over.x(piece+1)
			lower = append(lower, plotter.XY{X: left, Y: below[piece]}, plotter.XY{X: right, Y: below[piece]})
			if all[piece] > 0 {
				below[piece] += 100 * use[i][piece] / all[piece]
			}
			upper = append(upper, plotter.XY{X: left, Y: below[piece]}, plotter.XY{X: right, Y: below[piece]})
		}
		for at := len(lower) - 1; at >= 0; at-- {
			upper = append(upper, lower[at])
		}
		area, err := plotter.NewPolygon(upper)
		if err != nil {
			return err
		}
		area.Color, area.LineStyle.Width = plotutil.SoftColors[i%len(plotutil.SoftColors)], 0
		p.Add(area)
		if legend {
			p.Legend.Add(project.Name, area)
		}
	}
	for i := 0; i+1 < len(o.Projects); i++ {
		if entitled += o.Projects[i].Entitled; entitled == 0 {
			continue
		}
		line, err := plotter.NewLine(plotter.XYs{{X: over.x(0), Y: 100 * entitled}, {X: over.x(over.n), Y: 100 * entitled}})
		if err != nil {
			return err
		}
		line.Color, line.Dashes = color.Black, []vg.Length{vg.Points(4), vg.Points(3)}
		p.Add(line)
		if legend && i == 0 {
			p.Legend.Add("entitled", line)
		}
	}
	return nil
}
