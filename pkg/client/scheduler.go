package client

import (
	"context"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/codec"
)

// ConnectScheduler connects the scheduler of that name; it waits for qmaster as
// long as ctx allows. Watch registers it: from then on qmaster takes its orders
// and no other's. The full state lacks what no scheduler looks at, each job's
// Spec and the receipts.
func ConnectScheduler(ctx context.Context, c cell.Cell, name string) (*Remote, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	r := newRemote(c, func() bus.ConnOptions { return c.ConnOptions(bus.Identity{Role: bus.Scheduler, Name: name}) })
	r.patient = true
	if err := try(ctx, r, &r.conn, nil, func(*bus.Conn) error { return nil }); err != nil {
		return nil, err
	}
	return r, nil
}

// Order sends the orders of a run and returns qmaster's result. A list whose answer is
// lost is not repeated: the events show what became of it, and the next run decides anew.
func (r *Remote) Order(ctx context.Context, l orders.List) (orders.Answer, error) {
	conn, err := r.conn.get()
	if err != nil {
		return orders.Answer{}, unreachable(r.cell, err)
	}
	answer, err := conn.Request(ctx, bus.OrderSubject(conn.Identity()), codec.AppendOrders(nil, l))
	if err != nil {
		return orders.Answer{}, unreachable(r.cell, err)
	}
	return codec.DecodeResult(answer)
}
