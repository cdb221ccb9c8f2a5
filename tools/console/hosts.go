package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/chart"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

// Bounds of the lists of the pages.
const (
	tilesShown      = 300
	hostTasksShown  = 200
	hostQueuesShown = 100
	resourcesShown  = 500
)

var (
	hostsPage = page{"/hosts", "hosts", "Hosts", showHosts, false}
	hostPage  = page{path: "/hosts/{name}", name: "host", show: showHost}
)

// hostTile is a host in the map.
type hostTile struct {
	view.HostUse
	Class, Word string // its state
	Why         string
	Bar         bar
	Load        string // load_avg for a processor
	Level       int    // of the load, 0 to 4
}

type hosts struct {
	Tiles  []hostTile
	Rest   listPart
	Counts []part
	Shown  string
	Shows  []choice
}

// hostTiles returns the hosts, those that an operator should look at first.
func hostTiles(m *Moment) (out []hostTile) {
	bad, _ := troubles(m)
	why := map[string]string{}
	for _, t := range bad {
		why[t.Host] = t.Why
	}
	rows, err := m.View.Hosts(view.HostFilter{})
	if err != nil {
		rows = nil
	}
	each := map[string]view.Host{}
	for _, h := range rows {
		each[h.Name] = h
	}
	for _, u := range m.View.HostUses() {
		t := hostTile{HostUse: u, Why: why[u.Name], Bar: bar{float64(u.Slots), []part{{"used", "running", float64(u.Used)}}},
			Load: "–"}
		if h := each[u.Name]; h.Load != nil {
			load := *h.Load
			if h.Processors != nil && *h.Processors > 0 {
				load /= float64(*h.Processors)
			}
			t.Load, t.Level = fmt.Sprintf("%.2f", load), min(int(load*4), 4)
		}
		switch {
		case u.Silent:
			t.Class, t.Word = "error", "no report"
		case t.Why != "":
			t.Class, t.Word = "held", "check"
		case u.Slots == 0:
			t.Class, t.Word = "gone", "no slots"
		case u.Used >= u.Slots:
			t.Class, t.Word = "running", "full"
		case u.Available == 0:
			t.Class, t.Word = "gone", "closed"
		case u.Used > 0:
			t.Class, t.Word = "suspended", "in use"
		default:
			t.Class, t.Word = "good", "free"
		}
		out = append(out, t)
	}
	return out
}

func showHosts(r *request) (any, error) {
	h := &hosts{Shown: r.query.Get("show")}
	at := map[string]int{}
	h.Shows = []choice{{"", "All", h.Shown == ""}, {"trouble", "Need a look", h.Shown == "trouble"},
		{"free", "With free slots", h.Shown == "free"}}
	for _, t := range hostTiles(r.moment) {
		i, known := at[t.Word]
		if !known {
			i = len(h.Counts)
			at[t.Word] = i
			h.Counts = append(h.Counts, part{Name: t.Word, Class: t.Class})
		}
		h.Counts[i].Value++
		if h.Shown == "trouble" && t.Why == "" || h.Shown == "free" && (t.Available == 0 || t.Why != "") {
			continue
		}
		h.Tiles = append(h.Tiles, t)
	}
	slices.SortFunc(h.Counts, func(a, b part) int { return cmp.Compare(b.Value, a.Value) })
	var err error
	h.Tiles, h.Rest, err = listPartOf(r, "after", h.Tiles, tilesShown)
	return h, err
}

// host is all about a host.
type host struct {
	view.Host
	Tile      hostTile
	Instances []instance
	Rest      listPart // of them
	Tasks     []hostTask
	TasksRest listPart
	Ended     []*grid.Accounting
	Resources []view.Resource
	Chart     chart.Chart
	Loads     *chart.Chart // nil: it has reported nothing in this time
	Window    string
	Windows   []string
}

// instance is a queue instance with its states in words.
type instance struct {
	view.Queue
	Class  string
	States []string
}

