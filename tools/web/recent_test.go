package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/console"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/past"
)

// keep has the server keep all lists of the cell in stretches of so many events, as if it had got them one by one.
func (c *testCell) keep(every int) {
	first := state.New()
	first.Apply(public(c.lists[0]))
	all := mirror.NewRecent(every)
	all.BeginAfter(first)
	for _, l := range c.lists[1:] {
		all.Add(public(l))
	}
	c.server.mirror.Recent = all
}

// readStory returns what the console shows of a job at a moment, from where it reads it.
func (c *testCell) readStory(job uint32, at string) string {
	c.t.Helper()
	m, err := c.server.cell.Moment(c.t.Context(), at)
	if err != nil {
		c.t.Fatal(err)
	}
	story, used, err := c.server.cell.Story(c.t.Context(), m, job, 0)
	if err != nil {
		return err.Error()
	}
	story.From = story.To // where reading began
	text, err := json.MarshalIndent(struct{ Story, Used any }{story, used}, "", " ")
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// waits has jobs that wait for a time, are altered, deleted, held and started again.
func (c *testCell) waits() {
	c.submit("alice", "-a", c.time().Add(100).Std().UTC().Format("200601021504.05"), "-N", "later", "sleep", "1")
	last := uint32(c.c.Core.State().Counter(grid.JobSeqNum))
	refs := func(jobs ...uint32) (out []gdi.JobRef) {
		for _, j := range jobs {
			out = append(out, gdi.JobRef{ID: j})
		}
		return out
	}
	c.ask("root", "", &gdi.Control{Action: "reschedule", Refs: []string{"8"}})
	c.later("30s")
	c.run()
	c.ask("root", "", &gdi.Alter{Jobs: gdi.Jobs{Refs: refs(last, 15)}, HoldAdd: "u"})
	for range 6 {
		c.run()
		c.submit("bob", "sleep", "1")
	}
	c.ask("root", "", &gdi.Alter{Jobs: gdi.Jobs{Refs: refs(last)}, HoldRemove: "u"})
	for job := uint32(7); job < last; job++ {
		c.end(job, 0)
		c.run()
	}
	c.ask("root", "", &gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: refs(15, 18)}})
	c.run()
}

// TestStoryOfPart: what the console says of a job is the same from the lists about it as from all lists of the log, at
// every moment and however the lists are divided.
func TestStoryOfPart(t *testing.T) {
	c := busy(t)
	c.waits()
	end := c.lists[len(c.lists)-1].Seq
	if !c.server.mirror.WaitFor(t.Context(), end, reachWait) {
		t.Fatal("the mirror does not follow")
	}
	last := uint32(c.c.Core.State().Counter(grid.JobSeqNum))
	type moment struct {
		job uint32
		seq uint64
	}
	stories := func() map[moment]string {
		all := map[moment]string{}
		for job := uint32(1); job <= last; job++ {
			for seq := end; seq > 1; seq -= min(seq-1, 25) {
				at := strconv.FormatUint(seq, 10)
				if seq == end {
					at = ""
				}
				all[moment{job, seq}] = c.readStory(job, at)
			}
		}
		return all
	}
	c.keep(1 << 40)
	c.server.mirror.Recent = mirror.NewRecent(mirror.StretchEvents)
	whole := stories()
	for _, every := range []int{1, 20, 1 << 40} {
		c.keep(every)
		for m, got := range stories() {
			if want := whole[m]; got != want {
				a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
				n := 0
				for n < min(len(a), len(b)) && a[n] == b[n] {
					n++
				}
				t.Fatalf("job %d at list %d, %d events a stretch:\n%s\nfrom the whole log: ...\n%s", m.job, m.seq, every, got,
					strings.Join(b[n:], "\n"))
			}
		}
	}
	c.keep(20)
	steps, decided := 0, 0
	for job := uint32(1); job <= last; job++ {
		if l := c.server.mirror.Recent.Life(job, end); l == nil && every20(c, job) {
			t.Errorf("job %d is not found", job)
		}
		m, _ := c.server.cell.Moment(t.Context(), "")
		story, _, err := c.server.cell.Story(t.Context(), m, job, 0)
		if err != nil {
			t.Fatal(err)
		}
		steps += len(story.Steps)
		for _, s := range story.Steps {
			if s.Decision != nil {
				decided++
			}
		}
	}
	if steps < 60 || decided < 10 {
		t.Errorf("the stories have %d steps and %d decisions", steps, decided)
	}
}

