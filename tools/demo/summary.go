package demo

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/grid"
)

// facts collects the accounting records as they arrive from the cell.
type facts struct {
	sync.Mutex
	records []*grid.Accounting
}

// Apply takes a list in; it is an events.Sink.
func (f *facts) Apply(l events.List) {
	f.Lock()
	defer f.Unlock()
	for _, e := range l.Events {
		if a, ok := e.Object.(*grid.Accounting); ok {
			f.records = append(f.records, a)
		}
	}
}

// ended counts the attempts that were the task's last.
func (f *facts) ended() (n int) {
	f.Lock()
	defer f.Unlock()
	for _, a := range f.records {
		if !a.Rescheduled {
			n++
		}
	}
	return n
}

// summary says from the accounting how it went.
func (d *demo) summary(ctx context.Context, f *facts, took time.Duration) error {
	for f.ended() < d.expected {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	filed, err := fileRecords(d.where.Accounting())
	if err != nil {
		return err
	}
	jobs := map[uint32]bool{}
	var again, failed, waits int
	var slotSeconds, wait float64
	var first, last grid.Time
	for _, a := range f.records {
		jobs[a.Job] = true
		slotSeconds += float64(a.Slots) * a.End.Sub(a.Start)
		last = max(last, a.End)
		if first == 0 || a.Submit < first {
			first = a.Submit
		}
		switch {
		case a.Rescheduled:
			again++
		case a.Failed != 0 || a.ExitStatus != 0:
			failed++
		}
		if a.Attempt == 1 {
			wait += a.Start.Sub(a.Submit)
			waits++
		}
	}
	fmt.Fprintf(d.Stdout, `
jobs         %d, in %d tasks; put back and run again: %d
failures     %d
utilisation  %.1f %% of %d slots over %.1f s
mean wait    %.3f s from submission to start
decisions    %.1f starts a second, mean over %.1f s
accounting   %d records in %s
`, len(jobs), d.expected, again, failed,
		100*slotSeconds/(slots*last.Sub(first)), slots, last.Sub(first), wait/float64(max(waits, 1)),
		float64(len(f.records))/took.Seconds(), took.Seconds(), filed, d.where.Accounting())
	if failed > 0 || len(jobs) != int(d.submitted.Load()) || filed != len(f.records) {
		return fmt.Errorf("of %d jobs %d are accounted, %d failed; the accounting file has %d of %d records",
			d.submitted.Load(), len(jobs), failed, filed, len(f.records))
	}
	return nil
}

// fileRecords counts the records of an accounting file.
func fileRecords(path string) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	err = accounting.Each(f, func(*grid.Accounting) { n++ }, nil)
	return n, err
}
