package gdi

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Bounds of a request, the same for every sender: no request of one user may keep qmaster or the
// scheduler from serving the others.
const (
	// PatternsMost is how many wildcard patterns a request may have: each is compared with
	// the name of every job, queue instance or host that the request may mean. Names
	// without wildcards are looked up and are not counted.
	PatternsMost = 100
	// ValueMax is how many bytes the value of a resource, a queue or another name may have:
	// expressions are compared with each host.
	ValueMax = 16 << 10
	// ListMax is how many elements the lists of a job may have that are looked up one by
	// one: -l, -q, -hold_jid, -M and the tasks of -h. A job is decided on in one step.
	ListMax = 20_000
)

// Wild reports whether a name is a wildcard pattern.
func Wild(name string) bool { return strings.ContainsAny(name, `*?[\`) }

// WildQueue reports whether a wc_queue of sge_types(1) has to be compared with each queue
// instance: it has wildcards or operators, or names host groups.
func WildQueue(queue string) bool {
	return strings.ContainsAny(queue, `*?[!&|()`) || strings.Contains(queue, "@@") || strings.HasPrefix(queue, "@")
}

// wildTerms counts the patterns in an expression of sge_types(1).
func wildTerms(expression string) (n int) {
	for term := range strings.FieldsFuncSeq(expression, func(r rune) bool { return strings.ContainsRune("&|!()", r) }) {
		if Wild(term) {
			n++
		}
	}
	return n
}

// bounded refuses a request that exceeds one of the bounds.
func (r *Request) bounded() error {
	var u usage
	var err error
	switch b := r.Body.(type) {
	case *Submit:
		u.job(b.Job)
		err = CheckJob(b.Job)
	case *Verify:
		u.job(b.Job)
		err = CheckJob(b.Job)
	case *Alter:
		u.job(b.Job)
		u.jobs(b.Jobs)
		err = CheckJob(b.Job)
	case *StartTask:
		if l := b.Launch; l != nil {
			err = CheckJob(&grid.Job{Spec: &grid.JobSpec{Cwd: l.Cwd, Connect: l.Connect, Args: l.Args, Env: l.Env}})
		}
	case *Wait:
		u.longest = len(b.PETask)
	case *DeleteJobs:
		u.jobs(b.Jobs)
	case *Control:
		if b.Queues {
			u.queues(b.Refs)
		} else {
			u.names(b.Refs)
		}
	case *Reserve:
		if a := b.AR; a != nil {
			u.queues(a.Queues, a.MasterQueues)
			u.requests(a.Hard)
			u.expressions(a.PE, a.Ckpt, a.Name, a.Account)
			u.list(len(a.MailTo))
			u.list(len(a.PERange))
			u.texts(a.ACL, a.XACL, a.MailTo)
		}
	case *Get:
		u.names(b.Where.Names, b.Where.Owners)
	case *Explain:
		u.longest = len(b.User)
	case *DeleteARs:
		u.names(b.Refs, b.Users)
	}
	switch {
	case err != nil:
		return err
	case u.longest > ValueMax:
		return fmt.Errorf("a value or name of %d bytes, at most %d are allowed", u.longest, ValueMax)
	case u.elements > ListMax:
		return fmt.Errorf("a list of %d elements, at most %d are allowed", u.elements, ListMax)
	case u.patterns > PatternsMost:
		return fmt.Errorf(
			"%d patterns in one request, at most %d are allowed: write names without wildcards, or send several requests",
			u.patterns, PatternsMost)
	}
	return nil
}

// usage is how much of what is bounded a request has.
type usage struct{ patterns, longest, elements int }

func (u *usage) names(lists ...grid.Names) {
	for _, names := range lists {
		for _, name := range names {
			if u.longest = max(u.longest, len(name)); Wild(name) {
				u.patterns++
			}
		}
	}
}

// texts are looked at one by one, and compared with nothing.
func (u *usage) texts(lists ...grid.Names) {
	for _, l := range lists {
		u.list(len(l))
		for _, text := range l {
			u.longest = max(u.longest, len(text))
		}
	}
}

func (u *usage) queues(lists ...grid.Names) {
	for _, queues := range lists {
		u.list(len(queues))
		for _, queue := range queues {
			if u.longest = max(u.longest, len(queue)); WildQueue(queue) {
				u.patterns += max(1, wildTerms(queue))
			}
		}
	}
}

func (u *usage) expressions(texts ...string) {
	for _, text := range texts {
		u.longest = max(u.longest, len(text))
		u.patterns += wildTerms(text)
	}
}

func (u *usage) requests(lists ...grid.Requests) {
	for _, requests := range lists {
		u.list(len(requests))
		for _, r := range requests {
			u.expressions(r.Name, r.Value)
		}
	}
}

func (u *usage) list(elements int) { u.elements = max(u.elements, elements) }

func (u *usage) job(j *grid.Job) {
	if j == nil {
		return
	}
	for _, holds := range []grid.Ranges{j.UserHold, j.OperHold, j.SysHold} {
		u.list(len(holds))
	}
	if j.Spec != nil {
		u.list(len(j.Spec.MailTo))
		u.texts(j.Spec.MailTo, j.Spec.Stdout, j.Spec.Stderr, j.Spec.Stdin, j.Spec.Shell)
	}
	if j.JobRequest == nil {
		return
	}
	u.list(len(j.PredecessorReq))
	u.list(len(j.ArrayPredecessorReq))
	u.names(j.PredecessorReq, j.ArrayPredecessorReq)
	u.queues(j.HardQueues, j.SoftQueues, j.MasterQueues, j.SlaveQueues)
	u.requests(j.Hard, j.Soft, j.MasterHard, j.SlaveHard)
	u.expressions(j.PE, j.Ckpt, j.CkptWhen, j.Project)
	u.list(len(j.PERange))
}

func (u *usage) jobs(s Jobs) {
	u.names(s.Users)
	for _, ref := range s.Refs {
		u.names(grid.Names{ref.Name})
	}
}