// TestStoryTooLong: a page does not read the log without end for an old job, and shows no part of a story as if it were
// all.
func TestStoryTooLong(t *testing.T) {
	c := busy(t)
	m, err := c.server.cell.Moment(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	c.server.mirror.Recent = mirror.NewRecent(mirror.StretchEvents)
	ctx, cancel := context.WithCancel(t.Context())
	open := c.server.reader.History
	c.server.reader.History = func(ctx context.Context, by entry.Account, from, to gdi.Place, lists bool) (
		past.Stretch, error) {
		p, err := open(ctx, by, from, to, lists)
		cancel()
		return p, err
	}
	story, used, err := c.server.cell.Story(ctx, m, 16, 0)
	bad := (*console.Problem)(nil)
	if story != nil || used != nil || !errors.As(err, &bad) || bad.Status != http.StatusServiceUnavailable ||
		!strings.Contains(bad.Text, "quill why 16") {
		t.Errorf("%v, %v", story, err)
	}
}

// every20 reports whether 32 stretches of 20 events have the submission of a job.
func every20(c *testCell, job uint32) bool {
	begin, _, _ := c.server.mirror.Recent.Begin()
	for _, l := range c.lists[begin:] {
		for _, e := range l.Events {
			if e.Kind == grid.KindJob && e.Key.ID == job && e.Op == events.OpAdd {
				return true
			}
		}
	}
	return false
}

// TestLifeCostsItsOwn: the lists that are read for a job are its own, however many others there are.
func TestLifeCostsItsOwn(t *testing.T) {
	var costs []int
	for _, others := range []int{10, 300} {
		c := newCell(t, 2)
		c.submit("alice", "sleep", "1")
		c.run()
		for range others {
			c.submit("bob", "-h", "sleep", "1")
		}
		c.end(1, 3)
		for range others {
			c.submit("bob", "-h", "sleep", "1")
		}
		end := c.lists[len(c.lists)-1].Seq
		c.server.mirror.WaitFor(t.Context(), end, reachWait)
		l := c.server.mirror.Recent.Life(1, end)
		if l == nil {
			t.Fatal("the job is not found")
		}
		steps := 0
		for _, err := range l.Lists() {
			if err != nil {
				t.Fatal(err)
			}
			steps++
		}
		records, err := l.Records()
		if err != nil || len(records) != 1 || records[0].ExitStatus != 3 {
			t.Fatal(records, err)
		}
		if l.Read > 3*steps {
			t.Errorf("%d lists were read for %d", l.Read, steps)
		}
		costs = append(costs, l.Read)
	}
	if costs[0] != costs[1] {
		t.Errorf("lists that were read: %d", costs)
	}
}

// TestRecentForward: a state is brought forward by the kept lists to the same as by the log; where lists were missed
// nothing is kept.
func TestRecentForward(t *testing.T) {
	c := newCell(t, 2)
	for range 40 {
		c.submit("alice", "sleep", "1")
		c.run()
	}
	end := c.lists[len(c.lists)-1].Seq
	c.server.mirror.WaitFor(t.Context(), end, reachWait)
	c.keep(2)
	begin, stretches, _ := c.server.mirror.Recent.Begin()
	if stretches != mirror.StretchesMost {
		t.Fatalf("%d stretches are kept", stretches)
	}
	for seq := begin; seq <= end; seq += 5 {
		for _, to := range []gdi.Place{{Seq: min(seq+9, end)}, {At: c.lists[seq-1].At}} {
			want := state.New()
			for _, l := range c.lists {
				if to.Seq != 0 && l.Seq <= to.Seq || to.Seq == 0 && l.At <= to.At {
					want.Apply(public(l))
				}
			}
			got := state.New()
			for _, l := range c.lists[:seq] {
				got.Apply(public(l))
			}
			has, err := c.server.mirror.Recent.Forward(t.Context(), got, to)
			if err != nil || !has && to.Seq != 0 || got.Seq != want.Seq {
				t.Fatalf("from %d to %+v: %v %v, at %d, expected %d", seq, to, has, err, got.Seq, want.Seq)
			}
		}
	}
	if has, _ := c.server.mirror.Recent.Forward(t.Context(), state.New(), gdi.Place{Seq: end}); has {
		t.Error("lists before those that are kept are said to be there")
	}
	l := c.lists[len(c.lists)-1]
	l.Seq += 2
	c.server.mirror.Recent.Add(l)
	if _, _, has := c.server.mirror.Recent.Begin(); has || c.server.mirror.Recent.Life(1, end) != nil {
		t.Error("a gap is passed over")
	}
}

// TestRecentBackward: the kept lists come last first, from any list on, and it says which one comes next.
func TestRecentBackward(t *testing.T) {
	c := newCell(t, 1)
	for range 30 {
		c.submit("alice", "sleep", "1")
	}
	end := uint64(len(c.lists))
	for _, every := range []int{2, 7, 1 << 40} {
		c.keep(every)
		begin, _, _ := c.server.mirror.Recent.Begin()
		for from := begin + 1; from <= end; from++ {
			want := from
			next, err := c.server.mirror.Recent.Backward(from, func(l events.List) bool {
				if l.Seq != want {
					t.Fatalf("list %d, expected %d", l.Seq, want)
				}
				want--
				return l.Seq != begin+4
			})
			if stop := begin; err != nil || next != want || from < begin+4 && next != stop || from >= begin+4 &&
				next != begin+3 {
				t.Errorf("from %d: next is %d, %v", from, next, err)
			}
		}
		if next, _ := c.server.mirror.Recent.Backward(end+1, func(events.List) bool {
			t.Error("a list that has not come")
			return true
		}); next != end+1 {
			t.Error(next)
		}
	}
}
