package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
)

// Group is tasks that wait for the same kind of obstacle.
type Group struct {
	Kind  Kind
	Code  reason.Code
	Text  string
	Tasks int
	Jobs  []uint32 // with such tasks, by number

	least Obstacle // at a place: of all that ask for too much of the same, the one that asks for the least
	mixed bool     // they do not ask for the same amount
}

// Groups returns the groups of tasks of some jobs that wait, the largest first; nil: of all. A task is in one group,
// that of its first obstacle.
func (e *Explainer) Groups(of func(*grid.Job) bool) []Group {
	g := &grouping{Explainer: e, all: map[groupKey]*Group{}, first: map[string]Obstacle{}}
	e.st.Each(grid.KindJob, func(o grid.Object) bool {
		if j := o.(*grid.Job); of == nil || of(j) {
			g.addJob(j)
		}
		return true
	})
	out := make([]Group, 0, len(g.all))
	for _, one := range g.all { // order: sorted below
		if e.place != nil {
			e.finishGroup(one)
		}
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Tasks, a.Tasks), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text))
	})
	return out
}

// Name returns how a group is addressed: turn, job:held-by-user.
func (g *Group) Name() string {
	if g.Kind == Own || g.Kind == Algorithm {
		return string(g.Kind) + ":" + g.Code.String()
	}
	return string(g.Kind)
}

// NamesGroup reports whether a group can have a name; "" is that of none.
func NamesGroup(name string) bool {
	kind, code, own := strings.Cut(name, ":")
	switch Kind(kind) {
	case Own, Algorithm:
		return own && slices.ContainsFunc(reason.Codes(), func(c reason.Code) bool { return c.String() == code })
	case "", Never, Closed, Busy, Planned, Turn:
		return !own
	}
	return false
}

type groupKey struct {
	kind Kind
	text string
}

type grouping struct {
	*Explainer
	all   map[groupKey]*Group
	first map[string]Obstacle // of jobs that have nothing against themselves, by category
}

// addJob adds the tasks of a job that wait.
func (g *grouping) addJob(j *grid.Job) {
	apart, free := g.splitTasks(j)
	for _, t := range apart {
		g.addTasks(j, Obstacle{Reason: reason.Reason{Code: t.Code}, Kind: Own}, int(t.Tasks.Count()))
	}
	if free == 0 {
		return
	}
	for _, o := range g.ownObstacles(j, 0) {
		g.addTasks(j, Obstacle{Reason: reason.Reason{Code: o.Code}, Kind: Own}, free)
		return
	}
	g.addTasks(j, g.firstOf(j), free)
}

// firstOf returns the first obstacle of a job that has nothing against itself: the same for all of its category with
// the default algorithm.
func (g *grouping) firstOf(j *grid.Job) Obstacle {
	category := g.run.Category(j)
	if g.userHasEnough(j) { // its jobs wait for another reason than those of the same category
		category = j.Owner + " " + category
	}
	o, known := g.first[category]
	if !known {
		a := g.newQuestion(j, 0)
		o = a.firstObstacle()
		if g.byPriority() && len(g.st.JobReservations(j.ID)) == 0 {
			g.first[category] = o
		}
	}
	return o
}

// firstObstacle returns the first obstacle without its details.
func (a *question) firstObstacle() Obstacle {
	switch v := a.findVerdict(); {
	case len(v.against) > 0:
		return v.against[0]
	case !v.why.Fits() && a.place != nil:
		return a.obstacleAt(v)
	case !v.why.Fits():
		return Obstacle{Reason: v.why, Kind: v.kind}
	case v.kind == Planned:
		return Obstacle{Reason: reason.Reason{Code: reason.Reserved}, Kind: Planned}
	case len(v.standing) > 0:
		return v.standing[0]
	}
	return Obstacle{Reason: reason.Reason{Code: reason.Turn}, Kind: Turn}
}

// addTasks counts tasks of a job in the group of an obstacle.
func (g *grouping) addTasks(j *grid.Job, o Obstacle, tasks int) {
	if tasks <= 0 {
		return
	}
	key := groupKey{o.Kind, o.groupText()}
	if g.place != nil {
		key.text = g.placeKey(&o)
	}
	one := g.all[key]
	if one == nil {
		one = &Group{Kind: o.Kind, Code: o.Code, Text: key.text, least: o}
		g.all[key] = one
	}
	one.takeLess(&o)
	one.Tasks += tasks
	if n := len(one.Jobs); n == 0 || one.Jobs[n-1] != j.ID {
		one.Jobs = append(one.Jobs, j.ID)
	}
}

// groupTexts are the texts of kinds whose reasons are of one instance each.
var groupTexts = map[Kind]string{
	Never:   "they ask for what this cell does not have, even when it is empty",
	Closed:  "only queue instances could run them that take no jobs now",
	Busy:    "what they ask for is in use",
	Planned: "their places are kept free for jobs with a reservation",
	Turn:    "there are places for them: they wait for their turn",
}

// ownTexts are those of reasons that jobs have themselves.
var ownTexts = map[reason.Code]string{
	reason.InError: "in error", reason.HeldByUser: "held by their owner", reason.HeldByOperator: "held by an operator",
	reason.HeldBySystem: "held by the system (a manager)", reason.HeldForArray: "wait for tasks of another array",
	reason.Predecessors: "wait for the end of other jobs", reason.StartTime: "not to start yet (-a)",
	reason.ARWaits:    "wait for their advance reservation to begin (-ar)",
	reason.TaskLimit:  "as many of their tasks run as may at once (-tc)",
	reason.ArrayLimit: "as many of their tasks run as the cell allows at once (max_aj_instances)",
}

func (o *Obstacle) groupText() string {
	switch {
	case o.Kind == Own:
		return ownTexts[o.Code]
	case groupTexts[o.Kind] != "":
		return groupTexts[o.Kind]
	}
	return o.Reason.String()
}
