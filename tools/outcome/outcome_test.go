package outcome

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// example is three jobs on four slots.
func example(name string) *Outcome {
	return &Outcome{Name: name, Slots: 4, Projects: []Project{{"a", 0.75, 0.75}, {"b", 0.25, 0.25}}, Jobs: []EndedJob{
		{Start: 0, End: 5, Slots: 4, User: 1},
		{Submit: 1, Start: 5, End: 14, Slots: 2, User: 2, Project: 1, Deadline: 6},
		{Submit: 2, Start: 7, End: 10, Slots: 1, Project: 1, Deadline: 6}},
		Lost: []Lost{{2, 5, 6}}}
}

// TestShares holds what a project got while its jobs waited against a count by
// hand: from 1 to 5 a runs alone, from 6 to 7 b does; from 5 to 6 no job waits.
func TestShares(t *testing.T) {
	shares := example("").Shares()
	if got := fmt.Sprintf("%.4f %.4f %.1f", shares[0].Contended, shares[1].Contended, shares[1].MeanWait); got !=
		"0.0000 0.1111 4.5" {
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

func compare(of ...*Outcome) *Comparison {
	c := &Comparison{Workload: "log.swf", Unit: "jobs", Machine: "slots"}
	for _, o := range of {
		c.Add(o, 0, 0)
	}
	return c
}

// TestTitles: pictures name workload, capacity and policy, each policy where they differ.
func TestTitles(t *testing.T) {
	one, two, three := example("one"), example("two"), example("")
	one.Policy, two.Policy, three.Policy, three.Slots = "default", "default", "fbsng", 8
	for want, c := range map[string]*Comparison{
		"under one; log.swf: 3 jobs on 4 slots, algorithm default":                         compare(one),
		"under one and two; log.swf: 3 jobs on 4 slots, algorithm default":                 compare(one, two),
		"under fbsng; log.swf: 3 jobs on 8 slots, algorithm fbsng":                         compare(three),
		"under one (default) and fbsng; log.swf: 3 jobs on 4 slots (one), 8 slots (fbsng)": compare(one, three),
		"under 4 policies; log.swf: 3 jobs on 4 slots, algorithm default":                  compare(one, two, one, two),
	} {
		p := c.Curves()
		if got := strings.TrimPrefix(p.Title, "Utilisation and queue length ") + "; " + p.Subtitle; got != want {
			t.Errorf("%s\nnot %s", got, want)
		}
	}
}

// TestIdle: idle time is drawn, at 0 and as idle; after the last end of an outcome nothing is known.
func TestIdle(t *testing.T) {
	early, late := example("early"), example("late")
	late.Jobs = append(late.Jobs, EndedJob{Submit: 20, Start: 20, End: 28, Slots: 4})
	c := compare(early, late)
	curves := c.Curves()
	use := curves.Panels[0].Series
	if at := curvePieces * 3 / 5; !math.IsNaN(use[0].Values[at]) || use[1].Values[at] != 0 {
		t.Errorf("at 17 s: %v, %v", use[0].Values[at], use[1].Values[at])
	}
	if curves.Note != "A line ends where the last of the jobs has ended." {
		t.Errorf("note %q", curves.Note)
	}
	shares, err := c.Shares()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"[NaN NaN NaN]", "[0 0 100]"} {
		got := []float64{}
		for _, s := range shares.Panels[i].Series {
			if len(s.Values) == sharePieces {
				got = append(got, s.Values[sharePieces*3/5])
			}
		}
		for len(got) < 3 { // without idle
			got = append(got, math.NaN())
		}
		if fmt.Sprint(got) != want {
			t.Errorf("panel %d: %v", i, got)
		}
	}
}

// TestGantt: jobs have the lowest free slots, and users the colours in the order of their work.
func TestGantt(t *testing.T) {
	one := example("one")
	one.Jobs[2].Start, one.Jobs[2].End = 5, 8
	if bars := fmt.Sprint(one.bars()); bars != "[{0 0 4} {1 0 2} {2 2 3}]" {
		t.Errorf("bars %s", bars)
	}
	p, err := compare(one).Gantt()
	if err != nil || p.Panels[0].Series[0].Name != "user 1" || fmt.Sprint(p.Panels[0].Series[1].Boxes) != "[{5 14 0 2}]" {
		t.Errorf("%+v, %v", p, err)
	}
	one.Jobs = make([]EndedJob, GanttMost+1)
	if _, err := compare(one).Gantt(); err == nil {
		t.Error("too many jobs are drawn")
	}
}

// TestReport: the page has the tables, each picture for wide and narrow windows with its numbers, and needs nothing
// else.
func TestReport(t *testing.T) {
	var b bytes.Buffer
	if err := compare(example("one"), example("two <2>")).Report(&b, "quill sim --report r.html"); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for part, n := range map[string]int{"<svg ": 4, "<figcaption>": 2, "<caption>": 2, `role="img"`: 4,
		`scope="rowgroup"`: 4, "two &lt;2&gt;</th>": 4, "<span>--report</span>": 1} {
		if got := strings.Count(text, part); got < n {
			t.Errorf("%d times %s, not %d", got, part, n)
		}
	}
	for _, part := range []string{"<script", "src=", "@import", "url(http", "two <2>", "ZgotmplZ", "NaN"} {
		if strings.Contains(text, part) {
			t.Errorf("the page has %s", part)
		}
	}
	if links := regexp.MustCompile(`https?://[^"<]*`).FindAllString(text, -1); slices.ContainsFunc(
		links, func(l string) bool { return l != "http://www.w3.org/2000/svg" }) {
		t.Errorf("the page names %v", links)
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if ids[m[1]] {
			t.Errorf("id %s twice", m[1])
		}
		ids[m[1]] = true
	}
}

// TestFiles: what cannot be written is refused before a run, and existing files stay as they are.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old.svg")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]Files{
		"--plot c.gif: a picture's name ends in .svg":               {Plot: "c.gif"},
		"--shares c.PNG: pictures are written as SVG":               {Shares: "c.PNG"},
		"--report c.svg: a report's name ends in .html":             {Report: "c.svg"},
		"--gantt " + dir + "/no/c.svg: no such file or directory":   {Gantt: dir + "/no/c.svg"},
		"--report " + dir + "/no/c.html: no such file or directory": {Report: dir + "/no/c.html"},
		"<nil>": {Plot: old, Shares: filepath.Join(dir, "new.SVG")},
	} {
		if err := fmt.Sprint(f.Check()); !strings.HasPrefix(err, want) {
			t.Errorf("%s\nnot %s", err, want)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "d.html"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := fmt.Sprint(Files{Report: filepath.Join(dir, "d.html")}.Check()); !strings.HasSuffix(
		err, "d.html: is a directory") {
		t.Error(err)
	}
	files, err := os.ReadDir(dir)
	if text, _ := os.ReadFile(old); err != nil || len(files) != 2 || string(text) != "old" {
		t.Errorf("%v, %q, %v", files, text, err)
	}
	if err := (Files{Plot: old, Gantt: filepath.Join(dir, "g.svg"), Report: filepath.Join(dir, "r.html")}).Write(
		compare(example("")), ""); err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile(old); !bytes.HasPrefix(text, []byte("<svg ")) {
		t.Errorf("%.20q", text)
	}
}

func TestSharesWithoutProjects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shares.svg")
	err := Files{Shares: path}.Write(
		compare(&Outcome{Name: "a", Slots: 1, Jobs: []EndedJob{{End: 1, Slots: 1, Project: -1}}}),
		"")
	if err == nil || err.Error() != "--shares: no job belongs to a project: there are no shares to draw" {
		t.Errorf("got %v", err)
	}
}

// TestPieces: a piece of a curve has the means of what is in use and waits in it.
func TestPieces(t *testing.T) {
	o := &Outcome{
		Slots: 4, Jobs: []EndedJob{{Submit: 0, Start: 10, End: 30, Slots: 2}, {Submit: 5, Start: 30, End: 40, Slots: 1}}}
	busy, waiting := o.curves(newCut(0, 40, 4))
	if !slices.Equal(busy, []float64{0, 50, 50, 25}) || !slices.Equal(waiting, []float64{1.5, 1, 1, 0}) {
		t.Errorf("%v, %v", busy, waiting)
	}
}
