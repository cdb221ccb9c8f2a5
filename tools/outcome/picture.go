package outcome

import (
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pictureWidth and panelHeight are the size of what is drawn.
const (
	pictureWidth = 28 * vg.Centimeter
	panelHeight  = 9 * vg.Centimeter
)

// PictureFormat is the format that a file's name asks for: svg or png.
func PictureFormat(path string) (string, error) {
	switch format := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), ".")); format {
	case "svg", "png":
		return format, nil
	}
	return "", fmt.Errorf("%s: a picture's name ends in .svg or .png", path)
}

// PlotCurves draws utilisation and queue length over time, one line for each
// outcome.
func PlotCurves(path string, of []*Outcome) error {
	use, queue := plot.New(), plot.New()
	use.Title.Text, queue.Title.Text = "Utilisation", "Queue length"
	use.Y.Label.Text, queue.Y.Label.Text = "%", "jobs"
	use.Y.Min, use.Y.Max = 0, 100
	for i, o := range of {
		busy, waiting := o.curves()
		for _, c := range []struct {
			in     *plot.Plot
			points plotter.XYs
		}{{use, busy}, {queue, waiting}} {
			line, err := plotter.NewLine(c.points)
			if err != nil {
				return err
			}
			line.StepStyle = plotter.PostStep
			line.Color = plotutil.Color(i)
			c.in.Add(line)
			if len(of) > 1 {
				c.in.Legend.Add(o.Name, line)
			}
		}
	}
	time := clockOf(of)
	for _, p := range []*plot.Plot{use, queue} {
		time.label(p)
		p.Legend.Top = true
		p.Add(plotter.NewGrid())
	}
	queue.Y.Min = 0
	return picture(path, panelHeight, use, queue)
}

// curves are utilisation in percent and jobs that wait, each the mean over a
// piece of time.
func (o *Outcome) curves() (busy, waiting plotter.XYs) {
	moments := o.moments()
	c := newCut(moments[0].second, moments[len(moments)-1].second, columns)
	busy, waiting = make(plotter.XYs, columns), make(plotter.XYs, columns)
	for i := range columns {
		busy[i].X, waiting[i].X = c.x(i), c.x(i)
	}
	for i := 0; i+1 < len(moments); i++ {
		m := moments[i]
		c.spread(m.second, moments[i+1].second, func(column int, part float64) {
			busy[column].Y += part * 100 * float64(m.busy) / float64(o.Slots)
			waiting[column].Y += part * float64(m.waiting)
		})
	}
	return busy, waiting
}

// GanttMost is how many jobs a Gantt chart shows at most: more could not be
// seen.
const GanttMost = 5000

// PlotGantt draws which job has which slots over time. Jobs of a user
// have a colour.
func (o *Outcome) PlotGantt(path string) error {
	if len(o.Jobs) > GanttMost {
		return fmt.Errorf("a Gantt chart of %d jobs cannot be read; it shows at most %d", len(o.Jobs), GanttMost)
	}
	p := plot.New()
	p.Title.Text = "Who has which slots"
	p.Y.Label.Text = "slots"
	clockOf([]*Outcome{o}).label(p)
	p.Add(gantt{o.bars(), o})
	return picture(path, panelHeight, p)
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

// gantt draws bars.
type gantt struct {
	bars []bar
	*Outcome
}

func (g gantt) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	frame := draw.LineStyle{Color: color.Gray{64}, Width: vg.Points(0.25)}
	for _, b := range g.bars {
		j := &g.Jobs[b.job]
		corners := []vg.Point{
			{X: x(j.Start), Y: y(float64(b.first))}, {X: x(j.End), Y: y(float64(b.first))},
			{X: x(j.End), Y: y(float64(b.last))}, {X: x(j.Start), Y: y(float64(b.last))},
		}
		c.FillPolygon(plotutil.SoftColors[max(j.User, 0)%len(plotutil.SoftColors)], corners)
		c.StrokeLines(frame, append(corners, corners[0]))
	}
}

func (g gantt) DataRange() (xmin, xmax, ymin, ymax float64) {
	moments := g.moments()
	return moments[0].second, moments[len(moments)-1].second, 0, float64(g.Slots)
}

// picture draws panels of a height, one below the other, into a file.
func picture(path string, height vg.Length, panels ...*plot.Plot) error {
	format, err := PictureFormat(path)
	if err != nil {
		return err
	}
	whole, err := draw.NewFormattedCanvas(pictureWidth, height*vg.Length(len(panels)), format)
	if err != nil {
		return err
	}
	rows := make([][]*plot.Plot, len(panels))
	for i, p := range panels {
		p.BackgroundColor = color.White
		rows[i] = []*plot.Plot{p}
	}
	canvas := draw.New(whole)
	tiles := draw.Tiles{Rows: len(panels), Cols: 1, PadTop: vg.Millimeter, PadBottom: vg.Millimeter, PadRight: 3 * vg.Millimeter}
	for i, row := range plot.Align(rows, tiles, canvas) {
		panels[i].Draw(row[0])
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := whole.WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
