package demo

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
)

// TestWorkload: the log has 300 jobs that fit the cell; they are submitted within the span, in order, and the squeezed
// times have the proportions of the log, long gaps aside.
func TestWorkload(t *testing.T) {
	const span = 25 * time.Second
	jobs, err := workload(span, JobsMax+1)
	if err != nil || len(jobs) != JobsMax {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	for i, j := range jobs {
		if j.slots < 1 || j.slots > slots || j.run < 0 || i > 0 && j.submit < jobs[i-1].submit {
			t.Errorf("job %d: %+v", i, j)
		}
	}
	if first, last := jobs[0].submit, jobs[len(jobs)-1].submit; first != 0 || (last-span).Abs() > time.Millisecond {
		t.Errorf("submitted from %v to %v", first, last)
	}
	// The second job ran for 9382 s and came 91 hours after the first: that gap is cut to gapMax.
	if got, want := jobs[1].run.Seconds()/jobs[1].submit.Seconds(), 9382/gapMax.Seconds(); math.Abs(got-want) > 1e-6 {
		t.Errorf("run time and gap of the second job: %g, want %g", got, want)
	}
}

func TestWorkloadLine(t *testing.T) {
	for line, want := range map[string]string{
		"1 2 3": `workload: 3 fields in "1 2 3", not 18`,
		"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 x": `workload: strconv.ParseFloat: parsing "x": invalid syntax`,
	} {
		if _, err := numbers(line); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
}

func TestBar(t *testing.T) {
	for n, want := range map[int]string{0: "[..........]", 35: "[###.......]", 100: "[##########]"} {
		if got := bar(n, 100, 10); got != want {
			t.Errorf("%d of 100: %s, want %s", n, got, want)
		}
	}
}

// TestEnd plays the end of a demo: accounting records that the cell sent, what is in the accounting file, and what the
// demo prints of them.
//
//	records [file=N]             a line each: job[.task] submit start end slots [project] [again|failed]; the first N are in the file, without it all
//	summary submitted=N tasks=N  the end of the workload
//	judge tasks=N                the end of the algorithms, each for 10 s
func TestEnd(t *testing.T) {
	var d *demo
	var f *facts
	datadriven.RunTest(t, "testdata/end.txt", func(t *testing.T, c *datadriven.TestData) string {
		var out strings.Builder
		number := func(key string) (n int) {
			c.ScanArgs(t, key, &n)
			return n
		}
		var err error
		switch c.Cmd {
		case "records":
			d = &demo{where: cell.Cell{Root: t.TempDir(), Name: cell.DefaultName}}
			f = &facts{}
			var file []byte
			most := math.MaxInt
			if c.HasArg("file") {
				most = number("file")
			}
			for i, line := range strings.Split(c.Input, "\n") {
				a := recordOf(t, line)
				a.Attempt = 1
				for _, before := range f.records {
					if before.Job == a.Job && before.Task == a.Task {
						a.Attempt++
					}
				}
				f.Apply(events.List{Events: []events.Event{events.Add(a)}})
				if i < most {
					file = accounting.AppendLine(file, a)
				}
			}
			if err := os.MkdirAll(filepath.Dir(d.where.Accounting()), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(d.where.Accounting(), file, 0o600); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%d records, %d ends\n", len(f.records), f.ended())
		case "summary":
			d.Env, d.expected = opt.Env{Stdout: &out}, number("tasks")
			d.submitted.Store(int64(number("submitted")))
			err = d.summary(context.Background(), f, 2*time.Second)
		case "judge":
			d.Env, d.expected = opt.Env{Stdout: &out}, number("tasks")
			err = d.judge(context.Background(), f, []phase{{"default", 0, 10_000}, {"fbsng", 10_000, 20_000}})
		}
		if err != nil {
			fmt.Fprintln(&out, "error:", err)
		}
		return strings.ReplaceAll(out.String(), d.where.Root, "ROOT")
	})
}

// recordOf reads a line of records; times are seconds.
func recordOf(t *testing.T, line string) *grid.Accounting {
	t.Helper()
	words := strings.Fields(line)
	var submit, start, end float64
	a := &grid.Accounting{Queue: "all.q", Host: "node1"}
	id, task, _ := strings.Cut(words[0], ".")
	if _, err := fmt.Sscan(strings.Join(append([]string{id}, words[1:5]...), " "), &a.Job, &submit, &start, &end,
		&a.Slots); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	fmt.Sscan(task, &a.Task)
	a.Submit, a.Start, a.End = grid.Time(1000*submit), grid.Time(1000*start), grid.Time(1000*end)
	for _, w := range words[5:] {
		switch w {
		case "again":
			a.Rescheduled = true
		case "failed":
			a.ExitStatus = 1
		default:
			a.Project = w
		}
	}
	return a
}

// TestFailedCommand: the error of a command that fails says what it printed.
func TestFailedCommand(t *testing.T) {
	d := &demo{quill: "/bin/sh"}
	for script, want := range map[string]string{"echo 'denied: no' >&2; exit 1": "denied: no", "exit 3": "exit status 3"} {
		if _, err := d.command(t.Context(), "", "-c", script); err == nil ||
			!strings.HasSuffix(err.Error(), script+": "+want) {
			t.Errorf("%v", err)
		}
	}
	if out, err := d.command(t.Context(), "text", "-c", "cat; pwd >/dev/null"); out != "text" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

func TestJobsAreBounded(t *testing.T) {
	for _, n := range []int{-1, 0, JobsMin - 1, JobsMax + 1} {
		if err := Run(t.Context(), opt.Env{}, Options{Jobs: n}); err == nil ||
			err.Error() != fmt.Sprintf("--jobs must be 15 to 300, not %d", n) {
			t.Errorf("%d jobs: %v", n, err)
		}
	}
}
