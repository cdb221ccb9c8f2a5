package replay

import (
	"fmt"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/history"
)

// tape is the log as the terminal view winds it.
type tape struct {
	*history.Log
	*history.Player
	// decided is where the order list after a list stands among the recorded ones:
	// the list that it was decided on. nil before anybody asked.
	decided map[uint64]uint64
}

// Record implements screen.Tape. The first call reads through all that was
// recorded.
func (t *tape) Record(l events.List) (*orders.Record, error) {
	if l.Cause.What != "orders" {
		return nil, nil
	}
	if t.decided == nil {
		t.decided = map[uint64]uint64{}
		for r, err := range t.Runs(0) {
			if err != nil {
				return nil, err
			}
			t.decided[r.Result.Seq] = r.List.Seq
		}
	}
	from, ok := t.decided[l.Seq]
	if !ok {
		return nil, nil
	}
	for r, err := range t.Runs(from) {
		if err != nil {
			return nil, err
		}
		if r.Result.Seq == l.Seq && fmt.Sprint(r.List.Run) == l.Cause.Ref && len(r.List.Orders) > 0 {
			return &r, nil
		}
		if r.List.Seq > l.Seq {
			break
		}
	}
	return nil, nil
}
