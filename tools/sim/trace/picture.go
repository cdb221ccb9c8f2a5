package trace

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
// replay.
func PlotCurves(path string, names []string, of []*Replay) error {
	use, queue := plot.New(), plot.New()
	use.Title.Text, queue.Title.Text = "Utilisation", "Queue length"
	use.Y.Label.Text, queue.Y.Label.Text = "%", "jobs"
	use.Y.Min, use.Y.Max = 0, 100
	for i, r := range of {
		busy, waiting := r.curves()
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
				c.in.Legend.Add(names[i], line)
			}
		}
	}
	for _, p := range []*plot.Plot{use, queue} {
		p.X.Label.Text = "days"
		p.Legend.Top = true
		p.Add(plotter.NewGrid())
	}
	queue.Y.Min = 0
	return picture(path, use, queue)
}

// columns are in how many pieces a picture cuts time.
const columns = 1000

// curves are utilisation in percent and jobs that wait, each the mean over a
// piece of time, by days since the log's start.
func (r *Replay) curves() (busy, waiting plotter.XYs) {
	moments := r.moments()
	first, last := moments[0].second, moments[len(moments)-1].second
	width := max(float64(last-first)/columns, 1)
	busy, waiting = make(plotter.XYs, columns), make(plotter.XYs, columns)
	for i := range columns {
		x := (float64(first) + float64(i)*width) / (24 * 3600)
		busy[i].X, waiting[i].X = x, x
	}
	for i := 0; i+1 < len(moments); i++ {
		m := moments[i]
		from, to := float64(m.second-first)/width, float64(moments[i+1].second-first)/width
		for from < to {
			column := min(int(from), columns-1)
			part := min(to, float64(column+1)) - from
			if column == columns-1 {
				part = to - from
			}
			busy[column].Y += part * 100 * float64(m.busy) / float64(r.Processors)
			waiting[column].Y += part * float64(m.waiting)
			from += part
		}
	}
	return busy, waiting
}

// GanttMost is how many jobs a Gantt chart shows at most: more could not be
// seen.
const GanttMost = 5000

// PlotGantt draws which job has which processors over time. Jobs of a user
// have a colour.
func (r *Replay) PlotGantt(path string) error {
	if len(r.Jobs) > GanttMost {
		return fmt.Errorf("a Gantt chart of %d jobs cannot be read; it shows at most %d", len(r.Jobs), GanttMost)
	}
	p := plot.New()
	p.Title.Text = "Who has which processors"
	p.X.Label.Text, p.Y.Label.Text = "hours", "processors"
	p.Add(gantt{r.bars(), r})
	return picture(path, p)
}

// bar is a job, or a part of one, on neighbouring processors.
type bar struct {
	job         int
	first, last int64 // processors, last not included
}

// bars gives each job processors, the lowest that are free.
func (r *Replay) bars() (bars []bar) {
	freeAt := make([]int64, r.Processors) // second at which a processor is free
	for _, i := range r.startOrder() {
		j, start := r.Jobs[i], r.Starts[i]
		left := j.Requested
		for at := int64(0); at < r.Processors && left > 0; at++ {
			if freeAt[at] > start {
				continue
			}
			freeAt[at] = start + j.Run
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
	*Replay
}

func (g gantt) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	frame := draw.LineStyle{Color: color.Gray{64}, Width: vg.Points(0.25)}
	for _, b := range g.bars {
		start, end := hours(g.Starts[b.job]), hours(g.Starts[b.job]+g.Jobs[b.job].Run)
		corners := []vg.Point{
			{X: x(start), Y: y(float64(b.first))}, {X: x(end), Y: y(float64(b.first))},
			{X: x(end), Y: y(float64(b.last))}, {X: x(start), Y: y(float64(b.last))},
		}
		c.FillPolygon(plotutil.SoftColors[int(max(g.Jobs[b.job].User, 0))%len(plotutil.SoftColors)], corners)
		c.StrokeLines(frame, append(corners, corners[0]))
	}
}

func (g gantt) DataRange() (xmin, xmax, ymin, ymax float64) {
	moments := g.moments()
	return hours(moments[0].second), hours(moments[len(moments)-1].second), 0, float64(g.Processors)
}

func hours(seconds int64) float64 { return float64(seconds) / 3600 }

// picture draws panels, one below the other, into a file.
func picture(path string, panels ...*plot.Plot) error {
	format, err := PictureFormat(path)
	if err != nil {
		return err
	}
	whole, err := draw.NewFormattedCanvas(pictureWidth, panelHeight*vg.Length(len(panels)), format)
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
