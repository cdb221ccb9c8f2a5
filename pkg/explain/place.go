package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
)

// Why a host, a cluster queue or a queue instance gets no (more) jobs. The question of each job is asked again in
// copies of the cluster in which only the queue instances of that place are open, once for each category.

// Bounds of a sentence about a place.
const (
	closedMost = 5 // queue instances with why they take no jobs
	groupsMost = 3 // groups of tasks
	jobsMost   = 5 // jobs of a group, and jobs that hold slots
)

// PlaceAnswer is why a place gets no more jobs.
type PlaceAnswer struct {
	Name      string
	Instances []InstanceAnswer // of the place, by name
	Tasks     int              // that wait
	Groups    []Group          // of these, by their first obstacle at this place
	Free      int              // slots that can be used at the same time
	Kept      []uint32         // jobs whose reservations keep slots free here, by number
	of        *Explainer
}

// InstanceAnswer is how a queue instance stands.
type InstanceAnswer struct {
	Name, State       string // State: as qstat -f prints it
	Slots, Used, Free int    // Free: of neither tasks nor advance reservations, no more than the host has
	Closed            string // why it takes no jobs, "" if it does
}

// OfHost returns why a host gets no more jobs, for the tasks of some jobs, nil: of all that wait. It fails for a host
// that the cell does not have.
func (e *Explainer) OfHost(host string, of func(*grid.Job) bool) (*PlaceAnswer, error) {
	in := e.instancesOf(func(_, h string) bool { return h == host })
	if len(in) == 0 && e.st.ExecHost(host) == nil {
		return nil, fmt.Errorf("unknown execution host %q; qconf -sel lists those of the cell", host)
	}
	return e.ofPlace(host, in, of), nil
}

// OfQueue returns why a cluster queue or a queue instance, all.q@node3, gets no more jobs. It fails for one that the
// cell does not have.
func (e *Explainer) OfQueue(name string, of func(*grid.Job) bool) (*PlaceAnswer, error) {
	queue, host, instance := strings.Cut(name, "@")
	in := e.instancesOf(func(q, h string) bool { return q == queue && (!instance || h == host) })
	switch {
	case e.st.CQueue(queue) == nil:
		return nil, fmt.Errorf("unknown cluster queue %q; qconf -sql lists those of the cell", queue)
	case instance && len(in) == 0:
		return nil, fmt.Errorf("cluster queue %q has no queue instance on host %q; qstat -f -q %s lists those it has",
			queue, host, queue)
	}
	return e.ofPlace(name, in, of), nil
}

func (e *Explainer) instancesOf(keep func(queue, host string) bool) (in []sched.Instance) {
	e.run.EachInstance(func(i sched.Instance) bool {
		if keep(i.Queue.Name, i.Host) {
			in = append(in, i)
		}
		return true
	})
	return in
}

func (e *Explainer) ofPlace(name string, in []sched.Instance, of func(*grid.Job) bool) *PlaceAnswer {
	p := &PlaceAnswer{Name: name, of: e}
	at := Explainer{st: e.st, now: e.now, zone: e.zone, cluster: e.cluster, loads: e.loads, cell: e, place: []string{}}
	closed := map[string]string{}
	for _, r := range e.run.Closed(math.MaxInt) {
		if text := e.closedState(r.Object, r); text != "" {
			closed[r.Object] = text
		}
	}
	numbers := make([]int, len(in))
	for i := range in {
		numbers[i] = in[i].Number
	}
	free, together := sched.FreeSlots(e.run, numbers)
	for i := range in {
		instance := in[i].Queue.Name + "@" + in[i].Host
		at.place = append(at.place, instance)
		p.Instances = append(p.Instances, InstanceAnswer{instance, in[i].State.Letters(), in[i].Slots, in[i].Used, free[i],
			closed[instance]})
	}
	at.run = at.confine(e.cluster.Copy(e.st))
	at.run.Begin(e.now)
	p.Free, p.Kept = together, at.keptFor()
	p.Groups = at.Groups(of)
	for i := range p.Groups {
		p.Tasks += p.Groups[i].Tasks
	}
	return p
}

// confine closes all queue instances of a cluster but those that are asked about.
func (e *Explainer) confine(c *sched.Cluster) *sched.Cluster {
	if e.place != nil {
		sched.Confine(c, e.has)
	}
	return c
}

// has reports whether a queue instance is one of those that are asked about. They are in the order of their names.
func (e *Explainer) has(queue, host string) bool {
	_, found := slices.BinarySearchFunc(e.place, queue, func(name, _ string) int {
		q, h, _ := strings.Cut(name, "@")
		return cmp.Or(cmp.Compare(q, queue), cmp.Compare(h, host))
	})
	return found
}

