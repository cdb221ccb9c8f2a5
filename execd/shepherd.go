package execd

import (
	"context"
	"time"

	"github.com/quill-grid/quill/execd/core"
)

// Waits between attempts to reach the shepherd.
const (
	shepherdWaitMin = 50 * time.Millisecond
	shepherdWaitMax = 5 * time.Second
)

// keepConnected connects to the shepherd again and again and passes its messages to the
// core: its whole list first, then changes, then that it is gone.
func (d *daemon) keepConnected(ctx context.Context) {
	defer close(d.disconnected)
	wait := shepherdWaitMin
	for ctx.Err() == nil {
		k, err := d.Connect(ctx)
		if err == nil {
			if err = d.followShepherd(ctx, k); err == nil {
				wait = shepherdWaitMin
			}
		}
		if ctx.Err() != nil {
			return
		}
		d.Logger.Error("shepherd of job processes not reachable", "error", err, "retry", wait)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, shepherdWaitMax)
	}
}

// followShepherd returns when the connection is lost: nil if it has worked.
func (d *daemon) followShepherd(ctx context.Context, k Shepherd) error {
	all, err := k.List(ctx)
	if err != nil {
		k.Close()
		return err
	}
	d.batches.setShepherd(k)
	d.Metrics.countListed(all)
	d.sendInput(ctx, core.Listed{Attempts: all})
	for {
		select {
		case changes, open := <-k.Changes():
			if !open {
				d.batches.setShepherd(nil)
				d.Metrics.countShepherdGone()
				d.sendInput(ctx, core.ShepherdGone{})
				k.Close()
				return nil
			}
			d.Metrics.countChanged(changes)
			for i := range changes {
				if e := changes[i].End; e != nil && e.Left != "" {
					d.Logger.Warn("folder of a job stays until it can be removed", "job", changes[i].Attempt, "error", e.Left)
				}
			}
			d.sendInput(ctx, core.Seen{Attempts: changes})
		case <-ctx.Done():
			return nil // batchRunner closes it
		}
	}
}
