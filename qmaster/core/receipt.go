package core

import (
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// Format is how the bytes in proposals and receipts are read and written: codec.DecodeBody, codec.AppendReply,
// codec.DecodeReply. A core without a part of it refuses proposals, or does not store answers.
type Format struct {
	Body        func([]byte) (gdi.Body, error)
	AppendReply func([]byte, gdi.Reply) []byte
	Reply       func([]byte) (gdi.Reply, error)
}

// Reads sets the Format.
func (c *Core) Reads(f Format) { c.format = f }

// repeated answers a request that was carried out before, as it was answered then: the client has lost that answer. It
// reports whether it was. The number of a request is its user's: another user's request has nothing to do with it.
func (c *Core) repeated(in UserRequest) bool {
	r := c.receipt(in.Request)
	if r == nil {
		return false
	}
	body := in.Body
	if r.Request != in.ID { // the digest is that of another content
		body = nil
	}
	switch b := body.(type) {
	case *gdi.Verify, *gdi.Wait, *gdi.Output, *gdi.WaysToLogIn:
		// nothing is done twice: a client that waits for its job may name it so
		return false
	case *gdi.Submit:
		if r.Job != 0 && r.PETask == "" {
			c.submittedBefore(in.Ref, b.Job, r)
			return true
		}
	case *gdi.Resubmit:
		if r.Job != 0 && r.PETask == "" {
			c.submittedBefore(in.Ref, nil, r)
			return true
		}
	case *gdi.Reserve:
		if r.AR != 0 {
			c.reply(in.Ref, granted(r.AR))
			c.lastReply().Seq = c.state.Seq
			return true
		}
	case *gdi.StartTask:
		if r.PETask != "" {
			c.answerTaskStarted(in.Ref, r.PETask)
			return true
		}
	}
	reply, err := gdi.Reply{}, error(nil)
	if body != nil && r.Verb == body.Verb() && c.format.Reply != nil {
		if reply, err = c.format.Reply(r.Reply); err == nil {
			reply.Seq = c.state.Seq
			c.ready.Answers = append(c.ready.Answers, Answer{Ref: in.Ref, Reply: &reply})
			return true
		}
	}
	c.reply(in.Ref,
		*gdi.Denyf(gdi.StatusExists,
			"denied: request number %q was used for another request of user %q; send this one under a new number", in.ID,
			in.User))
	return true
}

// receipt returns the receipt of a request, nil when it is new.
func (c *Core) receipt(r gdi.Request) *grid.Receipt {
	if r.ID == "" || r.User == "" { // clients without credentials are not one user
		return nil
	}
	return c.state.Receipt(r.User, r.ID)
}

// submittedBefore answers a request that has made a job, which may have ended since.
func (c *Core) submittedBefore(ref uint64, submitted *grid.Job, r *grid.Receipt) {
	j := c.state.Job(r.Job)
	if j == nil {
		j = submitted
	}
	if j == nil {
		j = &grid.Job{}
		j.Complete()
	}
	c.answerSubmitted(ref, j, r.Job)
}

// store stores the answer to a request that has changed something, unless it follows from what was made. changed says
// that an earlier list of the request has.
func (c *Core) store(in UserRequest, changed bool) {
	if in.ID == "" || in.User == "" || c.format.AppendReply == nil || len(c.ready.Answers) == 0 ||
		len(c.ready.List.Events) == 0 && !changed {
		return
	}
	a := c.ready.Answers[len(c.ready.Answers)-1]
	if a.Ref != in.Ref || a.Reply == nil {
		return
	}
	switch in.Body.(type) {
	case *gdi.Submit, *gdi.Resubmit, *gdi.Reserve, *gdi.StartTask:
		return
	}
	c.emit(events.Add(&grid.Receipt{User: in.User, Request: in.ID, At: c.cell.Now, Verb: in.Body.Verb(),
		Reply: c.format.AppendReply(nil, *a.Reply)}))
	a.Reply.Seq = c.state.Seq
}

// Knows reports whether a request has been carried out.
func (c *Core) Knows(r gdi.Request) bool { return c.receipt(r) != nil }
