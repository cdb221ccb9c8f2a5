package core

import (
	"fmt"
	"maps"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// holdings is about how many bytes of memory the objects of each user take that requests of users make: jobs,
// reservations, proposals, tokens. It follows from the state. What many jobs of a user have in common counts once, as
// it is in memory once. Receipts have a bound of their own, grid.ReceiptBytes; objects of the configuration are those
// of managers.
type holdings struct {
	users       map[string]int64
	total       int64
	shared      map[sharedPart]int // how many objects have a part
	most, inAll int64              // what a user, and all users, may have; 0: no bound
}

// sharedPart is a large part of a user's jobs: a list or a text, by the address of its first element.
type sharedPart struct {
	user  string
	first any
}

const (
	objectBytes  = 1 << 10 // what an object takes with its places in the tables, besides its texts
	partLeast    = 4 << 10 // bytes from which a part is looked for in other objects
	elementBytes = 32      // of a list, besides its text
	rangeBytes   = 12
	waitsBytes   = 48 // of a job that another waits for
)

// Budget bounds the memory that objects of one user, and those of all users together, may take, in bytes; 0: no bound.
// Requests that need more are refused; those that need less than before never are.
func (s *step) Budget(user, all int64) {
	h := &holdings{users: map[string]int64{}, shared: map[sharedPart]int{}, most: user, inAll: all}
	s.held = h
	for _, k := range countedKinds {
		s.state.Each(k, func(o grid.Object) bool {
			h.count(o, 1)
			return true
		})
	}
}

var countedKinds = [...]grid.Kind{grid.KindJob, grid.KindAR, grid.KindProposal, grid.KindToken}

// Held returns about how many bytes the objects of a user take, and those of all users.
func (s *step) Held(user string) (own, all int64) {
	if s.held == nil {
		return 0, 0
	}
	return s.held.users[user], s.held.total
}

// copied returns holdings that stay as these are now.
func (h *holdings) copied() *holdings {
	if h == nil {
		return nil
	}
	c := *h
	c.users, c.shared = maps.Clone(h.users), maps.Clone(h.shared)
	return &c
}

// change follows the change of an object.
func (h *holdings) change(old, now grid.Object) {
	if h == nil || old == now {
		return
	}
	h.count(now, 1) // first, so that what both have in common stays
	h.count(old, -1)
}

// count adds an object n times, 1 or -1.
func (h *holdings) count(o grid.Object, n int64) {
	switch o := o.(type) {
	case *grid.Job:
		h.add(o.Owner, n*(objectBytes+int64(h.job(o, n))))
	case *grid.AR:
		size := names(o.Queues, o.MasterQueues, o.ACL, o.XACL, o.MailTo, o.Message) + requests(o.Hard) + len(o.Name) +
			len(o.Account) + rangeBytes*len(o.PERange)
		h.add(o.Owner, n*int64(objectBytes+size+elementBytes*len(o.Grants)))
	case *grid.Proposal:
		size := len(o.Agent) + len(o.Reason) + len(o.Effect) + len(o.Text) + objectBytes*len(o.Touches)
		for _, c := range o.Changes {
			size += len(c)
		}
		h.add(o.User, n*int64(objectBytes+size))
	case *grid.Token:
		h.add(o.Owner, n*int64(objectBytes+len(o.Comment)))
	}
}

func (h *holdings) add(user string, bytes int64) {
	h.total += bytes
	if h.users[user] += bytes; h.users[user] == 0 {
		delete(h.users, user)
	}
}

// job returns the bytes of what a job has, or what no other has as well.
func (h *holdings) job(j *grid.Job, n int64) (bytes int) {
	bytes = len(j.Name) + len(j.Account) + waitsBytes*(len(j.Predecessors)+len(j.ArrayPredecessors)) +
		rangeBytes*(len(j.Pending)+len(j.UserHold)+len(j.OperHold)+len(j.SysHold)+len(j.ArrayHold))
	if r := j.JobRequest; r != nil {
		for _, l := range []grid.Requests{r.Hard, r.Soft, r.MasterHard, r.SlaveHard} {
			bytes += once(h, j.Owner, l, requests(l), n)
		}
		for _, l := range []grid.Names{r.HardQueues, r.SoftQueues, r.MasterQueues, r.SlaveQueues, r.PredecessorReq,
			r.ArrayPredecessorReq} {
			bytes += once(h, j.Owner, l, names(l), n)
		}
		bytes += len(r.PE) + len(r.Ckpt) + rangeBytes*len(r.PERange)
	}
	if s := j.Spec; s != nil {
		for _, l := range []grid.Names{s.Args, s.Stdout, s.Stderr, s.Stdin, s.Shell, s.MailTo} {
			bytes += once(h, j.Owner, l, names(l), n)
		}
		bytes += once(h, j.Owner, s.Env, values(s.Env), n) + once(h, j.Owner, s.Context, values(s.Context), n) +
			once(h, j.Owner, s.Script, len(s.Script), n)
		bytes += len(s.Cwd) + len(s.Command) + len(s.SubmitCommand) + len(s.Connect) + len(s.Session)
	}
	return bytes
}

// once returns the size of a list, 0 if it is large and other objects of the user have it.
func once[T any](h *holdings, user string, list []T, size int, n int64) int {
	if size < partLeast || len(list) == 0 {
		return size
	}
	p := sharedPart{user, &list[0]}
	if n > 0 {
		if h.shared[p]++; h.shared[p] > 1 {
			return 0
		}
		return size
	}
	if h.shared[p]--; h.shared[p] > 0 {
		return 0
	}
	delete(h.shared, p)
	return size
}

func names(lists ...grid.Names) (bytes int) {
	for _, l := range lists {
		for _, n := range l {
			bytes += elementBytes/2 + len(n)
		}
	}
	return bytes
}

func values(l grid.Values) (bytes int) {
	for i := range l {
		bytes += elementBytes + len(l[i].Name) + len(l[i].Text)
	}
	return bytes
}

func requests(l grid.Requests) (bytes int) {
	for i := range l {
		bytes += elementBytes + len(l[i].Name) + len(l[i].Value)
	}
	return bytes
}

// jobMost is about how many bytes the texts of a job may have: it travels in one message, with what else that has.
const jobMost = 5 << 20

// tooBig refuses a job that has grown too big, by several requests.
func tooBig(j *grid.Job) *gdi.Answer {
	if size := j.Size(); size > jobMost {
		return gdi.DenyField(gdi.StatusLimit, "",
			fmt.Sprintf("denied: a job of %s is too big: at most %s are allowed; put what is big into a file that the job reads",
				megabytes(int64(size)), megabytes(jobMost)))
	}
	return nil
}

// refuseMemory returns why a user's object may not become another one, nil where there is none: the memory for what
// users have is bounded.
func (s *step) refuseMemory(user string, old, now grid.Object) *gdi.Answer {
	h := s.held
	if h == nil || h.most == 0 {
		return nil
	}
	before, all := h.users[user], h.total
	h.change(old, now)
	own, total := h.users[user], h.total
	h.change(now, old)
	switch {
	case own > h.most && own > before:
		return gdi.DenyField(gdi.StatusLimit, "",
			fmt.Sprintf(
				"denied: jobs and other objects of user %q take %s of qmaster's memory, with this request %s, and at most %s are allowed: delete some, or wait until some have ended",
				user, megabytes(before), megabytes(own), megabytes(h.most)))
	case total > h.inAll && total > all:
		return gdi.DenyField(gdi.StatusLimit, "",
			fmt.Sprintf(
				"denied: jobs and other objects of all users take %s of qmaster's memory, and at most %s are allowed: nothing new is accepted until some have ended or are deleted; try again later",
				megabytes(all), megabytes(h.inAll)))
	}
	return nil
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }

// counted is the object whose size an event changes. A task that leaves its job's pending range splits the range.
func counted(e events.Event) (grid.Kind, grid.Key) {
	if e.Kind == grid.KindJATask {
		return grid.KindJob, grid.Key{ID: e.Key.ID}
	}
	return e.Kind, e.Key
}
