package daemons

import (
	"context"
	"testing"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// changing is a cell whose queue another request changes right before each of the first changes of it.
type changing struct {
	client.Client
	others  int // such requests that are left
	version uint32
	slots   int32
}

func (c *changing) Get(_ context.Context, _ gdi.Get, each func(grid.Object) error) (uint64, error) {
	for _, o := range []grid.Object{&grid.CQueue{Name: "all.q", Version: c.version}, &grid.SchedConf{}} {
		if err := each(o); err != nil {
			return 0, err
		}
	}
	return 1, nil
}

func (c *changing) Do(_ context.Context, _ string, body gdi.Body) (gdi.Reply, error) {
	if c.others > 0 {
		c.others--
		c.version++
	}
	q := body.(*gdi.Modify).Objects[0].(*grid.CQueue)
	if q.Version != c.version {
		return gdi.Reply{Answers: []gdi.Answer{
			gdi.Deny(gdi.StatusStale, "denied: cluster queue \"all.q\" was changed by another request meanwhile")}}, nil
	}
	c.slots = q.Slots.For("node2", func(string) bool { return false })
	return gdi.Reply{Answers: []gdi.Answer{gdi.Done("")}}, nil
}

// TestSizeAgain: a cell that starts sets up its queue although other requests change it.
func TestSizeAgain(t *testing.T) {
	u := &Up{Hosts: 2, Slots: 7}
	c := &changing{others: 2}
	if err := u.size(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if c.slots != 3 || u.Total() != 7 {
		t.Errorf("%d slots of node2, %d in all", c.slots, u.Total())
	}
}
