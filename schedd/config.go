package schedd

import (
	"time"

	"github.com/quill-grid/quill/pkg/grid"
)

// config is what sched_conf(5) says of when to run.
type config struct {
	interval    time.Duration // schedule_interval
	flushSubmit time.Duration // a run at most this long after a submission; negative: none
	flushFinish time.Duration // ... after a job has ended
	immediate   bool          // params IMMEDIATE: run as soon as something has changed
	monitor     bool          // params MONITOR: write the schedule file
	profile     bool          // params PROFILE: log what each run cost
}

// newConfig reads the configuration. IMMEDIATE is on unless params says IMMEDIATE=false (or 0, no).
func newConfig(c grid.SchedConf) config {
	out := config{interval: time.Duration(c.Interval() * float64(time.Second)), immediate: c.Immediate()}
	// flush_submit_sec n: within n - 1 seconds, 0 is no early run.
	out.flushSubmit = (time.Duration(c.FlushSubmitSec) - 1) * time.Second
	out.flushFinish = (time.Duration(c.FlushFinishSec) - 1) * time.Second
	on := func(name string) bool {
		text, _ := c.Param(name)
		v, _ := grid.CentryType("BOOL").Parse(text)
		return v != 0
	}
	out.monitor, out.profile = on("MONITOR"), on("PROFILE")
	return out
}

// due is when the next run should begin.
func (c config) due(began time.Time, s *activity) time.Time {
	if !s.urgent.IsZero() {
		return s.urgent
	}
	due := began.Add(c.interval)
	earlier := func(t time.Time, delay time.Duration) {
		if !t.IsZero() && delay >= 0 && t.Add(delay).Before(due) {
			due = t.Add(delay)
		}
	}
	if c.immediate {
		earlier(s.submitted, 0)
		earlier(s.finished, 0)
		earlier(s.other, 0)
	}
	earlier(s.submitted, c.flushSubmit)
	earlier(s.finished, c.flushFinish)
	return due
}