func instanceOf(q view.Queue) instance {
	i := instance{Queue: q, Class: "good"}
	for _, s := range queueStates {
		if q.State&s.state != 0 {
			i.States = append(i.States, s.word)
		}
	}
	switch {
	case q.State&(grid.QueueError|grid.QueueUnknown) != 0:
		i.Class = "error"
	case len(i.States) > 0:
		i.Class = "held"
	case q.Used >= q.Slots:
		i.Class, i.States = "running", []string{"full"}
	}
	return i
}

// hostTask is a task on a host.
type hostTask struct {
	*grid.JATask
	Job   *grid.Job
	Slots uint32
	Queue string
	State string
}

func showHost(r *request) (any, error) {
	name := r.PathValue("name")
	h := &host{}
	rows, err := r.moment.View.Hosts(view.HostFilter{Hosts: grid.Names{name}})
	i := slices.IndexFunc(rows, func(h view.Host) bool { return h.Name == name })
	if err != nil || i < 0 {
		return nil, &Problem{Status: 404, Text: fmt.Sprintf("There is no execution host %q at this moment.", name)}
	}
	h.Host = rows[i]
	h.fill(r, name)
	filter := view.AccountingFilter{Hosts: grid.Names{strings.ToLower(name)}}
	if h.Ended, err = r.cell().Ended(r.Context(), r.moment, filter, endedShown); err != nil {
		return nil, err
	}
	h.Windows = windowNames
	var minutes int
	var bad error
	h.Window, minutes, bad = window(r)
	var wrong error
	if h.Tasks, h.TasksRest, wrong = listPartOf(r, "after", h.Tasks, hostTasksShown); wrong != nil {
		bad = wrong
	}
	if h.Instances, h.Rest, wrong = listPartOf(r, "after.queues", h.Instances, hostQueuesShown); wrong != nil {
		bad = wrong
	}
	if err := h.draw(r, name, filter, minutes); err != nil {
		return nil, err
	}
	return h, bad
}

// fill adds what is there at the moment: queue instances, tasks and resources.
func (h *host) fill(r *request, name string) {
	for _, t := range hostTiles(r.moment) {
		if t.Name == name {
			h.Tile = t
		}
	}
	queues, err := r.moment.View.Queues(view.QueueFilter{Queues: grid.Names{"*@" + name}}, "load_avg")
	if err != nil {
		queues = nil // it has none
	}
	for _, q := range queues {
		h.Instances = append(h.Instances, instanceOf(q))
	}
	for _, t := range r.moment.State.OnHost(name) {
		j := r.moment.State.Job(t.Job)
		if j == nil {
			continue
		}
		one := hostTask{JATask: t, Job: j, State: "r"}
		if t.Status == grid.Transfering {
			one.State = "t"
		}
		if t.State&grid.StateSuspendedAny != 0 {
			one.State = "s"
		}
		for _, g := range t.Grants {
			if g.Host == name {
				one.Slots, one.Queue = one.Slots+g.Slots, g.Queue
			}
		}
		h.Tasks = append(h.Tasks, one)
	}
	h.Resources = r.moment.View.HostResources(name, nil)
	h.Resources = h.Resources[:min(len(h.Resources), r.most(resourcesShown))]
}

// draw adds what was over the last minutes: slots in use and load.
func (h *host) draw(r *request, name string, filter view.AccountingFilter, minutes int) error {
	all, known, err := ran(r, filter, r.moment.Now-grid.Time(minutes)*60_000,
		func(owner, _ string, slots uint32, grants []grid.Grant) (string, uint32) {
			if grants != nil {
				slots = 0
			}
			for _, g := range grants {
				if g.Host == name {
					slots += g.Slots
				}
			}
			return owner, min(slots, uint32(max(h.Tile.Slots, 1)))
		})
	if err != nil {
		return err
	}
	if points := r.cell().Load(r.moment, name, r.moment.Now-grid.Time(minutes)*60_000); len(points) > 0 {
		processors := 0
		if h.Host.Processors != nil {
			processors = *h.Host.Processors
		}
		over := loadChart(points, processors, r.moment.Now, minutes)
		h.Loads = &over
	}
	h.Chart = slotsChart("slots", "Slots in use, by owner", all, r.moment.Now, known, minutes, float64(h.Tile.Slots))
	return nil
}
