package execd

import (
	"cmp"
	"context"
	"time"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
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
	d.tell(ctx, core.Listed{Attempts: sightings(all)})
	for {
		select {
		case news, open := <-k.Attempts():
			if !open {
				d.desk.use(nil)
				d.tell(ctx, core.ShepherdGone{})
				k.Close()
				return nil
			}
			for i := range news {
				if e := news[i].End; e != nil && e.Left != "" {
					d.Logger.Warn("folder of a job stays until it can be removed", "job", attemptOf(news[i].Key), "error", e.Left)
				}
			}
			d.tell(ctx, core.Seen{Attempts: sightings(news)})
		case <-ctx.Done():
			return nil // the desk closes it
		}
	}
}

func keyOf(a report.Attempt) shepherd.Key {
	return shepherd.Key{Job: a.Job, Task: a.Task, Attempt: a.N, PETask: a.PETask}
}

func attemptOf(k shepherd.Key) report.Attempt {
	return report.Attempt{Job: k.Job, Task: k.Task, N: k.Attempt, PETask: k.PETask}
}

func keysOf(as []report.Attempt) []shepherd.Key {
	ks := make([]shepherd.Key, len(as))
	for i, a := range as {
		ks[i] = keyOf(a)
	}
	return ks
}

func compareAttempts(a, b report.Attempt) int {
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task), cmp.Compare(a.N, b.N), cmp.Compare(a.PETask, b.PETask))
}

func stageOf(s shepherd.State) core.Stage {
	switch s {
	case shepherd.Running, shepherd.Suspended:
		return core.Running
	case shepherd.Ended:
		return core.Ended
	}
	return core.Taken
}

func sightings(as []shepherd.Attempt) []core.Sighting {
	s := make([]core.Sighting, 0, len(as))
	for i := range as {
		a := &as[i]
		g := core.Sighting{Attempt: attemptOf(a.Key), Stage: stageOf(a.State), Suspended: a.State == shepherd.Suspended, Start: grid.TimeOf(a.Started), Binding: a.Binding}
		if e := a.End; e != nil {
			g.Stage, g.Usage = core.Ended, usageOf(&e.Usage)
			g.Result = &report.Result{
				Start: g.Start, End: grid.TimeOf(e.Time), Failed: e.Failed, Text: e.Reason,
				ExitStatus: uint32(e.ExitStatus), Signal: uint32(e.Signal),
			}
		}
		s = append(s, g)
	}
	return s
}

// usageOf converts to the units of accounting(5): seconds, GB seconds, GB,
// bytes, and kilobytes for the resident set.
func usageOf(u *shepherd.Usage) grid.Usage {
	return grid.Usage{
		WallSeconds: u.Wallclock.Seconds(), UserSeconds: u.UserTime.Seconds(), SystemSeconds: u.SysTime.Seconds(),
		CPU: u.CPU.Seconds(), Mem: u.Mem, IO: u.IO, VMem: float64(u.VMem), MaxVMem: float64(u.MaxVMem),
		MaxRSS: float64(u.MaxRSS) / 1024, MinFaults: u.MinFlt, MajFaults: u.MajFlt, InBlocks: u.InBlock,
		OutBlocks: u.OuBlock, VolSwitches: u.NVCSw, InvolSwitches: u.NIvCSw,
	}
}