// keptFor returns the jobs whose reservations have slots of the place.
func (e *Explainer) keptFor() (jobs []uint32) {
	e.st.Each(grid.KindJobReservation, func(o grid.Object) bool {
		r := o.(*grid.JobReservation)
		if slices.ContainsFunc(r.Grants, func(g grid.Grant) bool { return e.has(g.Queue, g.Host) }) {
			jobs = append(jobs, r.Job)
		}
		return true
	})
	return slices.Compact(jobs)
}

// obstacleAt returns the first obstacle of a job that has no place at the place that is asked about, with what the
// closest queue instance there lacks, and its name as Where.
func (a *question) obstacleAt(v verdict) Obstacle {
	if len(a.place) == 0 {
		return Obstacle{Reason: reason.Reason{Code: reason.QueueUnavailable}, Kind: Never}
	}
	if a.j.PE != "" { // it may have the rest of its slots elsewhere
		c := a.cell.emptied()
		why := whyNever(a.st, c, c.Need(a.loads.removeFrom(a.j, false)), a.now)
		if why.Code == reason.PEOffersOnly {
			return Obstacle{Reason: why, Kind: Never}
		}
	}
	lasting, open := a.loads.removeFrom(a.j, false), a.loads.removeFrom(a.j, true)
	steps := [...]struct {
		kind Kind
		j    *grid.Job
		c    func() *sched.Cluster
	}{{Never, lasting, a.emptied}, {Closed, open, func() *sched.Cluster { return a.idled(a.j) }},
		{Busy, a.j, func() *sched.Cluster { return a.run }}}
	begun := false
	for _, s := range steps {
		if begun = begun || s.kind == v.kind; !begun {
			continue
		}
		c := s.c()
		near := c.Closest(c.Need(s.j), 1, a.place...)
		if len(near) > 0 && len(near[0].Lacks) > 0 {
			o := Obstacle{Reason: near[0].Lacks[0].Reason, Kind: s.kind, Lacks: near[0].Lacks,
				Where: []string{near[0].Instance}}
			if s.kind == Closed {
				o.putStateFirst(a, near[0].Instance)
			}
			return o
		}
	}
	switch { // no slot of it lacks anything there, but not all have a place
	case a.j.AR != 0 && v.why.Nowhere():
		return Obstacle{Reason: reason.Reason{Code: reason.NotReserved, Object: a.place[0], What: fmt.Sprint(a.j.AR)},
			Kind: Never}
	case a.j.PE != "" && (v.why.Nowhere() || v.why.Code == reason.PEOffersOnly && v.why.Slots > 0):
		return Obstacle{Reason: reason.Reason{Code: reason.PEOffersOnly, Object: a.j.PE, Slots: v.why.Slots}, Kind: Part}
	}
	return Obstacle{Reason: v.why, Kind: v.kind}
}

// putStateFirst moves the state that closes a queue instance to the front of what it lacks.
func (o *Obstacle) putStateFirst(a *question, instance string) {
	o.Lacks = slices.Clone(o.Lacks)
	slices.SortStableFunc(o.Lacks, func(x, y sched.Lack) int {
		order := func(l sched.Lack) int {
			if l.Level == 0 && a.closedState(instance, l.Reason) != "" {
				return 0
			}
			return 1
		}
		return cmp.Compare(order(x), order(y))
	})
	o.Reason = o.Lacks[0].Reason
}

// placeTexts are the texts of groups that have a place there, or a part of one.
var placeTexts = map[Kind]string{
	Part:    "only a part of their slots fits there now",
	Planned: "their places there are kept free for jobs with a reservation",
	Turn:    "they fit there now and wait for their turn",
}

// placeKey returns how groups at a place differ: what is short, not how much of it each asks for.
func (e *Explainer) placeKey(o *Obstacle) string {
	if len(o.Lacks) > 0 && o.Lacks[0].Level != 0 {
		l := &o.Lacks[0]
		return fmt.Sprintf("%c %s %s %s %v", l.Level, l.Object, l.Resource, l.With, l.OfText == "")
	}
	return e.placeText(o)
}

// takeLess notes an obstacle of a group as its least.
func (g *Group) takeLess(o *Obstacle) {
	if len(o.Lacks) == 0 || len(g.least.Lacks) == 0 {
		return
	}
	g.mixed = g.mixed || o.Lacks[0].AskedText != g.least.Lacks[0].AskedText
	if o.Lacks[0].Asked < g.least.Lacks[0].Asked {
		g.least = *o
	}
}

