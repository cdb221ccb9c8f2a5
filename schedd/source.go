package schedd

import (
	"context"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/client"
)

// Over is qmaster at the other end of a scheduler's connection
// (client.Cell.ConnectScheduler).
func Over(r *client.Remote) Source { return remote{r} }

type remote struct{ *client.Remote }

func (r remote) Watch(ctx context.Context, fresh func() events.Sink, full func(epoch, seq uint64)) error {
	return r.Remote.Watch(ctx, client.Watcher{Fresh: fresh, Full: full})
}

func (r remote) Orders(ctx context.Context, l orders.List) (orders.Result, error) {
	return r.Order(ctx, l)
}
