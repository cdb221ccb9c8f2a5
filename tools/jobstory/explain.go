package jobstory

import (
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/explain"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/outlook"
)

// explainedJobs is up to how many jobs of the cell qmaster runs the algorithm of the cell for an Outlook.
const explainedJobs = 10_000

// Explain answers why tasks wait, from a state and the Cluster that follows it, as qmaster does. It refuses jobs that
// were never submitted. Stop reports whether the answer is not wanted any more; nil: it is.
func Explain(st *state.State, c *sched.Cluster, b *gdi.Explain, now grid.Time, stop func() bool) gdi.Reply {
	r := gdi.Reply{Seq: st.Seq, Explanation: &gdi.Explanation{At: st.At}}
	if b.Job == 0 {
		e := explain.New(st, c, max(now, st.At), b.Zone())
		r.Explanation.Groups = groupsOf(e.Groups(ofUser(b.User)))
		return r
	}
	j := st.Job(b.Job)
	if why := neverSubmitted(st, b.Job); j == nil && why != "" {
		return gdi.Reply{Answers: []gdi.Answer{gdi.Deny(gdi.StatusUnknown, why)}}
	}
	if j != nil && isUntouched(st, j) && (b.Task == 0 || j.Pending.Contains(b.Task)) {
		r.Explanation.Outlook = outlookOf(st, j, b.Task, now,
			outlook.Options{Cluster: c, Zone: b.Zone(), JobsMost: explainedJobs, Stop: stop})
	}
	return r
}

// isUntouched reports whether all tasks of a job wait, and none has started ever.
func isUntouched(st *state.State, j *grid.Job) bool {
	return len(st.Tasks(j.ID)) == 0 && j.Pending.Count() == j.Tasks.Count()
}

// neverSubmitted returns why there is nothing about a job; "": it was submitted.
func neverSubmitted(st *state.State, job uint32) string {
	known := st.Counter(grid.JobSeqNum)
	if uint64(job) <= known {
		return ""
	}
	return fmt.Sprintf("job %d was never submitted: the last job is %d", job, known)
}

// ReadAnswer returns the story of a job that ask has qmaster answer with gdi.Explain: it calls each with the lists
// before the answer. A nil Story without an error: the log has to be read.
func ReadAnswer(
	job, task uint32, now grid.Time, ask func(each func(events.List) error) (gdi.Reply, error),
) (*Story, error) {
	var t *follower
	var first history.Mark
	begin := state.New()
	begun := false
	reply, err := ask(func(l events.List) error {
		switch {
		case t == nil && (!begun || l.Seq == first.Seq):
			begun, first = true, history.Mark{Seq: l.Seq, At: l.At}
			if l.Seq > 0 {
				begin.Apply(l)
			}
			return nil
		case t == nil:
			t = newFollower(job, task, begin, nil)
		}
		t.followList(l)
		return nil
	})
	if err != nil || reply.Explanation == nil || reply.Explanation.Outlook == nil {
		return nil, err
	}
	if t == nil {
		t = newFollower(job, task, begin, nil)
	}
	t.st.Seq, t.st.At = reply.Seq, reply.Explanation.At
	if t.story == nil {
		return nil, nil
	}
	t.outlook = reply.Explanation.Outlook
	return t.end(markOf(max(first.Seq, 1), first.At), max(now, t.st.At), outlook.Options{}), nil
}
