package simulator

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core"
)

// clients are the users: they submit, delete, hold and suspend, and repeat
// what is not answered.
type clients struct {
	world  *World
	left   int
	asking int               // requests without an answer
	made   map[uint32]string // acknowledged jobs and the requests that made them
	ids    []uint32
	ars    []uint32 // reservations that were granted
	has    credentials
	clean  bool // the last wave, that lets everything end, is under way
}

func newClients(w *World) *clients {
	return &clients{world: w, left: w.Requests, made: map[uint32]string{}}
}

func (c *clients) begin() { c.world.after(1, c.requestNext) }

// requestNext makes a request, and then the next one.
func (c *clients) requestNext() {
	w := c.world
	if c.left == 0 {
		c.endAll()
		return
	}
	c.left--
	if id := fmt.Sprintf("r%d", c.left); w.Tokens && w.hasChance(0.3) {
		c.tokenRequest(id)
	} else {
		c.sendRequest(c.nextRequest(), id)
	}
	w.after(w.rand.ExpFloat64()*cmp.Or(w.Pace, 0.5), c.requestNext)
}

// sendRequest makes a request of a user.
func (c *clients) sendRequest(b gdi.Body, id string) {
	user := [...]string{"alice", "bob", "root"}[c.world.rand.IntN(3)]
	if c.clean || ofInstances(b) {
		user = "root"
	}
	c.askWith(c.signIn(user), b, id)
}

// askAs makes a request of a user without a token.
func (c *clients) askAs(user string, b gdi.Body, id string) { c.askWith(signIn{user: user}, b, id) }

// askWith repeats a request until it is answered.
func (c *clients) askWith(as signIn, b gdi.Body, id string) {
	c.asking++
	done := false
	var try func()
	try = func() {
		if done {
			return
		}
		c.world.deliverLater(func() {
			c.world.master.askCore(func(ref uint64) core.Input {
				return core.UserRequest{Ref: ref, Request: gdi.Request{ID: id, User: as.user, Token: as.token, Host: "m",
					Command: "test", Body: b}, Proof: as.proof}
			}, func(a core.Answer) {
				if !done {
					done = true
					c.asking--
					c.takeAnswer(id, a.Reply)
				}
			})
		})
		c.world.after(2, try)
	}
	try()
}

func (c *clients) takeAnswer(id string, r *gdi.Reply) {
	c.noteAR(r)
	c.noteToken(r)
	if r.Job == 0 {
		return
	}
	if !c.world.logged[r.Job] {
		c.world.fail("job %d is acknowledged before it is in the log", r.Job)
	}
	if old, ok := c.made[r.Job]; ok && old != id {
		c.world.fail("requests %s and %s both got job %d", old, id, r.Job)
	}
	c.made[r.Job] = id
	c.ids = append(c.ids, r.Job)
}

// someJob is a job that was made, often one that is gone.
func (c *clients) someJob() gdi.Jobs {
	if len(c.ids) == 0 {
		return gdi.Jobs{Refs: []gdi.JobRef{{ID: 1}}}
	}
	ref := gdi.JobRef{ID: c.ids[len(c.ids)-1-c.world.rand.IntN(min(len(c.ids), 20))]}
	if c.world.hasChance(0.2) {
		n := 1 + uint32(c.world.rand.IntN(5))
		ref.Tasks = grid.Ranges{{First: n, Last: n + 1, Step: 1}}
	}
	return gdi.Jobs{Refs: []gdi.JobRef{ref}}
}

// nextRequest is the next request of a user.
func (c *clients) nextRequest() gdi.Body {
	w := c.world
	if w.Plans && w.hasChance(0.15) {
		return c.planRequest()
	}
	if w.Instances && w.hasChance(0.2) {
		return c.instanceRequest()
	}
	switch p := w.rand.IntN(20); {
	case p < 12:
		return &gdi.Submit{Job: c.someSubmission()}
	case p < 14:
		return &gdi.DeleteJobs{Jobs: c.someJob(), Force: w.hasChance(0)}
	case p < 15:
		return &gdi.Alter{Jobs: c.someJob(), HoldAdd: "u"}
	case p < 17:
		return &gdi.Alter{Jobs: c.someJob(), HoldRemove: "u"}
	case p < 18:
		return &gdi.Alter{Jobs: c.someJob(), Set: []string{"p"},
			Job: &grid.Job{JobRequest: &grid.JobRequest{}, Priority: -int16(w.rand.IntN(100))}}
	case p < 19:
		refs := []string{}
		for _, r := range c.someJob().Refs {
			refs = append(refs, fmt.Sprint(r.ID))
		}
		return &gdi.Control{Action: [...]string{"suspend", "unsuspend", "reschedule", "clear"}[w.rand.IntN(4)],
			Refs: refs, Force: true}
	default:
		return &gdi.Control{Action: [...]string{"disable", "enable", "suspend", "unsuspend", "clear"}[w.rand.IntN(5)],
			Queues: true, Refs: []string{"all.q@h1"}}
	}
}

