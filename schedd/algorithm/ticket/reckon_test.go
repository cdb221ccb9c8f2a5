package ticket

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/shares"
	"github.com/quill-grid/quill/pkg/testkit"
)

// TestReckon holds what follows from what a run reports of all jobs together
// against what the run itself finds them worth, on random cells: the same,
// tickets aside, and with the tickets that were reported the same altogether.
func TestReckon(t *testing.T) {
	exact := 0
	testkit.EachSeed(t, 500, func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 16))
		m, conf, now := randomCell(r)
		c := m.Copy()
		c.Start(now)
		room := (*memory)(nil).again()
		o := newOrder(newPolicies(newSettings(conf), c, now, room), room)
		for {
			h, ok := o.head()
			if !ok {
				break
			}
			j := c.State.Job(h.Job)
			found := pendingTickets(h.Job, 0, o.worth())
			got := shares.PendingPriority(conf, &o.within, j, c.Cluster.ResourceUrgency(j), nil)
			want := grid.Priority{Job: h.Job, Priority: found.Priority,
				NPOSIX: float32(found.NPOSIX), NUrgency: float32(found.NUrgency), NTickets: float32(found.NTickets),
				Urgency: float32(found.Urgency), RRContr: float32(found.RRContr), WTContr: float32(found.WTContr),
				DLContr: float32(found.DLContr)}
			if o.tickets {
				without := o.policies.sum(worth{Terms: o.worth().Terms})
				want.NTickets, want.Priority = float32(without.NTickets), without.Priority
			} else {
				exact++
			}
			if o.within.MostTickets > 0 {
				if !math.IsNaN(float64(got.NTickets + got.Tickets + got.Share)) {
					t.Fatalf("job %d: nobody knows its tickets: %+v", h.Job, got)
				}
				got.NTickets, got.Tickets, got.OTickets, got.FTickets, got.STickets, got.Share = want.NTickets, 0, 0, 0, 0, 0
			}
			if got != want {
				t.Fatalf("job %d: reckoned %+v, found %+v", h.Job, got, want)
			}
			reported := &grid.Priority{Job: h.Job, Tickets: float32(found.Tickets), OTickets: float32(found.OTickets),
				FTickets: float32(found.FTickets), STickets: float32(found.STickets)}
			again := shares.PendingPriority(conf, &o.within, j, c.Cluster.ResourceUrgency(j), reported)
			if (&policies{}).differs(&again, found) {
				t.Fatalf("job %d: reckoned from its tickets %+v, found %+v", h.Job, again, found)
			}
			task := shares.RunningPriority(conf, &o.within, j, c.Cluster.ResourceUrgency(j),
				&grid.JATask{Tickets: found.Tickets})
			if task.Priority != found.Priority || task.NTickets != found.NTickets {
				t.Fatalf("job %d: a task with its tickets %+v, found %+v", h.Job, task, found)
			}
			o.pass()
		}
	})
	if exact == 0 {
		t.Fatal("no cell was without tickets")
	}
}
