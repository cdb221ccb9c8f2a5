package simulator

import (
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// Where Parameters.Limits says so jobs say how long they run at most, some for longer than is kept free before a
// reservation, and the cell has a few seats, of which some jobs want more than there are. In some cells users and
// arrays may run only a few tasks at once. Some ask for one queue
// instance, or for a host that does not exist, and parallel jobs for all of their slots.

// seats is how many the cell has.
const seats = 4

// addSeats are the objects of such a cell.
func (w *World) addSeats(l events.List) events.List {
	if !w.Limits {
		return l
	}
	l.Events = append(l.Events, events.Add(&grid.Centry{Name: "seat", Shortcut: "seat", Type: "INT", Relop: "<=",
		Requestable: "YES", Consumable: "YES", Default: "0", Urgency: "0"}))
	for i, e := range l.Events {
		switch o := e.Object.(type) {
		case *grid.ExecHost:
			if o.Name == grid.GlobalHost {
				global := *o
				global.ComplexValues = append(grid.Values{{Name: "seat", Text: fmt.Sprint(seats)}}, o.ComplexValues...)
				l.Events[i] = events.Add(&global)
			}
		case *grid.SchedConf:
			conf := *o
			conf.MaxUJobs = uint32(w.rand.IntN(2) * w.rand.IntN(4))
			l.Events[i] = events.Add(&conf)
		case *grid.Conf:
			if o.Host == grid.GlobalConf && w.hasChance(0.3) {
				conf := *o
				conf.Entries = conf.Entries.With("max_aj_instances", "2")
				l.Events[i] = events.Add(&conf)
			}
		}
	}
	return l
}

// addLimits adds such requests to a job.
func (c *clients) addLimits(j *grid.Job) {
	w := c.world
	ask := func(name string, n int) {
		j.Hard = append(j.Hard, grid.Request{Name: name, Value: fmt.Sprint(n)})
	}
	if w.hasChance(0.5) {
		ask("h_rt", 1+w.rand.IntN(60))
	}
	if w.hasChance(0.3) {
		ask("seat", 1+w.rand.IntN(seats+1))
	}
	if j.PE != "" && w.hasChance(0.6) { // all of the slots that it asks for
		n := j.PERange[0].Last + uint32(w.rand.IntN(2))
		j.PERange = grid.Ranges{{First: n, Last: n, Step: 1}}
		j.Reserve = w.Reserve
	}
	if w.hasChance(0.1) {
		j.HardQueues = grid.Names{[...]string{"all.q@h1", "all.q@h2", "all.q@h9"}[w.rand.IntN(3)]}
	}
}