// finishGroup writes the text of a group at a place, with the jobs that have what is short.
func (e *Explainer) finishGroup(g *Group) {
	o := g.least
	if len(o.Lacks) > 0 && o.Lacks[0].Level != 0 {
		o.Lacks = slices.Clone(o.Lacks)
		l := &o.Lacks[0]
		if o.Kind == Busy {
			o.setJobs(e.holdersOf(o.Where[0], l))
		}
		if g.mixed {
			l.AskedText = amount(l.AskedText) + " or more"
		}
	}
	g.Text = e.placeText(&o)
}

// placeText returns what keeps tasks from a place.
func (e *Explainer) placeText(o *Obstacle) string {
	if o.Kind == Own {
		return ownTexts[o.Code]
	}
	if text := placeTexts[o.Kind]; text != "" {
		return text
	}
	switch {
	case len(o.Lacks) == 0 && o.Nowhere():
		return "no queue instance there can take them"
	case o.Kind == Never && o.Code == reason.PEOffersOnly:
		return fmt.Sprintf("they ask for more than the %d slots that PE %s has for them in the empty cell", o.Slots, o.Object)
	case len(o.Lacks) == 0:
		return o.Reason.String()
	}
	l := &o.Lacks[0]
	switch state := e.closedState(o.Where[0], l.Reason); {
	case l.Level != 0:
		text := LackText(*l)
		if o.Kind == Busy && len(o.Jobs) > 0 {
			text += ", held by " + jobs(o.Jobs, o.More)
		}
		return text
	case state != "":
		return stateText(o.Where[0], state)
	case l.Reason.Code == reason.NotAtQueue:
		return l.Reason.Offer
	}
	return l.Reason.String()
}

// stateText returns which queue instance is in a state that takes no jobs.
func stateText(instance, state string) string {
	if strings.HasPrefix(state, "its ") {
		return instance + ": " + state
	}
	return instance + " is " + state
}

// Sentence answers why the place gets no more jobs: node3 has 2 free slots; 31 tasks wait, and none fits there: ...
func (p *PlaceAnswer) Sentence() string { return p.sentence() + "." }

func (p *PlaceAnswer) sentence() string {
	if len(p.Instances) == 0 {
		return p.Name + " has no queue instance: a manager adds it to the hostlist of a cluster queue (qconf -mq)"
	}
	var closed []string
	slots, used, open := 0, 0, 0
	for _, in := range p.Instances {
		if in.Closed != "" {
			closed = append(closed, stateText(in.Name, in.Closed))
			continue
		}
		open++
		slots, used = slots+in.Slots, used+in.Used
	}
	others := ""
	if n := len(closed) - closedMost; n > 0 {
		closed = append(closed[:closedMost], fmt.Sprintf("%d more take none", n))
	}
	if len(closed) > 0 {
		others = strings.Join(closed, "; ")
	}
	if open == 0 {
		return p.Name + " takes no jobs: " + others
	}
	if others != "" {
		others = "; " + others
	}
	if p.freeOpen() == 0 {
		return fmt.Sprintf("%s is full: %d of %d slots are in use%s%s%s", p.Name, used, slots, p.usersText(),
			p.reservedText(), others)
	}
	room := fmt.Sprintf("%s has %s%s", p.Name, slotsText(p.freeOpen()), p.reservedText())
	turn, planned := p.tasksOf(Turn), p.tasksOf(Planned)
	switch {
	case p.Tasks == 0:
		return room + ", and no task waits" + others
	case turn.Tasks > 0:
		text := "%s, and %d of %d waiting tasks fit there now: they wait for their turn (%s)%s"
		if turn.Tasks == 1 {
			text = "%s, and %d of %d waiting tasks fits there now: it waits for its turn (%s)%s"
		}
		return fmt.Sprintf(text, room, turn.Tasks, p.Tasks, firstJobs(turn.Jobs), others)
	case planned.Tasks > 0 && len(p.Kept) > 0:
		return fmt.Sprintf("%s, kept free for %s; %s, and %d would fit there else (%s)%s", room, p.keptText(),
			WaitText(p.Tasks), planned.Tasks, firstJobs(planned.Jobs), others)
	}
	isOwn := func(g Group) bool { return g.Kind == Own }
	groups := slices.DeleteFunc(slices.Clone(p.Groups), isOwn)
	if len(groups) == 0 { // what jobs wait for themselves is not of this place
		groups = p.Groups
	}
	var why []string
	left := p.Tasks
	for _, g := range groups[:min(len(groups), groupsMost)] {
		left -= g.Tasks
		why = append(why, fmt.Sprintf("%d: %s (%s)", g.Tasks, g.Text, firstJobs(g.Jobs)))
	}
	if left > 0 {
		why = append(why, fmt.Sprintf("%d for other reasons", left))
	}
	return fmt.Sprintf("%s%s; %s, and none fits there: %s", room, others, WaitText(p.Tasks), strings.Join(why, "; "))
}

