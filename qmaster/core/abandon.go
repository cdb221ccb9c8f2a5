package core

import (
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/report"
)

const (
	internalError = "internal error of qmaster, nothing was changed; its log says more"
	errorInPart   = "internal error of qmaster, only some of the jobs were changed; its log says more"
)

// Abandon gives up a step in which Step has panicked, and returns the answer to the
// sender of in: an internal error. It returns false, and the process must end and recover
// from the log, if the step has made events, or in has no sender (a tick, an order list).
//
// The core is consistent afterwards. The state and the cluster change in emit alone, and
// emit was not called: objects of the state are copied before they are changed. Other
// changes of the step may be lost, as they are when the process ends: a command that was
// marked as sent is sent again when nothing confirms it; a stored load value is emitted
// with the next tick; a waiting client is answered here, and its second answer is
// dropped. The bookings of the step are dropped, because their events are; settings are
// read again.
func (c *Core) Abandon(in Input) (Ready, bool) {
	if len(c.ready.List.Events) > 0 {
		return Ready{}, false
	}
	var answer Answer
	switch in := in.(type) {
	case UserRequest:
		reply := gdi.Reply{Answers: []gdi.Answer{gdi.Deny(gdi.StatusInvalid, "denied: "+internalError)}}
		answer = Answer{Ref: in.Ref, Reply: &reply}
	case Orders:
		result := orders.Answer{Seq: c.state.Seq}
		for i := range in.Orders {
			result.Refused = append(result.Refused, orders.Refusal{Index: i, Code: orders.Internal, Reason: internalError})
		}
		answer = Answer{Ref: in.Ref, Result: &result}
	case Continue:
		if c.proceeding == nil { // a release, for which no request waits and which would fail again
			return Ready{}, false
		}
		reply := gdi.Reply{Answers: []gdi.Answer{gdi.Deny(gdi.StatusInvalid, "denied: "+errorInPart)}}
		answer = Answer{Ref: c.proceeding.in.Ref, Reply: &reply}
	case Report: // nothing of it is confirmed
		answer = Answer{Ref: in.Ref, Receipt: &report.Receipt{Epoch: c.epoch}}
	default:
		return Ready{}, false
	}
	c.waiters.gone([]uint64{answer.Ref})
	c.bookings.ledger = c.bookings.ledger[:0]
	c.cell.ForgetSettings()
	c.ready = Ready{Answers: []Answer{answer}, More: c.more()}
	c.ready.List.Seq = c.state.Seq
	return c.ready, true
}
