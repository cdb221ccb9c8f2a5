package execd

import (
	"context"
	"time"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/pkg/report"
)

// reportWait is how long a receipt may take before the report is repeated.
const reportWait = 15 * time.Second

// reportSender sends reports, one at a time: the core sees to that.
type reportSender struct {
	d       *daemon
	reports chan report.Report // capacity 1
	done    chan struct{}
}

func newReportSender(d *daemon) *reportSender {
	return &reportSender{d: d, reports: make(chan report.Report, 1), done: make(chan struct{})}
}

func (u *reportSender) run(ctx context.Context) {
	defer close(u.done)
	lost := false
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-u.reports:
			c, cancel := context.WithTimeout(ctx, reportWait)
			begun := time.Now()
			receipt, err := u.d.Transport.Report(c, r)
			cancel()
			u.d.Metrics.countReport(r, receipt, err, time.Since(begun))
			if err != nil {
				if !lost && ctx.Err() == nil {
					u.d.Logger.Warn("qmaster does not answer; trying again", "error", err)
				}
				lost = true
				u.d.sendInput(ctx, core.Unanswered{})
				continue
			}
			if lost {
				u.d.Logger.Info("qmaster answers again")
			}
			lost = false
			u.d.sendInput(ctx, core.Received{Receipt: receipt})
		}
	}
}
