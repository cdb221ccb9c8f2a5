package qmaster

import (
	"cmp"
	"errors"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// cellCopy is a state that has no other reader, and the Cluster that follows it.
type cellCopy struct {
	state   *state.State
	cluster *sched.Cluster
}

// Explain answers gdi.Explain from a state and the Cluster that follows it, as of a time; stop reports whether no
// client waits for the answer any more.
type Explain func(
	st *state.State, c *sched.Cluster, b *gdi.Explain, now grid.Time, stop func() bool,
) gdi.Reply

// explainer answers one request why tasks wait.
type explainer struct {
	answer  Explain // nil: there is none
	request *gdi.Explain
	stop    func() bool
	private bool // the user may see what only managers may
	cell    cellCopy

	read func() (yields func() error, done func()) // keeps the log as it is
	past func() (*history.Log, error)
}

// explain returns the answer. If it is about a job of which no task has started, send gets what the log has about the
// job before, in chunks of whole lists.
func (x *explainer) explain(now grid.Time, send func([]byte) error) (reply gdi.Reply, err error) {
	if x.answer == nil {
		return gdi.Reply{Answers: []gdi.Answer{
			gdi.Deny(gdi.StatusInvalid, "denied: this qmaster does not explain why jobs wait")}}, nil
	}
	reply = x.answer(x.cell.state, x.cell.cluster, x.request, now, x.stop)
	if reply.Explanation == nil || reply.Explanation.Outlook == nil {
		return reply, nil
	}
	err = x.sendPart(send)
	if damage := (*frame.Damage)(nil); errors.As(err, &damage) {
		reply.Explanation.Outlook, err = nil, nil // who reads the log finds the damage
	}
	return reply, err
}

func (x *explainer) sendPart(send func([]byte) error) error {
	yields, done := x.read() // or what is read now would be gone then
	defer done()
	log, err := x.past()
	if err != nil {
		return err
	}
	defer log.Close()
	var chunk []byte
	s := x.cell.state
	err = log.Part(x.request.Job, gdi.Before(s.Job(x.request.Job).Submit), s.Seq, func(l events.List) error {
		if !x.private {
			l = l.Public()
		}
		if chunk = codec.AppendList(chunk, l); len(chunk) < codec.ChunkBytes {
			return nil
		}
		err := cmp.Or(yields(), send(chunk))
		chunk = chunk[:0]
		return err
	})
	if err != nil {
		return err
	}
	return send(chunk)
}
