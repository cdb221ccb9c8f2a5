package qsub

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/report"
)

// waiter follows a job that was submitted with -now y or -sync y.
type waiter struct {
	env opt.Env
	c   client.Client
	job handle
}

// started waits until the job runs or was removed because it could not run at
// once.
func (w waiter) started(ctx context.Context) int {
	fmt.Fprintln(w.env.Stderr, "Waiting for immediate job to be scheduled.")
	reply, code := w.wait(ctx, "started")
	if code != 0 {
		return code
	}
	if !reply.OK() {
		fmt.Fprint(w.env.Stderr, "\nYour qsub request could not be scheduled; try again later.\n")
		return 1
	}
	fmt.Fprintf(w.env.Stderr, "\nYour immediate job %s has been successfully scheduled.\n", w.job)
	return 0
}

// ended waits for the end of all tasks and says how each ended. The exit
// status is the first that is not 0. What a restarted qmaster has not seen
// stands in the accounting file.
func (w waiter) ended(ctx context.Context) int {
	reply, code := w.wait(ctx, "ended")
	if code != 0 {
		return code
	}
	records := reply.Records
	if !reply.OK() {
		before, err := w.accounted()
		if records = append(before, records...); err != nil {
			fmt.Fprintf(w.env.Stderr,
				"qmaster does not keep any more how all of job %d has ended, and it cannot be read here: %v\n", w.job.id, err)
			return 1
		}
	}
	records = last(records)
	if len(records) == 0 {
		fmt.Fprintf(w.env.Stderr, "Unable to run job %d\n", w.job.id)
		return 1
	}
	ran := map[uint32]bool{}
	for _, record := range records {
		ran[record.Task] = true
		code = cmp.Or(code, w.end(record))
	}
	w.job.missing(ran).Each(func(task uint32) bool {
		fmt.Fprintf(w.env.Stderr, "Unable to run job %d.%d\n", w.job.id, task)
		code = cmp.Or(code, 1)
		return true
	})
	return code
}

// last drops the records of slave tasks and of attempts that were repeated:
// the last record of a task counts.
func last(records []*grid.Accounting) []*grid.Accounting {
	var ends []*grid.Accounting
	at := map[uint32]int{}
	for _, r := range records {
		if r.PETask != "" || r.Rescheduled {
			continue
		}
		if i, again := at[r.Task]; again {
			ends[i] = r
			continue
		}
		at[r.Task] = len(ends)
		ends = append(ends, r)
	}
	return ends
}

// accounted reads the job's records from the cell's accounting file.
func (w waiter) accounted() (records []*grid.Accounting, err error) {
	cell, err := cell.FindIn(w.env.Getenv)
	if err != nil {
		return nil, err
	}
	file, err := cell.OpenAccounting()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	err = accounting.Each(file, func(a *grid.Accounting) {
		if a.Job == w.job.id {
			records = append(records, a)
		}
	}, nil)
	return records, err
}

// end prints how one task ended and returns its exit status.
func (w waiter) end(r *grid.Accounting) int {
	name := fmt.Sprint(r.Job)
	if w.job.array {
		name = fmt.Sprintf("%d.%d", r.Job, r.Task)
	}
	switch {
	case r.Start == 0 || r.DeletedBy != "" || !completed(report.Failure(r.Failed)):
		fmt.Fprintf(w.env.Stderr, "Unable to run job %s\n", name)
		return 1
	case r.ExitStatus > 128:
		fmt.Fprintf(w.env.Stderr, "Job %s exited because of signal %s\n", name, signalName(r.ExitStatus-128))
		return 1
	case r.ExitStatus != 0:
		fmt.Fprintf(w.env.Stderr, "Job %s exited with exit code %d.\n", name, r.ExitStatus)
		return int(r.ExitStatus)
	}
	fmt.Fprintf(w.env.Stdout, "Job %s exited with exit code 0.\n", name)
	return 0
}

// completed reports whether the job ran to its end or was ended by a signal or a limit.
func completed(f report.Failure) bool {
	return f == report.NoFailure || f == report.FailedAfterJob || f == report.FailedLimit
}

// wait asks qmaster to answer when the job is that far. An interrupt deletes
// the job.
func (w waiter) wait(ctx context.Context, until string) (reply gdi.Reply, code int) {
	reply, err := w.c.Do(ctx, "qsub", &gdi.Wait{Job: w.job.id, For: until})
	switch {
	case ctx.Err() != nil:
		return reply, w.interrupted()
	case err != nil:
		fmt.Fprintln(w.env.Stderr, err)
		return reply, 1
	}
	return reply, 0
}

// interrupted deletes the job, however the user's patience ended.
func (w waiter) interrupted() int {
	fmt.Fprint(w.env.Stderr, "\nInterrupted!\nPlease wait while qsub shuts down.\n")
	ctx, cancel := context.WithTimeout(context.Background(), shutdown)
	defer cancel()
	jobs := gdi.Jobs{Refs: []gdi.JobRef{{ID: w.job.id}}}
	if _, err := w.c.Do(ctx, "qsub", &gdi.DeleteJobs{Jobs: jobs}); err != nil {
		fmt.Fprintln(w.env.Stderr, err)
	}
	return 1
}

// shutdown is how long an interrupted qsub tries to delete its job.
const shutdown = 10 * time.Second
