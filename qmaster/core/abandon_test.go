package core

import (
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestAbandon gives up steps: the sender of an input is answered; steps with events, and
// those without a sender, cannot be given up.
func TestAbandon(t *testing.T) {
	c := New(busyCell(t), 2)
	seq := c.state.Seq
	for _, in := range []Input{
		UserRequest{Ref: 7}, Orders{Ref: 7, List: orders.List{Orders: []orders.Order{&orders.StartJob{}}}}, Report{Ref: 7}} {
		c.ready = Ready{Commands: []Command{{Host: "h1"}}}
		c.bookings.ledger = append(c.bookings.ledger, entry{})
		c.waiters.wait(7, &gdi.Wait{Job: 1, For: "ended"})
		r, ok := c.Abandon(in)
		if !ok || len(r.Answers) != 1 || r.Answers[0].Ref != 7 || len(r.Commands)+len(r.List.Events)+len(c.bookings.ledger)+
			len(c.waiters.jobs[1]) > 0 {
			t.Errorf("%T: %+v %v", in, r, ok)
		}
	}
	c.ready, c.proceeding, c.unfinished = Ready{}, &perJob{in: UserRequest{Ref: 8}}, []*perJob{{in: UserRequest{Ref: 9}}}
	if r, ok := c.Abandon(Continue{}); !ok || len(r.Answers) != 1 || r.Answers[0].Ref != 8 || !r.More {
		t.Errorf("%+v %v", r, ok)
	}
	c.unfinished = nil
	if r, ok := c.Abandon(Tick{}); ok {
		t.Errorf("%+v", r)
	}
	c.ready = Ready{}
	if c.Step(1_700_000_200_000,
		UserRequest{Request: gdi.Request{User: "alice", Host: "m", Body: &gdi.Wait{Job: 99}}}); c.state.Seq != seq {
		t.Error("a step that was given up has changed the state")
	}
	c.ready = Ready{}
	c.emit(events.Add(&grid.Manager{Name: "x"}))
	if r, ok := c.Abandon(UserRequest{Ref: 7}); ok {
		t.Errorf("a step that has made events was given up: %+v", r)
	}
}
