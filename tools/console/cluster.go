package console

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

var (
	queuesPage       = page{"/queues", "queues", "Queues", showQueues, false}
	quotasPage       = page{"/quotas", "quotas", "Quotas", showQuotas, false}
	reservationsPage = page{"/reservations", "reservations", "Reservations", showReservations, false}
	configPage       = page{"/config", "config", "Configuration", showConfig, false}
)

// instancesShown bounds the queue instances of a page.
// Bounds of the lists of the pages.
const (
	instancesShown = 200
	clustersShown  = 200
	quotasShown    = 300
	arsShown       = 200
	grantsShown    = 20 // of a reservation
	objectsShown   = 100
)

type queues struct {
	Clusters  []clusterQueue
	Instances []instance
	Rest      listPart
	More      listPart // of Clusters
}

type clusterQueue struct {
	view.ClusterQueue
	Bar bar
}

// slotsBar divides slots into those in use, reserved, closed while nothing uses them, and the rest.
func slotsBar(c view.ClusterQueue) bar {
	return bar{float64(c.Total), []part{{"used", "running", float64(c.Used)}, {"reserved", "waiting", float64(c.Reserved)},
		{"closed", "gone", float64(max(c.Total-c.Used-c.Available, 0))}}}
}

func showQueues(r *request) (any, error) {
	q := &queues{}
	filter := view.QueueFilter{Queues: r.list("queue")}
	clusters, err := r.moment.View.ClusterQueues(view.QueueFilter{})
	if err != nil && !errors.Is(err, view.ErrNone) {
		return nil, err
	}
	for _, c := range clusters {
		q.Clusters = append(q.Clusters,
			clusterQueue{c, slotsBar(c)})
	}
	all, err := r.moment.View.Queues(filter, "load_avg")
	if err != nil && !errors.Is(err, view.ErrNone) {
		return q, &Problem{Status: http.StatusUnprocessableEntity, Field: "queue", Text: err.Error()}
	}
	for _, one := range all {
		q.Instances = append(q.Instances, instanceOf(one))
	}
	var bad, wrong error
	q.Instances, q.Rest, bad = listPartOf(r, "after", q.Instances, instancesShown)
	if q.Clusters, q.More, wrong = listPartOf(r, "after.clusters", q.Clusters, clustersShown); wrong != nil {
		bad = wrong
	}
	return q, bad
}

type quota struct {
	view.Quota
	Bar bar
	For string
}

func showQuotas(r *request) (any, error) {
	var out []quota
	for _, q := range r.moment.View.Quotas(view.QuotaFilter{}) {
		one := quota{Quota: q}
		if q.Limit != nil && q.Used != nil {
			class := "running"
			if *q.Used >= *q.Limit {
				class = "waiting"
			}
			one.Bar = bar{*q.Limit, []part{{"used", class, *q.Used}}}
		}
		for i, by := range q.By {
			if text := by.String(); text != "" {
				one.For += [...]string{"users", "projects", "PEs", "queues", "hosts"}[i] + " " + text + " "
			}
		}
		out = append(out, one)
	}
	rows, rest, err := listPartOf(r, "after", out, quotasShown)
	return struct {
		Rows []quota
		Rest listPart
		Sets int
	}{rows, rest, r.moment.State.Len(grid.KindRQS)}, err
}

func showReservations(r *request) (any, error) {
	rows, rest, err := listPartOf(r, "after", r.moment.View.Reservations(grid.Names{"*"}), arsShown)
	return struct {
		Rows   []view.Reservation
		Rest   listPart
		Grants int // of each that are shown
	}{rows, rest, r.most(grantsShown)}, err
}

// config is the objects of a kind.
type config struct {
	Kind    string
	Kinds   []choice
	Objects []configured
	Rest    listPart
	Use     map[string]uint32 // slots that are in use, of parallel environments
}

type configured struct {
	Name   string
	object grid.Object
	Text   string
}

// configKinds are the kinds of configuration objects, by the name in addresses.
func configKinds() (names []string, of map[string]*grid.Spec) {
	of = map[string]*grid.Spec{}
	for i := range grid.Kinds {
		if s := &grid.Kinds[i]; s.Configured() {
			name := strings.ToLower(s.Name)
			names, of[name] = append(names, name), s
		}
	}
	slices.Sort(names)
	return names, of
}

// titles are those of kinds whose nouns are not for a menu.
var titles = map[grid.Kind]string{grid.KindCentry: "Complex", grid.KindCkpt: "Checkpointing", grid.KindConf: "Cell",
	grid.KindCQueue: "Queues", grid.KindExecHost: "Execution hosts", grid.KindRQS: "Resource quotas",
	grid.KindSchedConf: "Scheduler", grid.KindShareTree: "Share tree", grid.KindUserset: "User sets"}

// titleOf returns what a menu calls the objects of a kind: Host groups.
func titleOf(s *grid.Spec) string {
	return cmp.Or(titles[s.Kind], strings.ToUpper(s.Noun[:1])+s.Noun[1:]+"s")
}

func showConfig(r *request) (any, error) {
	names, of := configKinds()
	c := &config{Kind: cmp.Or(r.query.Get("kind"), "cqueue"), Use: map[string]uint32{}}
	for _, name := range names {
		c.Kinds = append(c.Kinds, choice{name, titleOf(of[name]), name == c.Kind})
	}
	spec := of[c.Kind]
	if spec == nil {
		return c, &Problem{Status: http.StatusUnprocessableEntity, Field: "kind", Text: "There is no kind " + c.Kind + "."}
	}
	r.moment.State.Each(spec.Kind, func(o grid.Object) bool {
		name := o.Key().Name
		if name == "" {
			name = c.Kind
		}
		c.Objects = append(c.Objects, configured{name, o, ""})
		return true
	})
	var bad error
	c.Objects, c.Rest, bad = listPartOf(r, "after", c.Objects, objectsShown)
	for i := range c.Objects {
		c.Objects[i].Text = r.cutText(conf.EditText(c.Objects[i].object))
	}
	if spec.Kind == grid.KindPE {
		r.moment.State.Each(grid.KindJATask, func(o grid.Object) bool {
			if t := o.(*grid.JATask); t.Started() && t.PE != "" {
				c.Use[t.PE] += t.Slots()
			}
			return true
		})
	}
	return c, bad
}
