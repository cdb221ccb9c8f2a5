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

// keep holds a connection to the shepherd for ever and passes on what it says:
// its whole list first, then news, then that it is gone.
func (d *daemon) keep(ctx context.Context) {
	defer close(d.kept)
	wait := shepherdWaitMin
	for ctx.Err() == nil {
		k, err := d.Connect(ctx)
		if err == nil {
			if err = d.follow(ctx, k); err == nil {
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

// follow returns when the connection is lost: nil if it ever worked.
func (d *daemon) follow(ctx context.Context, k Shepherd) error {
	all, err := k.List(ctx)
	if err != nil {
		k.Close()
		return err
	}
	d.desk.use(k)
	d.tell(ctx, core.Listed{Attempts: all})
	for {
		select {
		case changes, open := <-k.Changes():
			if !open {
				d.desk.use(nil)
				d.tell(ctx, core.ShepherdGone{})
				k.Close()
				return nil
			}
			for i := range changes {
				if e := changes[i].End; e != nil && e.Left != "" {
					d.Logger.Warn("folder of a job stays until it can be removed", "job", changes[i].Attempt, "error", e.Left)
				}
			}
			d.tell(ctx, core.Seen{Attempts: changes})
		case <-ctx.Done():
			return nil // the desk closes it
		}
	}
}
