package sched

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// undistinguished is what a term of the priority is when it distinguishes no
// jobs.
const undistinguished = 0.5

// Priority is a job's dispatch priority, sge_priority(5), from its terms, each
// normalised to 0 ... 1:
//
//	weight_priority × npprior + weight_urgency × nurg + weight_ticket × ntckts
func Priority(conf *grid.SchedConf, npprior, nurg, ntckts float64) float64 {
	return conf.WeightPriority*npprior + conf.WeightUrgency*nurg + conf.WeightTicket*ntckts
}

// Normalise maps lo ... hi to 0 ... 1, and what lies beyond to the nearer end;
// when both are the same, to 0.5.
func Normalise(v, lo, hi float64) float64 {
	if hi-lo < 0.00001 {
		return undistinguished
	}
	return min(max((v-lo)/(hi-lo), 0), 1)
}

// Worth is what a task is worth to the policies, sge_priority(5).
type Worth struct {
	Urgency
	NPOSIX, NUrgency, NTickets float64 // normalised
	Priority                   float64
}

// WorthOf is the worth of a task whose job has a -p and an urgency, within what
// a run has observed of all jobs.
func WorthOf(conf *grid.SchedConf, within *grid.PriorityRange, priority int32, u Urgency, tickets float64) Worth {
	w := Worth{Urgency: u,
		NPOSIX:   Normalise(float64(priority), within.LeastPriority, within.MostPriority),
		NUrgency: Normalise(u.Sum(), within.LeastUrgency, within.MostUrgency)}
	return w.With(conf, within, tickets)
}

// With is the same worth with another number of tickets.
func (w Worth) With(conf *grid.SchedConf, within *grid.PriorityRange, tickets float64) Worth {
	w.NTickets = Normalise(tickets, 0, within.MostTickets)
	w.Priority = Priority(conf, w.NPOSIX, w.NUrgency, w.NTickets)
	return w
}

// Reckon is what a run has found a job worth that is in line, from what it told
// of all jobs together, and the tickets that were told of the job itself: a run
// tells neither of all jobs where many wait, nor again what grows with the time
// alone. Without ticket policies it is exact; with them, where nothing was told
// of the job, its tickets are not known, NaN, and the priority is the least that
// it can be. For a job that was submitted or altered later it is what follows
// from what was observed before.
func Reckon(conf *grid.SchedConf, within *grid.PriorityRange, j *grid.Job, resources float64, told *grid.Priority) grid.Priority {
	p := grid.Priority{Job: j.ID}
	if told != nil {
		p = *told
	}
	w := reckon(conf, within, j, resources, float64(p.Tickets))
	p.Priority, p.NPOSIX, p.NUrgency, p.NTickets = w.Priority, float32(w.NPOSIX), float32(w.NUrgency), float32(w.NTickets)
	p.Urgency, p.RRContr, p.WTContr, p.DLContr = float32(w.Sum()), float32(w.Resources), float32(w.Waiting), float32(w.Deadline)
	if told == nil && within.MostTickets > 0 {
		none := float32(math.NaN())
		p.NTickets, p.Tickets, p.OTickets, p.FTickets, p.STickets, p.Share = none, none, none, none, none, none
	}
	return p
}

// ReckonTask is the same of a task that has started, whose tickets it keeps.
func ReckonTask(conf *grid.SchedConf, within *grid.PriorityRange, j *grid.Job, resources float64, t *grid.JATask) *grid.JATask {
	w := reckon(conf, within, j, resources, t.Tickets)
	n := *t
	n.Priority, n.NTickets = w.Priority, w.NTickets
	return &n
}

func reckon(conf *grid.SchedConf, within *grid.PriorityRange, j *grid.Job, resources, tickets float64) Worth {
	u := UrgencyOf(conf, resources, j.Submit, j.Deadline, max(within.At, j.Submit))
	return WorthOf(conf, within, j.Priority, u, tickets)
}

// CheckPriority finds what is wrong with the part of the configuration that
// priorities follow from, sched_conf(5). Weights are not negative: starting a
// job or waiting makes nobody else's job, or one's own, worth less.
func CheckPriority(c *grid.SchedConf) error {
	for _, w := range []struct {
		name  string
		value float64
	}{
		{"weight_priority", c.WeightPriority}, {"weight_urgency", c.WeightUrgency}, {"weight_ticket", c.WeightTicket},
		{"weight_waiting_time", c.WeightWaitingTime}, {"weight_deadline", c.WeightDeadline},
		{"weight_user", c.WeightUser}, {"weight_project", c.WeightProject}, {"weight_department", c.WeightDepartment},
		{"weight_job", c.WeightJob}, {"compensation_factor", c.CompensationFactor},
	} {
		if !(w.value >= 0) || math.IsInf(w.value, 0) {
			return fmt.Errorf(`invalid setting for param: %q(should be ">=0")`, w.name)
		}
	}
	if !strings.EqualFold(c.PolicyHierarchy, "none") {
		for i, l := range c.PolicyHierarchy {
			if !strings.ContainsRune("OFSD", l) || strings.ContainsRune(c.PolicyHierarchy[:i], l) {
				return fmt.Errorf("invalid policy_hierarchy %q", c.PolicyHierarchy)
			}
		}
	}
	for _, name := range [...]string{"PRIORITY_RANGE", "USER_SORT", "SHARE_DEADLINE_TICKETS", "WEIGHT_TICKETS_DEADLINE"} {
		text, given := c.Param(name)
		ok := true
		switch {
		case !given:
		case name == "PRIORITY_RANGE":
			ok = strings.EqualFold(text, "fixed") || strings.EqualFold(text, "observed")
		case name == "WEIGHT_TICKETS_DEADLINE":
			n, err := strconv.ParseFloat(text, 64)
			ok = err == nil && n >= 0 && !math.IsInf(n, 0)
		default:
			_, ok = grid.CentryType("BOOL").Parse(text)
		}
		if !ok {
			return fmt.Errorf("invalid scheduler param setting: %q", name+"="+text)
		}
	}
	return nil
}
