package site

import (
	"github.com/quill-grid/quill/pkg/grid"
)

// durations is what sched_conf(5) says of how long jobs are assumed to run.
type durations struct {
	Reservations int     // max_reservation
	otherwise    float64 // default_duration
	offset       float64 // params DURATION_OFFSET
	shorter      bool    // params DURATION_LIMIT=min: the smaller of h_rt and s_rt
	Interval     float64 // schedule_interval
}

func newDurations(c *grid.SchedConf) durations {
	d := durations{Reservations: int(c.MaxReservation), otherwise: grid.Infinity, Interval: c.Interval()}
	if s, ok := c.DefaultDuration.Seconds(); ok && s > 0 {
		d.otherwise = s
	}
	d.offset = DurationOffset(c)
	text, _ := c.Param("DURATION_LIMIT")
	d.shorter = text == "min"
	return d
}

// DurationOffset is how many seconds a job may need beside its run time: params
// DURATION_OFFSET of sched_conf(5), a minute when not set.
func DurationOffset(c *grid.SchedConf) float64 {
	text, _ := c.Param("DURATION_OFFSET")
	if s, ok := grid.ParseTimeSpan(text); ok {
		return s
	}
	return 60
}

// Gross is for how many seconds a job is assumed to hold what it takes: the
// greater of its h_rt and s_rt, or default_duration if it asks for neither,
// and DURATION_OFFSET, sched_conf(5).
func (d *durations) Gross(hard grid.Requests) float64 {
	net, known := d.Asked(hard)
	if !known {
		net = d.otherwise
	}
	if net >= grid.Infinity {
		return grid.Infinity
	}
	return net + d.offset
}

// Asked is the run time that a job asks for, in seconds.
func (d *durations) Asked(hard grid.Requests) (net float64, known bool) {
	for i := range hard {
		r := &hard[i]
		if r.Name != "h_rt" && r.Name != "s_rt" {
			continue
		}
		if !known || (r.Num > net) != d.shorter {
			net, known = r.Num, true
		}
	}
	return net, known
}
