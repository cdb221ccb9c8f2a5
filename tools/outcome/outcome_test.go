package outcome

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// example is three jobs on four slots.
func example(name string) *Outcome {
	return &Outcome{Name: name, Slots: 4, Projects: []Project{{"a", 0.75, 0.75}, {"b", 0.25, 0.25}}, Jobs: []Job{
		{Start: 0, End: 5, Slots: 4, User: 1},
		{Submit: 1, Start: 5, End: 14, Slots: 2, User: 2, Project: 1, Deadline: 6},
		{Submit: 2, Start: 7, End: 10, Slots: 1, Project: 1, Deadline: 6}},
		Lost: []Lost{{2, 5, 6}}}
}

// TestShares holds what a project got while its jobs waited against a count by
// hand: from 1 to 5 a runs alone, from 6 to 7 b does; from 5 to 6 nobody waits.
func TestShares(t *testing.T) {
	shares := example("").Shares()
	if got := fmt.Sprintf("%.4f %.4f %.1f", shares[0].Contended, shares[1].Contended, shares[1].MeanWait); got != "0.0000 0.1111 4.5" {
		t.Errorf("parts while waiting, wait of b: %s", got)
	}
	s := example("").Summary()
	if s.Missed != 1 || s.Deadlines != 2 || s.Lost != 1 || s.WaitOf95 != 5 || s.Makespan != 14 {
		t.Errorf("%+v", s)
	}
}

// TestUtilisation: what is in use over time adds up to the work, and never
// beyond the machine.
func TestUtilisation(t *testing.T) {
	o := example("")
	o.Lost = nil
	area, moments := 0.0, o.moments()
	for i, m := range moments {
		if m.busy > o.Slots || m.busy < 0 || m.waiting < 0 {
			t.Fatalf("%+v", m)
		}
		if i > 0 {
			area += float64(moments[i-1].busy) * (m.second - moments[i-1].second)
		}
	}
	s := o.Summary()
	if use := area / (s.Makespan * float64(o.Slots)); math.Abs(use-s.Utilisation) > 1e-9 {
		t.Errorf("utilisation is %v, and %v over time", s.Utilisation, use)
	}
}

// TestPictures draws in both formats, and refuses others. The SVG has the texts of titles,
// axes and legend and a shape for each line or bar; the PNG has the size in pixels of all
// panels and shapes in the colours of the outcomes or users.
func TestPictures(t *testing.T) {
	of := []*Outcome{example("one"), example("two")}
	dir := t.TempDir()
	for name, c := range map[string]struct {
		draw   func(path string) error
		texts  []string
		shapes int       // at least
		height vg.Length // of the PNG
		color  color.Color
	}{
		"curves": {func(path string) error { return PlotCurves(path, of) }, []string{"Utilisation", "Queue length", "jobs", "one", "two"}, 4, 2 * panelHeight, plotutil.Color(1)},
		"gantt":  {of[0].PlotGantt, []string{"Who has which slots", "slots"}, 3, panelHeight, plotutil.SoftColors[2]},
		"shares": {func(path string) error { return PlotShares(path, of) }, []string{"a", "b"}, 4, 2 * sharePanel, nil},
	} {
		t.Run(name, func(t *testing.T) {
			vector, raster := filepath.Join(dir, name+".svg"), filepath.Join(dir, name+".PNG")
			if err := errors.Join(c.draw(vector), c.draw(raster)); err != nil {
				t.Fatal(err)
			}
			svg, err := os.ReadFile(vector)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range c.texts {
				if !bytes.Contains(svg, []byte(">"+text+"<")) {
					t.Errorf("the SVG has no text %q", text)
				}
			}
			if n := bytes.Count(svg, []byte("<path")); n < c.shapes {
				t.Errorf("the SVG has %d shapes, not %d", n, c.shapes)
			}
			f, err := os.Open(raster)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			picture, err := png.Decode(f)
			if err != nil {
				t.Fatal(err)
			}
			size := picture.Bounds().Size()
			if want := float64(pictureWidth) / float64(c.height); math.Abs(float64(size.X)/float64(size.Y)-want) > 0.01 {
				t.Errorf("the PNG has %v pixels, not %.2f times as many across", size, want)
			}
			if c.color != nil && !contains(picture, c.color) {
				t.Errorf("nothing is drawn in %v", c.color)
			}
		})
	}
	if err := of[0].PlotGantt(filepath.Join(dir, "c.gif")); err == nil {
		t.Error("a gif is drawn")
	}
	one := example("")
	one.Jobs[2].Start, one.Jobs[2].End = 5, 8
	if bars := fmt.Sprint(one.bars()); bars != "[{0 0 4} {1 0 2} {2 2 3}]" {
		t.Errorf("bars %s", bars)
	}
}

// contains reports whether a picture has a pixel of a colour.
func contains(picture image.Image, want color.Color) bool {
	r, g, b, _ := want.RGBA()
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			if r2, g2, b2, _ := picture.At(x, y).RGBA(); r == r2 && g == g2 && b == b2 {
				return true
			}
		}
	}
	return false
}

// TestMarks: whatever the span, an axis has between five and thirteen labels, at
// round values.
func TestMarks(t *testing.T) {
	for span := 0.01; span < 1e7; span *= 1.37 {
		for _, first := range []float64{0, 0.3 * span} {
			labels := 0
			for _, m := range marks(first, first+span) {
				if m.Value < first-1e-9*span || m.Value > first+span*(1+1e-9) {
					t.Fatalf("%v ... %v: a tick at %v", first, first+span, m.Value)
				}
				if m.Label != "" {
					labels++
				}
			}
			if labels < 5 || labels > 13 {
				t.Errorf("%v ... %v: %d labels", first, first+span, labels)
			}
		}
	}
}

func TestSharesOfNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shares.svg")
	err := PlotShares(path, []*Outcome{{Name: "a", Slots: 1, Jobs: []Job{{End: 1, Slots: 1, Project: -1}}}})
	if err == nil || err.Error() != "no job belongs to a project: there are no shares to draw" {
		t.Errorf("got %v", err)
	}
}

// TestPieces: a piece has the means of what is in use and waits in it.
func TestPieces(t *testing.T) {
	o := &Outcome{Slots: 4, Jobs: []Job{{Submit: 0, Start: 10, End: 30, Slots: 2}, {Submit: 5, Start: 30, End: 40, Slots: 1}}}
	busy, waiting := o.Pieces(0, 40, 4)
	if !slices.Equal(busy, []float64{0, 2, 2, 1}) || !slices.Equal(waiting, []float64{1.5, 1, 1, 0}) {
		t.Errorf("%v, %v", busy, waiting)
	}
}