// freeOpen returns the free slots of the queue instances that take jobs.
func (p *PlaceAnswer) freeOpen() (free int) {
	for _, in := range p.Instances {
		if in.Closed == "" {
			free += in.Free
		}
	}
	return min(free, p.Free)
}

// tasksOf returns the tasks that have one kind of obstacle.
func (p *PlaceAnswer) tasksOf(k Kind) (all Group) {
	for i := range p.Groups {
		if g := &p.Groups[i]; g.Kind == k {
			all.Tasks += g.Tasks
			all.Jobs = append(all.Jobs, g.Jobs...)
		}
	}
	slices.Sort(all.Jobs)
	all.Jobs = slices.Compact(all.Jobs)
	return all
}

// usersText returns which jobs have slots in the queue instances that take jobs: by jobs 12 (2), 17 (2).
func (p *PlaceAnswer) usersText() string {
	has := map[uint32]uint32{}
	for _, in := range p.Instances {
		queue, host, _ := strings.Cut(in.Name, "@")
		if in.Closed != "" {
			continue
		}
		p.of.st.EachOnHost(host, func(t *grid.JATask) {
			for _, g := range t.Grants {
				if t.HoldsSlots() && g.Queue == queue && g.Host == host {
					has[t.Job] += g.Slots
				}
			}
		})
	}
	var words []string
	ids := make([]uint32, 0, len(has))
	for id := range has { // order: sorted below
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids[:min(len(ids), jobsMost)] {
		words = append(words, fmt.Sprintf("%d (%d)", id, has[id]))
	}
	switch more := len(ids) - len(words); {
	case len(ids) == 0:
		return ""
	case len(ids) == 1:
		return " by job " + words[0]
	case more > 0:
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return " by jobs " + strings.Join(words, ", ")
}

// reservedText returns which advance reservations hold slots of the place now.
func (p *PlaceAnswer) reservedText() (text string) {
	e := p.of
	for _, r := range e.st.ARs() {
		slots := uint32(0)
		for _, g := range r.Grants {
			if slices.ContainsFunc(p.Instances, func(in InstanceAnswer) bool { return in.Name == g.Instance() }) {
				slots += g.Slots - e.usedInside(r, g)
			}
		}
		if slots > 0 && !r.Over() && r.Start <= e.now {
			text += fmt.Sprintf(", %d kept free for advance reservation %d (%s) until %s", slots, r.ID, r.Owner,
				clock(r.End, e.zone))
		}
	}
	return text
}

// usedInside returns how many slots of a grant of an advance reservation its jobs have.
func (e *Explainer) usedInside(r *grid.AR, of grid.Grant) (slots uint32) {
	e.st.EachOnHost(of.Host, func(t *grid.JATask) {
		j := e.st.Job(t.Job)
		for _, g := range t.Grants {
			if j != nil && j.AR == r.ID && t.HoldsSlots() && g.Queue == of.Queue && g.Host == of.Host {
				slots += g.Slots
			}
		}
	})
	return min(slots, of.Slots)
}

// keptText returns for which reservation slots of the place are kept free, the first to begin, and for how many more.
func (p *PlaceAnswer) keptText() string {
	e := p.of
	var first *grid.JobReservation
	for _, job := range p.Kept {
		for _, r := range e.st.JobReservations(job) {
			if first == nil || r.Start < first.Start {
				first = r
			}
		}
	}
	text := fmt.Sprintf("the reservation of job %d from %s on", first.Job, clock(first.Start, e.zone))
	if more := len(p.Kept) - 1; more > 0 {
		text += fmt.Sprintf(" and those of %d more", more)
	}
	return text
}

func firstJobs(ids []uint32) string {
	n := min(len(ids), jobsMost)
	return jobs(ids[:n], len(ids)-n)
}

func slotsText(n int) string {
	if n == 1 {
		return "1 free slot"
	}
	return fmt.Sprintf("%d free slots", n)
}

// WaitText returns how many tasks wait: 1 task waits.
func WaitText(n int) string {
	if n == 1 {
		return "1 task waits"
	}
	return fmt.Sprintf("%d tasks wait", n)
}
