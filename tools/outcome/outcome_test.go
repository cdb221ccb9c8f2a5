package outcome

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
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

// TestPictures draws in both formats, and refuses others.
func TestPictures(t *testing.T) {
	of := []*Outcome{example("one"), example("two")}
	dir := t.TempDir()
	for _, name := range []string{"a.svg", "b.png"} {
		path := filepath.Join(dir, name)
		for what, draw := range map[string]func() error{
			"curves": func() error { return PlotCurves(path, of) },
			"gantt":  func() error { return of[0].PlotGantt(path) },
			"shares": func() error { return PlotShares(path, of) },
		} {
			os.Remove(path)
			err := draw()
			info, stat := os.Stat(path)
			if err != nil || stat != nil || info.Size() < 1000 {
				t.Errorf("%s in %s: %v %v", what, name, err, stat)
			}
		}
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
