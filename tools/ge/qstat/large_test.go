package qstat_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt/opttest"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/schedd/couple"
	"github.com/quill-grid/quill/tools/ge/qstat"
)

// coupled is a client of qmaster's core with a scheduler and no host.
type coupled struct {
	*couple.Couple
	now grid.Time
}

func newCoupled(t *testing.T) *coupled {
	s := state.New()
	s.Apply(core.Fresh(opttest.CellTime, "root", "master"))
	c := &coupled{couple.New(s, shipped.Algorithms()), opttest.CellTime}
	if err := c.Register(); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *coupled) Do(_ context.Context, command string, body gdi.Body) (gdi.Reply, error) {
	r := c.Step(
		c.now,
		core.UserRequest{Request: gdi.Request{User: "root", Group: "root", Host: "master", Command: command, Body: body}})
	return *r.Answers[0].Reply, nil
}

func (c *coupled) Get(_ context.Context, get gdi.Get, each func(grid.Object) error) (seq uint64, err error) {
	core.Query(c.Core.State(), get, func(o grid.Object) bool {
		err = each(o)
		return err == nil
	})
	return c.Core.State().Seq, err
}

func (c *coupled) Close() error { return nil }

// submit submits jobs with different -p and requests.
func (c *coupled) submit(t *testing.T, jobs int) {
	for n := range jobs {
		c.now = c.now.Add(1)
		j := &grid.Job{Name: "job", Tasks: grid.Range{First: 1, Last: 1, Step: 1},
			Spec: &grid.JobSpec{Command: "sleep", SubmitCommand: "qsub"}}
		ask := j.Ask()
		j.Priority = -int16(n%4) * 50
		if n%3 == 0 {
			ask.Hard = grid.Requests{{Name: "num_proc", Value: fmt.Sprint(n % 5)}}
		}
		if reply, _ := c.Do(t.Context(), "qsub", &gdi.Submit{Job: j}); reply.Answers[0].Status != gdi.StatusOK {
			t.Fatal(reply.Answers[0].Text)
		}
	}
}

// modify gives an object other values, as root; the scheduler begins anew.
func (c *coupled) modify(t *testing.T, o grid.Object) {
	grid.SetVersion(o, 0)
	if reply,
		_ := c.Do(t.Context(), "qconf", &gdi.Modify{Objects: []grid.Object{o}}); reply.Answers[0].Status != gdi.StatusOK {
		t.Fatal(reply.Answers[0].Text)
	}
	if err := c.Register(); err != nil {
		t.Fatal(err)
	}
}

func (c *coupled) configure(t *testing.T, change func(*grid.SchedConf)) {
	conf := *c.Core.State().SchedConf()
	change(&conf)
	c.modify(t, &conf)
}

// run is the run of a schedule_interval.
func (c *coupled) run() {
	c.now = c.now.Add(15)
	list, decide := c.Begin(c.now, true)
	list.Orders = slices.Collect(decide)
	c.Step(c.now, core.Orders{List: list})
}

// priorities is what qstat prints of each pending job, by its number: prior,
// nurg, npprior, ntckts and the urgency.
func (c *coupled) priorities() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(opttest.RunLines(c, qstat.Run, "qstat -u * -pri -urg")) {
		if f := strings.Fields(line); len(f) > 12 && f[0] != "job-ID" {
			out[f[0]] = strings.Join(f[1:9], " ")
		}
	}
	return out
}

// TestManyPending holds what is shown of 1,001 jobs, of which few are reported,
// against what was shown of 1,000, all of which were.
func TestManyPending(t *testing.T) {
	c := newCoupled(t)
	urgent := *c.Core.State().Centry("num_proc")
	urgent.Urgency = "100"
	c.modify(t, &urgent)
	c.submit(t, 1000)
	c.run()
	printed := c.priorities()
	if len(printed) != 1000 || c.Core.State().PriorityRange() != nil {
		t.Fatalf("%d jobs shown, range %v", len(printed), c.Core.State().PriorityRange())
	}
	same := func(what string, want map[string]string) {
		t.Helper()
		got := c.priorities()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}

	c.submit(t, 1)
	c.run()
	printed["1001"] = printed["1"]
	same("one more job", printed)

	none := map[string]string{}
	for id := range printed {
		none[id] = "0.00000 0.00000 0.00000 0.00000 0 0 0 0"
	}
	c.configure(t, func(s *grid.SchedConf) { s.Algorithm = "roundrobin" })
	c.run()
	same("under an algorithm without priorities", none)

	c.configure(t, func(s *grid.SchedConf) { s.Algorithm = "default" })
	c.run()
	same("under the first algorithm again", printed)

	c.configure(t, func(s *grid.SchedConf) { s.ReportPJobTickets = false })
	c.run()
	same("with report_pjob_tickets FALSE", none)
}

// counting is a client that counts the jobs that it gets.
type counting struct {
	*coupled
	jobs int
}

func (c *counting) Get(ctx context.Context, get gdi.Get, each func(grid.Object) error) (uint64, error) {
	return c.coupled.Get(ctx, get, func(o grid.Object) error {
		if o.Kind() == grid.KindJob {
			c.jobs++
		}
		return each(o)
	})
}

// TestSummaryOfMany: qstat -g c gets no job that only waits.
func TestSummaryOfMany(t *testing.T) {
	c := &counting{coupled: newCoupled(t)}
	c.submit(t, 50)
	if text := opttest.RunLines(c, qstat.Run, "qstat -g c"); c.jobs > 0 || !strings.Contains(text, "CLUSTER QUEUE") {
		t.Errorf("%d jobs for\n%s", c.jobs, text)
	}
}
