package attack

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/attack/attacker"
)

// normalWithin is how long the cell may take to be as it was.
const normalWithin = 10 * time.Second

// What is as before: descriptors and memory that may be left over.
const (
	filesLeft  = 100
	memoryLeft = 256 << 20
)

// after reports how the cell is after the attack.
func (d *director) after(ctx context.Context) {
	d.report.breaches = append(d.report.breaches, slices.Concat(d.lines(ctx), d.changes(ctx), d.sleeping(ctx))...)
	d.report.breaches = append(d.report.breaches, slices.Concat(d.owners(ctx), d.again(ctx))...)
	d.report.undeleted, d.report.deleting = d.deletes(ctx)
	ended := time.Now()
	d.progress("the attack is over; is the cell as before?")
	left := func() time.Duration { return normalWithin - time.Since(ended) }
	d.report.ran = d.one(ctx, left)
	for left() > 0 && ctx.Err() == nil {
		if d.settled() && d.survivors() == 0 {
			break
		}
		time.Sleep(watchEvery)
	}
	d.report.afterUse = map[string]usage{}
	for _, daemon := range d.s.daemons {
		d.report.afterUse[daemon.name] = d.w.last(daemon.name)
	}
	d.report.survivors = d.survivors()
	if out, err := d.s.administer(ctx, "qselect", "-qs", "E"); err == nil {
		d.report.inError = strings.Fields(out)
	}
	d.report.stopped = len(d.report.sleepers) - d.running(ctx)
	d.report.crashes = d.s.crashes()
	if now := shepherd.Running(d.s.dir); !slices.Equal(now, d.report.shepherds) {
		d.report.crashes = append(d.report.crashes, fmt.Sprintf("a shepherd of jobs ended: processes %v, before %v", now,
			d.report.shepherds))
	}
	d.report.breaches = append(d.report.breaches,
		slices.Concat(d.c.check(), d.sleeping(ctx), d.h.wrong, d.charged(ctx))...)
}

// charged ends the honest user's jobs that only sleep, and reports what their accounting records charge them with.
func (d *director) charged(ctx context.Context) (breaches []string) {
	for _, id := range d.report.sleepers {
		d.s.administer(ctx, "qdel", fmt.Sprint(id))
	}
	for begun := time.Now(); time.Since(begun) < deleteWithin && d.running(ctx) > 0; {
		time.Sleep(100 * time.Millisecond)
	}
	for _, id := range d.report.sleepers {
		out, _ := d.s.command(ctx, nil, "qacct", "-j", fmt.Sprint(id)).Output()
		for line := range strings.Lines(string(out)) {
			var cpu float64
			if n, _ := fmt.Sscanf(line, "cpu %f", &cpu); n == 1 && cpu > cpuMax {
				breaches = append(breaches, fmt.Sprintf("a job that slept is charged with %.1f s of CPU time", cpu))
			}
		}
	}
	return append(breaches, d.litter()...)
}

// litter reports directories of jobs that are left when there is no job any more.
func (d *director) litter() (breaches []string) {
	within := deleteWithin
	if d.Untimed {
		within = startWait
	}
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		left, _ := filepath.Glob(filepath.Join(d.s.tmp(), "quill-*", "*"))
		if len(left) == 0 {
			return nil
		}
		if time.Since(begun) > within {
			return []string{fmt.Sprintf("%d directories of jobs are left in the temporary directory", len(left))}
		}
	}
}

// settled reports whether the daemons have as much memory and as many descriptors as before.
func (d *director) settled() bool {
	for _, daemon := range d.s.daemons {
		u, idle := d.w.last(daemon.name), d.report.idleUse[daemon.name]
		if u.files > idle.files+filesLeft || u.memory > idle.memory+memoryLeft {
			return false
		}
	}
	return true
}

// one submits a job as the honest user and returns how long it took until its
// accounting record was there.
func (d *director) one(ctx context.Context, left func() time.Duration) time.Duration {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, 3*normalWithin)
	defer cancel()
	for ctx.Err() == nil {
		id, err := d.h.qsub(ctx, d.c.script_)
		if err != nil {
			d.progress("after the end: %v", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		for ctx.Err() == nil {
			if d.s.command(ctx, d.s.honest, "qacct", "-j", fmt.Sprint(id)).Run() == nil {
				return time.Since(begun)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return time.Since(begun)
}

// deleteWithin is how long the administrator gives the attacker's jobs to go.
const deleteWithin = 10 * time.Second

// deletes deletes the attacker's jobs, as the administrator would, and says how many
// stay.
func (d *director) deletes(ctx context.Context) (left int, took time.Duration) {
	begun := time.Now()
	for _, name := range append(slices.Collect(maps.Values(d.s.names)), d.s.attacker.name, "root") {
		if name == d.s.honest.name {
			continue
		}
		d.s.administer(ctx, "qdel", "-u", name) // exits 1 when there are none
	}
	for {
		left = 0
		d.s.each(ctx, grid.KindJob, func(o grid.Object) {
			if o.(*grid.Job).Owner != d.s.honest.name {
				left++
			}
		})
		if took = time.Since(begun); left == 0 || took > deleteWithin || ctx.Err() != nil {
			return left, took
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// owners reports whose jobs there are that no user was allowed to submit: those of hosts
// and schedulers, and some of the honest user that this user did not submit.
func (d *director) owners(ctx context.Context) (breaches []string) {
	known := func(owner string) bool {
		return owner == d.s.honest.name || owner == d.s.attacker.name || owner == d.s.names[attacker.AsUser[0]]
	}
	say := func(id uint32, name, owner string) {
		switch {
		case !known(owner):
			breaches = append(breaches, fmt.Sprintf("a job was submitted as user %q, by a daemon's key", owner))
		case owner == d.s.honest.name && name == attacker.StolenName:
			breaches = append(breaches, fmt.Sprintf("job %d was submitted in the name of %s", id, owner))
		}
	}
	d.s.each(ctx, grid.KindJob, func(o grid.Object) {
		j := o.(*grid.Job)
		say(j.ID, j.Name, j.Owner)
	})
	text, _ := os.ReadFile(d.s.where.Accounting())
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(line, ":"); len(f) > 5 {
			var id uint32
			fmt.Sscan(f[5], &id)
			say(id, f[4], f[3])
		}
	}
	slices.Sort(breaches)
	return slices.Compact(breaches)
}