func (c *clients) someSubmission() *grid.Job {
	w := c.world
	j := &grid.Job{JobRequest: &grid.JobRequest{}, Name: "job", Spec: &grid.JobSpec{Command: "sleep"},
		Restart: grid.Restart(w.rand.IntN(3))}
	if w.hasChance(0.3) {
		j.Array = true
		j.Tasks = grid.Range{First: 1, Last: 1 + uint32(w.rand.IntN(12)), Step: 1 + uint32(w.rand.IntN(3))}
		if w.hasChance(0.3) {
			j.Concurrency = 2
		}
	}
	if w.hasChance(0.1) {
		j.UserHold = grid.Ranges{{First: 1, Last: 1, Step: 1}}
	}
	if w.hasChance(0.15) && len(c.ids) > 0 {
		j.PredecessorReq = grid.Names{fmt.Sprint(c.ids[len(c.ids)-1])}
	}
	if p := c.oldestArray(); p != nil && j.Array && w.hasChance(0.5) {
		j.Tasks, j.ArrayPredecessorReq = p.Tasks, grid.Names{fmt.Sprint(p.ID)}
	}
	if w.hasChance(0.2) {
		j.PE, j.PERange = "make", grid.Ranges{{First: 1, Last: uint32(1 + w.rand.IntN(w.Hosts*w.Slots)), Step: 1}}
	}
	if w.hasChance(0.1) {
		j.Immediate = true
	}
	j.Reserve = w.Reserve && w.hasChance(0.3)
	if len(c.ars) > 0 && w.hasChance(0.3) {
		j.AR, j.PredecessorReq, j.ArrayPredecessorReq = c.anyAR(), nil, nil
	}
	if w.Instances {
		j.Hard, j.Binding = c.mapRequests(), c.coreRequest()
		c.scopeGPUs(j)
	}
	if w.Limits {
		c.addLimits(j)
	}
	if w.hasChance(0.1) {
		j.ExecTime = w.now.Add(20 * w.rand.Float64())
	}
	return j
}

// oldestArray is the oldest of the last array jobs, so that several come to wait for it; nil: there is none.
func (c *clients) oldestArray() *grid.Job {
	for _, id := range c.ids[max(0, len(c.ids)-20):] {
		if j := c.world.master.sure.Job(id); j != nil && j.Array && j.AR == 0 {
			return j
		}
	}
	return nil
}

// changeAlgorithm has the administrator choose an algorithm, or change its configuration.
func (c *clients) changeAlgorithm() {
	w := c.world
	if c.clean {
		return
	}
	conf := *w.master.sure.SchedConf()
	if w.hasChance(0.5) {
		conf.Algorithm = w.Algorithms[w.rand.IntN(len(w.Algorithms))]
	} else {
		conf.WeightTicketsFunctional = uint32(w.rand.IntN(1000))
	}
	w.deliverLater(func() {
		w.master.askCore(func(ref uint64) core.Input {
			return core.UserRequest{Ref: ref, Request: gdi.Request{ID: fmt.Sprint("swap", w.now), User: "root", Host: "m",
				Command: "qconf", Body: &gdi.Modify{Objects: []grid.Object{&conf}}}}
		}, func(a core.Answer) {
			if !a.Reply.OK() {
				w.fail("algorithm %s is refused: %v", conf.Algorithm, a.Reply.Answers)
			}
		})
	})
}

// endAll lets everything that is left end: no more faults, no holds, no
// disabled queues, no errors.
func (c *clients) endAll() {
	w := c.world
	c.clean, w.calm = true, true
	all := gdi.Jobs{Users: grid.Names{"*"}}
	var wave func(n int)
	wave = func(n int) {
		id := fmt.Sprintf("last%d-", n)
		c.sendRequest(&gdi.Alter{Jobs: all, HoldRemove: "uos"}, id+"a")
		c.sendRequest(&gdi.Control{Action: "enable", Queues: true, Refs: []string{"*"}}, id+"b")
		c.sendRequest(&gdi.Control{Action: "unsuspend", Queues: true, Refs: []string{"*"}}, id+"c")
		c.sendRequest(&gdi.Control{Action: "clear", Queues: true, Refs: []string{"*"}}, id+"d")
		var refs []string
		w.master.sure.Each(grid.KindJob, func(o grid.Object) bool {
			refs = append(refs, fmt.Sprint(o.Key().ID))
			return true
		})
		if len(refs) > 0 {
			c.sendRequest(&gdi.Control{Action: "clear", Refs: refs}, id+"e")
			c.sendRequest(&gdi.Control{Action: "unsuspend", Refs: refs}, id+"f")
		}
		c.endPlans(id)
		c.healInstances(id)
		if n > 100 { // a job that exits with 99 or 100 again and again
			c.sendRequest(&gdi.DeleteJobs{Jobs: all}, id+"g")
		}
		w.after(5, func() { wave(n + 1) })
	}
	wave(1)
}

func (c *clients) isDone() bool { return c.left == 0 && c.asking == 0 }

// describeOpen returns what is not over, for a world that does not come to rest.
func (c *clients) describeOpen() string {
	var ids []uint32
	c.world.master.sure.Each(grid.KindJob, func(o grid.Object) bool {
		ids = append(ids, o.Key().ID)
		return true
	})
	slices.Sort(ids)
	return fmt.Sprintf("%d requests without answer, jobs %v, running %v", c.asking, ids, c.world.running)
}
