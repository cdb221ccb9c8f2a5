package client

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
)

// How often an output file is read again: the second pause is for one to which nothing was added for a while.
const (
	outputPauseMin = 500 * time.Millisecond
	outputPauseMax = 5 * time.Second
)

// Output reads an output file part by part. Ask and What are required.
type Output struct {
	Ask    func(context.Context, gdi.Body) (gdi.Reply, error)
	What   gdi.Output
	Follow bool // until the task has ended; else up to the end that the file has
	Wait   bool // for the start of the task, too

	begun   bool // a part was read
	drained bool // there was nothing more
	over    bool
	pause   time.Duration
}

// Next returns the next part, the first one at once, also when it is empty; io.EOF after the last. A *Refused says that
// qmaster or the host refuses to read. With Follow parts come as the file grows; what passes, a host that is away for a
// while or too many readers, is waited for.
func (o *Output) Next(ctx context.Context) (*gdi.Part, error) {
	for !o.over {
		if o.drained {
			if err := o.rest(ctx); err != nil {
				return nil, err
			}
		}
		reply, err := o.Ask(ctx, &o.What)
		if err != nil {
			return nil, err
		}
		p := reply.Output
		switch {
		case p == nil && reply.OK():
			return nil, errBroken
		case p == nil && !o.willPass(reply):
			return nil, &Refused{reply.Answers[0]}
		case p == nil:
			o.drained = true
			continue
		}
		first := !o.begun
		o.begun, o.drained = true, p.Next >= p.Size
		o.What.Tail, o.What.Offset = 0, p.Next
		o.over = o.drained && !(o.Follow && p.Running)
		if len(p.Data) > 0 || p.Truncated {
			o.pause = 0
			return p, nil
		}
		if first {
			return p, nil
		}
	}
	return nil, io.EOF
}

// willPass reports whether a refusal will pass.
func (o *Output) willPass(r gdi.Reply) bool {
	s := r.Answers[0].Status
	switch {
	case o.begun && s == gdi.StatusLimit:
		return true
	case s == gdi.StatusWaiting: // not started, or waits to be started again
		return o.Follow && (o.begun || o.Wait)
	}
	return o.begun && o.Follow && slices.Contains([]gdi.Status{gdi.StatusNoDaemon, gdi.StatusShutdown}, s)
}

// rest waits before the file is read again.
func (o *Output) rest(ctx context.Context) error {
	o.pause = min(max(2*o.pause, outputPauseMin), outputPauseMax)
	t := time.NewTimer(o.pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
